//! Who can take part in a comparison, and in what.

use clap::ValueEnum;
use serde::Serialize;

use super::configuration::{API, API_CONTEXT};
use super::scenario::{Likeness, Scenario};
use crate::suite::Service;

/// Who can take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `myelin run`.
    Myelin,
    /// nginx from the search path.
    Nginx,
    /// HAProxy from the search path, in HTTP mode.
    Haproxy,
    /// `myelin relay`, which copies bytes only.
    Relay,
    /// `myelin run` again, which passes everything on unread: what mediation is compared with.
    Direct,
    /// Apache Synapse 3 with its pass-through transport, started by a script.
    Synapse,
    /// The same with Apache Rampart.
    Rampart,
}

/// Bodies over this size go to the location that nginx has for large ones.
const LARGE_BYTES: u64 = 16 * 1024;

impl Kind {
    /// All there are, in the order of reports.
    pub const ALL: [Kind; 7] =
        [Kind::Myelin, Kind::Direct, Kind::Nginx, Kind::Haproxy, Kind::Relay, Kind::Synapse, Kind::Rampart];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Myelin => "myelin",
            Kind::Nginx => "nginx",
            Kind::Haproxy => "haproxy",
            Kind::Relay => "relay",
            Kind::Direct => "direct",
            Kind::Synapse => "synapse",
            Kind::Rampart => "rampart",
        }
    }

    /// Whether it has a way to do this, and a point in doing it.
    pub(super) fn can(self, scenario: Scenario) -> bool {
        match self {
            Kind::Myelin => true,
            // To a proxy for HTTP, an API is a path as any other.
            Kind::Nginx | Kind::Haproxy => !scenario.needs_content() && scenario != Scenario::DirectApi,
            // What the same bytes cost at least, where the echo gets about as many as the bus and the client.
            Kind::Relay => !scenario.asks_for_quotes() && !scenario.is_secured() && scenario.service().is_none(),
            Kind::Direct => scenario.mediates(),
            // `relay` and `built` are other transports there, not other mediators.
            Kind::Synapse => {
                let other = matches!(scenario, Scenario::Relay | Scenario::Built | Scenario::BuiltUnchanged);
                !other && !scenario.is_secured() && scenario.service().is_none()
            }
            Kind::Rampart => scenario == Scenario::SecureLegacy,
        }
    }

    /// How like the expected body its answers have to be.
    pub(super) fn likeness(self, scenario: Scenario) -> Likeness {
        match self {
            Kind::Myelin if scenario == Scenario::Built || scenario.transforms() => Likeness::Canonical,
            Kind::Myelin if scenario.service().is_some_and(|service| !service.answers_json()) => Likeness::Canonical,
            // A switch builds the message there, whatever it looks at, and what was built is written anew.
            Kind::Synapse if scenario.mediates() => Likeness::Canonical,
            _ => Likeness::Bytes,
        }
    }

    /// Whether it does what the scenario says, and does not pass everything on.
    pub(super) fn mediates(self) -> bool {
        !matches!(self, Kind::Direct | Kind::Relay)
    }

    /// Whether it compiles its code while it runs, and has to be driven for a while before it is measured.
    pub(super) fn warms_up(self) -> bool {
        matches!(self, Kind::Synapse | Kind::Rampart)
    }

    /// Files it needs open for so many clients.
    ///
    /// The relay has a backend connection for each; the others share theirs, which are no more than are used at once.
    pub(super) fn files(self, clients: usize) -> u64 {
        let clients = clients as u64;
        if self == Kind::Relay { 2 * clients + 100 } else { clients + clients / 4 + 100 }
    }

    /// What it is sent and has to answer: passing on unread, only what the backend understands.
    pub(super) fn asked(self, scenario: Scenario) -> Scenario {
        match (self, scenario) {
            (Kind::Direct, Scenario::QuoteXslt) => Scenario::QuoteCbr,
            (_, scenario) => scenario,
        }
    }

    /// The path of the URL for this scenario and size.
    pub(super) fn path(self, scenario: Scenario, size: u64) -> String {
        let name = match scenario {
            scenario if self == Kind::Direct && scenario.asks_for_quotes() => "quote-direct".to_owned(),
            scenario if self == Kind::Direct || !scenario.mediates() => "direct".to_owned(),
            _ if self == Kind::Rampart => "secure".to_owned(),
            scenario => scenario.service().map_or_else(|| scenario.name(), Service::proxy),
        };
        if name == API {
            return format!("{API_CONTEXT}/{API}");
        }
        let suffix = if self == Kind::Nginx && size > LARGE_BYTES { "-large" } else { "" };
        format!("/services/{name}{suffix}")
    }
}
