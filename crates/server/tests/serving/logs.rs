//! What messages bring to the log of a process stays within its line.

use crate::support::definitions;
use crate::support::process::Process;
use myelin_testkit::raw;

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
