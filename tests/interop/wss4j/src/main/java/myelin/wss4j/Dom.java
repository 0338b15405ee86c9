package myelin.wss4j;

import java.security.Principal;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.EncryptionActionToken;
import org.apache.wss4j.common.SignatureActionToken;
import org.apache.wss4j.common.ext.WSSecurityException;
import org.apache.wss4j.common.saml.SamlAssertionWrapper;
import org.apache.wss4j.common.token.BinarySecurity;
import org.apache.wss4j.common.util.KeyUtils;
import org.apache.wss4j.dom.WSConstants;
import org.apache.wss4j.dom.WSDataRef;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.dom.engine.WSSecurityEngine;
import org.apache.wss4j.dom.engine.WSSecurityEngineResult;
import org.apache.wss4j.dom.handler.RequestData;
import org.apache.wss4j.dom.handler.WSHandler;
import org.apache.wss4j.dom.handler.WSHandlerConstants;
import org.apache.wss4j.dom.handler.WSHandlerResult;
import org.apache.wss4j.dom.message.WSSecEncryptedKey;
import org.apache.wss4j.dom.message.token.DerivedKeyToken;
import org.apache.wss4j.dom.util.WSSecurityUtil;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.SAXException;

/**
 * The engine on trees, behind the handler that SOAP stacks use, so that WSS4J's configuration names mean what they mean
 * there.
 */
final class Dom extends WSHandler {
    private static final Map<Integer, String> ACTIONS = Map.ofEntries(
            Map.entry(WSConstants.UT, "UsernameToken"),
            Map.entry(WSConstants.UT_NOPASSWORD, "UsernameTokenNoPassword"),
            Map.entry(WSConstants.SIGN, "Signature"),
            Map.entry(WSConstants.ENCR, "Encrypt"),
            Map.entry(WSConstants.ST_UNSIGNED, "SAMLTokenUnsigned"),
            Map.entry(WSConstants.ST_SIGNED, "SAMLTokenSigned"),
            Map.entry(WSConstants.TS, "Timestamp"),
            Map.entry(WSConstants.UT_SIGN, "UsernameTokenSignature"),
            Map.entry(WSConstants.SC, "SignatureConfirmation"),
            Map.entry(WSConstants.SCT, "SecurityContextToken"),
            Map.entry(WSConstants.DKT, "DerivedKeyToken"),
            Map.entry(WSConstants.BST, "BinarySecurityToken"));

    /** So that the handler reads its configuration for all of them. */
    private static final List<Integer> RECEIVED = List.copyOf(ACTIONS.keySet());

    /**
     * The key that signs and encrypts in a symmetric binding.
     *
     * @param identifier SHA-1 of the key as it was sent encrypted, in base64
     * @param carrier the element that sends it; null where the other side has it already
     */
    private record Symmetric(SecretKey key, String identifier, WSSecEncryptedKey carrier) {}

    private static final String SYMMETRIC = "myelin.symmetric";

    private final Keys keys;
    private final Xml xml = new Xml();
    private final WSSecurityEngine engine = new WSSecurityEngine();
    /** What one exchange has to remember between its request and its response. */
    private final Map<String, Map<String, Object>> sessions = new HashMap<>();

    Dom(Keys keys) {
        this.keys = keys;
        WSSConfig.init();
    }

    void secure(byte[] message, Settings settings, Answer answer) throws Exception {
        Map<String, Object> context = context(settings);
        Document document = xml.read(message);
        protect(document, settings, context);
        if (context.get(SYMMETRIC) instanceof Symmetric symmetric) {
            answer.fact("secretKey", base64(symmetric.key().getEncoded()));
            answer.fact("secretIdentifier", symmetric.identifier());
        }
        answer.message(xml.write(document));
    }

    void verify(byte[] message, Settings settings, Answer answer) throws Exception {
        Map<String, Object> context = context(settings);
        Document document;
        try {
            document = xml.read(message);
        } catch (SAXException malformed) {
            throw new Refusal(malformed);
        }
        WSHandlerResult result = accept(document, settings, context);
        report(result, answer);
        answer.require(settings.get("action", ""));
        answer.message(xml.write(document));
    }

    /** Puts a Security header into the document, and signs and encrypts it in place. */
    void protect(Document document, Settings settings, Map<String, Object> context) throws Refusal {
        RequestData data = data(settings, context);
        boolean isRequest = !settings.is("role", "response");
        try {
            var actions = WSSecurityUtil.decodeHandlerAction(settings.get("action", ""), data.getWssConfig());
            doSenderAction(document, data, actions, isRequest);
        } catch (Exception refusal) {
            throw new Refusal(refusal);
        }
        if (context.get(SYMMETRIC) instanceof Symmetric symmetric && symmetric.carrier() != null) {
            // Other tokens were put before it; who reads from the top has to meet it first.
            Element header = data.getSecHeader().getSecurityHeaderElement();
            header.insertBefore(symmetric.carrier().getEncryptedKeyElement(), header.getFirstChild());
            symmetric.carrier().prependBSTElementToHeader();
        }
    }

