//! What a line of the access log holds: named formats, and letters as Apache, Tomcat and Micro Integrator have them.
//!
//! Source: Apache HTTP Server, mod_log_config and mod_ssl; Tomcat, AccessLogValve; Synapse, `AccessLogger`.

use std::time::Duration;

use anyhow::bail;
use memchr::memchr;
use myelin_engine::observer::ServiceCounters;
use myelin_http::{Record, Recorded};
use myelin_spelling::suggestion;

use super::common::Common;
use super::escape::{digits, push_escaped, push_masked_target, push_number, push_word};
use super::json;
use crate::exchange_observer::ExchangeNote;

/// The formats that have names.
const NAMES: [&str; 4] = ["myelin", "common", "combined", "json"];

/// As most servers write it by default.
const COMMON: &str = "%h %l %u %t \"%r\" %s %b";

/// The same with who sent the client here, and what the client is.
const COMBINED: &str = "%h %l %u %t \"%r\" %s %b \"%{Referer}i\" \"%{User-Agent}i\"";

/// What Myelin writes where nothing is said.
const OWN: &str = "%h %l %u [%{iso}t] \"%{target}r\" %s %O %T %{correlation}x%{aborted}x";

/// What a line holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineFormat {
    content: Content,
    /// Whether values of parameters that are secrets are masked in targets.
    masks_queries: bool,
    /// What records have to hold for it.
    recorded: Recorded,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Json,
    Parts(Vec<Part>),
}

/// A part of a line: what the usual format has, or another, which is written elsewhere so that usual lines take a short
/// way.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A text of one byte.
    Byte(u8),
    /// `%h`, `%a`
    Client,
    /// `%{iso}t`: `2026-11-25T05:00:00.000Z`
    IsoTime,
    /// `%{target}r`: without the protocol.
    MethodAndTarget,
    Status,
    /// `%O`: with the head.
    Sent,
    /// `%T`: with six digits behind the point.
    Seconds,
    /// `%{correlation}x`
    Correlation,
    /// `%{aborted}x`: ` aborted` with a blank before it, where the answer broke off; else nothing.
    Aborted,
    Other(Other),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// `%A`
    LocalAddress,
    /// `%p`
    LocalPort,
    /// `%{remote}p`
    ClientPort,
    /// `%t`
    Time(TimeFormat),
    /// `%r`
    RequestLine,
    Method,
    Path,
    /// `%q`, with its question mark.
    Query,
    /// `%H`
    Protocol,
    /// `%b`: without the head; `-` where there are none.
    BodySent,
    /// `%B`
    BodySentDigits,
    /// `%I`: with the head.
    Received,
    /// `%D`, `%{us}T`
    Microseconds,
    /// `%{ms}T`
    Milliseconds,
    /// `%{s}T`
    WholeSeconds,
    /// `%X`: how the connection stands behind it.
    Connection,
    /// `%{NAME}i`
    RequestHeader(usize),
    /// `%{NAME}o`
    ResponseHeader(usize),
    /// `%{NAME}x`
    Own(Own),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeFormat {
    /// `[25/Nov/2026:05:00:00 +0000]`
    Common,
    Seconds,
    Milliseconds,
    Microseconds,
}

/// What Apache has no letter for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Service,
    ServiceKind,
    Endpoint,
    /// How long endpoints were waited for.
    EndpointTime,
    TlsVersion,
    TlsCipher,
    Trace,
    ReceivedBody,
}

/// The names of what Apache has no letter for, with that of its mod_ssl.
const OWN_NAMES: [(&str, Part); 12] = [
    ("service", Part::Other(Other::Own(Own::Service))),
    ("service_type", Part::Other(Other::Own(Own::ServiceKind))),
    ("endpoint", Part::Other(Other::Own(Own::Endpoint))),
    ("endpoint_time", Part::Other(Other::Own(Own::EndpointTime))),
    ("tls_version", Part::Other(Other::Own(Own::TlsVersion))),
    ("SSL_PROTOCOL", Part::Other(Other::Own(Own::TlsVersion))),
    ("tls_cipher", Part::Other(Other::Own(Own::TlsCipher))),
    ("SSL_CIPHER", Part::Other(Other::Own(Own::TlsCipher))),
    ("correlation", Part::Correlation),
    ("trace", Part::Other(Other::Own(Own::Trace))),
    ("aborted", Part::Aborted),
    ("received_body", Part::Other(Other::Own(Own::ReceivedBody))),
];

