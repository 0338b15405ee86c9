//! What the process around the bus is to an operator: what it tells, and what it can be told to do.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_engine::{Bus, Report};
use myelin_logging::Ring;
use myelin_observe::messages::MessageTracing;

use crate::measured::{Gauges, Machine, Tallies};
use crate::probes::Standing;

/// The process around the bus.
///
/// What changes something may block: on the disk, and on a reload.
pub trait Process: Send + Sync {
    /// The bus that serves new requests.
    fn bus(&self) -> Arc<Bus>;

    /// How far the process has come, and how its configuration stands.
    fn standing(&self) -> Standing;

    /// What is under way now.
    fn gauges(&self) -> Gauges;

    /// What was counted of the process itself.
    fn tallies(&self) -> Tallies;

    /// The last lines of the log, where it is this process that writes it.
    fn log_ring(&self) -> Option<Ring>;

    /// What records exchanges; `None` where nothing does.
    fn message_tracing(&self) -> Option<Arc<MessageTracing>>;

    /// What was found in the configuration that serves.
    fn report(&self) -> Arc<Report>;

    /// The time of day.
    fn now(&self) -> SystemTime;

    /// A clock that never jumps.
    fn monotonic(&self) -> Duration;

    /// What it runs on.
    fn machine(&self) -> Machine;

    /// The last reloads, the oldest first.
    fn reloads(&self) -> Vec<ReloadRecord>;

    /// Keeps the text of the users where it was read from, in the place of the text `before`.
    ///
    /// Errors: a sentence, where it cannot be written, or other users stand there meanwhile.
    fn keep_users(&self, before: &str, text: &str) -> Result<(), String>;

    /// A service of the bus was switched on or off: ports open and close.
    fn was_switched(&self);

    /// Stops, or begins anew.
    ///
    /// Errors: where it does so already.
    fn leave(&self, leaving: Leaving) -> Result<(), Refusal>;

    /// Puts an archive of that name where the configuration is, once it was checked whole, and loads anew.
    ///
    /// Errors: something in it is faulty; there is no folder for it; the configuration with it is refused.
    fn deploy(&self, name: &str, archive: &[u8]) -> Result<(), Refusal>;

    /// Removes the archive at that path, and loads anew.
    ///
    /// Errors: it cannot be removed; the configuration without it is refused.
    fn undeploy(&self, path: &str) -> Result<(), Refusal>;

    /// The text of a file of the configuration, by the path that its artefacts have.
    ///
    /// Errors: it cannot be read any more.
    fn source(&self, file: &str) -> Result<String, Refusal>;

    /// The loggers with their levels.
    fn loggers(&self) -> Vec<Logger>;

    /// A logger by its name, or by another of its names.
    fn logger(&self, name: &str) -> Option<Logger>;

    /// Changes the level of a logger, or adds one for `component`.
    ///
    /// Errors: there is no such level or component.
    fn set_level(&self, name: &str, component: Option<&str>, level: &str) -> Result<(), Refusal>;

    /// The files that logs are written to.
    fn log_files(&self) -> Vec<LogFile>;

    /// What is in one of them; of a large one its end.
    ///
    /// Errors: there is none of that name.
    fn log_file(&self, name: &str) -> Result<Vec<u8>, Refusal>;

    /// Whether requests without a correlation id get one.
    fn correlates(&self) -> bool;

    /// Gives requests without a correlation id one from now on, or does not.
    fn correlate(&self, enabled: bool);

    /// What is in a folder of the registry, by its path.
    ///
    /// Errors: there is no such folder.
    fn registry_folder(&self, path: &str) -> Result<Vec<RegistryEntry>, Refusal>;

    /// What is known of a resource.
    ///
    /// Errors: there is no such resource.
    fn registry_entry(&self, path: &str) -> Result<RegistryEntry, Refusal>;

    /// The media type and the bytes of a resource.
    ///
    /// Errors: there is no such resource, or it is too large.
    fn registry_read(&self, path: &str) -> Result<(String, Vec<u8>), Refusal>;

    /// Writes a resource, which has to be new or to be there.
    ///
    /// Errors: it is there, or is not; the path leads out of the registry.
    fn registry_write(&self, path: &str, media_type: Option<&str>, bytes: &[u8], is_new: bool) -> Result<(), Refusal>;

    /// Removes a resource.
    ///
    /// Errors: there is no such resource.
    fn registry_remove(&self, path: &str) -> Result<(), Refusal>;

    /// Gives a resource these properties and no others.
    ///
    /// Errors: there is no such resource.
    fn registry_set_properties(&self, path: &str, properties: &[(String, String)]) -> Result<(), Refusal>;
}

/// Why the process does not do what it is asked; each holds a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// What was asked for cannot be.
    Invalid(String),
    /// There is no such thing.
    Missing(String),
    /// It cannot be done as things stand.
    Unable(String),
}

/// How the process leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Whether it begins anew.
    pub restarts: bool,
    /// Whether requests under way may finish.
    pub drains: bool,
}

/// One time that the configuration was loaded anew.
#[derive(Clone, Debug)]
pub struct ReloadRecord {
    /// When.
    pub time: SystemTime,
    /// Why.
    pub reason: String,
    /// Whether it serves; else it was refused.
    pub served: bool,
    /// Why it was refused.
    pub message: String,
    /// How long it took.
    pub took: Duration,
    /// Artefacts that were not there before: kind and name.
    pub new: Vec<String>,
    /// Those whose text is another.
    pub changed: Vec<String>,
    /// Those that are not there any more.
    pub gone: Vec<String>,
    /// Those that do not run.
    pub faulty: Vec<String>,
}

/// A logger: a part of the program whose lines have a level of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logger {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub component: String,
    /// Its level, in capital letters.
    pub level: String,
}

/// A file that a log is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its name, without a folder.
    pub name: String,
    /// How large it is.
    pub bytes: u64,
}

/// A file or a folder of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Its name, without a folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its media type; empty of a folder.
    pub media_type: String,
    /// Its properties.
    pub properties: Vec<(String, String)>,
}
