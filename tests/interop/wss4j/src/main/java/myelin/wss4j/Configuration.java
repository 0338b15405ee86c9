package myelin.wss4j;

import java.util.Map;
import org.apache.wss4j.common.ConfigurationConstants;

/** WSS4J's configuration, the same for both engines: the settings, with stores, passwords and assertions put in. */
final class Configuration {
    private Configuration() {}

    static Map<String, Object> of(Settings settings, Keys keys) throws Exception {
        Map<String, Object> configuration = settings.configuration();
        configuration.putIfAbsent(ConfigurationConstants.USER, "alice");
        configuration.putIfAbsent(ConfigurationConstants.ENCRYPTION_USER, "bob");
        configuration.put(ConfigurationConstants.PW_CALLBACK_REF, new Passwords(settings));
        configuration.put(ConfigurationConstants.SAML_CALLBACK_REF, new Saml(keys, settings));
        String password = settings.get("storePassword", Keys.PASSWORD);
        store(configuration, ConfigurationConstants.SIG_PROP_REF_ID,
                keys.crypto(settings.get("signatureStore", "all.jks"), password, null));
        // The streaming engine trusts whoever is in the store it decrypts with, so nobody doubtful is in this one.
        store(configuration, ConfigurationConstants.DEC_PROP_REF_ID,
                keys.crypto(settings.get("decryptionStore", "receivers.jks"), password, null));
        store(configuration, ConfigurationConstants.ENC_PROP_REF_ID,
                keys.crypto(settings.get("encryptionStore", "people.jks"), password, null));
        store(configuration, ConfigurationConstants.SIG_VER_PROP_REF_ID,
                keys.crypto(
                        settings.get("signatureVerificationStore", "people.jks"), password,
                        settings.get("revocationList")));
        return configuration;
    }

    private static void store(Map<String, Object> configuration, String reference, Object store) {
        configuration.put(reference, reference + ".store");
        configuration.put(reference + ".store", store);
    }
}
