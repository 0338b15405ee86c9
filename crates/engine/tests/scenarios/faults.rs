//! Faults: who handles them, and what the client gets when nobody does.

use crate::common::{Reply, Scenario, get, post, request, response};
use myelin_engine::transport::SendErrorKind;
use myelin_message::BodyError;

const SEND: &str = r#"<send><endpoint><address uri="http://back/"/></endpoint></send>"#;

fn answered(reply: &Reply, status: u16, part: &str) {
    assert_eq!(reply.status, status, "{reply:?}");
    assert!(reply.body.contains(part), "{reply:?}");
}

#[test]
fn each_failure_to_send_has_its_code_and_status() {
    let check = |kind, status, code: &str| {
        let proxy = format!("<proxy name=\"P\"><target><inSequence>{SEND}</inSequence></target></proxy>");
        let scenario = Scenario::failing(&proxy, kind);
        let reply = scenario.serve(post("/services/P", &[], "<a/>"));
        answered(&reply, status, code);
        assert!(!reply.body.contains("10.0.0.1"), "no address of ours leaves: {reply:?}");
    };
    check(SendErrorKind::ConnectFailed, 502, "<code>101503</code>");
    check(SendErrorKind::ConnectTimeout, 504, "<code>101508</code>");
    check(SendErrorKind::ResponseTimeout, 504, "<code>101504</code>");
    check(SendErrorKind::Closed, 502, "<code>101505</code>");
    check(SendErrorKind::Protocol, 502, "<code>101506</code>");
    check(SendErrorKind::Sending, 502, "<code>101500</code>");
    check(SendErrorKind::Request(BodyError::Incomplete), 400, "soapenv:Client");
    check(SendErrorKind::Request(BodyError::TooLarge { limit_bytes: 1 }), 413, "soapenv:Client");
    check(SendErrorKind::Request(BodyError::TimedOut), 408, "soapenv:Client");
    check(SendErrorKind::Overloaded, 503, "<code>303000</code>");
}

#[test]
fn a_fault_speaks_the_language_of_the_request() {
    let proxy = r#"<proxy name="P"><target><endpoint><address uri="http://back/"/></endpoint></target></proxy>"#;
    let check = |content_type: &str, expected: &str, part: &str| {
        let scenario = Scenario::failing(proxy, SendErrorKind::ConnectFailed);
        let reply = scenario.serve(request("POST", "/services/P", &[("Content-Type", content_type)], "x"));
        answered(&reply, 502, part);
        assert!(reply.header("Content-Type").unwrap().starts_with(expected), "{reply:?}");
    };
    check("text/xml", "text/xml", "<faultcode>soapenv:Server</faultcode>");
    check("application/soap+xml", "application/soap+xml", "soapenv:Receiver");
    check("application/json; charset=utf-8", "application/json", r#""code":101503"#);
    check("text/csv", "text/plain", "101503 ");
}

#[test]
fn the_nearest_handler_runs_and_sees_the_error() {
    let report = r#"<property name="HTTP_SC" value="599" scope="axis2"/>
        <header name="To" value="http://spare/"/>
        <property name="HTTP_METHOD" value="POST" scope="axis2"/>"#;
    let scenario = Scenario::with(
        &format!(
            r#"<proxy name="P"><target><inSequence><sequence key="inner"/></inSequence>
                 <faultSequence><property name="by" value="proxy"/><sequence key="tell"/></faultSequence></target></proxy>
               <sequence name="inner" onError="own">{SEND}</sequence>
               <sequence name="own"><property name="by" value="own"/><sequence key="tell"/></sequence>
               <sequence name="fault"><property name="by" value="global"/><sequence key="tell"/></sequence>
               <proxy name="Q"><target><inSequence>{SEND}</inSequence>
                 <faultSequence><property name="by" value="proxy"/><sequence key="tell"/></faultSequence></target></proxy>
               <proxy name="R"><target><inSequence>{SEND}</inSequence></target></proxy>
               <sequence name="tell">{report}
                 <property name="X-By" expression="$ctx:by" scope="transport"/>
                 <property name="X-Code" expression="get-property('ERROR_CODE')" scope="transport"/>
                 <property name="X-Detail" expression="$ctx:ERROR_DETAIL" scope="transport"/>
                 <property name="X-Is" expression="get-property('ERROR_CODE') = 101503" scope="transport"/>
                 <property name="RESPONSE" value="true"/><send/></sequence>"#
        ),
        |_, _| Err(SendErrorKind::ConnectFailed),
    );
    let check = |name: &str, by: &str| {
        let reply = scenario.serve(post(&format!("/services/{name}"), &[("X-Mine", "kept")], "<a/>"));
        // The message was lost on the way, so the answer's content is the fault; the status is the handler's.
        answered(&reply, 599, "101503");
        assert_eq!(reply.status, 599, "{by}");
    };
    check("P", "own");
    check("Q", "proxy");
    check("R", "global");
}

#[test]
fn a_handler_may_send_the_message_elsewhere() {
    // The body was not read before it was lost, so the other backend is asked without one.
    let scenario = Scenario::with(
        r#"<proxy name="P"><target><endpoint><address uri="http://first/"/></endpoint>
             <faultSequence>
               <property name="code" expression="get-property('ERROR_CODE')"/>
               <property name="X-Mine-Too" expression="$trp:X-Mine" scope="transport"/>
               <log level="custom"><property name="code" expression="$ctx:code"/></log>
               <respond/>
             </faultSequence></target></proxy>"#,
        |_, _| Err(SendErrorKind::Closed),
    );
    let reply = scenario.serve(post("/services/P", &[("X-Mine", "1")], "<a/>"));
    answered(&reply, 502, "101505");
}

#[test]
fn a_fault_before_the_send_lets_the_handler_answer_with_the_request() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target>
             <inSequence><property name="n" expression="$url:n" type="INTEGER"/><respond/></inSequence>
             <faultSequence><property name="HTTP_SC" value="422" scope="axis2"/>
               <property name="X-Why" expression="get-property('ERROR_MESSAGE')" scope="transport"/><respond/></faultSequence>
           </target></proxy>"#,
    );
    assert_eq!(scenario.serve(post("/services/P?n=5", &[], "<a/>")).status, 200);
    let reply = scenario.serve(post("/services/P?n=five", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (422, "<a/>"));
    assert!(reply.header("X-Why").unwrap().contains("type"));
}

