package myelin.wss4j;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Document;

/** Reads and writes documents with the JDK's parser and writer, named once so that nothing is looked up per message. */
final class Xml {
    private final DocumentBuilder builder;
    private final Transformer writer;

    Xml() {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setNamespaceAware(true);
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            builder = factory.newDocumentBuilder();
            // Errors are thrown; nobody reads them from standard error.
            builder.setErrorHandler(null);
            writer = TransformerFactory.newDefaultInstance().newTransformer();
            writer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    Document read(byte[] text) throws Exception {
        return builder.parse(new ByteArrayInputStream(text));
    }

    byte[] write(Document document) throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        writer.transform(new DOMSource(document), new StreamResult(output));
        return output.toByteArray();
    }
}
