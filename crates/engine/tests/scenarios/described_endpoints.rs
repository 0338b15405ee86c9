//! `wsdl` endpoints: where a description says that a port is, and what is spoken there.

use crate::common::{Scenario, Sent, post, report, response};
use myelin_engine::transport::SendErrorKind;

/// A description with a port of SOAP 1.1, one of SOAP 1.2, one by GET and one that is no HTTP, at a host.
fn description(host: &str) -> String {
    format!(
        r#"<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/"
            xmlns:s12="http://schemas.xmlsoap.org/wsdl/soap12/" xmlns:h="http://schemas.xmlsoap.org/wsdl/http/"
            xmlns:q="urn:q" targetNamespace="urn:q">
          <w:binding name="Get" type="q:Quote"><h:binding verb="GET"/></w:binding>
          <w:service name="Quote">
            <w:port name="Eleven" binding="q:Soap"><s:address location="http://{host}/eleven"/></w:port>
            <w:port name="Twelve" binding="q:Soap12"><s12:address location="http://{host}/twelve"/></w:port>
            <w:port name="Get" binding="q:Get"><h:address location="http://{host}/get"/></w:port>
            <w:port name="Queue" binding="q:Soap"><s:address location="jms:/quotes"/></w:port>
          </w:service>
        </w:definitions>"#
    )
}

fn proxy(kind: &str) -> String {
    format!("<proxy name='P'><target><endpoint>{kind}</endpoint></target></proxy>")
}

fn inline(port: &str) -> String {
    proxy(&format!("<wsdl service='Quote' port='{port}'>{}</wsdl>", description("back")))
}

const REMOTE: &str = "<wsdl uri='http://back/quote?wsdl' service='Quote' port='Eleven'/>";
const ENVELOPE: &str =
    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><a>1</a></s:Body></s:Envelope>";

fn served(configuration: &str) -> Sent {
    let bus = Scenario::new(configuration);
    assert_eq!(bus.serve(post("/services/P/rest", &[("SOAPAction", "urn:a")], ENVELOPE)).status, 200);
    bus.into_sent()
}

#[test]
fn a_port_says_where_messages_go_and_in_what_form() {
    let eleven = served(&inline("Eleven"));
    assert_eq!((eleven.uri.as_str(), eleven.body.as_str()), ("http://back/eleven", ENVELOPE));
    assert!(eleven.on_the_wire, "what has the form leaves as it came");
    let twelve = served(&inline("Twelve"));
    assert_eq!(twelve.uri, "http://back/twelve");
    assert!(twelve.body.contains("http://www.w3.org/2003/05/soap-envelope"), "{}", twelve.body);
    let get = served(&inline("Get"));
    assert_eq!((get.method.as_str(), get.body.as_str()), ("GET", ""));
    assert!(get.uri.starts_with("http://back/get"), "{}", get.uri);
}

#[test]
fn version_two_tells_ports_as_well() {
    let description = r#"<d:description xmlns:d="http://www.w3.org/ns/wsdl" xmlns:q="urn:q" targetNamespace="urn:q">
        <d:binding name="B" interface="q:I" type="http://www.w3.org/ns/wsdl/soap"/>
        <d:service name="Quote" interface="q:I"><d:endpoint name="E" binding="q:B" address="http://back/two"/></d:service>
      </d:description>"#;
    let sent = served(&proxy(&format!("<wsdl service='Quote' port='E'>{description}</wsdl>")));
    assert_eq!(sent.uri, "http://back/two");
    assert!(sent.header("content-type").unwrap().starts_with("application/soap+xml"));
}

#[test]
fn what_is_missing_in_a_description_is_told_while_loading() {
    let check = |kind: &str, expected: &str| {
        let text = report(&proxy(kind)).to_text();
        assert!(text.contains("faulty") && text.contains(expected), "{text}");
    };
    let inside = description("back");
    let of = |service: &str, port: &str| format!("<wsdl service='{service}' port='{port}'>{inside}</wsdl>");
    check(&of("Other", "Eleven"), "the description has no service \"Other\": it has Quote");
    check(
        &of("Quote", "Other"),
        "service \"Quote\" of the description has no port \"Other\": it has Eleven, Twelve, Get, Queue",
    );
    check(&of("Quote", "Queue"), "port \"Queue\" of the description: transport \"jms\" is not offered yet");
    check("<wsdl service='Quote'/>", "attribute \"port\" is missing");
    check("<wsdl service='Quote' port='P'/>", "<wsdl> needs a uri, or a description in it");
    check("<wsdl service='Quote' port='P' uri='file:none.wsdl'/>", "there is no file \"file:none.wsdl\"");
    check("<wsdl service='Quote' port='P' uri='http:///x'/>", "is not a URI");
}

#[test]
fn a_description_of_another_server_is_fetched_at_the_first_message_and_kept() {
    let bus = Scenario::with(&proxy(REMOTE), |_, sent| match sent.uri.as_str() {
        "http://back/quote?wsdl" => Ok(response(200, &[], &description("moved"))),
        _ => Ok(response(200, &[], "done")),
    });
    for _ in 0..2 {
        assert_eq!(bus.serve(post("/services/P", &[], ENVELOPE)).body, "done");
    }
    let uris: Vec<String> = bus.sent().iter().map(|sent| sent.uri.clone()).collect();
    assert_eq!(uris, ["http://back/quote?wsdl", "http://moved/eleven", "http://moved/eleven"]);
}

#[test]
fn where_nobody_is_at_a_port_the_description_is_asked_for_again() {
    let bus = Scenario::with(&proxy(REMOTE), |count, sent| match (count, sent.uri.as_str()) {
        (0, "http://back/quote?wsdl") => Ok(response(200, &[], &description("old"))),
        (_, "http://back/quote?wsdl") => Ok(response(200, &[], &description("new"))),
        (_, "http://new/eleven") => Ok(response(200, &[], "done")),
        _ => Err(SendErrorKind::ConnectFailed),
    });
    assert_eq!(bus.serve(post("/services/P", &[], ENVELOPE)).status, 502);
    // The endpoint is suspended after that failure, as any other would be.
    let suspended = bus.serve(post("/services/P", &[], ENVELOPE));
    assert!(suspended.status == 503 && suspended.body.contains("303002"), "{suspended:?}");
    bus.clock().run(bus.clock().sleep(std::time::Duration::from_secs(40)));
    assert_eq!(bus.serve(post("/services/P", &[], ENVELOPE)).body, "done");
}

#[test]
fn without_its_description_an_endpoint_is_not_ready() {
    let check = |answer: fn() -> Result<myelin_message::Message, SendErrorKind>| {
        let fault = "<faultSequence><property name='E' expression=\"get-property('ERROR_CODE')\" scope='transport'/><respond/></faultSequence>";
        let proxy = proxy(REMOTE).replace("</target>", &format!("{fault}</target>"));
        let bus = Scenario::with(&proxy, move |_, _| answer());
        assert_eq!(bus.serve(post("/services/P", &[], ENVELOPE)).header("E"), Some("303002"));
        assert_eq!(bus.sent().len(), 1);
    };
    check(|| Err(SendErrorKind::ConnectFailed));
    check(|| Ok(response(404, &[], "")));
    check(|| Ok(response(200, &[], "<html/>")));
    check(|| Ok(response(200, &[], &description("back").replace("Eleven", "Ten"))));
}
