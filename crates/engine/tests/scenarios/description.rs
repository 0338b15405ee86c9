//! What proxies say about themselves, and what they make of it: pages, operations, descriptions of others.

use std::fs;

use crate::common::{Scenario, get, load_text, post, request, response};
use myelin_engine::transport::SendErrorKind;
use myelin_engine::{Settings, load};

const SERVICE: &str = r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:o="urn:orders" targetNamespace="urn:orders">
  <types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:orders">IMPORT
    <xs:element name="place" type="xs:string"/></xs:schema></types>
  <message name="place"><part name="body" element="o:place"/></message>
  <portType name="Orders"><operation name="place"><input message="o:place"/></operation></portType>
  <binding name="Soap" type="o:Orders">
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="place"><soap:operation soapAction="urn:place"/></operation>
  </binding>
  <service name="Backend"><port name="P" binding="o:Soap"><soap:address location="http://secret/orders"/></port></service>
</definitions>"#;

const IMPORT: &str = r#"<xs:import namespace="urn:types" schemaLocation="types/a.xsd"/>"#;

fn service(import: &str) -> String {
    SERVICE.replace("IMPORT", import)
}

/// A proxy that answers with the operation it was asked for.
fn proxy(description: &str) -> String {
    format!(
        "<proxy name='Orders'><target><inSequence>
            <property name='op' expression=\"concat(get-property('OperationName'), '|', get-property('OperationNamespace'))\" scope='transport'/>
            <respond/></inSequence></target>{description}</proxy>"
    )
}

fn soap(body: &str) -> String {
    format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{body}</s:Body></s:Envelope>")
}

#[test]
fn a_proxy_describes_another_interface_than_its_backends_under_its_own_name_and_address() {
    let bus = Scenario::new(&proxy(&format!("<publishWSDL>{}</publishWSDL>", service(""))));
    let reply = bus.serve(get("/services/Orders?wsdl"));
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/xml; charset=UTF-8")));
    assert!(reply.body.contains("location=\"http://bus/services/Orders.OrdersHttpSoap11Endpoint\""), "{}", reply.body);
    assert!(!reply.body.contains("secret") && !reply.body.contains("https://"), "{}", reply.body);
    let secure = bus.serve_over(get("/services/Orders?wsdl"), true);
    assert!(
        secure.body.contains("location=\"https://bus/services/Orders.OrdersHttpsSoap11Endpoint\""),
        "{}",
        secure.body
    );
    assert!(bus.serve(get("/services/Orders?wsdl2")).body.contains("http://www.w3.org/ns/wsdl"));
    assert!(bus.serve(get("/services/Orders?xsd")).body.contains("\"place\""));
    assert!(bus.serve(get("/services/Orders?info")).body.contains("<li>place</li>"));
    assert_eq!(
        bus.serve(request("HEAD", "/services/Orders?wsdl", &[], "")).body,
        bus.serve(get("/services/Orders?wsdl")).body.replace("//bus/", "//192.0.2.1:8280/")
    );
    assert!(bus.sent().is_empty());
}

#[test]
fn what_is_not_there_is_a_clear_404() {
    let bus = Scenario::new(&proxy(&format!("<publishWSDL>{}</publishWSDL>", service(""))));
    for question in ["?xsd=none", "?wsdl=none", "?policy"] {
        assert_eq!(bus.serve(get(&format!("/services/Orders{question}"))).status, 404, "{question}");
    }
    let reply = bus.serve(get("/services/Nobody?wsdl"));
    assert_eq!((reply.status, reply.body.as_str()), (404, "Nothing is offered at this path\n"));
}

#[test]
fn a_proxy_that_publishes_nothing_describes_itself_as_one_that_takes_anything() {
    let bus = Scenario::new(&proxy("<description>Anything.</description>"));
    let body = bus.serve(get("/services/Orders?wsdl")).body;
    assert!(body.contains("operation name=\"mediate\"") && body.contains("Anything."), "{body}");
    assert_eq!(bus.serve(post("/services/Orders", &[], &soap("<x/>"))).header("op"), Some("mediate|"));
}