impl Default for LineFormat {
    fn default() -> LineFormat {
        // A constant, which a test reads.
        LineFormat::read(OWN, true).unwrap_or_else(|_| LineFormat::json(true))
    }
}

impl LineFormat {
    /// The format with a name, or of these letters.
    ///
    /// Errors: a name or a letter that there is not, a brace that is not closed.
    pub(crate) fn read(text: &str, masks_queries: bool) -> anyhow::Result<LineFormat> {
        let pattern = match text.trim() {
            "json" => return Ok(LineFormat::json(masks_queries)),
            "" | "myelin" => OWN,
            "common" => COMMON,
            "combined" => COMBINED,
            word if !word.contains('%') => {
                let hint = suggestion(word, NAMES);
                bail!(
                    "{word:?} is no format of the access log: myelin, common, combined and json are, and letters such as %h{hint}"
                )
            }
            // A line is one line.
            pattern if pattern.contains(['\n', '\r']) => bail!("a format of the access log is one line"),
            pattern => pattern,
        };
        let mut recorded = Recorded { lines: true, ..Recorded::default() };
        let parts = parts(pattern, &mut recorded)?;
        Ok(LineFormat { content: Content::Parts(parts), masks_queries, recorded })
    }

    fn json(masks_queries: bool) -> LineFormat {
        let request_headers = json::HEADERS.map(str::to_owned).to_vec();
        let recorded = Recorded { lines: true, request_headers, response_headers: Vec::new() };
        LineFormat { content: Content::Json, masks_queries, recorded }
    }

    /// What records have to hold for it.
    pub(crate) fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Whether it says what only the engine knows.
    pub(crate) fn asks_engine(&self) -> bool {
        let asks = |part: &Part| {
            let of_engine = [Own::Service, Own::ServiceKind, Own::Endpoint, Own::EndpointTime, Own::Trace];
            matches!(part, Part::Other(Other::Own(own)) if of_engine.contains(own))
        };
        match &self.content {
            Content::Json => true,
            Content::Parts(parts) => parts.iter().any(asks),
        }
    }

    /// Writes a line, its end included.
    pub(super) fn write(&self, out: &mut Vec<u8>, record: &Record, now: Duration, common: &mut Common) {
        let parts = match &self.content {
            Content::Json => return json::write(out, record, now, self.masks_queries),
            Content::Parts(parts) => parts,
        };
        for part in parts {
            self.write_part(out, part, record, now, common);
        }
        out.push(b'\n');
    }

    fn write_part(&self, out: &mut Vec<u8>, part: &Part, record: &Record, now: Duration, common: &mut Common) {
        match part {
            Part::Text(text) => out.extend_from_slice(text.as_bytes()),
            Part::Byte(byte) => out.push(*byte),
            Part::Client => out.extend_from_slice(common.client(record.peer.ip()).as_bytes()),
            Part::IsoTime => {
                out.extend_from_slice(common.second(now.as_secs()).as_bytes());
                let [.., a, b, c] = digits(now.subsec_millis());
                out.extend_from_slice(&[b'.', a, b, c, b'Z']);
            }
            Part::MethodAndTarget => self.push_request(out, record),
            Part::Status => {
                let [.., a, b, c] = digits(record.status.into());
                out.extend_from_slice(&[a, b, c]);
            }
            Part::Sent => push_number(out, record.sent_bytes),
            Part::Seconds => push_seconds(out, record.duration),
            Part::Correlation => push_word_or_dash(out, &record.correlation),
            Part::Aborted if record.complete => {}
            Part::Aborted => out.extend_from_slice(b" aborted"),
            Part::Other(other) => self.write_other(out, *other, record, now, common),
        }
    }

