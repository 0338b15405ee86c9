//! What is known of the process around the bus: what is under way, what was counted, where it runs.

use std::time::{Duration, SystemTime};

use myelin_engine::observer::TimeTotals;
use myelin_telemetry::TelemetryCounts;

/// What was counted of a process beside its services and endpoints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tallies {
    /// Each port that clients come to.
    pub listeners: Vec<ListenerTallies>,
    /// Clients that were refused, by what there was too little of.
    pub refused_clients: Vec<(&'static str, u64)>,
    /// Requests that were refused before any service saw them, by the reason.
    pub refused_requests: Vec<(&'static str, u64)>,
    /// Requests that were sent again because a connection that was kept turned out to be closed.
    pub resent_requests: u64,
    /// How late each serving thread was with what was due on it, by its number.
    pub lag: Vec<(usize, TimeTotals)>,
    /// Lines of the log by their level.
    pub log_lines: Vec<(&'static str, u64)>,
    /// Lines of the log that were lost.
    pub dropped_log_lines: u64,
    /// Lines of the access log that were lost.
    pub dropped_access_log_lines: u64,
    /// How many bytes the messages take that are counted, and how many they may.
    pub memory: (usize, usize),
}

/// What was counted at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenerTallies {
    /// The port.
    pub port: u16,
    /// Connections that are open.
    pub open: usize,
    /// Connections that were accepted.
    pub accepted: u64,
    /// Handshakes of TLS that agreed on a new session.
    pub full_handshakes: u64,
    /// Those that resumed a session.
    pub resumed_handshakes: u64,
    /// Those that failed.
    pub failed_handshakes: u64,
}

/// What is under way in the process, and what it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Open client connections, idle ones included.
    pub client_connections: usize,
    /// Requests without an answer.
    pub exchanges: usize,
    /// Flows beside the first one of their request.
    pub branches: usize,
    /// Connections to backends that serve a request or its answer.
    pub used_backend_connections: usize,
    /// Connections to backends that are kept for the next request.
    pub idle_backend_connections: usize,
    /// Requests that wait for a connection to a backend.
    pub waiting_for_backends: usize,
    /// Pieces of long work that wait for their turn.
    pub waiting_work: usize,
    /// Bytes of bodies and half-read messages that are kept.
    pub memory_bytes: usize,
    /// Threads that serve, and did not say in time what is under way on them.
    pub silent_threads: usize,
    /// What became of spans and log records.
    pub telemetry: TelemetryCounts,
    /// What the process takes of its machine.
    pub process: ProcessUsage,
}

/// What a process takes of its machine; `None` where the machine does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time since it began, of all threads.
    pub processor_time: Duration,
    /// Bytes of memory that are resident.
    pub resident_bytes: Option<u64>,
    /// Files that are open, sockets included.
    pub open_files: Option<usize>,
    /// How many may be open.
    pub file_limit: Option<u64>,
}

/// Where the bus is reached, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name of the machine.
    pub host: String,
    /// The first port that clients come to.
    pub port: u16,
    /// When it began to serve.
    pub started: SystemTime,
    /// Whether clients come over HTTPS alone.
    pub is_secure: bool,
}

impl Server {
    /// The URL that paths of services are put behind.
    pub fn base(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        format!("{scheme}://{}:{}", self.host, self.port)
    }
}

/// What a process runs on, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Where the configuration is.
    pub home: String,
    /// The system.
    pub system: String,
    /// Its version.
    pub release: String,
    /// The number of the process.
    pub process_id: u32,
    /// How many threads serve.
    pub threads: usize,
}
