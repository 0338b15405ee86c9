import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathExpression;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/**
 * The Java side of {@code cargo xtask bench xml}: does what it is told on standard input, and says what it took.
 *
 * <p>A line is {@code LIBRARY TASK PATH COUNT}; the answer is {@code NANOSECONDS CHECK}, the CPU time of this thread for
 * all repetitions and a number that every library has to agree on. Factories are named, so that nothing is looked up.
 */
public final class Rivals {
    private final XMLInputFactory woodstox = safe(new com.ctc.wstx.stax.WstxInputFactory());
    private final XMLInputFactory aalto = safe(new com.fasterxml.aalto.stax.InputFactoryImpl());
    private final DocumentBuilder builder;
    private final XPathExpression firstIsIbm;
    private final Transformer identity;

    private Rivals() throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
        factory.setNamespaceAware(true);
        builder = factory.newDocumentBuilder();
        firstIsIbm = XPathFactory.newDefaultInstance().newXPath().compile("//order[1]/symbol = 'IBM'");
        identity = TransformerFactory.newDefaultInstance().newTransformer();
    }

    private static XMLInputFactory safe(XMLInputFactory factory) {
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        return factory;
    }

    public static void main(String[] arguments) throws Exception {
        Rivals rivals = new Rivals();
        var clock = ManagementFactory.getThreadMXBean();
        var input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("JDK " + Runtime.version() + ", Woodstox 7.1.0, Aalto 1.3.3");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            byte[] text = Files.readAllBytes(Path.of(words[2]));
            long repetitions = Long.parseLong(words[3]);
            rivals.document = rivals.parse(text);
            long check = 0;
            long start = clock.getCurrentThreadCpuTime();
            for (long turn = 0; turn < repetitions; turn++) {
                check = rivals.run(words[0], words[1], text);
            }
            long time = clock.getCurrentThreadCpuTime() - start;
            System.out.println(time + " " + (check == LATER ? rivals.count(words[1]) : check));
        }
    }

    /** What the last repetition made is looked at when the clock has stopped. */
    private static final long LATER = -1;

    private Document document;
    private byte[] written;

    private long count(String task) {
        if (task.equals("tree")) {
            return document.getElementsByTagName("*").getLength();
        }
        long tags = 0;
        for (byte value : written) {
            tags += value == '<' ? 1 : 0;
        }
        return tags;
    }

    private long run(String library, String task, byte[] text) throws Exception {
        XMLInputFactory factory = library.equals("woodstox") ? woodstox : aalto;
        return switch (task) {
            case "events" -> events(open(factory, text));
            case "first" -> symbolIs("IBM", true, open(factory, text));
            case "scan" -> symbolIs("NOBODY", false, open(factory, text));
            case "tree" -> {
                document = parse(text);
                yield LATER;
            }
            case "tree-xpath" -> condition(parse(text));
            case "xpath" -> condition(document);
            case "write", "write-changed" -> {
                var out = new ByteArrayOutputStream();
                identity.transform(new DOMSource(document), new StreamResult(out));
                written = out.toByteArray();
                yield LATER;
            }
            default -> throw new IllegalArgumentException(task);
        };
    }

    private static XMLStreamReader open(XMLInputFactory factory, byte[] text) throws XMLStreamException {
        return factory.createXMLStreamReader(new ByteArrayInputStream(text));
    }

    private static long events(XMLStreamReader reader) throws XMLStreamException {
        long elements = 0;
        while (reader.hasNext()) {
            if (reader.next() == XMLStreamConstants.START_ELEMENT) {
                elements++;
            }
        }
        reader.close();
        return elements;
    }

    /** Whether an order's symbol has this text: of the first order only, or of any. */
    private static long symbolIs(String wanted, boolean onlyFirst, XMLStreamReader reader) throws XMLStreamException {
        boolean same = false;
        while (!same && reader.hasNext()) {
            if (reader.next() == XMLStreamConstants.START_ELEMENT && reader.getLocalName().equals("symbol")) {
                same = reader.getElementText().equals(wanted);
                if (onlyFirst) {
                    break;
                }
            }
        }
        reader.close();
        return same ? 1 : 0;
    }

    private Document parse(byte[] text) throws Exception {
        return builder.parse(new ByteArrayInputStream(text));
    }

    private long condition(Document document) throws Exception {
        return (Boolean) firstIsIbm.evaluate(document, XPathConstants.BOOLEAN) ? 1 : 0;
    }
}