    #[inline(never)]
    fn write_other(&self, out: &mut Vec<u8>, part: Other, record: &Record, now: Duration, common: &mut Common) {
        let body_bytes = record.sent_bytes.saturating_sub(record.sent_head_bytes);
        match part {
            Other::LocalAddress => out.extend_from_slice(record.local.ip().to_string().as_bytes()),
            Other::LocalPort => push_number(out, record.local.port().into()),
            Other::ClientPort => push_number(out, record.peer.port().into()),
            Other::Time(TimeFormat::Common) => out.extend_from_slice(common.clf(now.as_secs()).as_bytes()),
            Other::Time(TimeFormat::Seconds) => push_number(out, now.as_secs()),
            Other::Time(TimeFormat::Milliseconds) => push_number(out, milliseconds(now)),
            Other::Time(TimeFormat::Microseconds) => push_number(out, microseconds(now)),
            Other::RequestLine => {
                self.push_request(out, record);
                if !record.method().is_empty() {
                    out.push(b' ');
                    out.extend_from_slice(record.protocol.as_bytes());
                }
            }
            Other::Method if record.method().is_empty() => out.push(b'-'),
            Other::Method => out.extend_from_slice(record.method()),
            Other::Path => {
                let target = record.target();
                push_escaped(out, &target[..memchr(b'?', target).unwrap_or(target.len())]);
            }
            Other::Query => {
                let target = record.target();
                if let Some(start) = memchr(b'?', target) {
                    self.push_target(out, &target[start..]);
                }
            }
            Other::Protocol => out.extend_from_slice(record.protocol.as_bytes()),
            Other::BodySent if body_bytes == 0 => out.push(b'-'),
            Other::BodySent | Other::BodySentDigits => push_number(out, body_bytes),
            Other::Received => push_number(out, record.received_bytes),
            Other::Microseconds => push_number(out, microseconds(record.duration)),
            Other::Milliseconds => push_number(out, milliseconds(record.duration)),
            Other::WholeSeconds => push_number(out, record.duration.as_secs()),
            Other::Connection => out.push(match (record.complete, record.goes_on) {
                (false, _) => b'X',
                (true, true) => b'+',
                (true, false) => b'-',
            }),
            Other::RequestHeader(index) => push_header(out, record.request_headers.get(index)),
            Other::ResponseHeader(index) => push_header(out, record.response_headers.get(index)),
            Other::Own(own) => push_own(out, own, record),
        }
    }

    /// Method and target; `-` where the head was refused.
    fn push_request(&self, out: &mut Vec<u8>, record: &Record) {
        match &record.method_and_target[..] {
            [] => out.push(b'-'),
            request => self.push_target(out, request),
        }
    }

    fn push_target(&self, out: &mut Vec<u8>, target: &[u8]) {
        if self.masks_queries { push_masked_target(out, target) } else { push_escaped(out, target) }
    }
}

fn push_header(out: &mut Vec<u8>, value: Option<&Option<String>>) {
    match value {
        Some(Some(value)) => push_escaped(out, value.as_bytes()),
        _ => out.push(b'-'),
    }
}

fn push_own(out: &mut Vec<u8>, own: Own, record: &Record) {
    let note = ExchangeNote::of(record);
    let trace;
    let text = match own {
        Own::ReceivedBody => return push_number(out, record.received_body_bytes),
        Own::EndpointTime => match note.filter(|note| !note.waited.is_zero()) {
            Some(note) => return push_seconds(out, note.waited),
            None => None,
        },
        Own::Service => note.and_then(|note| note.service.as_ref()).map(|service| &**service.name()),
        Own::ServiceKind => note.and_then(|note| note.service.as_ref()).map(ServiceCounters::kind),
        Own::Endpoint => note.and_then(|note| note.endpoint.as_deref()),
        Own::TlsVersion => record.tls.map(|tls| tls.version),
        Own::TlsCipher => record.tls.map(|tls| tls.cipher),
        Own::Trace => {
            trace = note.and_then(|note| note.trace).map(|trace| trace.trace_id());
            trace.as_deref()
        }
    };
    push_word_or_dash(out, text.unwrap_or_default().as_bytes());
}

fn push_word_or_dash(out: &mut Vec<u8>, text: &[u8]) {
    if text.is_empty() { out.push(b'-') } else { push_word(out, text) }
}

/// Seconds, with six digits behind the point.
fn push_seconds(out: &mut Vec<u8>, duration: Duration) {
    push_number(out, duration.as_secs());
    let [_, _, digits @ ..] = digits(duration.subsec_micros());
    out.push(b'.');
    out.extend_from_slice(&digits);
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Part {
    /// A text that stands for itself; `None` where it is empty.
    fn of_text(text: String) -> Option<Part> {
        match text.as_bytes() {
            [] => None,
            [byte] => Some(Part::Byte(*byte)),
            _ => Some(Part::Text(text)),
        }
    }
}

/// The parts of a pattern.
fn parts(pattern: &str, recorded: &mut Recorded) -> anyhow::Result<Vec<Part>> {
    let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), pattern);
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            text.push('%');
            rest = behind;
            continue;
        }
        // Apache's marks for the first and the last of several requests: there is one here.
        rest = rest.trim_start_matches(['<', '>']);
        let mut name = None;
        if let Some(behind) = rest.strip_prefix('{') {
            let Some((inside, behind)) = behind.split_once('}') else {
                bail!("the format {pattern:?} has a brace that is not closed");
            };
            (name, rest) = (Some(inside), behind);
        }
        let Some(letter) = rest.chars().next() else { bail!("the format {pattern:?} ends in a % without a letter") };
        rest = &rest[letter.len_utf8()..];
        // The names of users, by identd and by HTTP, which nobody knows.
        if matches!((letter, name), ('l' | 'u', None)) {
            text.push('-');
            continue;
        }
        parts.extend(Part::of_text(std::mem::take(&mut text)));
        parts.push(part(letter, name, recorded)?);
    }
    text.push_str(rest);
    parts.extend(Part::of_text(text));
    Ok(parts)
}

