//! Where lines go: standard error, or a file that is opened again when somebody has renamed it.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where lines go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Standard error.
    #[default]
    Standard,
    /// The end of a file, made if need be.
    File(PathBuf),
}

/// Where the lines of a log go, for whoever changes that.
#[derive(Clone, Debug, Default)]
pub struct Output(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    destination: Mutex<Destination>,
    /// Whether it is a terminal that shows colours.
    coloured: AtomicBool,
    /// Whether the thread that writes is to open it anew before the next line.
    changed: AtomicBool,
}

impl Output {
    /// Lets lines go elsewhere from now on.
    ///
    /// Errors: the file cannot be opened for appending; lines go where they went.
    pub fn set(&self, destination: Destination) -> io::Result<()> {
        if let Destination::File(path) = &destination {
            append(path)?;
        }
        self.0.coloured.store(destination == Destination::Standard && is_coloured(), Ordering::Relaxed);
        *self.lock() = destination;
        self.0.changed.store(true, Ordering::Release);
        Ok(())
    }

    /// Opens the file again under its name before the next line, as whoever renamed it to rotate it wants.
    pub fn reopen(&self) {
        self.0.changed.store(true, Ordering::Release);
    }

    /// The file that lines go to, where they go to one.
    pub fn file(&self) -> Option<PathBuf> {
        match &*self.lock() {
            Destination::Standard => None,
            Destination::File(path) => Some(path.clone()),
        }
    }

    /// Whether lines may be in colours.
    pub(crate) fn has_colours(&self) -> bool {
        self.0.coloured.load(Ordering::Relaxed)
    }

    /// The end that writes, for one thread.
    pub(crate) fn sink(&self) -> Sink {
        self.0.coloured.store(is_coloured(), Ordering::Relaxed);
        Sink { output: self.clone(), to: Box::new(stderr()) }
    }

    fn lock(&self) -> MutexGuard<'_, Destination> {
        self.0.destination.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a log that writes.
pub(crate) struct Sink {
    output: Output,
    to: Box<dyn Write + Send>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.output.0.changed.swap(false, Ordering::AcqRel) {
            match self.output.file() {
                None => self.to = Box::new(stderr()),
                Some(path) => match append(&path) {
                    Ok(file) => self.to = Box::new(file),
                    // The line goes the way of all others, so it is written after this one.
                    Err(error) => tracing::error!(
                        "the log {} cannot be opened again, and its lines go where they went: {error}",
                        path.display()
                    ),
                },
            }
        }
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Whether standard error is a terminal, and `NO_COLOR` is not set.
///
/// Source: no-color.org.
fn is_coloured() -> bool {
    stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn append(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
