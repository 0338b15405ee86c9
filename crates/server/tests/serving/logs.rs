//! What messages bring to the log of a process stays within its line.

use std::fs;

use crate::support::process::{Process, write};
use crate::support::{answering, definitions};
use myelin_testkit::{eventually, raw};

const FORGED: &str = "x\r\n2026-01-01T00:00:00.000000Z ERROR forged\u{1b}[2J\u{85}\u{2028}forged\u{2029}forged\u{202e}";

#[test]
fn no_message_begins_a_line_of_the_log() {
    let steps = "<log level='full'/>\
        <log level='custom'><property name='p' expression=\"//text()\"/></log>\
        <log category='WARN'><message>${xpath('//text()')}</message></log>\
        <script language='js'>print('script ' + mc.getPayloadXML().toString()); console.log('console\\nforged\\u001b');</script>\
        <throwError type='T' errorMessage=\"{//text()}\"/>";
    let proxy = format!("<proxy name='P'><target><inSequence>{steps}</inSequence></target></proxy>");
    let process = Process::run(&[("synapse.xml", &definitions(&proxy))], "");
    let length = FORGED.len();
    let head =
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: text/plain; charset=UTF-8\r\nConnection: close\r\n";
    let request = format!("{head}Content-Length: {length}\r\n\r\n{FORGED}");
    assert_eq!(raw::exchange(process.address, request.as_bytes()).unwrap().status, 500);
    // The fault is the last line of the request.
    let lines = process.logged_until("ERROR_CODE = ");
    let about_it: Vec<&String> = lines.iter().filter(|line| line.contains("forged")).collect();
    assert!(about_it.len() >= 5, "{lines:#?}");
    for line in lines {
        let (time, rest) = line.split_at_checked(27).unwrap_or_default();
        let level = rest.trim_start().split(' ').next();
        assert!(time.ends_with('Z') && matches!(level, Some("INFO" | "WARN" | "ERROR")), "{line:?}");
        assert!(!line.contains(|c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}')), "{line:?}");
        assert!(!time.starts_with("2026-01-01T00:00:00"), "{line:?}");
    }
}

fn get(process: &Process, path: &str) -> u16 {
    let request = format!("GET {path} HTTP/1.1\r\nHost: bus\r\nactivityid: id-{}\r\n\r\n", path.len());
    raw::exchange(process.address, request.as_bytes()).unwrap().status
}

#[test]
fn levels_format_and_file_of_the_log_change_with_a_reload() {
    let quiet = |name: &str| {
        let log = format!("<log level='custom' category='DEBUG'><property name='said' value='{name}'/></log>");
        format!("<proxy name='{name}'><target><inSequence>{log}<respond/></inSequence></target></proxy>")
    };
    let both = definitions(&format!("{}{}", quiet("Loud"), quiet("Quiet")));
    let process = Process::run(&[("synapse.xml", &both)], "");
    let settings = process.folder.path().join("deployment.toml");
    assert_eq!((get(&process, "/services/Loud"), get(&process, "/services/Quiet")), (200, 200));
    write(&settings, "[myelin.log.artefacts]\n\"proxy:Loud\" = \"debug\"\n\"proxy:Lost\" = \"debug\"\n");
    let lines = process.logged_until("; reloaded (");
    assert!(lines.iter().any(|line| line.contains("a level for proxy:Lost, which the configuration does not have")));
    assert!(!lines.iter().any(|line| line.contains("said = ")), "{lines:#?}");
    assert_eq!((get(&process, "/services/Quiet"), get(&process, "/services/Loud")), (200, 200));
    let lines = process.logged_until("said = Loud");
    assert!(!lines.iter().any(|line| line.contains("said = Quiet")), "{lines:#?}");
    assert!(lines.last().unwrap().contains("CORRELATION_ID = id-14, AT = log ("), "{lines:#?}");

    write(
        &settings,
        "[myelin.log]\nformat = \"json\"\nfile = \"bus.log\"\n[myelin.log.targets]\n\"myelin::log\" = \"debug\"\n",
    );
    let file = process.folder.path().join("bus.log");
    let read = || fs::read_to_string(&file).unwrap_or_default();
    eventually("the reload is in the file", || read().contains("; reloaded ("));
    assert_eq!(get(&process, "/services/Quiet"), 200);
    eventually("the line is in the file", || read().contains("said = Quiet"));
    for line in read().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok_and(|line| line["level"].is_string()), "{line}");
    }

    write(&settings, "[myelin.log]\nlevel = \"loud\"\n");
    eventually("the error is in the file", || read().contains("\\\"loud\\\" is no level"));
    assert!(read().contains("the new configuration is refused"), "{}", read());
}

