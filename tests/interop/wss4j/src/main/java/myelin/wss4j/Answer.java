package myelin.wss4j;

import java.util.ArrayList;
import java.util.List;

/** What goes back: facts, each a name and a value of one line, and a message. */
final class Answer {
    private final List<String> facts = new ArrayList<>();
    private byte[] message = new byte[0];

    void fact(String name, Object value) {
        String line = name + "=" + String.valueOf(value).replace('\r', ' ').replace('\n', ' ');
        if (value != null && !facts.contains(line)) {
            facts.add(line);
        }
    }

    void message(byte[] bytes) {
        message = bytes;
    }

    List<String> facts() {
        return facts;
    }

    byte[] message() {
        return message;
    }

    /** Refuses a message in which one of these actions, with blanks between them, was not found. */
    void require(String actions) throws Refusal {
        for (String action : actions.split(" ")) {
            if (!action.isEmpty() && !facts.contains("action=" + action)) {
                throw new Refusal("the message has no " + action);
            }
        }
    }
}
