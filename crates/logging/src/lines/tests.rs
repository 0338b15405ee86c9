use std::io;
use std::sync::Mutex;

use myelin_flow::position::{ServiceIdentity, StepPlace, at_step, in_exchange, in_service};
use myelin_message::CorrelationId;
use tracing_appender::non_blocking::NonBlockingBuilder;
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::directives::directives;
use crate::is_unsafe;
use crate::ring::Query;
use crate::table::ArtefactPlace;

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Memory {
    type Writer = Memory;

    fn make_writer(&'a self) -> Memory {
        self.clone()
    }
}

/// The lines that something logs, without their times; the log may be changed meanwhile.
fn logged(filter: &str, format: Format, work: impl FnOnce(&Log)) -> (Vec<String>, Log) {
    let (writer, _guard) = NonBlockingBuilder::default().finish(io::sink());
    let log = Log {
        levels: Levels::new(directives(filter).unwrap()),
        ring: Ring::default(),
        output: Output::default(),
        style: Arc::default(),
        written: Arc::default(),
        dropped: writer.error_counter(),
        forward: Arc::default(),
        mask: Arc::default(),
    };
    log.set_format(format);
    let memory = Memory::default();
    let subscriber = tracing_subscriber::registry().with(Lines::new(&log, memory.clone()));
    tracing::subscriber::with_default(subscriber, || work(&log));
    let written = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
    let without_time = |line: &str| match format {
        Format::Text => line.split_once(' ').map(|(_, rest)| rest.to_owned()).unwrap_or_default(),
        Format::Json => line.to_owned(),
    };
    (written.lines().map(without_time).collect(), log)
}

fn service(kind: &'static str, name: &str) -> ServiceIdentity {
    ServiceIdentity::new(kind, name, None)
}

#[test]
fn no_event_takes_more_than_its_line_whatever_it_holds() {
    let (lines, log) = logged("", Format::Text, |_| {
        let forged = "a\r\nERROR b\0\x1b[2J\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\tc\\ß";
        tracing::info!(target: "t", "{forged}");
        in_exchange(&CorrelationId::fixed("c\nd"), || {
            tracing::info!(target: "t", header = forged, debug = ?forged, display = %forged, "said");
        });
    });
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(!lines.concat().contains(is_unsafe), "{lines:?}");
    let said = "a\\r\\nERROR b\\u{0}\\x1b[2J\\x7f\\u{85}\\u{9b}\\u{2028}\\u{2029}\\u{202e}\tc\\ß";
    assert_eq!(lines[0], format!(" INFO t: {said}"));
    assert!(
        lines[1].starts_with(" INFO t: said header=") && lines[1].ends_with(", CORRELATION_ID = c\\nd"),
        "{lines:?}"
    );
    let kept = log.ring.lines(&Query { limit: 9, ..Query::default() });
    assert_eq!((kept.len(), kept[0].message.as_str(), kept[1].correlation.as_deref()), (2, said, Some("c\nd")));
    assert_eq!(log.written().map(|(_, count)| count).collect::<Vec<_>>(), [0, 0, 2, 0, 0]);
}

#[test]
fn an_event_is_an_object_with_what_it_says_and_where() {
    let (lines, log) = logged("", Format::Json, |_| {
        in_exchange(&CorrelationId::fixed("c-1"), || {
            in_service(&service("proxy", "P"), || tracing::warn!(target: "t", code = 101503, "a\n\"b\" {}", "c"));
        });
        tracing::info!(target: "t", "elsewhere");
    });
    let objects: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    assert_eq!(objects.len(), 2, "{lines:?}");
    assert_eq!((&objects[0]["level"], &objects[0]["target"]), (&"WARN".into(), &"t".into()));
    assert_eq!((&objects[0]["message"], &objects[0]["fields"]["code"]), (&"a\n\"b\" c".into(), &101503.into()));
    assert_eq!((&objects[0]["correlation_id"], &objects[0]["service"]), (&"c-1".into(), &"proxy P".into()));
    assert_eq!(objects[0]["at"], "proxy P");
    assert!(objects[1].get("at").is_none() && objects[1].get("fields").is_none(), "{lines:?}");
    let kept = log.ring.lines(&Query { limit: 9, ..Query::default() });
    assert_eq!(kept[0].message, "a\\n\"b\" c code=101503");
    assert_eq!(kept[0].service.as_deref(), Some("proxy P"));
}

