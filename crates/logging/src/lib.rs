//! The bus's own log: text or JSON lines, levels by module and artefact that change while the bus serves, and the last
//! lines in memory for whoever asks.
//!
//! [`start`] makes the log of the process; its [`Log`] is the handle by which the rest of the bus, and whoever operates
//! it, changes levels and reads lines.

mod directives;
mod escape;
mod fields;
mod json;
mod level;
mod levels;
mod lines;
mod names;
mod output;
mod ring;
mod selector;
mod steps;
mod table;

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tracing::Level;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub use directives::{Directives, directives};
pub use escape::{escaped, is_unsafe};
pub use level::{level, level_of_log4j};
pub use levels::{LevelError, Levels, Logger, Source};
pub use names::resolve;
pub use output::{Destination, Output};
pub use ring::{Entry, Query, Ring};
pub use selector::{ArtefactName, Selector, selector};
pub use steps::StepLog;
pub use table::ArtefactPlace;

use lines::Lines;

/// How many lines may wait for whoever takes them. The room for their places is taken at the start, 32 bytes for each.
const WAITING_LINES: usize = 16 * 1024;

/// The levels, from the worst.
const COUNTED: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// How a line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// An object a line.
    Json,
}

impl Format {
    /// The format with that name.
    ///
    /// Errors: `None` where there is none; `text` and `json` are.
    pub fn named(name: &str) -> Option<Format> {
        match name.trim() {
            "text" => Some(Format::Text),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// The log of the process.
#[derive(Clone)]
pub struct Log {
    /// What is logged.
    pub levels: Levels,
    /// The last lines.
    pub ring: Ring,
    /// Where lines go.
    pub output: Output,
    style: Arc<AtomicU8>,
    written: Arc<Written>,
    dropped: ErrorCounter,
    forward: Arc<Forward>,
    mask: Arc<OnceLock<Mask>>,
}

/// Who else gets each line.
type Forward = OnceLock<Box<dyn Fn(&Entry) + Send + Sync>>;

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("levels", &self.levels).field("output", &self.output).finish_non_exhaustive()
    }
}

/// Takes secrets out of a text.
pub type Mask = fn(&str) -> Cow<'_, str>;

/// How many lines were written, by the order of [`COUNTED`].
#[derive(Debug, Default)]
struct Written([AtomicU64; COUNTED.len()]);

impl Log {
    /// Writes lines in another format from now on.
    pub fn set_format(&self, format: Format) {
        self.style.store(format as u8, Ordering::Relaxed);
    }

    /// Gives each line to somebody else as well, who must be quick and log nothing; the first that is said counts.
    pub fn forward_to(&self, hears: impl Fn(&Entry) + Send + Sync + 'static) {
        let _ = self.forward.set(Box::new(hears));
    }

    /// Takes secrets out of lines that are kept in memory and of those of the wire log, from now on and for good.
    pub fn mask_with(&self, mask: Mask) {
        let _ = self.mask.set(mask);
    }

    /// How many lines were written, by level.
    pub fn written(&self) -> impl Iterator<Item = (Level, u64)> {
        COUNTED.into_iter().zip(&self.written.0).map(|(level, count)| (level, count.load(Ordering::Relaxed)))
    }

    /// How many lines were lost because whoever takes them did not keep up.
    pub fn dropped(&self) -> u64 {
        self.dropped.dropped_lines() as u64
    }
}

/// Starts the log of the process, on standard error; what is written is flushed when the guard goes.
///
/// Lines are dropped, and counted, while whoever takes them does not keep up.
/// Another subscriber that is there already, as in a test, stays; then the handle changes nothing.
pub fn start(environment: Directives, format: Format) -> (Log, WorkerGuard) {
    let output = Output::default();
    let builder = NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).thread_name("log");
    let (writer, guard) = builder.finish(output.sink());
    let (levels, ring) = (Levels::new(environment), Ring::default());
    let dropped = writer.error_counter();
    let (style, written, mask, forward) = Default::default();
    let log = Log { levels, ring, output, style, written, dropped, forward, mask };
    log.set_format(format);
    let _ = tracing_subscriber::registry().with(Lines::new(&log, writer)).try_init();
    (log, guard)
}
