//! Where messages come in by another way than a path: a task, and a port of its own.

mod tls;

use std::sync::Arc;

use crate::api::Caller;
use crate::bus::Bus;
use crate::config::Place;
use crate::dispatch::{self, Asked, Route};
use crate::pattern::Pattern;
use crate::property::{Properties, Scope, Slot, Value};
use crate::sequence::SequenceId;

pub use tls::{ClientCertificates, PortTls};

/// What serves messages that come in so.
pub(crate) struct Entrance {
    /// The element that defines it.
    pub(crate) kind: &'static str,
    pub(crate) name: Arc<str>,
    pub(crate) place: Place,
    /// How messages get here, for people.
    pub(crate) way: String,
    /// The property that holds the name.
    pub(crate) slot: Slot,
    /// What they run through; `main` where unset.
    pub(crate) sequence: Option<SequenceId>,
    /// What their faults run through; the sequence for all where unset.
    pub(crate) fault: Option<SequenceId>,
}

impl Entrance {
    /// The properties that its messages start with.
    pub(crate) fn properties(&self) -> Properties {
        let mut properties = Properties::default();
        properties.put(Scope::Default, self.slot, Some(Value::Text(Arc::clone(&self.name))));
        properties
    }
}

/// An inbound endpoint for HTTP or HTTPS.
pub(crate) struct Inbound {
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) port: u16,
    /// The paths at which the services of the bus are reached; without it none is.
    pub(crate) filter: Option<Pattern>,
    /// How it speaks TLS; `None` for plain HTTP.
    pub(crate) tls: Option<Arc<PortTls>>,
}

/// A port on which a bus is to be reached besides those of the server.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The inbound endpoint that it is for.
    pub name: &'a str,
    /// How it speaks TLS; `None` for plain HTTP.
    pub tls: Option<&'a Arc<PortTls>>,
}

impl Inbound {
    /// Where a request goes that came to its port.
    ///
    /// As in WSO2, an API that is bound to it comes first; with a filter what is for no service goes to `main`, and
    /// without one to the sequence.
    pub(crate) fn route<'a>(self: &'a Arc<Inbound>, bus: &'a Bus, asked: &Asked<'_>) -> Route<'a> {
        if let Some(route) = dispatch::api(bus, asked, Caller::Inbound(&self.entrance.name)) {
            return route;
        }
        match &self.filter {
            Some(filter) if filter.matches(asked.uri()) => dispatch::service(bus, asked),
            Some(_) => dispatch::main(bus, asked),
            None => Route::Entrance(&self.entrance, asked.rest()),
        }
    }
}
