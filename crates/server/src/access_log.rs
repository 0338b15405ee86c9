//! The access log: a line a request, gathered by the thread that served it and written by one that serves nothing.

mod common;
mod escape;
mod format;
mod json;

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use common::Common;
pub(crate) use format::LineFormat;
use myelin_http::{Record, Recorded};

use crate::runtime;

/// Bytes gathered before they are handed over without waiting for the next tick.
const BATCH_BYTES: usize = 32 * 1024;
/// Bytes of a line, as a rule; a longer one makes the batch larger.
const LINE_BYTES: usize = 1024;
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
    /// Lines that were lost since the log told of it.
    lost: Arc<AtomicU64>,
    /// All lines that were lost.
    dropped: AtomicU64,
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

    /// How many lines were lost so far because whatever takes them was slower than the traffic.
    pub(crate) fn dropped_lines(&self) -> u64 {
        self.0.upgrade().map_or(0, |writer| writer.dropped.load(Ordering::Relaxed))
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
                tracing::warn!(lines = missing, "the access log is slower than the traffic: lines were lost");
            }
        }
    })?;
    Ok((Arc::new(Writer { batches: sender, lost, dropped: AtomicU64::new(0), reopens }), thread))
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

/// How the access log of a bus is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLogOptions {
    /// Where lines go.
    pub destination: Destination,
    format: LineFormat,
}

impl AccessLogOptions {
    /// Lines in the usual format.
    pub fn to(destination: Destination) -> AccessLogOptions {
        AccessLogOptions { destination, format: LineFormat::default() }
    }

    /// The same in another format: `myelin`, `common`, `combined`, `json`, or letters such as `%h`.
    ///
    /// `masks_queries` says whether the values of parameters are masked whose names are those of secrets.
    /// Errors: it is no format.
    pub fn in_format(self, format: &str, masks_queries: bool) -> anyhow::Result<AccessLogOptions> {
        Ok(AccessLogOptions { format: LineFormat::read(format, masks_queries)?, ..self })
    }

    pub(crate) fn format(&self) -> &LineFormat {
        &self.format
    }
}

/// One thread's lines on their way to the writer.
pub(crate) struct Lines {
    writer: Arc<Writer>,
    format: LineFormat,
    batch: RefCell<Vec<u8>>,
    /// How many lines are in the batch.
    lines: Cell<u64>,
    common: RefCell<Common>,
}

impl Lines {
    pub(crate) fn new(writer: Arc<Writer>, format: LineFormat) -> Rc<Lines> {
        Rc::new(Lines { writer, format, batch: RefCell::default(), lines: Cell::new(0), common: RefCell::default() })
    }

    /// What records have to hold for its lines.
    pub(crate) fn recorded(&self) -> &Recorded {
        self.format.recorded()
    }

    /// Adds a line.
    pub(crate) fn add(&self, record: &Record) {
        let mut batch = self.batch.borrow_mut();
        if batch.capacity() == 0 {
            batch.reserve(BATCH_BYTES + LINE_BYTES);
        }
        let mut common = self.common.borrow_mut();
        self.format.write(&mut batch, record, runtime::since_epoch(), &mut common);
        self.lines.set(self.lines.get() + 1);
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
        let lines = self.lines.take();
        if self.writer.batches.try_send(std::mem::take(batch)).is_err() {
            self.writer.lost.fetch_add(lines, Ordering::Relaxed);
            self.writer.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.flush();
    }
}
