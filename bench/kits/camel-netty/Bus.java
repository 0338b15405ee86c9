import java.util.Arrays;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.main.Main;
import org.apache.camel.model.ProcessorDefinition;
import org.apache.camel.model.RouteDefinition;
import org.apache.camel.support.builder.Namespaces;

/** A route for each scenario: java Bus.java netty|undertow|vertx PORT BACKEND FOLDER THREADS POOL... */
public class Bus extends RouteBuilder {
    private static final String ROUTING = "xadmin;server1;community#1.0##";
    private static final String OF_THE_REQUEST = "CamelHttp(Uri|Path|RawQuery|Query)";
    private static final long LARGEST_BYTES = 64L << 20;

    private final String engine;
    private final String port;
    private final String backend;
    private final String folder;
    private final String threads;
    private final String[] pool;

    private Bus(String[] arguments) {
        engine = arguments[0];
        port = arguments[1];
        backend = arguments[2];
        folder = arguments[3];
        threads = arguments[4];
        pool = Arrays.copyOfRange(arguments, 5, arguments.length);
    }

    /** A route that begins where a service is asked. */
    private RouteDefinition service(String name) {
        String path = "/services/" + name;
        return from(switch (engine) {
            case "netty" -> "netty-http:http://127.0.0.1:" + port + path + "?bridgeEndpoint=true&backlog=4096&workerCount="
                + threads + "&chunkedMaxContentLength=" + LARGEST_BYTES;
            case "undertow" -> "undertow:http://127.0.0.1:" + port + path;
            default -> "platform-http:" + path;
        });
    }

    /** Asks the backend, and has the answer written with a length of its own. */
    private <T extends ProcessorDefinition<?>> T ask(T route) {
        route.removeHeaders(OF_THE_REQUEST).removeHeader("Host").to(at(backend));
        route.removeHeader("Content-Length");
        return route;
    }

    /** The backends of the pool take turns. */
    private void askInTurns(RouteDefinition route) {
        route.removeHeaders(OF_THE_REQUEST).removeHeader("Host").loadBalance().roundRobin()
            .to(Arrays.stream(pool).map(this::at).toArray(String[]::new)).end().removeHeader("Content-Length");
    }

    /** A backend as an endpoint. */
    private String at(String address) {
        String options = "?throwExceptionOnFailure=false";
        return switch (engine) {
            case "netty" -> "netty-http:http://" + address + "/" + options
                + "&bridgeEndpoint=true&producerPoolMaxTotal=4096&producerPoolMaxIdle=4096&chunkedMaxContentLength="
                + LARGEST_BYTES;
            case "undertow" -> "undertow:http://" + address + "/" + options + "&keepAlive=true";
            default -> "vertx-http:http://" + address + "/" + options + "&bridgeEndpoint=true";
        };
    }

    private void refuse(ProcessorDefinition<?> route) {
        route.setHeader(Exchange.HTTP_RESPONSE_CODE, constant(500)).setHeader("Content-Type", constant("text/plain"))
            .setBody(constant("nobody trades this here"));
    }

    /** A route by an expression over the message; what does not match is refused. */
    private void routed(String name, String expression) {
        Namespaces names = new Namespaces("soapenv", "http://schemas.xmlsoap.org/soap/envelope/")
            .add("r", "urn:myelin:routing");
        var choice = service(name).convertBodyTo(byte[].class).choice().when(xpath(expression, names));
        ask(choice);
        refuse(choice.otherwise());
        choice.end();
    }

    /** A stylesheet for the request and one for the answer; and the request's alone, to see what the backend gets. */
    private void transformed(String name, String request, String answer) {
        String stylesheet = "xslt:file:" + folder + "/%s.xsl?output=bytes&contentCache=true";
        for (boolean back : new boolean[] {true, false}) {
            var route = service(back ? name : name + "-there").convertBodyTo(byte[].class);
            route.to(stylesheet.formatted(request));
            ask(route);
            if (back) {
                route.convertBodyTo(byte[].class).to(stylesheet.formatted(answer))
                    .setHeader("Content-Type", constant("text/xml; charset=UTF-8"));
            }
        }
    }

    @Override
    public void configure() {
        ask(service("direct"));
        askInTurns(service("pool"));
        var choice = service("header").choice().when(header("routing").isEqualTo(ROUTING));
        ask(choice);
        refuse(choice.otherwise());
        choice.end();
        routed("soap-header", "/soapenv:Envelope/soapenv:Header/r:routing = '" + ROUTING + "'");
        routed("cbr", "//order[1]/symbol = 'IBM'");
        routed("cbr-scan", "not(//order/symbol = 'NOBODY')");
        transformed("xslt", "reversed", "restored");
        transformed("xslt-identity", "identity-reversed", "identity-restored");
        transformed("xslt-recursive", "recursive", "recursive");
    }

    public static void main(String[] arguments) throws Exception {
        Main main = new Main();
        main.configure().addRoutesBuilder(new Bus(arguments));
        main.addInitialProperty("camel.main.streamCachingEnabled", "false");
        main.addInitialProperty("camel.main.jmxEnabled", "false");
        if (arguments[0].equals("vertx")) {
            main.addInitialProperty("camel.server.enabled", "true");
            main.addInitialProperty("camel.server.host", "127.0.0.1");
            main.addInitialProperty("camel.server.port", arguments[1]);
            main.addInitialProperty("camel.server.maxBodySize", Long.toString(LARGEST_BYTES));
        }
        main.run();
    }
}
