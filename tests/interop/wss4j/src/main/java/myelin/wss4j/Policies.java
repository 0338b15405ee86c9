package myelin.wss4j;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.neethi.PolicyBuilder;
import org.apache.neethi.builders.AssertionBuilder;
import org.apache.wss4j.policy.builders.AlgorithmSuiteBuilder;
import org.apache.wss4j.policy.builders.AsymmetricBindingBuilder;
import org.apache.wss4j.policy.builders.BootstrapPolicyBuilder;
import org.apache.wss4j.policy.builders.ContentEncryptedElementsBuilder;
import org.apache.wss4j.policy.builders.EncryptedElementsBuilder;
import org.apache.wss4j.policy.builders.EncryptedPartsBuilder;
import org.apache.wss4j.policy.builders.EncryptionTokenBuilder;
import org.apache.wss4j.policy.builders.HttpsTokenBuilder;
import org.apache.wss4j.policy.builders.InitiatorEncryptionTokenBuilder;
import org.apache.wss4j.policy.builders.InitiatorSignatureTokenBuilder;
import org.apache.wss4j.policy.builders.InitiatorTokenBuilder;
import org.apache.wss4j.policy.builders.IssuedTokenBuilder;
import org.apache.wss4j.policy.builders.KeyValueTokenBuilder;
import org.apache.wss4j.policy.builders.LayoutBuilder;
import org.apache.wss4j.policy.builders.ProtectionTokenBuilder;
import org.apache.wss4j.policy.builders.RecipientEncryptionTokenBuilder;
import org.apache.wss4j.policy.builders.RecipientSignatureTokenBuilder;
import org.apache.wss4j.policy.builders.RecipientTokenBuilder;
import org.apache.wss4j.policy.builders.RequiredElementsBuilder;
import org.apache.wss4j.policy.builders.RequiredPartsBuilder;
import org.apache.wss4j.policy.builders.SamlTokenBuilder;
import org.apache.wss4j.policy.builders.SecureConversationTokenBuilder;
import org.apache.wss4j.policy.builders.SecurityContextTokenBuilder;
import org.apache.wss4j.policy.builders.SignatureTokenBuilder;
import org.apache.wss4j.policy.builders.SignedElementsBuilder;
import org.apache.wss4j.policy.builders.SignedPartsBuilder;
import org.apache.wss4j.policy.builders.SupportingTokensBuilder;
import org.apache.wss4j.policy.builders.SymmetricBindingBuilder;
import org.apache.wss4j.policy.builders.TransportBindingBuilder;
import org.apache.wss4j.policy.builders.TransportTokenBuilder;
import org.apache.wss4j.policy.builders.Trust10Builder;
import org.apache.wss4j.policy.builders.Trust13Builder;
import org.apache.wss4j.policy.builders.UsernameTokenBuilder;
import org.apache.wss4j.policy.builders.WSS10Builder;
import org.apache.wss4j.policy.builders.WSS11Builder;
import org.apache.wss4j.policy.builders.X509TokenBuilder;
import org.apache.wss4j.policy.stax.OperationPolicy;
import org.apache.wss4j.policy.stax.enforcer.PolicyEnforcer;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/** WS-SecurityPolicy, which the streaming engine can hold messages against. */
final class Policies {
    private static final String RAMPART = "http://ws.apache.org/rampart/policy";
    /** The policy is chosen by SOAP action; there is one policy, so there is one action. */
    private static final String ACTION = "urn:any";

    private final Xml xml = new Xml();

    /**
     * Holds one message against the policy in a file.
     *
     * @param initiator whether the message is a response, and we are who asked
     */
    PolicyEnforcer enforcer(Path file, boolean initiator, String actor, boolean soap12) throws Exception {
        Document document = xml.read(Files.readAllBytes(file));
        // How Rampart finds its keys says nothing about messages.
        NodeList configurations = document.getElementsByTagNameNS(RAMPART, "*");
        while (configurations.getLength() > 0) {
            Node configuration = configurations.item(0);
            configuration.getParentNode().removeChild(configuration);
        }
        PolicyBuilder builder = new PolicyBuilder();
        for (AssertionBuilder<?> assertion : assertions()) {
            builder.getAssertionBuilderFactory().registerBuilder(assertion);
        }
        OperationPolicy policy = new OperationPolicy(new QName("any"));
        policy.setOperationAction(ACTION);
        policy.setPolicy(builder.getPolicy(document.getDocumentElement()).normalize(true));
        return new PolicyEnforcer(List.of(policy), ACTION, initiator, actor, 0, null, soap12);
    }

    private static List<AssertionBuilder<?>> assertions() {
        return List.of(
                new AlgorithmSuiteBuilder(), new AsymmetricBindingBuilder(), new BootstrapPolicyBuilder(),
                new ContentEncryptedElementsBuilder(), new EncryptedElementsBuilder(), new EncryptedPartsBuilder(),
                new EncryptionTokenBuilder(), new HttpsTokenBuilder(), new InitiatorEncryptionTokenBuilder(),
                new InitiatorSignatureTokenBuilder(), new InitiatorTokenBuilder(), new IssuedTokenBuilder(),
                new KeyValueTokenBuilder(), new LayoutBuilder(), new ProtectionTokenBuilder(),
                new RecipientEncryptionTokenBuilder(), new RecipientSignatureTokenBuilder(),
                new RecipientTokenBuilder(), new RequiredElementsBuilder(), new RequiredPartsBuilder(),
                new SamlTokenBuilder(), new SecureConversationTokenBuilder(), new SecurityContextTokenBuilder(),
                new SignatureTokenBuilder(), new SignedElementsBuilder(), new SignedPartsBuilder(),
                new SupportingTokensBuilder(), new SymmetricBindingBuilder(), new TransportBindingBuilder(),
                new TransportTokenBuilder(), new Trust10Builder(), new Trust13Builder(), new UsernameTokenBuilder(),
                new WSS10Builder(), new WSS11Builder(), new X509TokenBuilder());
    }
}
