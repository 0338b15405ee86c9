//! `<makefault>` beyond the golden cases: which messages it answers, and how.

use crate::common::{Reply, Scenario, get, post, request};
use myelin_engine::transport::SendErrorKind;

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

/// A proxy with these sequences, in which `a` and `b` stand for SOAP 1.1 and 1.2.
fn proxy(incoming: &str, fault: &str) -> String {
    format!(
        "<proxy xmlns:a='{SOAP11}' xmlns:b='{SOAP12}' name='P'><target>\
         <inSequence>{incoming}</inSequence><faultSequence>{fault}</faultSequence></target></proxy>"
    )
}

fn fault(attributes: &str) -> String {
    let code = if attributes.contains("soap12") { "b:Receiver" } else { "a:Server" };
    format!("<makefault {attributes}><code value='{code}'/><reason value='broken'/></makefault>")
}

fn answered(reply: &Reply, status: u16, content_type: &str, part: &str) {
    assert_eq!((reply.status, reply.header("Content-Type")), (status, Some(content_type)), "{reply:?}");
    assert!(reply.body.contains(part), "{reply:?}");
}

#[test]
fn a_fault_has_a_content_type_that_fits_it() {
    let check = |attributes: &str, came: &str, leaves: &str, part: &str| {
        let scenario = Scenario::new(&proxy(&format!("{}<respond/>", fault(attributes)), ""));
        let reply = scenario.serve(request("POST", "/services/P", &[("Content-Type", came)], "<a/>"));
        answered(&reply, 500, leaves, part);
    };
    check("version='soap11'", "text/xml", "text/xml", "<faultstring>broken<");
    check("version='soap11'", "text/xml; charset=ISO-8859-1", "text/xml; charset=UTF-8", "<faultstring>");
    check("version='soap11'", "application/soap+xml;action=x", "text/xml; charset=UTF-8", "<faultstring>");
    check("version='soap12'", "text/xml", "application/soap+xml; charset=UTF-8", "b:Receiver<");
    check("version='soap11'", "application/json", "text/xml; charset=UTF-8", "<faultstring>");
    check("version='soap12'", "application/xml", "application/xml", "<Exception>broken</Exception>");
    check("version='pox'", "text/plain", "application/xml; charset=UTF-8", "<Exception>broken</Exception>");
    check("", "application/soap+xml", "application/soap+xml", "soapenv:Receiver<");
    check("", "application/json", "text/xml; charset=UTF-8", "a:Server<");
    let reply = Scenario::new(&proxy(&fault("version='soap11'"), "")).serve(get("/services/P"));
    answered(&reply, 500, "text/xml; charset=UTF-8", "<faultstring>broken<");
}

