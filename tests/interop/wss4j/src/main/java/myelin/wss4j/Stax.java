package myelin.wss4j;

import com.ctc.wstx.stax.WstxInputFactory;
import com.ctc.wstx.stax.WstxOutputFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.SecretKey;
import javax.xml.namespace.QName;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.stream.XMLStreamWriter;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.ext.WSSecurityException;
import org.apache.wss4j.policy.stax.enforcer.PolicyEnforcer;
import org.apache.wss4j.policy.stax.enforcer.PolicyInputProcessor;
import org.apache.wss4j.stax.ext.WSSConstants;
import org.apache.wss4j.stax.ext.WSSSecurityProperties;
import org.apache.wss4j.stax.securityEvent.SamlTokenSecurityEvent;
import org.apache.wss4j.stax.securityEvent.UsernameTokenSecurityEvent;
import org.apache.wss4j.stax.setup.ConfigurationConverter;
import org.apache.wss4j.stax.setup.InboundWSSec;
import org.apache.wss4j.stax.setup.OutboundWSSec;
import org.apache.wss4j.stax.setup.WSSec;
import org.apache.xml.security.exceptions.XMLSecurityException;
import org.apache.xml.security.stax.securityEvent.AbstractSecuredElementSecurityEvent;
import org.apache.xml.security.stax.securityEvent.AlgorithmSuiteSecurityEvent;
import org.apache.xml.security.stax.securityEvent.SecurityEvent;
import org.apache.xml.security.stax.securityEvent.SecurityEventListener;
import org.apache.xml.security.stax.securityEvent.TokenSecurityEvent;
import org.apache.xml.security.stax.securityToken.SecurityToken;

/** The engine on streams. */
final class Stax {
    /** What an event says was there, in the words that the engine on trees has for it. */
    private static final Map<String, String> ACTIONS = Map.of(
            "Timestamp", "Timestamp",
            "UsernameToken", "UsernameToken",
            "SignatureValue", "Signature",
            "SamlToken", "SAMLToken",
            "SignatureConfirmation", "SignatureConfirmation",
            "DerivedKeyToken", "DerivedKeyToken",
            "SecurityContextToken", "SecurityContextToken",
            "EncryptedKeyToken", "EncryptedKey");

    private final Keys keys;
    private final Policies policies = new Policies();
    private final XMLInputFactory readers = new WstxInputFactory();
    private final XMLOutputFactory writers = new WstxOutputFactory();
    /** What requests showed or did, for their responses. */
    private final Map<String, List<SecurityEvent>> sessions = new HashMap<>();

    Stax(Keys keys) {
        this.keys = keys;
        readers.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        readers.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        WSSec.init();
    }

    void secure(byte[] message, Settings settings, Answer answer) throws Exception {
        if (settings.get("symmetric") != null) {
            throw new IllegalArgumentException("symmetric is for the engine dom");
        }
        List<SecurityEvent> events = new ArrayList<>();
        answer.message(protect(message, outbound(settings), before(settings), events));
        remember(settings, events);
    }

    void verify(byte[] message, Settings settings, Answer answer) throws Exception {
        WSSSecurityProperties properties = properties(settings);
        boolean initiator = settings.is("role", "response");
        List<SecurityEvent> events = new ArrayList<>();
        List<SecurityEventListener> listeners = new ArrayList<>(List.of(events::add));
        if (settings.get("policy") != null) {
            boolean soap12 = new String(message, StandardCharsets.ISO_8859_1).contains(WSSConstants.NS_SOAP12);
            Path policy = Path.of(settings.get("policy"));
            PolicyEnforcer enforcer = policies.enforcer(policy, initiator, settings.get("actor"), soap12);
            properties.setSoap12(soap12);
            properties.addInputProcessor(new PolicyInputProcessor(enforcer, properties));
            listeners.add(enforcer);
        }
        answer.message(accept(message, inbound(properties, initiator), before(settings), listeners));
        remember(settings, events);
        for (SecurityEvent event : events) {
            report(event, answer);
        }
        answer.require(settings.get("action", ""));
    }

    OutboundWSSec outbound(Settings settings) throws Exception {
        WSSSecurityProperties properties = properties(settings);
        try {
            return WSSec.getOutboundWSSec(properties);
        } catch (WSSecurityException refusal) {
            throw new Refusal(refusal);
        }
    }

    InboundWSSec inbound(Settings settings) throws Exception {
        return inbound(properties(settings), settings.is("role", "response"));
    }

    private static InboundWSSec inbound(WSSSecurityProperties properties, boolean initiator) throws Refusal {
        try {
            return WSSec.getInboundWSSec(properties, initiator, true);
        } catch (WSSecurityException refusal) {
            throw new Refusal(refusal);
        }
    }

    /** The message secured; what was done on the way is added to {@code events}. */
    byte[] protect(byte[] message, OutboundWSSec outbound, List<SecurityEvent> before, List<SecurityEvent> events)
            throws Refusal {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try {
            XMLStreamWriter writer = outbound.processOutMessage(output, "UTF-8", before, events::add);
            copy(readers.createXMLStreamReader(new ByteArrayInputStream(message)), writer);
        } catch (Exception refusal) {
            throw new Refusal(refusal);
        }
        return output.toByteArray();
    }

