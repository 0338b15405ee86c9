//! What `log` writes.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use crate::common::{Scenario, request};
use myelin_engine::Position;
use myelin_engine::transport::SendErrorKind;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps the lines of the targets that begin so, each with its level and its position.
#[derive(Clone)]
struct Lines(&'static str, Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.0) && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        line.0.push_str(&Position::here().to_string());
        self.1.lock().expect("nothing panics in between").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.0, "{value:?}").expect("writing into a string cannot fail");
        }
    }
}

/// What one `log` writes of a request with that body.
fn written(log: &str, content_type: &str, body: &str) -> Vec<String> {
    let scenario = Scenario::new(&format!(
        "<proxy name='T'><target><inSequence><property name='a' value='1'/>{log}<drop/></inSequence></target></proxy>"
    ));
    let lines = logged("myelin::log", || {
        let headers = [("Host", "bus"), ("Content-Type", content_type), ("X-In", "in")];
        let request = request("POST", "/services/T", &headers, body);
        assert_eq!(scenario.serve(request).status, 202);
    });
    let bare = |line: &String| {
        let (bare, end) = line.rsplit_once(", CORRELATION_ID = ").expect("each line has the correlation id");
        assert!(end.starts_with("c-1, AT = log (") && end.ends_with(":1)"), "{line}");
        bare.to_owned()
    };
    lines.iter().map(bare).collect()
}

/// What is logged for these targets meanwhile.
fn logged(target: &'static str, work: impl FnOnce()) -> Vec<String> {
    let lines = Lines(target, Arc::default());
    tracing::subscriber::with_default(lines.clone(), work);
    let lines = lines.1.lock().expect("nothing panics in between");
    lines.clone()
}

