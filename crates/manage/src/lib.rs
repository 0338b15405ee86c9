//! What an operator sees of a running bus and does with it: metrics, probes, the management API, and the console.
//!
//! [`Management`] answers scrapes and probes, [`api::Api`] the management API, whoever listens for them; [`Process`] is
//! what they have to know of the process around the bus.

pub mod api;
pub mod console;
mod counting;
mod exposition;
mod log_lines;
mod measured;
mod metrics;
mod probes;
mod process;
mod tallies;

use std::sync::Arc;

use myelin_message::{Body, Message, StatusCode, Uri};

pub use counting::{FaultCounters, ThreadCounters};
pub use log_lines::log_lines;
pub use measured::{Gauges, ListenerTallies, Machine, ProcessUsage, Server, Tallies};
pub use probes::{Faulty, Stage, Standing};
pub use process::{Leaving, LogFile, Logger, Process, Refusal, RegistryEntry, ReloadRecord};

/// Answers what an operator asks.
pub struct Management {
    process: Arc<dyn Process>,
    server: Server,
    faults: Arc<FaultCounters>,
}

impl Management {
    /// For a process, whose observers count faults there.
    pub fn new(process: Arc<dyn Process>, server: Server, faults: Arc<FaultCounters>) -> Management {
        Management { process, server, faults }
    }

    /// The answer to a request.
    ///
    /// Shape: text of Prometheus or OpenMetrics, JSON, or a file of the console; 404 where nothing is offered, 405 where it is read only.
    pub fn answer(&self, request: &Message) -> Message {
        if let Some(answer) = console::answer(request) {
            return answer;
        }
        // A target may be absolute, and a strange one is none of these.
        let target = request.head.target().parse::<Uri>().unwrap_or_default();
        let answer = match target.path() {
            "/metrics" | "/metric-service/metrics" => self.metrics(request),
            "/liveness" => json(probes::liveness()),
            "/healthz" => json(probes::health(&self.process.standing())),
            "/readiness" => json(probes::readiness(&self.process.standing())),
            _ => {
                return text(
                    StatusCode::NOT_FOUND,
                    "There are /console, /metrics, /liveness, /healthz and /readiness here",
                );
            }
        };
        if matches!(request.head.method(), "GET" | "HEAD") {
            answer
        } else {
            text(StatusCode::METHOD_NOT_ALLOWED, "This is read only")
        }
    }

    fn metrics(&self, request: &Message) -> Message {
        let accepted = request.head.first("Accept").map(String::from_utf8_lossy).unwrap_or_default();
        let wants_open_metrics = accepted.contains("application/openmetrics-text");
        let (bus, standing, gauges) = (self.process.bus(), self.process.standing(), self.process.gauges());
        let tallies = self.process.tallies();
        let page = metrics::page(&bus, &self.server, &standing, &gauges, &tallies, &self.faults);
        if wants_open_metrics {
            with_type(StatusCode::OK, exposition::OPEN_METRICS, page)
        } else {
            with_type(StatusCode::OK, exposition::PROMETHEUS, exposition::as_prometheus(&page))
        }
    }
}

fn text(status: StatusCode, sentence: &str) -> Message {
    with_type(status, "text/plain; charset=UTF-8", format!("{sentence}\n"))
}

fn json((status, value): (StatusCode, serde_json::Value)) -> Message {
    with_type(status, "application/json", format!("{value}\n"))
}

fn with_type(status: StatusCode, media_type: &str, text: String) -> Message {
    let mut answer = Message::answer(status, Body::Bytes(text.into()));
    // What is written here are constants that a header can hold.
    let _ = answer.head.set("Content-Type", media_type.as_bytes());
    answer
}
