import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import javax.xml.parsers.SAXParserFactory;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.sax.SAXSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.xml.sax.InputSource;
import org.xml.sax.XMLReader;

/**
 * The Java side of {@code cargo xtask bench xslt}: does what it is told on standard input, and says what it took.
 *
 * <p>A line is {@code LIBRARY STYLESHEET MESSAGE RESULT COUNT}: three files, and how often to parse the message, transform
 * it and write the result to memory. The answer is {@code NANOSECONDS}, the CPU time of this thread for all repetitions;
 * what the last one wrote is then in the file {@code RESULT}. Factories are named and the parser is used again, so that
 * nothing is looked up for a message.
 */
public final class Transforms {
    private final Map<String, TransformerFactory> factories = Map.of(
            "xsltc", TransformerFactory.newDefaultInstance(), "saxon", new net.sf.saxon.TransformerFactoryImpl());
    private final Map<String, Templates> compiled = new HashMap<>();
    private final XMLReader reader;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private Transforms() throws Exception {
        SAXParserFactory factory = SAXParserFactory.newDefaultInstance();
        factory.setNamespaceAware(true);
        reader = factory.newSAXParser().getXMLReader();
    }

    public static void main(String[] arguments) throws Exception {
        Transforms transforms = new Transforms();
        var clock = ManagementFactory.getThreadMXBean();
        var input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("JDK " + Runtime.version() + ", Saxon-HE " + net.sf.saxon.Version.getProductVersion());
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            Templates templates = transforms.compile(words[0], words[1]);
            byte[] text = Files.readAllBytes(Path.of(words[2]));
            long repetitions = Long.parseLong(words[4]);
            long start = clock.getCurrentThreadCpuTime();
            for (long turn = 0; turn < repetitions; turn++) {
                transforms.run(templates, text);
            }
            long time = clock.getCurrentThreadCpuTime() - start;
            Files.write(Path.of(words[3]), transforms.out.toByteArray());
            System.out.println(time);
        }
    }

    private Templates compile(String library, String path) throws Exception {
        String key = library + " " + path;
        if (!compiled.containsKey(key)) {
            compiled.put(key, factories.get(library).newTemplates(new StreamSource(path)));
        }
        return compiled.get(key);
    }

    private void run(Templates templates, byte[] text) throws Exception {
        out.reset();
        var source = new SAXSource(reader, new InputSource(new ByteArrayInputStream(text)));
        templates.newTransformer().transform(source, new StreamResult(out));
    }
}
