//! What an operator wants of monitors, which ask backends how they are.

use std::time::Duration;

/// The shortest time between two checks of one endpoint.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// The longest time between two checks, and for one.
const LONGEST: Duration = Duration::from_hours(24);

/// What an operator wants of one monitor; see `docs/endpoints-extensions.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorSettings {
    /// The name of the endpoint.
    pub endpoint: String,
    /// Where to ask, whole; the endpoint's own address where neither this nor `path` says it.
    pub url: Option<String>,
    /// The path and query to ask for instead, at the endpoint's own host and port.
    pub path: Option<String>,
    /// From the end of one check to the beginning of the next.
    pub interval: Duration,
    /// How long the response's head may take, connecting included.
    pub timeout: Duration,
    /// The statuses of a success; 200 to 399 where there are none.
    pub expect: Vec<u16>,
    /// How many failures in a row take the endpoint out.
    pub fall: u32,
    /// How many successes in a row bring it back.
    pub rise: u32,
}

impl MonitorSettings {
    /// A monitor of an endpoint, with all else by default: every 5 s, 2 s for an answer, out after 3, back after 2.
    pub fn new(endpoint: impl Into<String>) -> MonitorSettings {
        MonitorSettings {
            endpoint: endpoint.into(),
            url: None,
            path: None,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            expect: Vec::new(),
            fall: 3,
            rise: 2,
        }
    }

    /// What is wrong with it by itself.
    pub fn problem(&self) -> Option<String> {
        if self.interval < SHORTEST_INTERVAL {
            Some(format!("an interval of {:?} is too short: at least {SHORTEST_INTERVAL:?}", self.interval))
        } else if self.timeout.is_zero() {
            Some("a timeout of 0 lets every check fail".to_owned())
        } else if self.interval.max(self.timeout) > LONGEST {
            Some("interval and timeout are at most a day".to_owned())
        } else if self.fall == 0 || self.rise == 0 {
            Some("fall and rise count checks, at least 1".to_owned())
        } else {
            let unknown = self.expect.iter().find(|status| !(200..600).contains(*status));
            unknown.map(|status| format!("{status} is no status of an answer: they are 200 to 599"))
        }
    }
}
