package myelin.wss4j;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.wss4j.common.ConfigurationConstants;

/** What a request says besides its message: WSS4J's own configuration names, and the few of ours. */
final class Settings {
    /** Names that WSS4J does not have; README.md describes them. */
    private static final Set<String> OURS = Set.of(
            "engine", "signatureStore", "signatureVerificationStore", "encryptionStore", "decryptionStore",
            "storePassword", "keyPassword", "password", "secretKey", "secretIdentifier", "symmetric", "session", "role",
            "policy", "revocationList", "samlVersion", "samlConfirmation", "samlSubject", "samlIssuer", "samlSigned",
            "samlSubjectKey", "samlIssuerKey", "samlKeyInfo", "samlSeconds", "samlAudience");

    private static final Set<String> WSS4J = namesOfWss4j();

    private final Map<String, String> values = new LinkedHashMap<>();

    /** Takes one setting; a name that nobody knows is a mistake of the test. */
    void put(String name, String value) {
        if (!OURS.contains(name) && !WSS4J.contains(name)) {
            throw new IllegalArgumentException("there is no setting " + name);
        }
        values.put(name, value);
    }

    String get(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    /** The value, or null. */
    String get(String name) {
        return values.get(name);
    }

    boolean is(String name, String value) {
        return value.equals(values.get(name));
    }

    /** Everything under its own name, for WSS4J to read what it knows. */
    Map<String, Object> configuration() {
        return new HashMap<>(values);
    }

    private static Set<String> namesOfWss4j() {
        Map<String, Boolean> names = new HashMap<>();
        for (Field field : ConfigurationConstants.class.getFields()) {
            try {
                names.put(String.valueOf(field.get(null)), true);
            } catch (IllegalAccessException error) {
                throw new IllegalStateException(error);
            }
        }
        return names.keySet();
    }
}