#[test]
fn the_wire_log_shows_heads_at_debug_and_bytes_at_trace_with_what_they_belong_to() {
    let backend = answering("HTTP/1.1 201 Made\r\nX-Back: 1\r\nContent-Length: 5\r\n\r\nhello");
    let call = format!("<call><endpoint><address uri='http://{}/b'/></endpoint></call>", backend.address());
    let proxy = format!("<proxy name='P'><target><inSequence>{call}<respond/></inSequence></target></proxy>");
    let level =
        |level: &str| format!("[myelin.log.targets]\n\"org.apache.synapse.transport.http.headers\" = \"{level}\"\n");
    let process = Process::run(&[("synapse.xml", &definitions(&proxy))], &level("DEBUG"));
    assert_eq!(get(&process, "/services/P"), 201);
    let lines = process.logged_until("to client");
    let line =
        |part: &str| lines.iter().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} {lines:#?}"));
    assert!(line("from client 127.0.0.1:").contains(": GET /services/P HTTP/1.1\\nHost: bus\\n"), "{lines:#?}");
    assert!(line("to backend 127.0.0.1:").contains(": GET /b HTTP/1.1\\n"), "{lines:#?}");
    assert!(line("from backend 127.0.0.1:").contains(": HTTP/1.1 201 Made\\nX-Back: 1\\n"), "{lines:#?}");
    assert!(line("to client 127.0.0.1:").contains(": HTTP/1.1 201 "), "{lines:#?}");
    for part in ["from client", "to backend", "from backend", "to client"] {
        assert!(line(part).contains("CORRELATION_ID = id-11"), "{lines:#?}");
    }
    assert!(line("to backend").contains("AT = call ("), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("hello")), "{lines:#?}");
    write(&process.folder.path().join("deployment.toml"), &level("TRACE"));
    process.logged("; reloaded (");
    assert_eq!(get(&process, "/services/P"), 201);
    let lines = process.logged_until("hello");
    assert!(lines.last().unwrap().contains(" bytes from 127.0.0.1:"), "{lines:#?}");
}

#[test]
fn a_line_is_written_for_each_step_at_trace_and_none_at_debug() {
    let backend = answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let steps = format!(
        "<property name='a' value='1'/><sequence key='audit'/>\
         <call><endpoint name='Stock'><address uri='http://{}/b'/></endpoint></call><respond/>",
        backend.address()
    );
    let artefacts = format!(
        "<sequence name='audit'><log level='custom'><property name='audited' value='1'/></log></sequence>\
         <proxy name='P'><target><inSequence>{steps}</inSequence></target></proxy>\
         <proxy name='Quiet'><target><inSequence><property name='a' value='1'/><respond/></inSequence></target></proxy>"
    );
    let settings = "[myelin.log.artefacts]\n\"proxy:P\" = \"trace\"\n\"proxy:Quiet\" = \"debug\"\n";
    let admin = myelin_testkit::port::free().unwrap().to_string();
    let process = Process::with(&[("synapse.xml", &definitions(&artefacts))], settings, &["--admin", &admin]);
    assert_eq!((get(&process, "/services/Quiet"), get(&process, "/services/P")), (200, 200));
    let lines = process.logged_until("step respond: respond after ");
    let steps: Vec<&String> = lines.iter().filter(|line| line.contains(" TRACE myelin::flow: ")).collect();
    let told = [
        "step property: next",
        "step log: next",
        "step sequence: next",
        "is sent to an endpoint endpoint=\"Stock\"",
        "the endpoint answers 200",
        "step call: next",
        "step respond: respond",
    ];
    assert_eq!(steps.len(), told.len(), "{steps:#?}");
    for (line, told) in steps.iter().zip(told) {
        assert!(line.contains(told) && line.contains("CORRELATION_ID = id-11, AT = "), "{told:?}: {line}");
    }
    assert!(steps[0].contains(" µs, CORRELATION_ID = id-11, AT = property (") && steps[0].contains("synapse.xml:1)"));
}
