//! The process as operators see it, and what they may do to it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use myelin_engine::observer::TimeCounters;
use myelin_engine::{Bus, Report};
use myelin_http::{ListenerTotals, Stop, refusals, refused_requests, resent_requests};
use myelin_logging::{LevelError, Log, Ring};
use myelin_manage::{
    Gauges, Leaving, ListenerTallies, LogFile, Logger, Machine, Process, Refusal, RegistryEntry, ReloadRecord, Stage,
    Standing, Tallies,
};
use myelin_message::budget;
use myelin_telemetry::Telemetry;

use super::{archives, registry, users};
use myelin_observe::messages::MessageTracing;

use crate::access_log::Reopener;
use crate::control::Control;
use crate::process_usage::process_usage;
use crate::runtime::monotonic;
use crate::standing::StandingCell;
use crate::swap::Swap;
use crate::under_way::{Askers, ThreadReport};

/// How long all threads together may take to say what is under way on them.
const ASKED: Duration = Duration::from_millis(500);

/// What of a log file is given at most: its end.
const LOG_BYTES: u64 = 8 << 20;

/// What the process is made of.
#[derive(Clone)]
pub(crate) struct ServedParts {
    pub(crate) swap: Swap,
    pub(crate) standing: Arc<StandingCell>,
    pub(crate) askers: Askers,
    pub(crate) stop: Stop,
    pub(crate) control: Control,
    pub(crate) correlates: Arc<AtomicBool>,
    /// The file of the access log, where there is one.
    pub(crate) access_log: Option<PathBuf>,
    /// What writes the access log.
    pub(crate) access_log_writer: Reopener,
    /// How late the threads that serve are with what is due on them.
    pub(crate) lag: Arc<TimeCounters>,
    /// The log of the process, where it is this bus that writes it.
    pub(crate) log: Option<Log>,
    pub(crate) threads: usize,
    pub(crate) telemetry: Option<Telemetry>,
    /// What records exchanges.
    pub(crate) tracing: Option<Arc<MessageTracing>>,
}

/// The process as operators see it.
pub(crate) struct Served {
    parts: ServedParts,
    /// Where the users are kept, once there is a management API.
    users: OnceLock<PathBuf>,
}

impl Served {
    pub(crate) fn new(parts: ServedParts) -> Served {
        Served { parts, users: OnceLock::new() }
    }

    /// The files that the log and the access log go to.
    fn log_paths(&self) -> Vec<PathBuf> {
        let log = self.parts.log.as_ref().and_then(|log| log.output.file());
        log.into_iter().chain(self.parts.access_log.clone()).collect()
    }

    /// Keeps users there from now on.
    pub(crate) fn keeps_users_in(&self, path: PathBuf) {
        // There is one management API.
        let _ = self.users.set(path);
    }
}

impl Process for Served {
    fn bus(&self) -> Arc<Bus> {
        self.parts.swap.bus()
    }

    fn standing(&self) -> Standing {
        let ServedParts { stop, standing, .. } = &self.parts;
        let stage = if stop.is_asked() || standing.is_leaving() { Stage::Draining } else { Stage::Serving };
        Standing { stage, ..standing.get() }
    }

    fn gauges(&self) -> Gauges {
        let (ThreadReport { under_way, pool, work_waiting }, silent_threads) = self.parts.askers.ask(ASKED);
        Gauges {
            client_connections: under_way.clients,
            exchanges: under_way.exchanges,
            branches: under_way.branches,
            used_backend_connections: pool.used,
            idle_backend_connections: pool.idle,
            waiting_for_backends: pool.waiting,
            waiting_work: work_waiting,
            memory_bytes: under_way.memory_bytes,
            silent_threads,
            telemetry: self.parts.telemetry.as_ref().map(Telemetry::counts).unwrap_or_default(),
            process: process_usage(),
        }
    }

    fn tallies(&self) -> Tallies {
        let ServedParts { askers, log, lag, access_log_writer, .. } = &self.parts;
        let listener = |totals: ListenerTotals| ListenerTallies {
            port: totals.port,
            open: totals.open,
            accepted: totals.accepted,
            full_handshakes: totals.full_handshakes,
            resumed_handshakes: totals.resumed_handshakes,
            failed_handshakes: totals.failed_handshakes,
        };
        let lines = |log: &Log| log.written().map(|(level, count)| (level.as_str(), count)).collect();
        Tallies {
            listeners: askers.connections.listeners().into_iter().map(listener).collect(),
            refused_clients: refusals().collect(),
            refused_requests: refused_requests().collect(),
            resent_requests: resent_requests(),
            lag: lag.totals(),
            log_lines: log.as_ref().map_or_else(|| vec![("ERROR", 0)], lines),
            dropped_log_lines: log.as_ref().map_or(0, Log::dropped),
            dropped_access_log_lines: access_log_writer.dropped_lines(),
            memory: (budget::used_bytes(), budget::limit_bytes()),
        }
    }

    fn log_ring(&self) -> Option<Ring> {
        self.parts.log.as_ref().map(|log| log.ring.clone())
    }