#[test]
fn a_handler_that_gives_no_answer_or_fails_itself_leaves_the_fault_as_the_answer() {
    for handler in ["<log level=\"full\"/><drop/>", "", "<sequence key=\"{'nobody'}\"/>", SEND] {
        let scenario = Scenario::failing(
            &format!(
                "<proxy name=\"P\"><target><inSequence>{SEND}</inSequence>\
                 <faultSequence>{handler}</faultSequence></target></proxy>"
            ),
            SendErrorKind::ConnectTimeout,
        );
        let reply = scenario.serve(post("/services/P", &[], "<a/>"));
        answered(&reply, 504, "101508");
    }
}

#[test]
fn a_discarded_timeout_runs_no_handler_and_still_answers_504() {
    let scenario = Scenario::failing(
        r#"<proxy name="P"><target><inSequence><send><endpoint><address uri="http://back/">
             <timeout><duration>1500</duration><responseAction>discard</responseAction></timeout>
             <suspendOnFailure><errorCodes>-1</errorCodes></suspendOnFailure></address></endpoint></send></inSequence>
             <faultSequence><property name="HTTP_SC" value="299" scope="axis2"/><respond/></faultSequence></target></proxy>"#,
        SendErrorKind::ResponseTimeout,
    );
    answered(&scenario.serve(post("/services/P", &[], "")), 504, "101504");
    assert_eq!(scenario.sent()[0].timeout, Some(std::time::Duration::from_millis(1500)));
}

#[test]
fn a_failure_behind_a_send_does_not_take_the_response_away() {
    let scenario = Scenario::new(&format!(
        "<proxy name=\"P\"><target><inSequence>{SEND}<sequence key=\"{{'nobody'}}\"/></inSequence></target></proxy>"
    ));
    let reply = scenario.serve(post("/services/P", &[], "<a/>"));
    assert_eq!((reply.status, reply.body.as_str()), (200, "backend says <a/>"));
}

#[test]
fn a_status_that_is_none_is_a_fault() {
    let scenario = Scenario::new(
        r#"<proxy name="P"><target><inSequence>
             <property name="HTTP_SC" expression="$url:sc" scope="axis2"/><respond/></inSequence></target></proxy>"#,
    );
    for (sc, status) in [("404", 404), ("99", 500), ("abc", 500), ("101", 500), ("1000", 500)] {
        assert_eq!(scenario.serve(post(&format!("/services/P?sc={sc}"), &[], "")).status, status, "{sc}");
    }
}

#[test]
fn a_transport_that_panics_ends_only_its_exchange() {
    let proxy = r#"<proxy name="P"><target><endpoint><address uri="http://back/"/></endpoint></target></proxy>"#;
    let scenario = Scenario::with(proxy, |_, sent| {
        assert!(sent.body != "boom", "scripted");
        Ok(response(200, &[], "fine"))
    });
    answered(&scenario.serve(post("/services/P", &[], "boom")), 500, "failed");
    answered(&scenario.serve(post("/services/P", &[], "ok")), 200, "fine");
}