#[test]
fn a_message_comes_first_and_what_else_is_wanted_behind_it() {
    let check = |log: &str, expected: &str| {
        let lines = written(log, "application/json", r#"{"order": {"id": 7}}"#);
        assert_eq!(lines, [expected], "{log}");
    };
    check("<log><message>Order ${payload.order.id} of ${headers[\"X-In\"]}</message></log>", "INFO Order 7 of in");
    check(
        "<log category='WARN' separator=' | '><message>x</message><property name='a' expression='$ctx:a'/></log>",
        "WARN x | a = 1",
    );
    check("<log logFullPayload='true'><message>in</message></log>", r#"INFO in, Payload: {"order": {"id": 7}}"#);
    check("<log level='custom'><property name='n' value='${vars.none}'/></log>", "INFO n = ");
    check("<log category='FATAL' level='custom'><property name='n' expression='$ctx:n'/></log>", "ERROR n = null");
    check("<log category='DEBUG' level='custom' separator='\\n'><property name='a' value='1'/></log>", "DEBUG a = 1");
    let lines =
        "<log level='custom' separator=';\\n'><property name='a' value='1'/><property name='b' value='2'/></log>";
    assert_eq!(written(lines, "text/xml", "<a/>"), ["INFO a = 1;", "INFO b = 2"]);
    assert!(written("<log category='TRACE'/>", "text/xml", "<a/>").is_empty());
}

#[test]
fn a_message_identifier_is_written_where_it_is_wanted_and_once() {
    let lines = written("<log logMessageID='true'><message>x</message></log>", "text/xml", "<a/>");
    assert!(lines[0].starts_with("INFO x, MessageID: urn:uuid:"), "{lines:?}");
    let lines = written("<log logMessageID='true'/>", "text/xml", "<a/>");
    assert_eq!(lines[0].matches("MessageID: ").count(), 1, "{lines:?}");
    assert!(lines[0].ends_with(", Direction: request"), "{lines:?}");
}

#[test]
fn of_a_large_body_the_beginning_is_written_and_how_much_more_there_was() {
    let body = format!("<a>{}</a>", "é".repeat(200_000));
    let lines = written("<log level='full'/>", "text/xml", &body);
    assert!(lines[0].len() < 263_000 && lines[0].ends_with(" bytes more)"), "{}", lines[0].len());
    let lines = written("<log level='full'/>", "text/xml", "<a/>");
    assert!(lines[0].ends_with("Envelope: <a/>"), "{lines:?}");
}

#[test]
fn the_header_blocks_of_soap_are_written_with_their_texts() {
    let body = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><t:Tenant xmlns:t='urn:t'>gold\
                </t:Tenant></s:Header><s:Body/></s:Envelope>";
    let lines = written("<log level='headers'><property name='a' value='1'/></log>", "text/xml", body);
    assert_eq!(lines, ["INFO Tenant : gold, a = 1"]);
}

/// A proxy with these steps, each in a line of its own from line 3 on.
fn proxy(steps: &[&str]) -> String {
    format!("\n<proxy name='T'><target><inSequence>\n{}\n</inSequence></target></proxy>", steps.join("\n"))
}

/// Where the lines are from that a proxy with these steps logs, in their order: what stands behind `AT =`, without the
/// folder of the file.
fn places(scenario: &Scenario, body: &str) -> Vec<(String, String)> {
    let lines = logged("myelin", || {
        scenario.serve(request("POST", "/services/T", &[("Host", "bus"), ("Content-Type", "application/json")], body));
    });
    let place = |line: &String| {
        let (text, place) = line.rsplit_once(", CORRELATION_ID = c-1, AT = ").unwrap_or_else(|| panic!("{line}"));
        let mut place = place.to_owned();
        while let Some(start) = place.find("(/") {
            let end = place[start..].find("synapse.xml").unwrap_or_else(|| panic!("{place}")) + start;
            place.replace_range(start + 1..end, "");
        }
        (text.to_owned(), place)
    };
    lines.iter().map(place).collect()
}

#[test]
fn every_line_that_mediation_writes_ends_in_the_correlation_id_and_the_place_of_its_step() {
    let steps = [
        "<property name='a' expression='json-eval($.none)'/>",
        "<script language='js'><![CDATA[",
        "  print('one');",
        "  console.warn('two')]]></script>",
        "<filter xpath='true()'>",
        "<log level='custom'/></filter>",
        "<property name='b' expression='${payload.none + 1}'/>",
        "<clone><target><sequence>",
        "<log level='custom'/></sequence></target></clone>",
    ];
    let scenario = Scenario::new(&proxy(&steps));
    let expected = [
        "property (synapse.xml:3)",
        "script (synapse.xml:4) → script (synapse.xml:5)",
        "script (synapse.xml:4) → script (synapse.xml:6)",
        "log (synapse.xml:8)",
        "property (synapse.xml:9)",
        "log (synapse.xml:11)",
    ];
    let found = places(&scenario, r#"{"order": 1}"#);
    assert_eq!(found.iter().map(|(_, place)| place.as_str()).collect::<Vec<_>>(), expected, "{found:#?}");
}

#[test]
fn what_an_endpoint_logs_names_the_step_or_the_service_that_sends() {
    let endpoint = "<endpoint><address uri='http://a/'><suspendOnFailure><initialDuration>9</initialDuration>\
                    </suspendOnFailure></address></endpoint>";
    for (step, expected) in [("call", "call (synapse.xml:3)"), ("send", "proxy T (synapse.xml:2)")] {
        let artefacts = proxy(&[&format!("<{step}>{endpoint}</{step}>")]);
        let scenario = Scenario::failing(&artefacts, SendErrorKind::ConnectFailed);
        let found = places(&scenario, "{}");
        let suspended = found.iter().find(|(text, _)| text.contains("the endpoint is suspended"));
        assert_eq!(suspended.map(|(_, place)| place.as_str()), Some(expected), "{found:#?}");
        let (_, fault) = found.iter().find(|(text, _)| text.contains("ERROR_CODE = 101503")).expect("there is a fault");
        assert!(
            fault.starts_with("proxy T (synapse.xml:2) → ") && fault.contains("endpoint (synapse.xml:3)"),
            "{fault}"
        );
    }
}

#[test]
fn what_is_worked_on_beside_the_serving_thread_keeps_the_place_of_its_step() {
    let stylesheet = "<localEntry key='s'><xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform' version='1.0'>\
        <xsl:template match='/'><a><xsl:for-each select='//b'><xsl:for-each select='//b'><x/></xsl:for-each>\
        </xsl:for-each><xsl:message>told</xsl:message></a></xsl:template></xsl:stylesheet></localEntry>";
    let scenario = Scenario::new(&format!("{stylesheet}{}", proxy(&["<xslt key='s'/>"])));
    let body = format!("<a>{}</a>", "<b/>".repeat(400));
    let lines = logged("myelin::xslt", || {
        scenario.serve(request("POST", "/services/T", &[("Host", "bus"), ("Content-Type", "text/xml")], &body));
    });
    assert_eq!(scenario.worked(), 1);
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.starts_with("INFO told, CORRELATION_ID = c-1, AT = xslt ("), "{line}");
    assert!(line.contains(":3) → stylesheet ("), "{line}");
}

#[test]
fn what_stands_before_the_steps_of_an_api_logs_the_place_of_the_api() {
    let artefacts = "<api name='orders' context='/a'><handlers>\
        <handler class='org.wso2.micro.integrator.security.handler.oauth.OAuth2AuthorizationHandler'>\
        <property name='jwksEndpoint' value='http://issuer/keys'/>\
        <property name='trustedIssuers' value='https://issuer.example'/>\
        <property name='audience' value='orders'/></handler></handlers>\
        <resource methods='GET'><inSequence><respond/></inSequence></resource></api>";
    let scenario = Scenario::failing(artefacts, SendErrorKind::ConnectFailed);
    let lines = logged("myelin::oauth", || {
        let headers = [("Host", "bus"), ("Authorization", "Bearer a.b.c")];
        assert!(scenario.serve(request("GET", "/a", &headers, "")).status >= 400);
    });
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.contains(", CORRELATION_ID = c-1, AT = api orders ("), "{line}");
}
