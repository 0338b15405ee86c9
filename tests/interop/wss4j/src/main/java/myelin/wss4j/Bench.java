package myelin.wss4j;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.wss4j.dom.engine.WSSConfig;
import org.apache.wss4j.stax.setup.InboundWSSec;
import org.apache.wss4j.stax.setup.OutboundWSSec;
import org.w3c.dom.Document;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * The rival of the benchmark: does what it is told on standard input, and says what it took.
 *
 * <p>The one argument is a folder, into which the keys go that all sides use. A line is
 * {@code ENGINE PROFILE MESSAGE RESULT COUNT}: {@code dom} or {@code stax}, a profile below, two files, and how often.
 * The answer is {@code NANOSECONDS}, the CPU time of this thread for all exchanges, or a line that begins with
 * {@code !}; the last response is then in the file RESULT. An exchange is what a gateway does: the request of
 * {@code alice} is read, verified, decrypted and written; the backend's answer, the same plain message, is read,
 * timestamped, signed, encrypted for {@code alice} and written. Stores are loaded once; making the request is not timed.
 */
public final class Bench {
    private static final String TIMESTAMP_AND_BODY =
            "{Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}Timestamp;"
                    + "{Element}{http://schemas.xmlsoap.org/soap/envelope/}Body";
    private static final String DSIG = "http://www.w3.org/2000/09/xmldsig#";
    private static final String DSIG_MORE = "http://www.w3.org/2001/04/xmldsig-more#";
    private static final String ENC = "http://www.w3.org/2001/04/xmlenc#";
    private static final String ENC11 = "http://www.w3.org/2009/xmlenc11#";

    /** What a profile sets, and the ending of its people's names. */
    private record Profile(String people, Map<String, String> settings) {
        Settings settings(String signer, String receiver) {
            Settings all = new Settings();
            settings.forEach(all::put);
            all.put("user", signer + people);
            all.put("encryptionUser", receiver + people);
            all.put("signatureParts", TIMESTAMP_AND_BODY);
            all.put("signatureKeyIdentifier", "DirectReference");
            all.put("encryptionKeyIdentifier", "Thumbprint");
            return all;
        }
    }

    private static final Map<String, Profile> PROFILES = Map.of(
            "modern", new Profile("", Map.of(
                    "action", "Timestamp Signature Encrypt",
                    "signatureAlgorithm", DSIG_MORE + "rsa-sha256",
                    "signatureDigestAlgorithm", ENC + "sha256",
                    "encryptionKeyTransportAlgorithm", ENC + "rsa-oaep-mgf1p",
                    "encryptionSymAlgorithm", ENC11 + "aes128-gcm")),
            "legacy", new Profile("-1024", Map.of(
                    "action", "Timestamp Signature Encrypt",
                    "signatureAlgorithm", DSIG + "rsa-sha1",
                    "signatureDigestAlgorithm", DSIG + "sha1",
                    "encryptionKeyTransportAlgorithm", ENC + "rsa-1_5",
                    "encryptionSymAlgorithm", ENC + "aes128-cbc",
                    "allowRSA15KeyTransportAlgorithm", "true")),
            "ecdsa", new Profile("-p256", Map.of(
                    "action", "Timestamp Signature",
                    "signatureAlgorithm", DSIG_MORE + "ecdsa-sha256",
                    "signatureDigestAlgorithm", ENC + "sha256",
                    // A rule of 2004 that knows no ECDSA.
                    "isBSPCompliant", "false")));

    /** A gateway, ready for one profile. */
    private interface Gateway {
        byte[] request(byte[] plain) throws Exception;

        byte[] verified(byte[] request) throws Exception;

        byte[] response(byte[] plain) throws Exception;
    }

    private final Keys keys;
    private final Xml xml = new Xml();
    private final Map<String, Gateway> gateways = new HashMap<>();

