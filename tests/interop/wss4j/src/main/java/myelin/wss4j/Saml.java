package myelin.wss4j;

import java.time.Instant;
import java.util.List;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.saml.SAMLCallback;
import org.apache.wss4j.common.saml.bean.AttributeBean;
import org.apache.wss4j.common.saml.bean.AttributeStatementBean;
import org.apache.wss4j.common.saml.bean.AudienceRestrictionBean;
import org.apache.wss4j.common.saml.bean.AuthenticationStatementBean;
import org.apache.wss4j.common.saml.bean.ConditionsBean;
import org.apache.wss4j.common.saml.bean.KeyInfoBean;
import org.apache.wss4j.common.saml.bean.SubjectBean;
import org.apache.wss4j.common.saml.bean.Version;

/** Writes the assertion that the settings beginning with {@code saml} describe. */
final class Saml implements CallbackHandler {
    private final Keys keys;
    private final Settings settings;

    Saml(Keys keys, Settings settings) {
        this.keys = keys;
        this.settings = settings;
    }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof SAMLCallback assertion) {
                try {
                    fill(assertion);
                } catch (Exception error) {
                    throw new IllegalArgumentException(error);
                }
            }
        }
    }

    private void fill(SAMLCallback assertion) throws Exception {
        boolean second = settings.get("samlVersion", "2.0").equals("2.0");
        String confirmation = settings.get("samlConfirmation", "bearer");
        assertion.setSamlVersion(second ? Version.SAML_20 : Version.SAML_11);
        assertion.setIssuer(settings.get("samlIssuer", "https://issuer.example"));

        SubjectBean subject = new SubjectBean(
                settings.get("samlSubject", "alice"), "www.example.com",
                "urn:oasis:names:tc:SAML:" + (second ? "2.0" : "1.0") + ":cm:" + confirmation);
        if (confirmation.equals("holder-of-key")) {
            subject.setKeyInfo(subjectKey());
        }
        assertion.setSubject(subject);

        ConditionsBean conditions = new ConditionsBean();
        Instant now = Instant.now();
        conditions.setNotBefore(now.minusSeconds(5));
        conditions.setNotAfter(now.plusSeconds(Long.parseLong(settings.get("samlSeconds", "300"))));
        if (settings.get("samlAudience") != null) {
            AudienceRestrictionBean audience = new AudienceRestrictionBean();
            audience.setAudienceURIs(List.of(settings.get("samlAudience")));
            conditions.setAudienceRestrictions(List.of(audience));
        }
        assertion.setConditions(conditions);

        AuthenticationStatementBean authentication = new AuthenticationStatementBean();
        authentication.setSubject(subject);
        authentication.setAuthenticationMethod("Password");
        assertion.setAuthenticationStatementData(List.of(authentication));
        AttributeBean role = new AttributeBean();
        role.setSimpleName("role");
        role.setQualifiedName(second ? "role" : "http://example.com/role");
        role.addAttributeValue("buyer");
        AttributeStatementBean attributes = new AttributeStatementBean();
        attributes.setSubject(subject);
        attributes.setSamlAttributes(List.of(role));
        assertion.setAttributeStatementData(List.of(attributes));

        Crypto crypto = keys.crypto("all.jks", Keys.PASSWORD, null);
        assertion.setIssuerCrypto(crypto);
        assertion.setIssuerKeyName(settings.get("samlIssuerKey", "issuer"));
        assertion.setIssuerKeyPassword(Keys.PASSWORD);
        assertion.setSignAssertion(settings.get("samlSigned", "true").equals("true"));
    }

    private KeyInfoBean subjectKey() {
        KeyInfoBean key = new KeyInfoBean();
        String owner = settings.get("samlSubjectKey", settings.get("signatureUser", settings.get("user", "alice")));
        key.setCertificate(keys.certificate(owner));
        key.setCertIdentifer(KeyInfoBean.CERT_IDENTIFIER.valueOf(settings.get("samlKeyInfo", "X509_CERT")));
        return key;
    }
}
