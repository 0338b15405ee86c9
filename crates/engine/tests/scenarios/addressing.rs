//! WS-Addressing between the bus and an endpoint.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use myelin_engine::transport::SendErrorKind;

use crate::common::{Scenario, Sent, post, report, request, response};

const FINAL: &str = "http://www.w3.org/2005/08/addressing";
const SUBMISSION: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing";
const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// A proxy before an endpoint with addressing; the backend relates its answer to whatever it was asked.
fn scenario(addressing: &str, before: &str) -> Scenario {
    let artefacts = format!(
        "<proxy name='P'><target><inSequence>{before}<send><endpoint><address uri='http://back/service'>{addressing}\
         </address></endpoint></send></inSequence></target></proxy>"
    );
    Scenario::with(&artefacts, |_, sent| {
        let relates_to = part(sent, "MessageID").unwrap_or_default();
        let body = envelope(&format!(
            "<a:Action>urn:answer</a:Action><a:MessageID>urn:back</a:MessageID><a:RelatesTo>{relates_to}</a:RelatesTo>"
        ));
        Ok(response(200, &[("Content-Type", "text/xml")], &body))
    })
}

fn envelope(header: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{SOAP}' xmlns:a='{FINAL}'><s:Header>{header}</s:Header><s:Body><q/></s:Body></s:Envelope>"
    )
}

fn asked(header: &str) -> myelin_message::Message {
    post("/services/P", &[("SOAPAction", "\"urn:ask\"")], &envelope(header))
}

/// The text of the first element of that name.
fn part<'a>(sent: &'a Sent, name: &str) -> Option<&'a str> {
    let start = sent.body.find(&format!(":{name}>"))? + name.len() + 2;
    sent.body[start..].split('<').next()
}

#[test]
fn a_request_says_where_it_goes_what_it_asks_and_who_it_is() {
    let scenario = scenario("<enableAddressing/>", "");
    let reply = scenario.serve(asked("<x/>"));
    // Nobody waits for an answer that belongs to another message, so that it leaves as it came.
    assert!(reply.on_the_wire, "{}", reply.body);
    let sent = scenario.into_sent();
    assert_eq!((part(&sent, "To"), part(&sent, "Action")), (Some("http://back/service"), Some("urn:ask")));
    assert!(part(&sent, "MessageID").unwrap().starts_with("urn:uuid:"), "{}", sent.body);
    assert!(sent.body.contains("<x/>") && sent.body.contains(FINAL) && !sent.body.contains("ReplyTo"), "{}", sent.body);
}

#[test]
fn what_the_client_said_goes_and_the_answer_belongs_to_its_message() {
    let scenario = scenario("<enableAddressing version='final'/>", "");
    let came = "<a:To>http://bus/</a:To><a:MessageID>urn:theirs</a:MessageID><a:From><a:Address>http://192.0.2.7/</a:Address>\
                </a:From>";
    let reply = scenario.serve(asked(came));
    assert!(reply.body.contains("<a:RelatesTo>urn:theirs</a:RelatesTo>"), "{}", reply.body);
    let sent = scenario.into_sent();
    assert!(!sent.body.contains("urn:theirs") && !sent.body.contains("http://192.0.2.7/"), "{}", sent.body);
    assert_eq!(part(&sent, "To"), Some("http://back/service"));
}

#[test]
fn the_submission_says_that_answers_come_back_on_the_connection() {
    let scenario = scenario("<enableAddressing version='submission'/>", "");
    scenario.serve(asked(""));
    let sent = scenario.into_sent();
    assert!(sent.body.contains(SUBMISSION), "{}", sent.body);
    assert!(sent.body.contains("/role/anonymous</wsa:Address></wsa:ReplyTo>"), "{}", sent.body);
}

#[test]
fn a_message_that_wants_no_answer_says_so() {
    let scenario = scenario("<enableAddressing/>", "<property name='OUT_ONLY' value='true'/>");
    assert_eq!(scenario.serve(asked("")).status, 202);
    assert!(scenario.into_sent().body.contains("/addressing/none</wsa:Address></wsa:ReplyTo>"));
}