#[test]
fn levels_change_while_events_come() {
    fn say(text: &str) {
        tracing::debug!(target: "myelin_http::client", "{text}");
        tracing::debug!(target: "myelin_wss", "{text}");
    }
    let (lines, _) = logged("", Format::Text, |log| {
        say("one");
        log.levels.set("myelin_http", "debug").unwrap();
        say("two");
        log.levels.set("rootLogger", "DEBUG").unwrap();
        say("three");
        log.levels.set("myelin_http", "off").unwrap();
        say("four");
    });
    let both = |text: &str| [format!("DEBUG myelin_http::client: {text}"), format!("DEBUG myelin_wss: {text}")];
    let [http_two, _] = both("two");
    let [http_three, wss_three] = both("three");
    let [_, wss_four] = both("four");
    assert_eq!(lines, [http_two, http_three, wss_three, wss_four]);
}

#[test]
fn an_artefact_has_a_level_of_its_own() {
    fn say() {
        tracing::info!(target: "myelin_flow", "info");
        tracing::debug!(target: "myelin_flow", "debug");
        tracing::debug!(target: "myelin::wire", "Authorization: secret");
    }
    let step = |line: u32| StepPlace {
        element: "log",
        place: myelin_config::problem::Place { file: "s.xml".into(), line, column: 1 },
    };
    let (lines, _) = logged("warn,proxy:Loud=debug,sequence:quiet=off,endpoint:Stock=debug", Format::Text, |log| {
        let sequence =
            ArtefactPlace { element: "sequence".into(), name: "quiet".into(), file: "s.xml".into(), lines: (3, 5) };
        assert_eq!(log.levels.set_artefacts(vec![sequence]), ["endpoint:Stock", "proxy:Loud"]);
        say();
        in_service(&service("proxy", "Other"), say);
        in_service(&service("proxy", "Loud"), || {
            say();
            at_step(&step(4), say);
            at_step(&step(6), || tracing::debug!(target: "t", "{}", "behind"));
        });
        tracing::debug!(target: "t", endpoint = "endpoint Stock (a.xml:1)", "up");
        tracing::debug!(target: "t", endpoint = "endpoint Other (a.xml:1)", "up");
        tracing::debug!(target: "t", endpoint = %"Stock", "down");
    });
    assert_eq!(
        lines,
        [
            " INFO myelin_flow: info, AT = proxy Loud",
            "DEBUG myelin_flow: debug, AT = proxy Loud",
            "DEBUG t: behind, AT = log (s.xml:6)",
            "DEBUG t: up endpoint=\"endpoint Stock (a.xml:1)\"",
            "DEBUG t: down endpoint=Stock",
        ]
    );
}

#[test]
fn secrets_are_taken_out_of_what_is_kept_and_of_the_wire() {
    let (lines, log) = logged("info,myelin::wire=info", Format::Text, |log| {
        log.mask_with(|text| text.replace("secret", "****").into());
        tracing::info!(target: "myelin::log", "secret");
        tracing::info!(target: "myelin::wire", "secret");
    });
    assert_eq!(lines, [" INFO myelin::log: secret", " INFO myelin::wire: ****"]);
    let kept = log.ring.lines(&Query { limit: 9, ..Query::default() });
    assert!(kept.iter().all(|entry| entry.message == "****"), "{kept:?}");
}

#[test]
fn the_output_may_change_and_be_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.log"), folder.path().join("b.log"));
    let output = Output::default();
    let mut sink = output.sink();
    let destination = crate::Destination::File(first.clone());
    output.set(destination.clone()).unwrap();
    sink.write_all(b"one\n").unwrap();
    std::fs::rename(&first, &second).unwrap();
    sink.write_all(b"two\n").unwrap();
    output.reopen();
    sink.write_all(b"three\n").unwrap();
    let read = |path| std::fs::read_to_string(path).unwrap();
    assert_eq!((read(&second).as_str(), read(&first).as_str()), ("one\ntwo\n", "three\n"));
    assert!(output.set(crate::Destination::File(folder.path().join("no/such"))).is_err());
    assert_eq!(output.file(), Some(first));
}