fn part(letter: char, name: Option<&str>, recorded: &mut Recorded) -> anyhow::Result<Part> {
    let index = |names: &mut Vec<String>, name: &str| {
        names.iter().position(|known| known.eq_ignore_ascii_case(name)).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        })
    };
    Ok(match (letter, name) {
        ('h' | 'a', None) => Part::Client,
        ('A', None) => Part::Other(Other::LocalAddress),
        ('p', None | Some("local" | "canonical")) => Part::Other(Other::LocalPort),
        ('p', Some("remote")) => Part::Other(Other::ClientPort),
        ('t', None) => Part::Other(Other::Time(TimeFormat::Common)),
        ('t', Some("iso")) => Part::IsoTime,
        ('t', Some("sec")) => Part::Other(Other::Time(TimeFormat::Seconds)),
        ('t', Some("msec")) => Part::Other(Other::Time(TimeFormat::Milliseconds)),
        ('t', Some("usec")) => Part::Other(Other::Time(TimeFormat::Microseconds)),
        ('t', Some(other)) => {
            bail!("%{{{other}}}t is no time: %t, %{{iso}}t, %{{sec}}t, %{{msec}}t and %{{usec}}t are")
        }
        ('r', None) => Part::Other(Other::RequestLine),
        ('r', Some("target")) => Part::MethodAndTarget,
        ('m', None) => Part::Other(Other::Method),
        ('U', None) => Part::Other(Other::Path),
        ('q', None) => Part::Other(Other::Query),
        ('H', None) => Part::Other(Other::Protocol),
        ('s', None) => Part::Status,
        ('b', None) => Part::Other(Other::BodySent),
        ('B', None) => Part::Other(Other::BodySentDigits),
        ('O', None) => Part::Sent,
        ('I', None) => Part::Other(Other::Received),
        ('D', None) => Part::Other(Other::Microseconds),
        ('T', None) => Part::Seconds,
        ('T', Some("s")) => Part::Other(Other::WholeSeconds),
        ('T', Some("ms")) => Part::Other(Other::Milliseconds),
        ('T', Some("us")) => Part::Other(Other::Microseconds),
        ('X', None) => Part::Other(Other::Connection),
        ('v' | 'V', None) => Part::Other(Other::RequestHeader(index(&mut recorded.request_headers, "Host"))),
        ('i', Some(name)) if is_name(name) => {
            Part::Other(Other::RequestHeader(index(&mut recorded.request_headers, name)))
        }
        ('o', Some(name)) if is_name(name) => {
            Part::Other(Other::ResponseHeader(index(&mut recorded.response_headers, name)))
        }
        ('i' | 'o', _) => bail!("%{letter} needs the name of a header: %{{User-Agent}}{letter}"),
        ('x', Some(name)) => match OWN_NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, part)) => part.clone(),
            None => {
                let hint = suggestion(name, OWN_NAMES.map(|(known, _)| known));
                bail!("%{{{name}}}x is not known to the access log{hint}")
            }
        },
        (letter, Some(name)) => bail!("%{{{name}}}{letter} is no letter of the access log; docs/running.md lists them"),
        (letter, None) => bail!("%{letter} is no letter of the access log; docs/running.md lists them"),
    })
}

