package myelin.rampart;

import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.ws.security.WSPasswordCallback;

/** Tells Rampart the password of its private key. */
public final class Passwords implements CallbackHandler {
    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof WSPasswordCallback question) {
                question.setPassword("myelin-test");
            }
        }
    }
}