    private Bench(Keys keys) {
        this.keys = keys;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream output = System.out;
        System.setOut(System.err);
        Path folder = Files.createDirectories(Path.of(arguments[0]));
        Bench bench = new Bench(Keys.make(folder));
        String version = WSSConfig.class.getPackage().getImplementationVersion();
        output.println("WSS4J " + version + ", JDK " + Runtime.version());
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            try {
                output.println(bench.run(line.split(" ")));
            } catch (Exception error) {
                output.println("! " + String.valueOf(error).replace('\n', ' '));
            }
        }
    }

    private long run(String[] words) throws Exception {
        Gateway gateway = gateways.get(words[0] + words[1]);
        if (gateway == null) {
            gateway = gateway(words[0], PROFILES.get(words[1]));
            gateways.put(words[0] + words[1], gateway);
        }
        byte[] plain = Files.readAllBytes(Path.of(words[2]));
        byte[] request = gateway.request(plain);
        if (!payload(gateway.verified(request)).isEqualNode(payload(plain))) {
            throw new IllegalStateException("what was verified is not what was sent");
        }
        byte[] response = null;
        var clock = ManagementFactory.getThreadMXBean();
        long start = clock.getCurrentThreadCpuTime();
        for (long exchange = Long.parseLong(words[4]); exchange > 0; exchange--) {
            gateway.verified(request);
            response = gateway.response(plain);
        }
        long end = clock.getCurrentThreadCpuTime();
        Files.write(Path.of(words[3]), response);
        return end - start;
    }

    /** The first element of the SOAP body. */
    private Node payload(byte[] message) throws Exception {
        Document document = xml.read(message);
        NodeList bodies = document.getElementsByTagNameNS("http://schemas.xmlsoap.org/soap/envelope/", "Body");
        return bodies.item(0).getFirstChild();
    }

    private Gateway gateway(String engine, Profile profile) throws Exception {
        Settings client = profile.settings("alice", "bob");
        Settings server = profile.settings("bob", "alice");
        return engine.equals("dom") ? new OnTrees(client, server) : new OnStreams(client, server);
    }

    private final class OnTrees implements Gateway {
        private final Dom dom = new Dom(keys);
        private final Settings client;
        private final Settings server;
        private final Map<String, Object> fromClient;
        private final Map<String, Object> fromServer;

        OnTrees(Settings client, Settings server) throws Exception {
            this.client = client;
            this.server = server;
            fromClient = Configuration.of(client, keys);
            fromServer = Configuration.of(server, keys);
        }

        @Override
        public byte[] request(byte[] plain) throws Exception {
            return secured(plain, client, fromClient);
        }

        @Override
        public byte[] verified(byte[] request) throws Exception {
            Document document = xml.read(request);
            // The handler writes into its configuration.
            dom.accept(document, server, new HashMap<>(fromServer));
            return xml.write(document);
        }

        @Override
        public byte[] response(byte[] plain) throws Exception {
            return secured(plain, server, fromServer);
        }

        private byte[] secured(byte[] plain, Settings settings, Map<String, Object> configuration) throws Exception {
            Document document = xml.read(plain);
            dom.protect(document, settings, new HashMap<>(configuration));
            return xml.write(document);
        }
    }

    private final class OnStreams implements Gateway {
        private final Stax stax = new Stax(keys);
        private final OutboundWSSec client;
        private final InboundWSSec inbound;
        private final OutboundWSSec outbound;

        OnStreams(Settings client, Settings server) throws Exception {
            this.client = stax.outbound(client);
            inbound = stax.inbound(server);
            outbound = stax.outbound(server);
        }

        @Override
        public byte[] request(byte[] plain) throws Exception {
            return stax.protect(plain, client, List.of(), new ArrayList<>());
        }

        @Override
        public byte[] verified(byte[] request) throws Exception {
            return stax.accept(request, inbound, List.of(), List.of());
        }

        @Override
        public byte[] response(byte[] plain) throws Exception {
            return stax.protect(plain, outbound, List.of(), new ArrayList<>());
        }
    }
}
