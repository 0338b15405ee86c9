//! Monitors: `[[myelin.monitors]]` asks backends every so often how they are, before a client has to find out.
//!
//! An extension; Synapse knows of a backend's failure by the messages that failed.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::sync::Arc;

use http::Uri;
use myelin_message::{Body, Head};

use crate::endpoints::{Endpoint, EndpointKind, EndpointRef, Endpoints, Template, absolute};
use myelin_flow::settings::MonitorSettings;
use myelin_flow::transport::{Address, Manner, Method, Outgoing, SendErrorKind, Transport, ask, within};

/// The most monitors of one bus.
const MONITOR_LIMIT: usize = 1_000;

/// How many names a problem lists.
const NAMES: usize = 20;

/// Checks one endpoint. What the checks found of it is forgotten with the last monitor that it has.
pub struct Monitor {
    endpoint: Arc<Endpoint>,
    uri: Uri,
    settings: MonitorSettings,
}

impl Endpoints {
    /// The monitors of these endpoints, each to be run once in a process; those of a bus that it follows are dropped after
    /// these were made, so that what they found goes on.
    ///
    /// An endpoint that is faulty is not monitored.
    /// Errors: whatever is wrong with the settings, in sentences.
    pub fn monitors(&self, all: &[MonitorSettings]) -> Result<Vec<Monitor>, Vec<String>> {
        if all.len() > MONITOR_LIMIT {
            return Err(vec![format!("there are {} monitors: at most {MONITOR_LIMIT} are offered", all.len())]);
        }
        let (mut monitors, mut problems) = (Vec::new(), Vec::new());
        let mut monitored = HashSet::new();
        for settings in all {
            match self.monitor(settings) {
                Ok(Some(monitor)) if !monitored.insert(Arc::as_ptr(&monitor.endpoint)) => {
                    problems.push(format!("the endpoint {:?} has a monitor already", settings.endpoint));
                }
                Ok(monitor) => monitors.extend(monitor),
                Err(problem) => problems.push(format!("the monitor of {:?}: {problem}", settings.endpoint)),
            }
        }
        if problems.is_empty() { Ok(monitors) } else { Err(problems) }
    }

    fn monitor(&self, settings: &MonitorSettings) -> Result<Option<Monitor>, String> {
        if let Some(problem) = settings.problem() {
            return Err(problem);
        }
        let Some(&id) = self.ids.get(&settings.endpoint) else {
            return Err(format!("there is no endpoint of that name; {}", self.names()));
        };
        let reference = EndpointRef::Named(id);
        let Some(endpoint) = reference.find_in(self) else { return Ok(None) };
        let uri = uri(settings, endpoint)?;
        endpoint.health.begin_checks();
        Ok(Some(Monitor { endpoint: Arc::clone(endpoint), uri, settings: settings.clone() }))
    }

    fn names(&self) -> String {
        let mut names: Vec<&str> = self.ids.keys().map(String::as_str).collect();
        names.sort_unstable();
        match names.len() {
            0 => "no endpoint has one".to_owned(),
            count => {
                names.truncate(NAMES);
                format!("there are {}{}", names.join(", "), if count > NAMES { ", …" } else { "" })
            }
        }
    }
}

impl Monitor {
    /// Checks for as long as it is polled, one check after the other.
    pub async fn run(self, transport: Rc<dyn Transport>) {
        // Those that begin together are not to ask together, in this process or in several.
        let share = RandomState::new().hash_one(&self.settings.endpoint) % 1000;
        transport.sleep(self.settings.interval.mul_f64(share as f64 / 1000.0)).await;
        loop {
            if let Some(found) = self.check(&*transport).await {
                self.endpoint.health.checked(&self.endpoint, found, self.settings.fall, self.settings.rise);
            }
            transport.sleep(self.settings.interval).await;
        }
    }

    /// Asks once; `None` where the bus itself is too busy to ask, which says nothing about the backend.
    ///
    /// Errors: what was seen instead of an answer with an expected status.
    async fn check(&self, transport: &dyn Transport) -> Option<Result<(), String>> {
        let MonitorSettings { timeout, expect, .. } = &self.settings;
        let request = Outgoing {
            method: Method::Named("GET".to_owned()),
            address: Address::Uri(self.uri.clone()),
            head: Head::default(),
            body: Body::Empty,
            timeout: Some(*timeout),
            host: None,
            // The answer's body is not read, so that nothing can follow it.
            manner: Manner { close: true, ..Manner::default() },
        };
        let seen = match within(transport, *timeout, ask(transport, request)).await {
            Some(Ok(response)) => {
                let status = response.status.as_u16();
                let is_expected = if expect.is_empty() { status < 400 } else { expect.contains(&status) };
                if is_expected {
                    return Some(Ok(()));
                }
                format!("the answer was {status}")
            }
            Some(Err(error)) if error.kind == SendErrorKind::Overloaded => return None,
            Some(Err(error)) => error.to_string(),
            None => format!("there was no answer within {timeout:?}"),
        };
        Some(Err(format!("GET {}: {seen}", self.uri)))
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.endpoint.health.end_checks();
    }
}

/// Where a monitor asks.
///
/// Errors: a sentence that says what is wrong or missing.
fn uri(settings: &MonitorSettings, endpoint: &Endpoint) -> Result<Uri, String> {
    let own = match &endpoint.kind {
        EndpointKind::Address { uri, .. } | EndpointKind::Http { template: Template::Fixed(uri), .. } => Some(uri),
        EndpointKind::Http { .. } | EndpointKind::Other(_) | EndpointKind::Default | EndpointKind::Described(_) => None,
        rule => {
            let kind = rule.name();
            return Err(format!("it is no backend but a {kind}: name the endpoints that it leads to"));
        }
    };
    match (&settings.url, &settings.path, own) {
        (Some(_), Some(_), _) => Err("url and path both say where to ask: one of them is enough".to_owned()),
        (Some(url), None, _) => absolute(url),
        (None, _, None) => Err("its address is worked out for each message: the monitor needs a url".to_owned()),
        (None, None, Some(own)) => Ok(own.clone()),
        (None, Some(path), Some(own)) => {
            let mut parts = own.clone().into_parts();
            let target = path.parse().ok().filter(|_| path.starts_with('/'));
            parts.path_and_query = Some(target.ok_or_else(|| format!("{path:?} is no path: it begins with /"))?);
            Uri::from_parts(parts).map_err(|error| format!("{path:?}: {error}"))
        }
    }
}