    /** Verifies the document and decrypts it in place. */
    WSHandlerResult accept(Document document, Settings settings, Map<String, Object> context) throws Refusal {
        RequestData data = data(settings, context);
        try {
            doReceiverAction(RECEIVED, data);
            WSHandlerResult result = engine.processSecurityHeader(document, data);
            if (result == null) {
                throw new Refusal("there is no Security header for this actor");
            }
            if (settings.is("role", "response")) {
                checkSignatureConfirmation(data, result);
            }
            context.put(WSHandlerConstants.RECV_RESULTS, new ArrayList<>(List.of(result)));
            return result;
        } catch (WSSecurityException | RuntimeException refusal) {
            throw new Refusal(refusal);
        }
    }

    private static void report(WSHandlerResult result, Answer answer) throws WSSecurityException {
        // Results come last processed first.
        List<WSSecurityEngineResult> inOrder = new ArrayList<>(result.getResults());
        Collections.reverse(inOrder);
        for (WSSecurityEngineResult found : inOrder) {
            int action = (Integer) found.get(WSSecurityEngineResult.TAG_ACTION);
            answer.fact("action", ACTIONS.getOrDefault(action, Integer.toString(action)));
            if (found.get(WSSecurityEngineResult.TAG_PRINCIPAL) instanceof Principal principal) {
                answer.fact("principal", principal.getName());
            }
            answer.fact("algorithm", found.get(WSSecurityEngineResult.TAG_SIGNATURE_METHOD));
            answer.fact("algorithm", found.get(WSSecurityEngineResult.TAG_CANONICALIZATION_METHOD));
            answer.fact("algorithm", found.get(WSSecurityEngineResult.TAG_ENCRYPTED_KEY_TRANSPORT_METHOD));
            answer.fact("reference", found.get(WSSecurityEngineResult.TAG_X509_REFERENCE_TYPE));
            if (found.get(WSSecurityEngineResult.TAG_X509_CERTIFICATE) instanceof X509Certificate certificate) {
                answer.fact("certificate", certificate.getSubjectX500Principal().getName());
            }
            if (found.get(WSSecurityEngineResult.TAG_BINARY_SECURITY_TOKEN) instanceof BinarySecurity token) {
                answer.fact("token", token.getValueType());
            }
            if (found.get(WSSecurityEngineResult.TAG_DERIVED_KEY_TOKEN) instanceof DerivedKeyToken token) {
                answer.fact("derived", token.getAlgorithm());
            }
            if (found.get(WSSecurityEngineResult.TAG_SAML_ASSERTION) instanceof SamlAssertionWrapper assertion) {
                answer.fact("saml", assertion.getSubjectName());
                answer.fact("confirmation", String.join(" ", assertion.getConfirmationMethods()));
            }
            if (found.get(WSSecurityEngineResult.TAG_SECRET) instanceof byte[] secret) {
                answer.fact("secretKey", base64(secret));
            }
            if (found.get(WSSecurityEngineResult.TAG_ENCRYPTED_EPHEMERAL_KEY) instanceof byte[] encrypted) {
                answer.fact("secretIdentifier", base64(KeyUtils.generateDigest(encrypted)));
            }
            if (found.get(WSSecurityEngineResult.TAG_DATA_REF_URIS) instanceof List<?> references) {
                for (Object reference : references) {
                    part((WSDataRef) reference, action == WSConstants.ENCR, answer);
                }
            }
        }
    }

    private static void part(WSDataRef reference, boolean isEncrypted, Answer answer) {
        answer.fact(isEncrypted ? "encrypted" : "signed", reference.getName());
        answer.fact("algorithm", reference.getAlgorithm());
        answer.fact("algorithm", reference.getDigestAlgorithm());
        if (reference.getTransformAlgorithms() != null) {
            for (String transform : reference.getTransformAlgorithms()) {
                answer.fact("transform", transform);
            }
        }
    }

    /** The configuration of this message over what its session remembers. */
    private Map<String, Object> context(Settings settings) throws Exception {
        Map<String, Object> context = new HashMap<>();
        if (settings.get("session") != null) {
            context = sessions.computeIfAbsent(settings.get("session"), name -> new HashMap<>());
            context.keySet().retainAll(List.of(WSHandlerConstants.RECV_RESULTS, WSHandlerConstants.SEND_SIGV));
        }
        context.putAll(Configuration.of(settings, keys));
        return context;
    }