#[test]
fn preserved_headers_stay_and_only_what_is_missing_is_added() {
    let scenario = scenario("<enableAddressing/>", "<property name='PRESERVE_WS_ADDRESSING' value='true'/>");
    let reply = scenario.serve(asked("<a:To>urn:to</a:To><a:MessageID>urn:theirs</a:MessageID>"));
    assert!(reply.on_the_wire && reply.body.contains(">urn:theirs</a:RelatesTo>"), "{}", reply.body);
    let sent = scenario.into_sent();
    assert!(sent.body.contains("<a:To>urn:to</a:To><a:MessageID>urn:theirs</a:MessageID>"), "{}", sent.body);
    assert_eq!((sent.body.matches(":To>").count(), part(&sent, "Action")), (2, Some("urn:ask")), "{}", sent.body);
}

#[test]
fn an_action_that_was_set_is_told_both_ways() {
    let scenario = scenario("<enableAddressing/>", "<header name='Action' value='urn:set'/>");
    scenario.serve(asked("<a:Action>urn:came</a:Action>"));
    let sent = scenario.into_sent();
    assert_eq!((part(&sent, "Action"), sent.header("SOAPAction")), (Some("urn:set"), Some("\"urn:set\"")));
}

#[test]
fn plain_xml_has_no_header_and_leaves_as_it_came() {
    let scenario = scenario("<enableAddressing/>", "");
    scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/xml")], "<q/>"));
    let sent = scenario.into_sent();
    assert!(sent.on_the_wire);
    assert_eq!(sent.body, "<q/>");
}

/// A backend that takes a request with 202 and answers it, or something else, at the address it was told.
fn separate(answer: impl Fn(&str) -> Option<String> + 'static) -> (Vec<u16>, Sent) {
    let artefacts = "<proxy name='P'><target><inSequence><send><endpoint><address uri='http://back/service'>\
         <enableAddressing separateListener='true'/><timeout><duration>5000</duration></timeout></address></endpoint>\
         </send></inSequence><outSequence><log/><send/></outSequence></target></proxy>";
    let scenario = Scenario::with(artefacts, |_, _| Ok(response(202, &[], "")));
    let statuses = scenario.serve_while(asked("<a:MessageID>urn:theirs</a:MessageID>"), |sent| {
        let body = answer(part(sent, "MessageID")?)?;
        Some(post("/services/__ADDR_ONLY__", &[("X-Back", "yes")], &body))
    });
    let statuses = statuses.into_iter().map(|reply| {
        if reply.status == 200 {
            assert!(reply.body.contains(">urn:theirs</a:RelatesTo>"), "{}", reply.body);
            assert_eq!(reply.header("X-Back"), Some("yes"));
        }
        reply.status
    });
    (statuses.collect(), scenario.into_sent())
}

fn relating(id: &str) -> Option<String> {
    Some(envelope(&format!("<a:RelatesTo>{id}</a:RelatesTo>")))
}

#[test]
fn an_answer_that_comes_in_on_its_own_is_the_clients() {
    let (statuses, sent) = separate(relating);
    // The client's answer, and what the backend is told.
    assert_eq!(statuses, [200, 202]);
    assert!(sent.body.contains(">http://192.0.2.1:8280/services/__ADDR_ONLY__</wsa:Address>"), "{}", sent.body);
}

#[test]
fn an_answer_that_does_not_come_in_is_a_timeout_and_nobody_elses_is_taken_for_it() {
    assert_eq!(separate(|_| None).0, [504]);
    assert_eq!(separate(|id| relating(&format!("{id}0"))).0, [504, 404]);
    assert_eq!(separate(|_| Some("<no".to_owned())).0, [504, 400]);
}

#[test]
fn a_backend_whose_answers_stay_away_is_suspended() {
    let artefacts = "<proxy name='P'><target><endpoint><address uri='http://back/service'>\
         <enableAddressing separateListener='true'/><timeout><duration>5000</duration></timeout></address></endpoint>\
         </target></proxy>";
    let scenario = Scenario::with(artefacts, |_, _| Ok(response(202, &[], "")));
    let statuses = [scenario.serve(asked("")), scenario.serve(asked(""))].map(|reply| reply.status);
    assert_eq!((statuses, scenario.sent().len()), ([504, 503], 1));
}