#[test]
fn files_beside_the_description_and_named_resources_are_pages_too() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("types")).unwrap();
    fs::write(folder.path().join("orders.wsdl"), service(IMPORT)).unwrap();
    let schema =
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:include schemaLocation='named.xsd'/></xs:schema>";
    fs::write(folder.path().join("types/a.xsd"), schema).unwrap();
    let configuration = folder.path().join("synapse.xml");
    let named = "<localEntry key='it'><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' id='named'/></localEntry>";
    let publish = "<publishWSDL uri='file:orders.wsdl'><resource location='named.xsd' key='it'/></publishWSDL>";
    let text = format!("<definitions xmlns='http://ws.apache.org/ns/synapse'>{named}{}</definitions>", proxy(publish));
    fs::write(&configuration, text).unwrap();
    let loaded = load(&[configuration], &Settings::default());
    assert!(loaded.report.artefacts.iter().all(|it| it.warnings.is_empty()), "{}", loaded.report.to_text());
    let sources = loaded.sources.as_read();
    for file in ["orders.wsdl", "types/a.xsd"] {
        assert!(sources.contains_key(&folder.path().join(file)), "a change of {file} is to be seen");
    }
    let bus = Scenario::of(loaded, |_, _| Err(SendErrorKind::Closed));
    assert!(bus.serve(get("/services/Orders?wsdl")).body.contains("schemaLocation=\"Orders?xsd=types/a.xsd\""));
    let first = bus.serve(get("/services/Orders?xsd=types%2Fa.xsd")).body;
    assert!(first.contains("schemaLocation='Orders?xsd=types/named.xsd'"), "{first}");
    assert!(bus.serve(get("/services/Orders?xsd=types/named.xsd")).body.contains("id='named'"));
}

#[test]
fn a_description_of_another_server_is_fetched_when_it_is_asked_for_and_kept() {
    let publish = "<publishWSDL uri='http://back/orders?wsdl'/>";
    let bus = Scenario::with(&proxy(publish), |count, sent| match (count, sent.uri.as_str()) {
        (0, _) => Err(SendErrorKind::ConnectFailed),
        (1, "http://back/orders?wsdl") => Ok(response(200, &[], &service(IMPORT))),
        (2, "http://back/types/a.xsd") => {
            let other = "<xs:import namespace='x' schemaLocation='http://elsewhere/x.xsd'/>";
            let schema = format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{other}</xs:schema>");
            Ok(response(200, &[], &schema))
        }
        _ => Err(SendErrorKind::Closed),
    });
    assert_eq!(bus.serve(post("/services/Orders", &[], &soap("<x/>"))).status, 200);
    let reply = bus.serve(get("/services/Orders?wsdl"));
    assert_eq!((reply.status, reply.body.contains("at present")), (502, true));
    for _ in 0..2 {
        let reply = bus.serve(get("/services/Orders?wsdl"));
        assert!(reply.body.contains("schemaLocation=\"Orders?xsd=types/a.xsd\""), "{}", reply.body);
    }
    let schema = bus.serve(get("/services/Orders?xsd=types/a.xsd")).body;
    assert!(schema.contains("http://elsewhere/x.xsd"), "we go nowhere but to the server that was named: {schema}");
    assert_eq!(bus.sent().len(), 3);
    let later = bus.serve(post("/services/Orders", &[], &soap("<x/>")));
    assert_eq!(later.header("op"), Some("mediate|"), "nothing hangs on whether somebody asked");
}

#[test]
fn the_description_of_an_endpoint_is_at_its_address() {
    let endpoint = "<endpoint name='back'><address uri='http://back/orders'/></endpoint>";
    let bus = Scenario::with(&(endpoint.to_owned() + &proxy("<publishWSDL endpoint='back'/>")), |_, sent| {
        assert_eq!((sent.method.as_str(), sent.uri.as_str()), ("GET", "http://back/orders?wsdl"));
        Ok(response(200, &[], &service("")))
    });
    assert_eq!(bus.serve(get("/services/Orders?wsdl")).status, 200);
}

