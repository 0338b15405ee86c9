//! The access log: a line a request, gathered by the thread that served it and written by one that serves nothing.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use myelin_http::Record;
use myelin_logging::is_unsafe;

/// Bytes gathered before they are handed over without waiting for the next tick.
const BATCH_BYTES: usize = 32 * 1024;
/// Batches that may wait for the disk; what comes beyond them is counted, not kept.
const WAITING_BATCHES: usize = 256;
/// How long a line may wait for the rest of its batch.
pub(crate) const FLUSH: Duration = Duration::from_millis(200);

/// Where an access log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Standard,
    /// The end of a file, made if need be.
    File(PathBuf),
}

impl From<&str> for Destination {
    fn from(text: &str) -> Destination {
        if text == "-" { Destination::Standard } else { Destination::File(text.into()) }
    }
}

/// The writing end, shared by all threads; ends when the last of them is gone.
pub(crate) struct Writer {
    batches: SyncSender<Vec<u8>>,
    lost: Arc<AtomicU64>,
    /// Whether the file is to be opened again before the next batch.
    reopens: Arc<AtomicBool>,
}

/// What lets the log of a bus be opened again; it does not keep the log open.
#[derive(Clone, Default)]
pub(crate) struct Reopener(Weak<Writer>);

impl Reopener {
    pub(crate) fn new(writer: &Arc<Writer>) -> Reopener {
        Reopener(Arc::downgrade(writer))
    }

    /// Opens the file under its name again, as whoever renamed it to rotate it wants; without a log, nothing is done.
    pub(crate) fn reopen(&self) {
        if let Some(writer) = self.0.upgrade() {
            writer.reopens.store(true, Ordering::Release);
            // An empty batch wakes the thread that writes; one that has others waiting is awake.
            let _ = writer.batches.try_send(Vec::new());
        }
    }
}

/// Opens the log.
///
/// Errors: the file cannot be opened for appending.
pub(crate) fn open(destination: &Destination) -> io::Result<(Arc<Writer>, JoinHandle<()>)> {
    let mut sink: Box<dyn Write + Send> = match destination {
        Destination::Standard => Box::new(io::stdout()),
        Destination::File(path) => Box::new(append(path)?),
    };
    let path = match destination {
        Destination::Standard => None,
        Destination::File(path) => Some(path.clone()),
    };
    let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING_BATCHES);
    let lost = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&lost);
    let reopens = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&reopens);
    let thread = std::thread::Builder::new().name("access-log".into()).spawn(move || {
        for batch in receiver {
            if let Some(path) = path.as_ref().filter(|_| asked.swap(false, Ordering::AcqRel)) {
                match append(path) {
                    Ok(file) => {
                        sink = Box::new(file);
                        tracing::info!("the access log {} was opened again", path.display());
                    }
                    Err(error) => tracing::error!(
                        "the access log {} cannot be opened again, and its lines go where they went: {error}",
                        path.display()
                    ),
                }
            }
            if let Err(error) = sink.write_all(&batch).and_then(|()| sink.flush()) {
                tracing::warn!(%error, "the access log cannot be written");
            }
            let missing = counted.swap(0, Ordering::Relaxed);
            if missing > 0 {
                tracing::warn!(batches = missing, "the access log is slower than the traffic: lines were lost");
            }
        }
    })?;
    Ok((Arc::new(Writer { batches: sender, lost, reopens }), thread))
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// One thread's lines on their way to the writer.
pub(crate) struct Lines {
    writer: Arc<Writer>,
    batch: RefCell<Vec<u8>>,
    common: RefCell<Common>,
}

impl Lines {
    pub(crate) fn new(writer: Arc<Writer>) -> Rc<Lines> {
        Rc::new(Lines { writer, batch: RefCell::default(), common: RefCell::default() })
    }

    /// Adds a line: common log format, then seconds and correlation id.
    pub(crate) fn add(&self, record: &Record) {
        let mut batch = self.batch.borrow_mut();
        write_line(&mut batch, record, SystemTime::now(), &mut self.common.borrow_mut());
        if batch.len() >= BATCH_BYTES {
            self.hand_over(&mut batch);
        }
    }

    /// Hands over what was gathered.
    pub(crate) fn flush(&self) {
        let mut batch = self.batch.borrow_mut();
        if !batch.is_empty() {
            self.hand_over(&mut batch);
        }
    }