/// A proxy before a backend that answers with that body, or not at all; what the client gets, and what was sent then.
fn redirected(header: &str, answered: Option<&'static str>) -> (u16, Vec<Sent>) {
    let artefacts = "<proxy name='P'><target><inSequence><send><endpoint><address uri='http://back/service'>\
         <enableAddressing/></address></endpoint></send></inSequence><outSequence><send/></outSequence></target></proxy>";
    let scenario = Scenario::with(artefacts, move |_, sent| match (sent.uri.contains("back"), answered) {
        (true, None) => Err(SendErrorKind::ConnectFailed),
        (true, Some(body)) => {
            let body = envelope("<a:Action>urn:answer</a:Action>").replace("<q/>", body);
            Ok(response(200, &[("Content-Type", "text/xml"), ("X-Back", "yes"), ("Server", "back")], &body))
        }
        (false, _) => Ok(response(202, &[], "")),
    });
    let came = format!("<a:MessageID>urn:theirs</a:MessageID>{header}");
    let status = scenario.serve(asked(&came)).status;
    assert!(scenario.clock().run_spawned());
    (status, scenario.into_all_sent().into_iter().filter(|sent| !sent.uri.contains("back")).collect())
}

const REPLY_TO: &str = "<a:ReplyTo><a:Address>http://192.0.2.7/reply</a:Address></a:ReplyTo>";
const FAULT_TO: &str = "<a:FaultTo><a:Address>http://192.0.2.7/fault</a:Address></a:FaultTo>";

#[test]
fn an_answer_goes_where_the_client_wants_it_and_the_connection_gets_202() {
    let (status, sent) = redirected(REPLY_TO, Some("<quote/>"));
    let [sent] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((status, &*sent.method, &*sent.uri), (202, "POST", "http://192.0.2.7/reply"));
    assert_eq!((part(sent, "To"), part(sent, "RelatesTo")), (Some("http://192.0.2.7/reply"), Some("urn:theirs")));
    assert_eq!((part(sent, "Action"), sent.header("SOAPAction")), (Some("urn:answer"), Some("\"urn:answer\"")));
    assert_eq!((sent.header("X-Back"), sent.header("Server")), (Some("yes"), None));
    assert!(sent.body.contains("<quote/>"), "{}", sent.body);
}

#[test]
fn faults_go_where_the_client_wants_them() {
    let fault = "<s:Fault><faultcode>s:Server</faultcode><faultstring>no</faultstring></s:Fault>";
    for (answered, expected) in [(Some(fault), "no</faultstring>"), (None, "</faultstring>")] {
        let both = format!("{REPLY_TO}{FAULT_TO}");
        for (header, address) in [
            (&*both, "http://192.0.2.7/fault"),
            (REPLY_TO, "http://192.0.2.7/reply"),
            (FAULT_TO, "http://192.0.2.7/fault"),
        ] {
            let (status, sent) = redirected(header, answered);
            let [sent] = &sent[..] else { panic!("{header}: {sent:?}") };
            assert_eq!((status, &*sent.uri, part(sent, "RelatesTo")), (202, address, Some("urn:theirs")));
            assert!(sent.body.contains(expected), "{}", sent.body);
        }
    }
}

/// The status on the connection of a request that brings nobody else anything.
fn status(header: &str) -> u16 {
    let (status, sent) = redirected(header, Some("<quote/>"));
    assert!(sent.is_empty(), "{sent:?}");
    status
}

#[test]
fn an_answer_stays_on_the_connection_unless_its_kind_is_wanted_elsewhere() {
    assert_eq!(status(FAULT_TO), 200);
    assert_eq!(status(&REPLY_TO.replace("192.0.2.7", "169.254.169.254")), 200, "no host but the client's own is asked");
    let anonymous = format!("<a:ReplyTo><a:Address>{FINAL}/anonymous</a:Address></a:ReplyTo>");
    assert_eq!(status(&anonymous), 200);
    assert_eq!(status(&anonymous.replace("anonymous", "none")), 202);
}

#[test]
fn an_address_that_is_none_of_http_is_refused_before_anything_leaves() {
    let other = REPLY_TO.replace("http://192.0.2.7/reply", "vfs:file:///etc/passwd");
    assert_eq!(status(&other), 400);
}

#[test]
fn what_addressing_cannot_do_is_a_warning_at_its_place() {
    let check = |kind: &str, addressing: &str, expected: &str| {
        let text = report(&format!("<endpoint name='E'><address {kind}>{addressing}</address></endpoint>")).to_text();
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.contains("warning"), !expected.is_empty(), "{text}");
    };
    let separate = "<enableAddressing separateListener='true'/>";
    check("uri='http://back/'", separate, "");
    check("uri='http://back/' format='soap11'", separate, "");
    check("uri='http://back/' format='pox'", separate, "<enableAddressing> has no effect");
    check("uri='http://back/'", "<enableAddressing separateListener='yes'/>", "only true and false are known");
}
