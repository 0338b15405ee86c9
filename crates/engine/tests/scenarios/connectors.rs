//! The http connector: what its operations send over a connection, and where its response goes.

use std::time::Duration;

use crate::common::{Reply, Scenario, Sent, get, post, report, request, response};
use myelin_engine::transport::SendErrorKind;

/// A proxy that runs mediators over connections, and answers with the message.
fn bus(mediators: &str) -> String {
    format!(
        "<localEntry key='C'><http.init><name>C</name><baseUrl>http://back/v1</baseUrl></http.init></localEntry>\
         <localEntry key='slash'><http.init><baseUrl>http://back/v1/</baseUrl></http.init></localEntry>\
         <localEntry key='basic'><http.init><baseUrl>http://back</baseUrl><authType>Basic Auth</authType>\
         <username>Aladdin</username><password>open sesame</password><timeoutDuration>1500</timeoutDuration>\
         </http.init></localEntry>\
         <proxy name='P'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>"
    )
}

/// Serves an order in JSON with mediators, over a backend that answers in JSON.
fn ask(mediators: &str) -> (Reply, Sent) {
    let scenario = Scenario::with(&bus(mediators), |_, _| {
        Ok(response(201, &[("Content-Type", "application/json"), ("X-Back", "yes")], r#"{"rate": 1.5}"#))
    });
    let order = r#"{"id": "a\"b", "symbol": "IBM", "lines": [1, 2]}"#;
    let order = request("POST", "/services/P", &[("Content-Type", "application/json"), ("X-In", "in")], order);
    let reply = scenario.serve(order);
    (reply, scenario.into_sent())
}

fn operation(name: &str, connection: &str, parameters: &str) -> String {
    format!("<http.{name} configKey='{connection}'>{parameters}</http.{name}>")
}

#[test]
fn each_operation_has_its_method_and_get_sends_no_body() {
    for name in ["get", "head", "post", "put", "patch", "delete", "options"] {
        let (reply, sent) = ask(&operation(name, "C", "<relativePath>/rates</relativePath>"));
        assert_eq!((sent.method.as_str(), sent.uri.as_str()), (&*name.to_uppercase(), "http://back/v1/rates"));
        assert_eq!(sent.body.is_empty(), matches!(name, "get" | "head"), "{name}");
        assert_eq!(sent.header("X-In"), Some("in"));
        assert_eq!((reply.status, reply.body.as_str()), (201, r#"{"rate": 1.5}"#), "{name}");
    }
}

#[test]
fn base_and_path_meet_in_one_slash() {
    let check = |connection: &str, path: &str, uri: &str| {
        let (_, sent) = ask(&operation("get", connection, &format!("<relativePath>{path}</relativePath>")));
        assert_eq!(sent.uri, uri, "{path}");
    };
    check("C", "", "http://back/v1");
    check("C", "/a", "http://back/v1/a");
    check("C", "a", "http://back/v1/a");
    check("slash", "/a", "http://back/v1/a");
    check("slash", "a", "http://back/v1/a");
    check("C", "?q=1", "http://back/v1?q=1");
    check("C", "/a/${payload.symbol}?x=${headers.X-In}", "http://back/v1/a/IBM?x=in");
    check("C", "/a/${payload.id} b", "http://back/v1/a/a%22b%20b");
    check("C", "{${payload.symbol}}", "http://back/v1/IBM");
    check("C", "{json-eval($.symbol)}", "http://back/v1/IBM");
    check("C", "{$trp:X-In}", "http://back/v1/in");
}

#[test]
fn headers_are_set_and_expressions_in_them_stay_values() {
    let headers = |headers: &str| {
        let (_, sent) = ask(&operation("get", "C", &format!("<headers>{headers}</headers>")));
        move |name: &str| sent.header(name).map(str::to_owned)
    };
    let header = headers(r#"[["X-A", "1"], {"X-B": "${payload.id}"}, ["X-In", "out"], ["", "x"],]"#);
    assert_eq!(header("X-A").as_deref(), Some("1"));
    assert_eq!(header("X-B").as_deref(), Some("a\"b"));
    assert_eq!(header("X-In").as_deref(), Some("out"));
    let header = headers(r#"[["X-A", "${headers["X-In"]}"]]"#);
    assert_eq!(header("X-A").as_deref(), Some("in"));
}

#[test]
fn a_body_is_made_of_what_the_parameter_says() {
    let check = |kind: &str, body: &str, content_type: &str, expected: &str| {
        let parameter = match kind {
            "JSON" => "requestBodyJson",
            "XML" => "requestBodyXml",
            _ => "requestBodyText",
        };
        let parameters = format!("<requestBodyType>{kind}</requestBodyType><{parameter}>{body}</{parameter}>");
        let (_, sent) = ask(&operation("post", "C", &parameters));
        let found = sent.header("Content-Type").map(|value| value.split(';').next().unwrap_or_default());
        assert_eq!((found, sent.body.as_str()), (Some(content_type), expected), "{body}");
    };
    let json = "application/json";
    check("JSON", r#"{"s": "${payload.symbol}", "i": "${payload.id}"}"#, json, r#"{"s": "IBM", "i": "a\"b"}"#);
    check("JSON", r#"'{"lines": ${payload.lines}}'"#, json, r#"{"lines": [1,2]}"#);
    check("JSON", "{${payload.lines}}", json, "[1,2]");
    check("JSON", "${payload.lines}", json, "[1,2]");
    check("JSON", "{json-eval($.lines)}", json, "[1,2]");
    check("XML", "<![CDATA[<order><s>${payload.symbol}</s></order>]]>", "application/xml", "<order><s>IBM</s></order>");
    check("XML", "<o:a xmlns:o='urn:o'>${payload.symbol}</o:a>", "application/xml", "<o:a xmlns:o='urn:o'>IBM</o:a>");
    check("TEXT", "symbol ${payload.symbol}", "text/plain", "symbol IBM");
}

#[test]
fn a_response_in_a_variable_leaves_the_message_as_it_was() {
    let answer = "<payloadFactory media-type='json'><format>{\"rate\": ${vars.r.payload.rate}, \"status\": \
                  ${vars.r.attributes.statusCode}, \"back\": \"${vars.r.headers.X-Back}\", \"symbol\": \
                  \"${payload.symbol}\"}</format></payloadFactory>";
    for name in ["get", "post"] {
        let (reply, _) = ask(&format!("{}{answer}", operation(name, "C", "<responseVariable>r</responseVariable>")));
        assert_eq!(reply.body, r#"{"rate": 1.5, "status": 201, "back": "yes", "symbol": "IBM"}"#, "{name}");
        assert_eq!(reply.header("X-Back"), None, "{name}");
    }
}

#[test]
fn a_response_may_be_the_message_and_have_its_status_in_a_variable() {
    let parameters = "<responseVariable>r</responseVariable><overwriteBody>true</overwriteBody>";
    let answer = "<property name='X-Status' scope='transport' expression='${vars.r.attributes.statusCode}'/>\
                  <property name='X-Payload' scope='transport' expression='${exists(vars.r.payload)}'/>";
    let (reply, _) = ask(&format!("{}{answer}", operation("get", "C", parameters)));
    assert_eq!(reply.body, r#"{"rate": 1.5}"#);
    assert_eq!((reply.header("X-Status"), reply.header("X-Payload")), (Some("201"), Some("false")));
}

#[test]
fn a_response_that_is_no_json_is_a_text_in_a_variable() {
    let check = |content_type: &'static str, body: &'static str, expected: &str| {
        let get = operation("get", "C", "<responseVariable>r</responseVariable>");
        let answer = "<payloadFactory media-type='text'><format>${vars.r.payload}</format></payloadFactory>";
        let scenario = Scenario::with(&bus(&format!("{get}{answer}")), move |_, _| {
            Ok(response(200, &[("Content-Type", content_type)], body))
        });
        assert_eq!(scenario.serve(get_request()).body, expected, "{content_type}");
    };
    check("text/plain", "a \"b\"", "a \"b\"");
    check("application/xml", "<a><b/></a>", "<a><b/></a>");
    check("application/json", "", "");
}

fn get_request() -> myelin_message::Message {
    get("/services/P")
}

#[test]
fn a_body_that_nothing_asks_for_stays_on_the_wire() {
    let get = operation("get", "C", "<responseVariable>r</responseVariable>");
    let artefacts = bus(&format!("{get}<call><endpoint><address uri='http://other'/></endpoint></call>"));
    let scenario = Scenario::new(&artefacts);
    scenario.serve(post("/services/P", &[], "<large/>"));
    let sent = scenario.sent();
    assert_eq!((sent[1].uri.as_str(), sent[1].body.as_str(), sent[1].on_the_wire), ("http://other/", "<large/>", true));
}

#[test]
fn parameters_of_http_are_properties_of_the_request() {
    let parameters = "<requestHostHeader>virtual</requestHostHeader><forceScAccepted>false</forceScAccepted>\
                      <disableChunking>false</disableChunking><forcePostPutNobody>true</forcePostPutNobody>";
    let (_, sent) = ask(&operation("post", "C", parameters));
    assert_eq!((sent.host.as_deref(), sent.body.as_str()), (Some("virtual"), ""));
}

#[test]
fn a_connection_authenticates_and_waits_as_long_as_it_says() {
    let (_, sent) = ask(&operation("get", "basic", ""));
    assert_eq!(sent.header("Authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    assert_eq!((sent.uri.as_str(), sent.timeout), ("http://back/", Some(Duration::from_millis(1500))));
}

#[test]
fn a_failure_is_one_of_the_endpoint_that_the_connection_is() {
    let scenario = Scenario::failing(&bus(&operation("get", "C", "")), SendErrorKind::ConnectFailed);
    assert_eq!(scenario.serve(get("/services/P")).status, 502);
    // It rests then, as endpoints do.
    assert_eq!(scenario.serve(get("/services/P")).status, 503);
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn the_endpoint_of_a_connection_has_the_name_that_wso2_gives_it() {
    let artefacts = bus("<call><endpoint key='C_INTERNAL_ENDPOINT_REFERENCE'/></call>");
    assert_eq!(report(&artefacts).faulty(), 0);
}

#[test]
fn what_a_message_brings_cannot_leave_the_path_or_the_header_line_that_it_is_for() {
    let check = |value: &str, uri: Option<&str>| {
        let mediators = operation(
            "get",
            "C",
            r#"<relativePath>/a/${payload.v}</relativePath><headers>[["X-V", "${payload.v}"]]</headers>"#,
        );
        let scenario = Scenario::with(&bus(&mediators), |_, _| Ok(response(200, &[], "")));
        let body = format!(r#"{{"v": "{value}"}}"#);
        let reply = scenario.serve(request("POST", "/services/P", &[("Content-Type", "application/json")], &body));
        assert_eq!(reply.status, if uri.is_some() { 200 } else { 500 }, "{value}");
        let sent = scenario.sent();
        assert_eq!(sent.first().map(|sent| &*sent.uri), uri, "{value}");
    };
    check("x y{z}", Some("http://back/v1/a/x%20y%7Bz%7D"));
    check("@evil", Some("http://back/v1/a/@evil"));
    check("http://evil", Some("http://back/v1/a/http://evil"));
    check(r"x\r\nX-Evil: 1", None);
}

#[test]
fn a_connection_of_a_connector_that_is_not_there_is_a_warning() {
    let check = |element: &str, expected: Option<&str>| {
        let report = report(&format!("<localEntry key='C'><{element}><name>C</name></{element}></localEntry>"));
        let warnings: Vec<_> = report.artefacts[0].warnings.iter().map(|warning| warning.message()).collect();
        assert_eq!((report.faulty(), warnings.len()), (0, usize::from(expected.is_some())), "{warnings:?}");
        assert!(expected.is_none_or(|part| warnings[0].contains(part)), "{warnings:?}");
    };
    check("kafkaTransport.init", Some("there is no connector \"kafkaTransport\"; its archive belongs"));
    check("htp.init", Some("did you mean http?"));
    check("order", None);
}