    fn hand_over(&self, batch: &mut Vec<u8>) {
        if self.writer.batches.try_send(std::mem::take(batch)).is_err() {
            self.writer.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.flush();
    }
}

/// What lines that follow each other mostly have in common, as text.
#[derive(Default)]
struct Common {
    /// A second since 1970, and its time as far as the seconds: `2026-11-21T05:00:00`.
    second: Option<(u64, String)>,
    /// A client and its address.
    client: Option<(IpAddr, String)>,
}

impl Common {
    fn second(&mut self, second: u64) -> &str {
        if self.second.as_ref().is_none_or(|(known, _)| *known != second) {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
            let text = humantime::format_rfc3339_seconds(time).to_string();
            self.second = Some((second, text.trim_end_matches('Z').to_owned()));
        }
        self.second.as_ref().map_or("", |(_, text)| text)
    }

    fn client(&mut self, client: IpAddr) -> &str {
        if self.client.as_ref().is_none_or(|(known, _)| *known != client) {
            self.client = Some((client, client.to_string()));
        }
        self.client.as_ref().map_or("", |(_, text)| text)
    }
}

/// Each request has a line: what formatting macros would do here costs several times as much.
fn write_line(out: &mut Vec<u8>, record: &Record, now: SystemTime, common: &mut Common) {
    let Record { peer, method, target, status, sent_bytes, duration, correlation, complete } = record;
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    out.extend_from_slice(common.client(peer.ip()).as_bytes());
    out.extend_from_slice(b" - - [");
    out.extend_from_slice(common.second(now.as_secs()).as_bytes());
    out.push(b'.');
    write_digits(out, u64::from(now.subsec_millis()), 3);
    out.extend_from_slice(b"Z] \"");
    if method.is_empty() {
        out.push(b'-');
    } else {
        out.extend_from_slice(method.as_bytes());
        out.push(b' ');
        // A target may hold quotes and backslashes, and nothing below or above ASCII.
        for byte in target.bytes() {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
    }
    out.extend_from_slice(b"\" ");
    write_digits(out, u64::from(*status), 1);
    out.push(b' ');
    write_digits(out, *sent_bytes, 1);
    out.push(b' ');
    write_digits(out, duration.as_secs(), 1);
    out.push(b'.');
    write_digits(out, u64::from(duration.subsec_micros()), 6);
    out.push(b' ');
    let id = correlation.as_deref().unwrap_or("-");
    let is_harmless = |byte: u8| byte.is_ascii_graphic() && byte != b'"';
    if id.bytes().all(is_harmless) {
        out.extend_from_slice(id.as_bytes());
    } else {
        let id = id.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
        out.extend_from_slice(id.as_bytes());
    }
    out.extend_from_slice(if *complete { b"\n" } else { b" aborted\n" });
}

/// A number in decimal digits, with zeros before it up to a width.
fn write_digits(out: &mut Vec<u8>, mut number: u64, width: usize) {
    // As many as the largest number has.
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits[first.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_asked_for_what_and_cannot_be_forged() {
        let record = Record {
            peer: "127.0.0.1:4000".parse().unwrap(),
            method: "POST".into(),
            target: "/a\"b\\".into(),
            status: 200,
            sent_bytes: 533,
            duration: Duration::from_micros(412),
            correlation: Some("a b\nc\u{2028}d\te".into()),
            complete: false,
        };
        let mut line = Vec::new();
        let mut common = Common::default();
        write_line(&mut line, &record, SystemTime::UNIX_EPOCH, &mut common);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "127.0.0.1 - - [1970-01-01T00:00:00.000Z] \"POST /a\\\"b\\\\\" 200 533 0.000412 a_b_c_d_e aborted\n"
        );
    }
    #[test]
    fn times_numbers_and_clients_that_change_are_written_anew() {
        let mut common = Common::default();
        let mut line = |peer: &str, millis: u64, duration: Duration| {
            let record = Record {
                peer: peer.parse().unwrap(),
                method: "GET".into(),
                target: "/".into(),
                status: 200,
                sent_bytes: u64::MAX,
                duration,
                correlation: None,
                complete: true,
            };
            let mut line = Vec::new();
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
            write_line(&mut line, &record, now, &mut common);
            String::from_utf8(line).unwrap()
        };
        let max = u64::MAX;
        assert_eq!(
            line("127.0.0.1:1", 1_700_000_000_007, Duration::from_secs(3)),
            format!("127.0.0.1 - - [2023-11-14T22:13:20.007Z] \"GET /\" 200 {max} 3.000000 -\n")
        );
        assert_eq!(
            line("[::1]:1", 1_700_000_001_999, Duration::from_nanos(1_000_000_999)),
            format!("::1 - - [2023-11-14T22:13:21.999Z] \"GET /\" 200 {max} 1.000000 -\n")
        );
        assert_eq!(
            line("[::1]:2", 1_700_000_001_000, Duration::ZERO),
            format!("::1 - - [2023-11-14T22:13:21.000Z] \"GET /\" 200 {max} 0.000000 -\n")
        );
    }
}
