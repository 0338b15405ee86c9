//! What `log` writes.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use crate::common::{Scenario, request};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps the lines of the target `myelin::log`, each with its level.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "myelin::log" && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().expect("nothing panics in between").push(line.0);
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
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let headers = [("Host", "bus"), ("Content-Type", content_type), ("X-In", "in")];
        let request = request("POST", "/services/T", &headers, body);
        assert_eq!(scenario.serve(request).status, 202);
    });
    let lines = lines.0.lock().expect("nothing panics in between");
    let bare = |line: &String| {
        let (bare, end) = line.rsplit_once(", CORRELATION_ID = ").expect("each line has the correlation id");
        assert!(end.contains(", AT = log (") && end.ends_with(":1)"), "{line}");
        bare.to_owned()
    };
    lines.iter().map(bare).collect()
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
