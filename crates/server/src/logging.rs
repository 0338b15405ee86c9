//! Where the bus's own log goes: standard error, written by a thread of its own so that no request waits for it.

mod filter;
mod json;

use std::backtrace::{Backtrace, BacktraceStatus};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::io::{IsTerminal, stderr};
use std::panic::{self, PanicHookInfo};
use std::thread;

use anyhow::{Context, bail};
use json::JsonLines;
use myelin_engine::Position;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};

/// The environment variable that says what is logged.
const VARIABLE: &str = "MYELIN_LOG";

/// The environment variable that says how: `text`, which is the default, or `json`.
const FORMAT: &str = "MYELIN_LOG_FORMAT";

/// How many lines may wait for standard error. The room for their places is taken at the start, 32 bytes for each.
const WAITING_LINES: usize = 16 * 1024;

/// Starts logging; what is written is flushed when the guard goes.
///
/// `MYELIN_LOG` says what is logged, in the syntax of tracing's filters; the default is `info`.
/// Lines are dropped, and counted, while the reader of standard error does not keep up.
/// Errors: `MYELIN_LOG` names no level, or is no filter; `MYELIN_LOG_FORMAT` is neither `text` nor `json`.
pub(crate) fn start() -> anyhow::Result<WorkerGuard> {
    let filter = filter::filter(&std::env::var(VARIABLE).unwrap_or_default()).context(VARIABLE)?;
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).finish(stderr());
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    // Somebody else's subscriber, as in a test, is as good.
    let _ = match is_json(&std::env::var(FORMAT).unwrap_or_default())? {
        true => subscriber.with_ansi(false).event_format(JsonLines).try_init(),
        false => subscriber.with_ansi(has_colours(&stderr())).fmt_fields(OneLine).try_init(),
    };
    panic::set_hook(Box::new(tell_of));
    Ok(guard)
}

/// Whether lines are to be JSON.
///
/// Errors: it is none of the words for a format.
fn is_json(format: &str) -> anyhow::Result<bool> {
    match format.trim() {
        "" | "text" => Ok(false),
        "json" => Ok(true),
        other => bail!("{FORMAT}: {other:?} is no format of the log: text and json are"),
    }
}

/// Writes a panic to the log, where its text, which may hold what a message brought, cannot forge a line.
fn tell_of(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("without a name");
    let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
    let message = panic.payload_as_str().unwrap_or("no message");
    let backtrace = Backtrace::capture();
    let trace = match backtrace.status() {
        BacktraceStatus::Captured => format!("; backtrace: {backtrace}"),
        _ => String::new(),
    };
    tracing::error!(target: "myelin::panic", "a defect of the bus{place}, in thread {name}: {message}{trace}");
}

/// Whether what is written there may be in colours: it is a terminal, and `NO_COLOR` is not set.
///
/// Source: no-color.org.
pub(crate) fn has_colours(to: &impl IsTerminal) -> bool {
    to.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Writes what a program says of an event in one line, whatever messages brought into it, and at its end which exchange
/// and which step it concerns.
struct OneLine;

impl<'w> FormatFields<'w> for OneLine {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut text = String::new();
        DefaultFields::new().format_fields(Writer::new(&mut text), fields)?;
        write!(text, "{}", Position::here())?;
        writer.write_str(&escaped(&text))
    }
}

/// The text without what could begin a line of a log, drive a terminal, or turn the order of what is shown; tabs stay.
///
/// Shape: `\n`, `\r`, and `\u{1b}` for every other such character.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_unsafe(letter) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// Controls (C0, DEL, C1), the separators of lines and paragraphs, and the controls of writing direction.
pub(crate) fn is_unsafe(letter: char) -> bool {
    let is_separator_or_direction =
        matches!(letter, '\u{2028}'..='\u{202e}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}');
    letter != '\t' && (letter.is_control() || is_separator_or_direction)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use myelin_engine::position::{ServiceIdentity, in_exchange, in_service};
    use myelin_message::CorrelationId;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_event_takes_more_than_its_line_whatever_it_holds() {
        let sink = Sink::default();
        let writer = sink.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).fmt_fields(OneLine).without_time();
        tracing::subscriber::with_default(subscriber.with_writer(move || writer.clone()).finish(), || {
            let forged = "a\r\nERROR b\0\x1b[2J\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\tc\\ß";
            tracing::info!(target: "t", "{forged}");
            tracing::info!(target: "t", header = forged, debug = ?forged, display = %forged, "said");
        });
        let written = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert!(!written.replace('\n', "").contains(is_unsafe), "{written:?}");
        let said = "a\\r\\nERROR b\\u{0}\\x1b[2J\\x7f\\u{85}\\u{9b}\\u{2028}\\u{2029}\\u{202e}\tc\\ß";
        assert_eq!(lines[0], format!(" INFO t: {said}"));
    }

    #[test]
    fn an_event_is_an_object_with_what_it_says_and_where() {
        let sink = Sink::default();
        let writer = sink.clone();
        let subscriber = tracing_subscriber::fmt().event_format(JsonLines);
        tracing::subscriber::with_default(subscriber.with_writer(move || writer.clone()).finish(), || {
            let service = ServiceIdentity { kind: "proxy", name: "P".into(), place: None };
            in_exchange(&CorrelationId::fixed("c-1"), || {
                in_service(&service, || tracing::warn!(target: "t", code = 101503, "a\n\"b\" {}", "c"));
            });
            tracing::info!(target: "t", "elsewhere");
        });
        let written = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<serde_json::Value> =
            written.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert_eq!((&lines[0]["level"], &lines[0]["target"]), (&"WARN".into(), &"t".into()));
        assert_eq!((&lines[0]["message"], &lines[0]["fields"]["code"]), (&"a\n\"b\" c".into(), &101503.into()));
        assert_eq!((&lines[0]["correlation_id"], &lines[0]["service"]), (&"c-1".into(), &"proxy P".into()));
        assert_eq!(lines[0]["at"], "proxy P");
        assert!(lines[1].get("at").is_none() && lines[1].get("fields").is_none(), "{written}");
    }

    #[test]
    fn a_format_that_there_is_not_is_refused() {
        assert!(is_json("json").unwrap() && !is_json("").unwrap() && !is_json("text").unwrap());
        assert!(is_json("JSON").unwrap_err().to_string().contains("text and json are"));
    }

    #[test]
    fn a_panic_is_one_line_of_the_log_whatever_it_says() {
        let sink = Sink::default();
        let writer = sink.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).fmt_fields(OneLine).without_time();
        let before = panic::take_hook();
        panic::set_hook(Box::new(tell_of));
        tracing::subscriber::with_default(subscriber.with_writer(move || writer.clone()).finish(), || {
            let _ = panic::catch_unwind(|| panic!("of a message\nERROR myelin: {}", "\x1b[2J"));
        });
        panic::set_hook(before);
        let written = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.lines().count(), 1, "{written}");
        assert!(written.starts_with("ERROR myelin::panic: a defect of the bus at "), "{written}");
        assert!(written.contains("of a message\\nERROR myelin: \\x1b[2J"), "{written}");
        assert!(written.contains("logging.rs:"), "{written}");
    }

    #[test]
    fn what_is_harmless_stays() {
        for text in ["", "plain", "tab\tß€😀", "back\\nslash \"quote\""] {
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
        }
    }
}