#[test]
fn a_fault_that_the_configuration_throws_is_handled_like_any_other() {
    let check = |attributes: &str, handler: &str, expected: (u16, &str)| {
        let scenario = Scenario::new(&format!(
            "<proxy name='P'><target><inSequence><property name='symbol' value='IBM'/><throwError {attributes}/><respond/></inSequence>\
             <faultSequence>{handler}</faultSequence></target></proxy>"
        ));
        let reply = scenario.serve(get("/services/P"));
        assert_eq!((reply.status, reply.body.as_str()), expected, "{attributes} {handler}");
    };
    let worked_out = "type='40001' errorMessage='{concat(&quot;No &quot;, $ctx:symbol)}'";
    check(worked_out, "", (500, "40001 No IBM\n"));
    check("type='NO_QUOTE' errorMessage='No quote'", "", (500, "NO_QUOTE No quote\n"));
    let answer = "<property name='HTTP_SC' value='404' scope='axis2'/>\
                  <property name='HTTP_SC_DESC' scope='axis2' expression='concat($ctx:ERROR_CODE, &quot; &quot;, $ctx:ERROR_MESSAGE)'/><respond/>";
    let scenario = Scenario::new(&format!(
        "<proxy name='P'><target><inSequence><throwError type='NO_QUOTE' errorMessage='No quote'/></inSequence>\
         <faultSequence>{answer}</faultSequence></target></proxy>"
    ));
    let reply = scenario.serve(get("/services/P"));
    assert_eq!((reply.status, reply.reason.as_deref()), (404, Some("NO_QUOTE No quote")));
}

#[test]
fn where_a_handler_fails_the_next_one_around_it_runs_and_the_services_own_is_the_last() {
    let check = |inner: &str, outer: &str, own: &str, expected: (u16, &str)| {
        let answer = |name: &str, what: &str| match what {
            "answer" => format!(
                "<property name='HTTP_SC' value='299' scope='axis2'/><property name='HTTP_SC_DESC' scope='axis2' \
                 expression='concat(\"{name} \", $ctx:ERROR_MESSAGE)'/><respond/>"
            ),
            "fail" => format!("<throwError type='1' errorMessage='{name} failed'/>"),
            _ => "<drop/>".to_owned(),
        };
        let scenario = Scenario::new(&format!(
            "<sequence name='inner'>{}</sequence><sequence name='outer'>{}</sequence>\
             <sequence name='fails' onError='inner'><throwError type='1' errorMessage='first'/></sequence>\
             <sequence name='around' onError='outer'><sequence key='fails'/></sequence>\
             <proxy name='P'><target><inSequence><sequence key='around'/></inSequence>\
             <faultSequence>{}</faultSequence></target></proxy>",
            answer("inner", inner),
            answer("outer", outer),
            answer("own", own)
        ));
        let reply = scenario.serve(get("/services/P"));
        let said = reply.reason.unwrap_or(reply.body);
        assert_eq!((reply.status, said.as_str()), expected, "{inner} {outer} {own}");
    };
    check("answer", "answer", "answer", (299, "inner first"));
    check("fail", "answer", "answer", (299, "outer inner failed"));
    check("fail", "fail", "answer", (299, "own outer failed"));
    check("fail", "fail", "fail", (500, "1 first\n"));
    check("drop", "answer", "answer", (500, "1 first\n"));
}

#[test]
fn a_handler_that_calls_itself_ends_with_an_answer() {
    let scenario = Scenario::new(
        "<sequence name='again' onError='again'><throwError type='7' errorMessage='again'/></sequence>\
         <proxy name='P'><target inSequence='again'/></proxy>",
    );
    let reply = scenario.serve(get("/services/P"));
    assert_eq!((reply.status, reply.body.as_str()), (500, "7 again\n"));
}

#[test]
fn a_soap_fault_is_a_failure_where_the_configuration_says_so_and_the_handlers_message() {
    const FAULT: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><s:Fault>\
        <faultcode>s:Server</faultcode><faultstring>broken</faultstring></s:Fault></s:Body></s:Envelope>";
    let check = |property: &str, fault_sequence: &str, body: &'static str, expected: (u16, Option<&str>, &str)| {
        let scenario = Scenario::with(
            &format!(
                "<proxy name='P'><target><inSequence>{property}<send><endpoint><address uri='http://back/'/></endpoint></send></inSequence>\
                 <outSequence><property name='X-Out' scope='transport' value='out'/><send/></outSequence>{fault_sequence}</target></proxy>"
            ),
            move |_, _| Ok(response(500, &[("Content-Type", "text/xml")], body)),
        );
        let reply = scenario.serve(post("/services/P", &[], "<a/>"));
        assert_eq!((reply.status, reply.header("X-Out"), reply.body.as_str()), expected, "{property} {fault_sequence}");
    };
    let forced = "<property name='FORCE_ERROR_ON_SOAP_FAULT' value='true'/>";
    let handler = "<faultSequence><property name='X-Out' scope='transport' \
        expression=\"concat($ctx:ERROR_CODE, //faultstring)\"/><respond/></faultSequence>";
    check("", handler, FAULT, (500, Some("out"), FAULT));
    check(forced, handler, FAULT, (500, Some("500000broken"), FAULT));
    check(forced, handler, "<a/>", (500, Some("out"), "<a/>"));
}