    /** The message verified and decrypted; listeners hear what is found on the way, and may refuse it. */
    byte[] accept(
            byte[] message, InboundWSSec inbound, List<SecurityEvent> before, List<SecurityEventListener> listeners)
            throws Refusal {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        try {
            XMLStreamReader reader = readers.createXMLStreamReader(new ByteArrayInputStream(message));
            copy(inbound.processInMessage(reader, before, listeners), writers.createXMLStreamWriter(output, "UTF-8"));
        } catch (Exception refusal) {
            throw new Refusal(refusal);
        }
        return output.toByteArray();
    }

    private WSSSecurityProperties properties(Settings settings) throws Exception {
        Map<String, Object> configuration = Configuration.of(settings, keys);
        if (!settings.is("role", "response")) {
            // A request confirms nothing; the engine on trees knows that by itself.
            configuration.remove(ConfigurationConstants.ENABLE_SIGNATURE_CONFIRMATION);
        }
        return ConfigurationConverter.convert(configuration);
    }

    /** The events of the request, where this is its response. */
    private List<SecurityEvent> before(Settings settings) {
        List<SecurityEvent> none = List.of();
        return settings.is("role", "response") ? sessions.getOrDefault(settings.get("session", ""), none) : none;
    }

    private void remember(Settings settings, List<SecurityEvent> events) {
        if (settings.get("session") != null && !settings.is("role", "response")) {
            sessions.put(settings.get("session"), events);
        }
    }

    private static void report(SecurityEvent event, Answer answer) throws XMLSecurityException {
        String type = event.getSecurityEventType().toString();
        answer.fact("event", type);
        answer.fact("action", ACTIONS.get(type));
        if (event instanceof AbstractSecuredElementSecurityEvent part) {
            QName name = part.getElementPath().get(part.getElementPath().size() - 1);
            answer.fact("signed", part.isSigned() ? name : null);
            answer.fact("encrypted", part.isEncrypted() ? name : null);
            answer.fact("action", part.isEncrypted() ? "Encrypt" : null);
        }
        if (event instanceof AlgorithmSuiteSecurityEvent algorithm) {
            answer.fact("algorithm", algorithm.getAlgorithmURI());
        }
        if (event instanceof UsernameTokenSecurityEvent user) {
            answer.fact("principal", user.getSecurityToken().getUsername());
        }
        if (event instanceof SamlTokenSecurityEvent saml) {
            answer.fact("saml", saml.getSamlAssertionWrapper().getSubjectName());
            answer.fact("confirmation", String.join(" ", saml.getSamlAssertionWrapper().getConfirmationMethods()));
        }
        if (event instanceof TokenSecurityEvent<?> token) {
            report((SecurityToken) token.getSecurityToken(), answer);
        }
    }

    private static void report(SecurityToken token, Answer answer) throws XMLSecurityException {
        answer.fact("token", token.getTokenType());
        X509Certificate[] chain = token.getX509Certificates();
        if (chain != null && chain.length > 0) {
            answer.fact("certificate", chain[0].getSubjectX500Principal().getName());
        }
        for (var key : token.getSecretKey().values()) {
            if (key instanceof SecretKey secret && secret.getEncoded() != null) {
                answer.fact("secretKey", Base64.getEncoder().encodeToString(secret.getEncoded()));
            }
        }
    }

    /** Writes everything that is read. */
    static void copy(XMLStreamReader reader, XMLStreamWriter writer) throws XMLStreamException {
        for (int event = reader.getEventType(); ; event = reader.next()) {
            switch (event) {
                case XMLStreamConstants.START_DOCUMENT -> writer.writeStartDocument("UTF-8", "1.0");
                case XMLStreamConstants.START_ELEMENT -> start(reader, writer);
                case XMLStreamConstants.END_ELEMENT -> writer.writeEndElement();
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.SPACE ->
                    writer.writeCharacters(reader.getTextCharacters(), reader.getTextStart(), reader.getTextLength());
                case XMLStreamConstants.CDATA -> writer.writeCData(reader.getText());
                case XMLStreamConstants.COMMENT -> writer.writeComment(reader.getText());
                case XMLStreamConstants.PROCESSING_INSTRUCTION ->
                    writer.writeProcessingInstruction(reader.getPITarget(), reader.getPIData());
                default -> {
                    // A document type was refused, and attributes come with their element.
                }
            }
            if (event == XMLStreamConstants.END_DOCUMENT) {
                break;
            }
        }
        writer.writeEndDocument();
        writer.close();
    }

    private static void start(XMLStreamReader reader, XMLStreamWriter writer) throws XMLStreamException {
        writer.writeStartElement(text(reader.getPrefix()), reader.getLocalName(), text(reader.getNamespaceURI()));
        for (int i = 0; i < reader.getNamespaceCount(); i++) {
            writer.writeNamespace(text(reader.getNamespacePrefix(i)), text(reader.getNamespaceURI(i)));
        }
        for (int i = 0; i < reader.getAttributeCount(); i++) {
            writer.writeAttribute(
                    text(reader.getAttributePrefix(i)), text(reader.getAttributeNamespace(i)),
                    reader.getAttributeLocalName(i), reader.getAttributeValue(i));
        }
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }
}
