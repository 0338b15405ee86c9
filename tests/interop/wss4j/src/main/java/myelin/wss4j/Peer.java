package myelin.wss4j;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.util.Comparator;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.apache.wss4j.common.ext.WSSecurityException;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.bouncycastle.jce.provider.BouncyCastleProvider;

/**
 * Answers requests on standard input with answers on standard output until its input ends.
 *
 * <p>README.md describes the protocol.
 */
public final class Peer {
    /** A message or a line longer than this is a mistake of the test. */
    private static final int LIMIT_BYTES = 256 * 1024 * 1024;

    /** Warns of every STR-Transform, for which it sees no bytes. Kept here: loggers are forgotten otherwise. */
    private static final Logger REFERENCES = Logger.getLogger("org.apache.jcp.xml.dsig.internal.dom");

    private final InputStream input;
    private final OutputStream output;
    private final Keys keys;
    private final Dom dom;
    private final Stax stax;

    private Peer(InputStream input, OutputStream output, Keys keys) {
        this.input = input;
        this.output = output;
        this.keys = keys;
        dom = new Dom(keys);
        stax = new Stax(keys);
    }

    public static void main(String[] arguments) throws Exception {
        InputStream input = new BufferedInputStream(System.in);
        OutputStream output = new BufferedOutputStream(System.out);
        // Whatever a library prints must not end up between two answers.
        System.setOut(new PrintStream(System.err, true, StandardCharsets.UTF_8));
        REFERENCES.setLevel(Level.SEVERE);
        // RSA-PSS as WSS4J names it; last, so that everything else is done as on any JDK.
        Security.addProvider(new BouncyCastleProvider());
        Path folder = Files.createTempDirectory("myelin-wss4j-");
        try {
            Keys keys = Keys.make(folder);
            Peer peer = new Peer(input, output, keys);
            peer.ready();
            while (peer.serve()) {
                // One request after the other.
            }
        } finally {
            remove(folder);
        }
    }

    /** The first answer, which nobody asked for: where the keys are, and who speaks. */
    private void ready() throws IOException {
        Answer answer = new Answer();
        answer.fact("keys", keys.folder());
        answer.fact("wss4j", WSSConfig.class.getPackage().getImplementationVersion());
        answer.fact("java", Runtime.version());
        send("ok", answer);
    }

    /** Serves one request; false at the end of the input. */
    private boolean serve() throws IOException {
        String first = line();
        if (first == null) {
            return false;
        }
        Answer answer = new Answer();
        String status = "ok";
        String[] words = first.split(" ");
        int length = words.length == 2 ? Integer.parseInt(words[1]) : -1;
        if (length < 0 || length > LIMIT_BYTES) {
            throw new IOException("no request: " + first);
        }
        try {
            Settings settings = new Settings();
            IllegalArgumentException mistake = null;
            for (String line = line(); line != null && !line.isEmpty(); line = line()) {
                int equals = line.indexOf('=');
                try {
                    settings.put(line.substring(0, Math.max(equals, 0)), line.substring(equals + 1));
                } catch (IllegalArgumentException error) {
                    mistake = error;
                }
            }
            byte[] message = input.readNBytes(length);
            if (message.length < length) {
                throw new EOFException("the message ends early");
            }
            if (mistake != null) {
                throw mistake;
            }
            run(words[0], message, settings, answer);
        } catch (Refusal refusal) {
            status = "refused";
            explain(refusal, answer);
        } catch (EOFException error) {
            return false;
        } catch (Exception | LinkageError error) {
            status = "failed";
            explain(error, answer);
        }
        send(status, answer);
        return true;
    }

    private void run(String verb, byte[] message, Settings settings, Answer answer) throws Exception {
        // Policies are for the engine on streams alone.
        boolean streaming = settings.get("engine", settings.get("policy") == null ? "dom" : "stax").equals("stax");
        switch (verb) {
            case "secure" -> {
                if (streaming) {
                    stax.secure(message, settings, answer);
                } else {
                    dom.secure(message, settings, answer);
                }
            }
            case "verify" -> {
                if (streaming) {
                    stax.verify(message, settings, answer);
                } else {
                    dom.verify(message, settings, answer);
                }
            }
            default -> throw new IllegalArgumentException("there is no request " + verb);
        }
    }

    /** Who refused, and every cause behind it: tests compare classes and codes, people read the sentences. */
    private static void explain(Throwable error, Answer answer) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof WSSecurityException refusal) {
                answer.fact("code", refusal.getErrorCode());
                answer.fact("fault", refusal.getFaultCode());
            }
            if (!(cause instanceof Refusal) || cause.getCause() == null) {
                answer.fact("reason", cause.getClass().getName() + ": " + cause.getMessage());
            }
        }
    }

    private void send(String status, Answer answer) throws IOException {
        StringBuilder head = new StringBuilder(status).append(' ').append(answer.message().length).append('\n');
        for (String fact : answer.facts()) {
            head.append(fact).append('\n');
        }
        output.write(head.append('\n').toString().getBytes(StandardCharsets.UTF_8));
        output.write(answer.message());
        output.flush();
    }

    /** The next line without its end, or null at the end of the input. */
    private String line() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                return null;
            }
            if (bytes.size() > LIMIT_BYTES) {
                throw new IOException("a line without end");
            }
            bytes.write(next);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        }
    }
}
