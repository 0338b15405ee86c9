//! The log of the process: what the environment says of it, what `[myelin.log]` says, and panics as lines of it.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::IsTerminal;
use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, bail};
use myelin_engine::Report;
use myelin_logging::{ArtefactPlace, Destination, Directives, Format, Log, directives};
use myelin_observe::secrets::Secrets;
use tracing_appender::non_blocking::WorkerGuard;

/// The environment variable that says what is logged.
const VARIABLE: &str = "MYELIN_LOG";

/// The environment variable that says how: `text`, which is the default, or `json`.
const FORMAT: &str = "MYELIN_LOG_FORMAT";

/// Secrets that are known by what stands before them.
static SECRETS: LazyLock<Secrets> = LazyLock::new(Secrets::default);

/// What `[myelin.log]` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LogOptions {
    pub(crate) levels: Directives,
    pub(crate) format: Option<Format>,
    /// The file that lines go to; `None` for standard error.
    pub(crate) file: Option<PathBuf>,
}

/// The log, with what the environment says of it.
pub(crate) struct Logging {
    pub(crate) log: Log,
    /// The environment's, which goes before that of `[myelin.log]`.
    format: Option<Format>,
    _guard: WorkerGuard,
}

/// Starts logging; what is written is flushed when the value goes.
///
/// Errors: `MYELIN_LOG` names no level, or is no filter; `MYELIN_LOG_FORMAT` is neither `text` nor `json`.
pub(crate) fn start() -> anyhow::Result<Logging> {
    let levels = directives(&std::env::var(VARIABLE).unwrap_or_default()).context(VARIABLE)?;
    let format = format(&std::env::var(FORMAT).unwrap_or_default())?;
    note(format.unwrap_or_default());
    let (log, guard) = myelin_logging::start(levels, format.unwrap_or_default());
    log.mask_with(|text| SECRETS.text(text));
    panic::set_hook(Box::new(tell_of));
    Ok(Logging { log, format, _guard: guard })
}

/// Whether the log is text, in which a line may explain the one before it.
static IS_TEXT: AtomicBool = AtomicBool::new(true);

fn note(format: Format) {
    IS_TEXT.store(matches!(format, Format::Text), Ordering::Relaxed);
}

/// Whether the log is text, in which a line may explain the one before it.
pub(crate) fn is_text() -> bool {
    IS_TEXT.load(Ordering::Relaxed)
}

/// The format that the environment names, if it names one.
///
/// Errors: it is none of the words for a format.
fn format(text: &str) -> anyhow::Result<Option<Format>> {
    match (text.trim(), Format::named(text)) {
        ("", _) => Ok(None),
        (_, Some(format)) => Ok(Some(format)),
        (other, None) => bail!("{FORMAT}: {other:?} is no format of the log: text and json are"),
    }
}

impl Logging {
    /// What a `deployment.toml` and a reload change of it.
    pub(crate) fn handle(&self) -> LogHandle {
        LogHandle { log: self.log.clone(), format: self.format }
    }
}

/// The log for whoever changes it while the bus serves.
#[derive(Clone)]
pub(crate) struct LogHandle {
    pub(crate) log: Log,
    format: Option<Format>,
}

impl LogHandle {
    /// Heeds what `[myelin.log]` says now.
    ///
    /// Errors: the file cannot be opened; lines go where they went.
    pub(crate) fn apply(&self, options: &LogOptions) -> anyhow::Result<()> {
        self.log.levels.set_file(options.levels.clone());
        let format = self.format.or(options.format).unwrap_or_default();
        note(format);
        self.log.set_format(format);
        if self.log.output.file() == options.file {
            return Ok(());
        }
        let destination = options.file.clone().map_or(Destination::Standard, Destination::File);
        let name = options.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        self.log.output.set(destination).with_context(|| format!("[myelin.log] file: {name}"))
    }

    /// Says which artefacts serve now, and warns of levels for those that are not there.
    pub(crate) fn serves(&self, report: &Report) {
        let place = |artefact: &myelin_engine::Artefact| ArtefactPlace {
            element: artefact.kind.clone(),
            name: artefact.name.clone(),
            file: artefact.file.as_str().into(),
            lines: (artefact.line, artefact.line + (artefact.source.lines().count().max(1) - 1) as u32),
        };
        for missing in self.log.levels.set_artefacts(report.artefacts.iter().map(place).collect()) {
            tracing::warn!("the log has a level for {missing}, which the configuration does not have");
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_that_there_is_not_is_refused() {
        assert_eq!((format("json").unwrap(), format("").unwrap()), (Some(Format::Json), None));
        assert_eq!(format("text").unwrap(), Some(Format::Text));
        assert!(format("JSON").unwrap_err().to_string().contains("text and json are"));
    }

    #[test]
    fn a_panic_is_one_line_of_the_log_whatever_it_says() {
        let (log, _guard) = myelin_logging::start(Directives::new(), Format::Text);
        let before = panic::take_hook();
        panic::set_hook(Box::new(tell_of));
        let _ = panic::catch_unwind(|| panic!("of a message\nERROR myelin: {}", "\x1b[2J"));
        panic::set_hook(before);
        let query = myelin_logging::Query { contains: Some("of a message".into()), limit: 9, ..Default::default() };
        let lines = log.ring.lines(&query);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0].target, "myelin::panic");
        assert!(lines[0].message.starts_with("a defect of the bus at "), "{lines:?}");
        assert!(lines[0].message.contains("of a message\\nERROR myelin: \\x1b[2J"), "{lines:?}");
        assert!(lines[0].message.contains("logging.rs:"), "{lines:?}");
    }
}
