import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.camel.Exchange;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.builder.xml.Namespaces;
import org.apache.camel.component.jetty.JettyHttpComponent;
import org.apache.camel.impl.DefaultCamelContext;
import org.apache.camel.impl.SimpleRegistry;
import org.apache.camel.model.ChoiceDefinition;
import org.apache.camel.model.ProcessorDefinition;
import org.apache.camel.model.RouteDefinition;
import org.eclipse.jetty.server.NCSARequestLog;
import org.eclipse.jetty.server.handler.RequestLogHandler;

/** A route for each scenario: java Bus PORT BACKEND FOLDER ACCESS_LOG POOL..., with ACCESS_LOG a file or "" */
public class Bus extends RouteBuilder {
    private static final String ROUTING = "xadmin;server1;community#1.0##";
    private static final String OF_THE_REQUEST = "CamelHttp(Uri|Path|RawQuery|Query|ServletRequest|ServletResponse)";

    private final String port;
    private final String backend;
    private final String folder;
    private final boolean logged;
    private final String[] pool;

    private Bus(String[] arguments) {
        port = arguments[0];
        backend = arguments[1];
        folder = arguments[2];
        logged = !arguments[3].isEmpty();
        pool = Arrays.copyOfRange(arguments, 4, arguments.length);
    }

    /**
     * A route that begins where a service is asked. The message is read whole: passed on as a stream, larger ones reach
     * the backend with wrong bytes under load.
     */
    private RouteDefinition service(String name) {
        return from("jetty:http://127.0.0.1:" + port + "/services/" + name
            + "?disableStreamCache=true" + (logged ? "&handlers=log" : "")).convertBodyTo(byte[].class);
    }

    /** A backend as an endpoint. */
    private String at(String address) {
        return "jetty:http://" + address + "/?bridgeEndpoint=true&throwExceptionOnFailure=false"
            + "&httpClient.connectorType=2&httpClient.maxConnectionsPerAddress=4096&httpClient.idleTimeout=600000";
    }

    /** Asks the backend, and has the answer written with a length of its own. */
    private void ask(ProcessorDefinition<?> route) {
        route.removeHeaders(OF_THE_REQUEST).removeHeader("Host").removeHeader("Content-Length").to(at(backend))
            .removeHeader("Content-Length");
    }

    /** The backends of the pool take turns. */
    private void askInTurns(RouteDefinition route) {
        route.removeHeaders(OF_THE_REQUEST).removeHeader("Host").removeHeader("Content-Length").loadBalance()
            .roundRobin().to(Arrays.stream(pool).map(this::at).toArray(String[]::new)).end()
            .removeHeader("Content-Length");
    }

    private void refuse(ProcessorDefinition<?> route) {
        route.setHeader(Exchange.HTTP_RESPONSE_CODE, constant(500)).setHeader("Content-Type", constant("text/plain"))
            .setBody(constant("nobody trades this here"));
    }

    /** A route by an expression over the message; what does not match is refused. */
    private void routed(String name, String expression) {
        Namespaces names = new Namespaces("soapenv", "http://schemas.xmlsoap.org/soap/envelope/")
            .add("r", "urn:myelin:routing");
        ChoiceDefinition choice = service(name).choice().when(names.xpath(expression));
        ask(choice);
        refuse(choice.otherwise());
    }

    /** A stylesheet for the request and one for the answer; and the request's alone, to see what the backend gets. */
    private void transformed(String name, String request, String answer) {
        String stylesheet = "xslt:file:" + folder + "/%s.xsl?output=bytes";
        for (boolean back : new boolean[] {true, false}) {
            RouteDefinition route = service(back ? name : name + "-there");
            route.to(String.format(stylesheet, request));
            ask(route);
            if (back) {
                route.convertBodyTo(byte[].class).to(String.format(stylesheet, answer));
            }
        }
    }

    @Override
    public void configure() {
        ask(service("direct"));
        askInTurns(service("pool"));
        ChoiceDefinition choice = service("header").choice().when(header("routing").isEqualTo(ROUTING));
        ask(choice);
        refuse(choice.otherwise());
        routed("soap-header", "/soapenv:Envelope/soapenv:Header/r:routing = '" + ROUTING + "'");
        routed("cbr", "//order[1]/symbol = 'IBM'");
        routed("cbr-scan", "not(//order/symbol = 'NOBODY')");
        transformed("xslt", "reversed", "restored");
        transformed("xslt-identity", "identity-reversed", "identity-restored");
        transformed("xslt-recursive", "recursive", "recursive");
    }

    public static void main(String[] arguments) throws Exception {
        RequestLogHandler log = new RequestLogHandler();
        if (!arguments[3].isEmpty()) {
            log.setRequestLog(new NCSARequestLog(arguments[3]));
        }
        SimpleRegistry registry = new SimpleRegistry();
        registry.put("log", log);
        DefaultCamelContext context = new DefaultCamelContext(registry);
        context.disableJMX();
        context.setUseBreadcrumb(false);
        Map<String, Object> connector = new HashMap<>();
        connector.put("acceptQueueSize", 4096);
        connector.put("maxIdleTime", 600000);
        JettyHttpComponent jetty = context.getComponent("jetty", JettyHttpComponent.class);
        jetty.setSocketConnectorProperties(connector);
        jetty.setMinThreads(16);
        jetty.setMaxThreads(200);
        jetty.setHttpClientMinThreads(8);
        jetty.setHttpClientMaxThreads(64);
        context.addRoutes(new Bus(arguments));
        context.start();
        Thread.currentThread().join();
    }
}