    fn message_tracing(&self) -> Option<Arc<MessageTracing>> {
        self.parts.tracing.clone()
    }

    fn report(&self) -> Arc<Report> {
        self.parts.standing.report()
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        monotonic()
    }

    fn machine(&self) -> Machine {
        let names = rustix::system::uname();
        let home = self.parts.control.origin().ok().and_then(|origin| origin.paths().first().cloned());
        Machine {
            home: home.map(|home| home.display().to_string()).unwrap_or_default(),
            system: names.sysname().to_string_lossy().into_owned(),
            release: names.release().to_string_lossy().into_owned(),
            process_id: std::process::id(),
            threads: self.parts.threads,
        }
    }

    fn reloads(&self) -> Vec<ReloadRecord> {
        self.parts.standing.reloads()
    }

    fn keep_users(&self, before: &str, text: &str) -> Result<(), String> {
        let path = self.users.get().ok_or("there is no file for them")?;
        users::replace(path, before, text).map_err(|error| format!("{error:#}"))
    }

    fn was_switched(&self) {
        // The ports of inbound endpoints follow the bus, and look at it again when it comes anew.
        self.parts.swap.to(self.parts.swap.bus());
    }

    fn leave(&self, leaving: Leaving) -> Result<(), Refusal> {
        self.parts.control.leave(leaving)
    }

    fn deploy(&self, name: &str, archive: &[u8]) -> Result<(), Refusal> {
        archives::deploy(&self.parts.control, &self.parts.standing, name, archive)
    }

    fn undeploy(&self, path: &str) -> Result<(), Refusal> {
        archives::undeploy(&self.parts.control, path)
    }

    fn source(&self, file: &str) -> Result<String, Refusal> {
        archives::text(file)
    }

    fn loggers(&self) -> Vec<Logger> {
        self.parts.log.as_ref().map(|log| log.levels.list().into_iter().map(told).collect()).unwrap_or_default()
    }

    fn logger(&self, name: &str) -> Option<Logger> {
        self.parts.log.as_ref()?.levels.get(name).map(told)
    }

    fn set_level(&self, name: &str, component: Option<&str>, level: &str) -> Result<(), Refusal> {
        let nobody = || Refusal::Unable("Somebody else writes the log of this process".to_owned());
        let levels = &self.parts.log.as_ref().ok_or_else(nobody)?.levels;
        let set = match component {
            Some(component) => levels.add(name, component, level),
            None => levels.set(name, level),
        };
        set.map(drop).map_err(|error| match error {
            LevelError::Unknown(sentence) => Refusal::Missing(sentence),
            error => Refusal::Invalid(error.to_string()),
        })
    }

    fn log_files(&self) -> Vec<LogFile> {
        let file = |path: &PathBuf| -> Option<LogFile> {
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(LogFile { name, bytes: std::fs::metadata(path).ok()?.len() })
        };
        self.log_paths().iter().filter_map(file).collect()
    }

    fn log_file(&self, name: &str) -> Result<Vec<u8>, Refusal> {
        // A name is looked up, and no path is made of it.
        let is_it = |path: &PathBuf| path.file_name().is_some_and(|known| known.to_string_lossy() == name);
        let path = self.log_paths().into_iter().find(is_it);
        let path = path.ok_or_else(|| Refusal::Missing(format!("There is no log file {name:?}")))?;
        archives::end_of(&path, LOG_BYTES).map_err(|error| Refusal::Unable(format!("The file cannot be read: {error}")))
    }

    fn correlates(&self) -> bool {
        self.parts.correlates.load(Ordering::Relaxed)
    }

    fn correlate(&self, enabled: bool) {
        self.parts.correlates.store(enabled, Ordering::Relaxed);
    }

    fn registry_folder(&self, path: &str) -> Result<Vec<RegistryEntry>, Refusal> {
        registry::folder(&registry::root(&self.parts.control)?, path)
    }

    fn registry_entry(&self, path: &str) -> Result<RegistryEntry, Refusal> {
        registry::entry(&registry::root(&self.parts.control)?, path)
    }

    fn registry_read(&self, path: &str) -> Result<(String, Vec<u8>), Refusal> {
        registry::read(&registry::root(&self.parts.control)?, path)
    }

    fn registry_write(&self, path: &str, media_type: Option<&str>, bytes: &[u8], is_new: bool) -> Result<(), Refusal> {
        let _changing = self.parts.control.change();
        registry::write(&registry::root(&self.parts.control)?, path, media_type, bytes, is_new)
    }

    fn registry_remove(&self, path: &str) -> Result<(), Refusal> {
        let _changing = self.parts.control.change();
        registry::remove(&registry::root(&self.parts.control)?, path)
    }

    fn registry_set_properties(&self, path: &str, properties: &[(String, String)]) -> Result<(), Refusal> {
        let _changing = self.parts.control.change();
        registry::set_properties(&registry::root(&self.parts.control)?, path, properties)
    }
}

fn told(logger: myelin_logging::Logger) -> Logger {
    Logger { name: logger.name, component: logger.component, level: logger.level }
}