    private static RequestData data(Settings settings, Map<String, Object> context) {
        RequestData data = new RequestData();
        data.setMsgContext(context);
        data.setUsername(settings.get("user", "alice"));
        data.setWssConfig(WSSConfig.getNewInstance());
        return data;
    }

    // A symmetric binding is nothing a handler can be configured for: the key is put into the tokens here.

    @Override
    protected void decodeSignatureParameter(RequestData data) throws WSSecurityException {
        super.decodeSignatureParameter(data);
        Symmetric symmetric = symmetric(data);
        if (symmetric == null) {
            return;
        }
        SignatureActionToken token = data.getSignatureToken();
        token.setKey(symmetric.key().getEncoded());
        if (symmetric.carrier() == null || option(data, "symmetric").equals("EncryptedKeySHA1")) {
            token.setKeyIdentifierId(WSConstants.ENCRYPTED_KEY_SHA1_IDENTIFIER);
            token.setSha1Value(symmetric.identifier());
        } else {
            token.setKeyIdentifierId(WSConstants.CUSTOM_SYMM_SIGNING);
            token.setTokenId(symmetric.carrier().getId());
            token.setTokenType(WSConstants.WSS_ENC_KEY_VALUE_TYPE);
        }
    }

    @Override
    protected void decodeEncryptionParameter(RequestData data) throws WSSecurityException {
        super.decodeEncryptionParameter(data);
        Symmetric symmetric = symmetric(data);
        if (symmetric == null) {
            return;
        }
        EncryptionActionToken token = data.getEncryptionToken();
        token.setKey(symmetric.key().getEncoded());
        token.setEncSymmetricEncryptionKey(false);
        if (symmetric.carrier() == null || option(data, "symmetric").equals("EncryptedKeySHA1")) {
            token.setKeyIdentifierId(WSConstants.ENCRYPTED_KEY_SHA1_IDENTIFIER);
            token.setTokenType(symmetric.identifier());
        } else {
            token.setTokenId(symmetric.carrier().getId());
            token.setTokenType(WSConstants.WSS_ENC_KEY_VALUE_TYPE);
        }
    }

    /** The one key of this message: made when it is first asked for; null where the binding is not symmetric. */
    private Symmetric symmetric(RequestData data) throws WSSecurityException {
        String kind = option(data, "symmetric");
        if (kind == null) {
            return null;
        }
        Map<String, Object> context = contextOf(data);
        if (context.get(SYMMETRIC) instanceof Symmetric made) {
            return made;
        }
        String secret = option(data, "secretKey");
        String algorithm = option(data, ConfigurationConstants.ENC_SYM_ALGO);
        Symmetric made;
        if (secret != null) {
            SecretKey key = new SecretKeySpec(Base64.getDecoder().decode(secret), "AES");
            made = new Symmetric(key, option(data, "secretIdentifier"), null);
        } else {
            SecretKey key = KeyUtils.getKeyGenerator(algorithm == null ? WSConstants.AES_128 : algorithm).generateKey();
            WSSecEncryptedKey carrier = new WSSecEncryptedKey(data.getSecHeader());
            carrier.setWsDocInfo(data.getWsDocInfo());
            carrier.setUserInfo(option(data, ConfigurationConstants.ENCRYPTION_USER));
            String reference = option(data, ConfigurationConstants.ENC_KEY_ID);
            carrier.setKeyIdentifierType(
                    WSHandlerConstants.getKeyIdentifier(reference == null ? "Thumbprint" : reference));
            if (option(data, ConfigurationConstants.ENC_KEY_TRANSPORT) != null) {
                carrier.setKeyEncAlgo(option(data, ConfigurationConstants.ENC_KEY_TRANSPORT));
            }
            carrier.setDigestAlgorithm(option(data, ConfigurationConstants.ENC_DIGEST_ALGO));
            carrier.setMGFAlgorithm(option(data, ConfigurationConstants.ENC_MGF_ALGO));
            carrier.prepare(loadEncryptionCrypto(data), key);
            made = new Symmetric(key, carrier.getEncryptedKeySHA1(), carrier);
        }
        context.put(SYMMETRIC, made);
        return made;
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> contextOf(RequestData data) {
        return (Map<String, Object>) data.getMsgContext();
    }

    private static String option(RequestData data, String name) {
        return (String) contextOf(data).get(name);
    }

    // What WSS4J's handler asks its surroundings for.

    @Override
    public Object getOption(String key) {
        return null;
    }

    @Override
    @SuppressWarnings("unchecked")
    public Object getProperty(Object context, String key) {
        return ((Map<String, Object>) context).get(key);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void setProperty(Object context, String key, Object value) {
        ((Map<String, Object>) context).put(key, value);
    }

    @Override
    public String getPassword(Object context) {
        return null;
    }

    @Override
    public void setPassword(Object context, String password) {
        throw new UnsupportedOperationException("passwords come from the callback");
    }
}
