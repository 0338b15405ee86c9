//! The access log: a line a request, gathered by the thread that served it and written by one that serves nothing.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use myelin_http::Record;

use crate::logging::is_unsafe;

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
}

impl Lines {
    pub(crate) fn new(writer: Arc<Writer>) -> Rc<Lines> {
        Rc::new(Lines { writer, batch: RefCell::default() })
    }

    /// Adds a line: common log format, then seconds and correlation id.
    pub(crate) fn add(&self, record: &Record) {
        let mut batch = self.batch.borrow_mut();
        write_line(&mut batch, record, SystemTime::now());
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

fn write_line(out: &mut Vec<u8>, record: &Record, now: SystemTime) {
    let time = humantime::format_rfc3339_millis(now);
    let Record { peer, method, target, status, sent_bytes, duration, correlation, complete } = record;
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{} - - [{time}] \"", peer.ip());
    if method.is_empty() {
        out.push(b'-');
    } else {
        // A target may hold quotes and backslashes, and nothing below or above ASCII.
        let target = target.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(out, "{method} {target}");
    }
    let id = correlation.as_deref().unwrap_or("-");
    let id = id.replace(|letter: char| is_unsafe(letter) || matches!(letter, ' ' | '\t' | '"'), "_");
    let end = if *complete { "" } else { " aborted" };
    let _ = writeln!(out, "\" {status} {sent_bytes} {:.6} {id}{end}", duration.as_secs_f64());
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
        write_line(&mut line, &record, SystemTime::UNIX_EPOCH);
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "127.0.0.1 - - [1970-01-01T00:00:00.000Z] \"POST /a\\\"b\\\\\" 200 533 0.000412 a_b_c_d_e aborted\n"
        );
    }
}