#[test]
fn an_operation_is_chosen_by_action_path_or_body_and_soap_that_means_none_is_refused() {
    let check = |parameter: &str, headers: &[(&str, &str)], target: &str, body: &str, expected: Result<&str, u16>| {
        let description = format!("<publishWSDL>{}</publishWSDL>{parameter}", service(""));
        let bus = Scenario::new(&proxy(&description));
        let reply = bus.serve(post(target, headers, body));
        let got = if reply.status == 200 { Ok(reply.header("op").unwrap_or_default()) } else { Err(reply.status) };
        assert_eq!(got, expected, "{}", reply.body);
        if expected.is_err() {
            assert!(reply.body.contains("The request means no operation of this service"), "{}", reply.body);
        }
    };
    let (action, place) = ([("SOAPAction", "\"urn:place\"")], "<o:place xmlns:o='urn:orders'/>");
    check("", &action, "/services/Orders", &soap("<x/>"), Ok("place|urn:orders"));
    check("", &[], "/services/Orders/place", &soap("<x/>"), Ok("place|urn:orders"));
    check("", &[], "/services/Orders", &soap(place), Ok("place|urn:orders"));
    check("", &[], "/services/Orders", &soap("<x/>"), Err(500));
    check("", &[("Content-Type", "application/xml")], "/services/Orders", place, Ok("place|urn:orders"));
    let off = "<parameter name='disableOperationValidation'>true</parameter>";
    check(off, &[], "/services/Orders", &soap("<x/>"), Ok("mediate|"));
}

#[test]
fn what_cannot_be_read_is_warned_of_at_its_place_and_the_proxy_runs() {
    let check = |publish: &str, warning: &str, status: u16| {
        let loaded = load_text(&proxy(publish));
        let text = loaded.report.to_text();
        assert!(loaded.report.faulty() == 0 && text.contains(warning), "{text}");
        let bus = Scenario::of(loaded, |_, _| Err(SendErrorKind::Closed));
        assert_eq!(bus.serve(get("/services/Orders?wsdl")).status, status);
        assert_eq!(bus.serve(post("/services/Orders", &[("SOAPAction", "urn:place")], &soap("<x/>"))).status, 200);
    };
    check("<publishWSDL uri='file:none.wsdl'/>", "there is no file \"file:none.wsdl\"; the proxy runs", 404);
    check("<publishWSDL key='none'/>", "there is no local entry \"none\"", 404);
    check("<publishWSDL/>", "needs a key, a uri, an endpoint, or a description in it", 404);
    check("<publishWSDL><a xmlns='urn:a'/></publishWSDL>", "no description of WSDL", 404);
    let broken = service("").replace("<message name=\"place\">", "<message name=\"other\">");
    check(&format!("<publishWSDL>\n{broken}</publishWSDL>"), ":9:51: there is no message \"place\"", 404);
    let safe = "<publishWSDL key='none'/><parameter name='enablePublishWSDLSafeMode'>true</parameter>";
    check(safe, "describes itself as one that takes anything", 200);
    check(&format!("<publishWSDL>{}</publishWSDL>", service(IMPORT)), "there is nothing at \"types/a.xsd\"", 200);
    check(
        "<parameter name='passwordCallbackClass'>x</parameter>",
        "parameter \"passwordCallbackClass\" has no effect",
        200,
    );
}

#[test]
fn the_original_is_published_with_the_services_address_or_as_it_came() {
    let check = |parameters: &str, contains: &str| {
        let bus = Scenario::new(&proxy(&format!("<publishWSDL>{}</publishWSDL>{parameters}", service(""))));
        let body = bus.serve(get("/services/Orders?wsdl")).body;
        assert!(body.contains(contains), "{body}");
    };
    let original = "<parameter name='useOriginalwsdl'>true</parameter>";
    check(original, "<soap:address location=\"http://bus/services/Orders\"/>");
    check(&format!("{original}<parameter name='modifyUserWSDLPortAddress'>false</parameter>"), "http://secret/orders");
}
