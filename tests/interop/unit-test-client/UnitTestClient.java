import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Sends a unit test to a test server as WSO2's Maven plugin does, with Java's own serialization, and prints the result. */
public class UnitTestClient {
    private static final int DEADLINE_MILLISECONDS = 60_000;

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        String test = Files.readString(Path.of(arguments[1]), StandardCharsets.UTF_8);
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout(DEADLINE_MILLISECONDS);
            ObjectOutputStream out = new ObjectOutputStream(socket.getOutputStream());
            out.writeObject(test);
            out.flush();
            String result = (String) new ObjectInputStream(socket.getInputStream()).readObject();
            System.out.write(result.getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
    }
}