#[test]
fn a_fault_is_the_answer_even_where_nobody_sends_it() {
    let made = fault("version='soap11'");
    for end in [
        "",
        "<respond/>",
        "<send/>",
        "<header name='To' action='remove'/><property name='RESPONSE' value='true'/><send/>",
    ] {
        for response in ["", "response='true'", "response='false'"] {
            let made = fault(&format!("version='soap11' {response}"));
            let reply = Scenario::new(&proxy(&format!("{made}{end}"), "")).serve(post("/services/P", &[], "<a/>"));
            answered(&reply, 500, "text/xml", "broken");
            assert_eq!(reply.header("Host"), None, "{end}");
        }
    }
    let reply = Scenario::new(&proxy(&format!("{made}<drop/>"), "")).serve(post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
}

#[test]
fn an_endpoint_behind_it_gets_the_fault() {
    let inside =
        format!("{}<send><endpoint><address uri='http://back/'/></endpoint></send>", fault("version='soap11'"));
    let scenario = Scenario::new(&proxy(&inside, ""));
    assert_eq!(scenario.serve(post("/services/P", &[], "<a/>")).status, 200);
    assert!(scenario.into_sent().body.contains("<faultstring>broken"));
}

#[test]
fn a_fault_counts_as_a_response_unless_it_is_told_not_to() {
    let check = |response: &str, expected: &str| {
        let inside = format!(
            "{}<out><property name='X-Way' value='out' scope='transport'/></out><in><property name='X-Way' value='in' scope='transport'/></in>",
            fault(&format!("version='soap11' {response}"))
        );
        let reply = Scenario::new(&proxy(&inside, "")).serve(post("/services/P", &[], "<a/>"));
        assert_eq!(reply.header("X-Way"), Some(expected), "{response}");
    };
    check("", "out");
    check("response='true'", "out");
    check("response='false'", "in");
}

#[test]
fn a_message_that_cannot_be_read_does_not_prevent_its_fault() {
    let reading = "<property name='p' expression='//a'/>";
    let handler = "<makefault version='soap11'><code value='a:Client'/>\
                   <reason expression=\"concat('[', //a, ']')\"/></makefault>";
    let check = |body: &str, scenario: Scenario| {
        let reply = scenario.serve(post("/services/P", &[], body));
        answered(&reply, 500, "text/xml", "a:Client");
        assert!(reply.body.contains("<faultstring/>") && reply.body.contains("<soapenv:Header/>"), "{reply:?}");
    };
    check("<a><b></a>", Scenario::new(&proxy(reading, handler)));
    let send = "<send><endpoint><address uri='http://back/'/></endpoint></send>";
    let text = "<a>1</a>";
    check(text, Scenario::failing(&proxy(send, handler), SendErrorKind::ConnectFailed));
}

#[test]
fn blocks_of_ws_addressing_go_and_others_stay_with_their_namespaces() {
    let body = format!(
        "<s:Envelope xmlns:s='{SOAP11}' xmlns:w='http://www.w3.org/2005/08/addressing' xmlns:o='urn:o'><s:Header>\
         <w:To>x</w:To><o:route s:mustUnderstand='1'/></s:Header><s:Body/></s:Envelope>"
    );
    let reply = Scenario::new(&proxy(&fault("version='soap11'"), "")).serve(post("/services/P", &[], &body));
    let header = "<soapenv:Header><o:route s:mustUnderstand='1' xmlns:o=\"urn:o\" \
                  xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"/></soapenv:Header>";
    answered(&reply, 500, "text/xml", header);
}

#[test]
fn what_was_set_for_the_old_body_does_not_spoil_the_fault() {
    let inside = format!(
        "<property name='NO_ENTITY_BODY' value='true' scope='axis2'/>\
         <property name='ContentType' value='application/json' scope='axis2'/>\
         <property name='HTTP_SC' value='403' scope='axis2'/>{}\
         <property name='X-Reason' expression='//faultstring' scope='transport'/>\
         <property name='X-To' expression=\"concat('[', get-property('To'), ']')\" scope='transport'/>",
        fault("version='soap11'")
    );
    let message = post("/services/P", &[("Content-Encoding", "gzip")], "\u{1f}");
    let reply = Scenario::new(&proxy(&inside, "")).serve(message);
    answered(&reply, 403, "text/xml", "<faultstring>broken<");
    assert_eq!(reply.header("Content-Encoding"), None);
    assert_eq!(reply.header("X-Reason"), Some("broken"));
    assert_eq!(reply.header("X-To"), Some("[]"));
}

#[test]
fn codes_and_details_may_be_worked_out() {
    let check = |inside: &str, part: &str| {
        let made = format!("<property name='p' value='&lt;7&gt;'/><makefault version='soap11'>{inside}</makefault>");
        let reply = Scenario::new(&proxy(&made, "")).serve(post("/services/P", &[], "<a/>"));
        answered(&reply, 500, "text/xml", part);
    };
    let reason = "<reason value='r'/>";
    let own = format!("<faultcode xmlns:a=\"{SOAP11}\">a:Client</faultcode>");
    check(&format!("<code expression=\"concat('a:', 'Client')\"/>{reason}"), &own);
    check(&format!("<code expression=\"'101503'\"/>{reason}"), "<faultcode>soapenv:101503</faultcode>");
    check(&format!("<code expression=\"'nobody:Client'\"/>{reason}"), "<faultcode>soapenv:Client</faultcode>");
    check(&format!("<code expression='$ctx:none'/>{reason}"), "<faultcode>soapenv:Server</faultcode>");
    check(&format!("<code value='Client'/>{reason}"), "<faultcode>soapenv:Client</faultcode>");
    check(&format!("<code value='Client'/>{reason}<detail expression='$ctx:p'/>"), "<detail>&lt;7&gt;</detail>");
    check(&format!("<code value='Client'/>{reason}<role/><detail/>"), "<faultstring>r</faultstring></soapenv:Fault>");
}

#[test]
fn an_exception_says_the_text_of_its_detail() {
    let made = "<makefault version='pox'><reason value='r'/><detail>why &lt;</detail></makefault>";
    let reply = Scenario::new(&proxy(made, "")).serve(post("/services/P", &[], "<a/>"));
    answered(&reply, 500, "text/xml", "<Exception>why &lt;</Exception>");
}
