//! What an operator sees of the endpoints of a bus, and can do with them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::endpoints::deliver::DEPTH_LIMIT;
use crate::endpoints::{Endpoint, EndpointKind, EndpointRef, Endpoints, Group, State};
use myelin_flow::counters::EndpointTotals;
use myelin_flow::definitions::Definitions;
use myelin_flow::mediator::EndpointReference;

/// A named endpoint as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointStatus {
    /// Its name.
    pub name: String,
    /// The element that says what it is: `address`, `failover` …
    pub kind: &'static str,
    /// Whether it is used.
    pub state: State,
    /// When it may be tried again while it is not active, on the clock of [`myelin_channel::Runtime::monotonic`].
    pub retry_at: Option<Duration>,
    /// What its monitor saw, while that has taken it out: it gets no message then, whatever its state.
    pub down: Option<String>,
}

impl Endpoints {
    /// The named endpoints as they stand, by name.
    pub fn status(&self) -> Vec<EndpointStatus> {
        let mut all: Vec<EndpointStatus> = self.list.iter().flatten().map(|endpoint| status(endpoint)).collect();
        all.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        all
    }

    /// What was counted of endpoints, by name, and with an empty name of those without one together.
    pub fn totals(&self) -> impl Iterator<Item = (&str, EndpointTotals)> {
        self.counters.iter().map(|(name, counters)| (name.as_str(), counters.totals()))
    }

    /// Takes a named endpoint out, or brings it back and forgets what it did wrong; says whether there is one.
    ///
    /// One that is off gets no message, alone or in a group, until it is switched on again. One that its monitor finds
    /// down stays so.
    pub fn switch(&self, name: &str, on: bool) -> bool {
        let endpoint = self.find(name);
        if let Some(endpoint) = endpoint {
            tracing::info!(endpoint = name, on, "an endpoint is switched");
            endpoint.health.switch(on);
        }
        endpoint.is_some()
    }
}

impl EndpointReference for EndpointRef {
    fn explain(&self, definitions: &Definitions) -> Value {
        let endpoints = Endpoints::of(definitions);
        let missing = || json!({ "to": "an endpoint that is not there" });
        self.find_in(endpoints).map_or_else(missing, |endpoint| endpoint.explain(endpoints))
    }
}

impl Endpoint {
    /// What it is, for people and programs: `{"name", "to", "timeout_ms"}`; of a group, `to` lists its members so.
    pub fn explain(&self, endpoints: &Endpoints) -> Value {
        self.explain_at(0, endpoints)
    }

    fn explain_at(&self, depth: usize, endpoints: &Endpoints) -> Value {
        if depth >= DEPTH_LIMIT {
            return Value::Null;
        }
        let member = |member: &EndpointRef| {
            member.find_in(endpoints).map_or(Value::Null, |member| member.explain_at(depth + 1, endpoints))
        };
        let to: Value = match &self.kind {
            EndpointKind::Address { text, .. } => text.clone().into(),
            EndpointKind::Other(text) => (&**text).into(),
            EndpointKind::Http { template, method } => {
                let method = method.as_ref().map(|method| format!("{method} ")).unwrap_or_default();
                format!("{method}{}", template.text()).into()
            }
            EndpointKind::Default => "where the message is addressed".into(),
            EndpointKind::Member(member) => member.host().into(),
            EndpointKind::Described(described) => described.text().into(),
            EndpointKind::Alias(id) => {
                return endpoints.get(*id).map_or(Value::Null, |endpoint| endpoint.explain_at(depth + 1, endpoints));
            }
            EndpointKind::Failing(_) => "nowhere, as what it needs is not there".into(),
            EndpointKind::Resolving(_) => "the endpoint that an expression names".into(),
            EndpointKind::Group(Group { members, .. }) => members.iter().map(member).collect(),
            EndpointKind::Recipients(list) => match list.members() {
                [] => "the addresses that an expression gives".into(),
                members => members.iter().map(member).collect(),
            },
        };
        json!({ "name": &*self.name, "to": to, "timeout_ms": self.timeout.milliseconds() })
    }
}

fn status(endpoint: &Endpoint) -> EndpointStatus {
    let condition = endpoint.health.condition();
    let waits = matches!(condition.state, State::Timeout | State::Suspended);
    EndpointStatus {
        name: endpoint.name.to_string(),
        kind: endpoint.kind.name(),
        state: condition.state,
        retry_at: Some(condition.retry_at).filter(|_| waits),
        down: endpoint.health.down().map(|seen| seen.to_string()),
    }
}

impl EndpointKind {
    /// The element or attribute that says it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            EndpointKind::Address { .. } | EndpointKind::Other(_) => "address",
            EndpointKind::Failing(_) => "failing",
            EndpointKind::Http { .. } => "http",
            EndpointKind::Described(_) => "wsdl",
            EndpointKind::Default => "default",
            EndpointKind::Member(_) => "member",
            EndpointKind::Alias(_) => "key",
            EndpointKind::Resolving(_) => "key-expression",
            EndpointKind::Group(group) => group.kind(),
            EndpointKind::Recipients(_) => "recipientlist",
        }
    }
}