fn is_name(name: &str) -> bool {
    myelin_message::is_token(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use myelin_engine::observer::Bounds;
    use myelin_http::TlsSession;

    use super::*;

    fn record() -> Record {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        Record {
            tls: Some(TlsSession { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384" }),
            protocol: "HTTP/1.1",
            request_headers: vec![Some("curl\"\n".into()), None],
            response_headers: vec![Some("no-store".into())],
            received_bytes: 300,
            received_body_bytes: 200,
            sent_head_bytes: 33,
            goes_on: true,
            note: Some(Box::new(ExchangeNote {
                service: Some(ServiceCounters::of("proxy", "Direct".into(), Bounds::default())),
                endpoint: Some("Stock".into()),
                waited: Duration::from_micros(300),
                trace: None,
            })),
            method_and_target: "POST /a\"b?password=x&q=1".into(),
            status: 200,
            sent_bytes: 533,
            duration: Duration::from_micros(1_412),
            correlation: "a b\nc".into(),
            complete: true,
            ..Record::at(address("127.0.0.1:4000"), address("127.0.0.1:8280"))
        }
    }

    fn line(format: &str, record: &Record) -> String {
        let format = LineFormat::read(format, true).unwrap();
        let mut out = Vec::new();
        format.write(&mut out, record, Duration::from_millis(1_764_046_800_007), &mut Common::default());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn named_formats_say_what_other_servers_say() {
        let record = record();
        assert_eq!(
            line("myelin", &record),
            "127.0.0.1 - - [2025-11-25T05:00:00.007Z] \"POST /a\\\"b?password=****&q=1\" 200 533 0.001412 a_b_c\n"
        );
        assert_eq!(
            line("common", &record),
            "127.0.0.1 - - [25/Nov/2025:05:00:00 +0000] \"POST /a\\\"b?password=****&q=1 HTTP/1.1\" 200 500\n"
        );
        // Referer and User-Agent, in the order in which the format names them.
        assert!(
            line("combined", &record).ends_with(" 200 500 \"curl\\\"\\n\" \"-\"\n"),
            "{}",
            line("combined", &record)
        );
        let object: serde_json::Value = serde_json::from_str(&line("json", &record)).unwrap();
        assert_eq!((&object["service"], &object["endpoint"]), (&"Direct".into(), &"Stock".into()));
        assert_eq!((&object["target"], &object["status"]), (&"/a\"b?password=****&q=1".into(), &200.into()));
        assert_eq!(object["tls_version"], "TLSv1.3");
    }

    #[test]
    fn letters_stand_for_what_they_do_elsewhere() {
        let record = record();
        let check =
            |format: &str, expected: &str| assert_eq!(line(format, &record), format!("{expected}\n"), "{format}");
        check("%h %a %A %p %{remote}p %l %u", "127.0.0.1 127.0.0.1 127.0.0.1 8280 4000 - -");
        check("%m %U%q %H %>s %b %B %O %I", "POST /a\\\"b?password=****&q=1 HTTP/1.1 200 500 500 533 300");
        check("%D %T %{ms}T %{us}T %{s}T %X 100%%", "1412 0.001412 1 1412 0 + 100%");
        check("%t %{sec}t %{msec}t", "[25/Nov/2025:05:00:00 +0000] 1764046800 1764046800007");
        check("\"%{User-Agent}i\" %{X-None}i %{Cache-Control}o", "\"curl\\\"\\n\" - no-store");
        check("%{service_type}x %{service}x %{endpoint}x %{endpoint_time}x", "proxy Direct Stock 0.000300");
        check("%{SSL_PROTOCOL}x %{tls_cipher}x %{trace}x %{received_body}x", "TLSv1.3 TLS_AES_256_GCM_SHA384 - 200");
        let mut broken = Record { complete: false, note: None, tls: None, ..record };
        broken.method_and_target.clear();
        assert_eq!(line("%X %r %{service}x %{endpoint_time}x%{aborted}x", &broken), "X - - - aborted\n");
        assert_eq!(line("\"%{target}r\" %{tls_version}x", &broken), "\"-\" -\n");
    }

    #[test]
    fn what_it_cannot_mean_is_refused_with_what_was_meant() {
        let refused = |format: &str, part: &str| {
            let error = LineFormat::read(format, true).unwrap_err().to_string();
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        };
        refused("combind", "did you mean combined?");
        refused("%h %Z", "%Z is no letter of the access log");
        refused("%{User-Agent", "a brace that is not closed");
        refused("%h %", "ends in a % without a letter");
        refused("%i", "%i needs the name of a header");
        refused("%{a b}i", "%i needs the name of a header");
        refused("%{servce}x", "did you mean service?");
        refused("%{week}t", "is no time");
        refused("%h\n%r", "is one line");
        assert!(LineFormat::read("%{A}i%{b}i%{a}i", true).unwrap().recorded().request_headers.len() == 2);
        assert_eq!(LineFormat::default(), LineFormat::read("myelin", true).unwrap());
    }
}
