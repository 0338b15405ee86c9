package myelin.wss4j;

import java.util.Base64;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** Tells WSS4J the passwords of keys and users, and the secret that both sides know already. */
final class Passwords implements CallbackHandler {
    private final String ofKeys;
    private final String ofUsers;
    private final byte[] secret;

    Passwords(Settings settings) {
        ofKeys = settings.get("keyPassword", Keys.PASSWORD);
        ofUsers = settings.get("password", "secret");
        String encoded = settings.get("secretKey");
        secret = encoded == null ? null : Base64.getDecoder().decode(encoded);
    }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof WSPasswordCallback question) {
                answer(question);
            }
        }
    }

    private void answer(WSPasswordCallback question) {
        switch (question.getUsage()) {
            case WSPasswordCallback.USERNAME_TOKEN -> question.setPassword(ofUsers);
            // Asked for a secret and for a private key to derive one from, it is the same question.
            case WSPasswordCallback.SECRET_KEY -> {
                question.setKey(secret);
                question.setPassword(ofKeys);
            }
            case WSPasswordCallback.SECURITY_CONTEXT_TOKEN -> question.setKey(secret);
            default -> question.setPassword(ofKeys);
        }
    }
}
