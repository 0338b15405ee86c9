package myelin.wss4j;

/** The message is not accepted, or cannot be secured as the settings say: a verdict, not a failure of this program. */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1;

    /** Whatever an engine throws counts as its refusal; mistakes in settings were found before it ran. */
    Refusal(Exception cause) {
        super(cause);
    }

    Refusal(String reason) {
        super(reason);
    }
}
