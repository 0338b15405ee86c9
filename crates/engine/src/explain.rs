//! What a configuration will do, told before a message comes: routes, steps, what they read and change, endpoints.
//!
//! It is told by the mediators themselves, and debug builds hold each of them to it, so that it cannot drift from what
//! happens.

use std::cell::Cell;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::bus::Bus;
use crate::service::Service;
use myelin_artefacts::apis::Resource;
use myelin_artefacts::inbound::ReceivingService;
use myelin_artefacts::mediators::connector::connection_of;
use myelin_flow::mediator::{Effect, InnerFlow, Reads, Receiver, Steps};
use myelin_flow::position::StepPlace;
use myelin_flow::sequence::{Block, Node, Sequence};

/// Sequences within each other beyond this are not told; one that calls itself never ends.
const DEPTH_LIMIT: usize = 24;

/// Steps of one service beyond this are not told: sequences that each use the next one twice have endlessly many.
const STEP_LIMIT: usize = 20_000;

/// What a bus does.
#[derive(Debug)]
pub struct Explanation {
    services: Vec<Told>,
    limits: Vec<(&'static str, String)>,
}

/// What a service does.
#[derive(Debug)]
struct Told {
    kind: &'static str,
    name: String,
    place: String,
    /// Of a resource of an API, its path as it is written.
    address: Option<String>,
    /// Where it is reached.
    routes: Vec<String>,
    flows: Vec<Flow>,
    /// Where requests go that no sequence sends.
    endpoint: Option<Value>,
    /// Whether it has more steps than are told.
    cut: bool,
}

/// What requests, responses or faults run through.
#[derive(Debug)]
struct Flow {
    name: &'static str,
    steps: Vec<Step>,
}

/// A mediator.
#[derive(Debug)]
struct Step {
    element: String,
    place: String,
    column: u32,
    reads: Reads,
    changes: bool,
    sends: Option<Value>,
    fails: Option<String>,
    inside: Vec<(String, Vec<Step>)>,
}

impl Bus {
    /// Says what this bus will do with messages.
    pub fn explain(&self) -> Explanation {
        let teller = Teller { bus: self, told: Cell::default() };
        let mut proxies: Vec<_> = self.proxies.values().collect();
        proxies.sort_by(|one, other| one.identity.name.cmp(&other.identity.name));
        let mut services: Vec<Told> = proxies.into_iter().map(|proxy| teller.service(Service::Proxy(proxy))).collect();
        for (api, _) in self.apis.offers.iter() {
            services.extend((0..api.resources.len()).map(|resource| teller.service(Service::Api(api, resource))));
        }
        let mut inbounds: Vec<_> = self.inbounds.values().map(|inbound| &inbound.source).collect();
        inbounds.sort_by(|one, other| one.identity.name.cmp(&other.identity.name));
        let received = self.receivings.iter().filter_map(|receiving| match &receiving.receiver {
            ReceivingService::Inbound(inbound) => Some(inbound),
            ReceivingService::Proxy(_) => None,
        });
        services
            .extend(inbounds.into_iter().chain(received).map(|source| teller.service(Service::InboundSource(source))));
        services.extend(self.main.map(|_| teller.service(Service::Main)));
        let settings = &self.definitions.settings;
        let limits = vec![
            ("largest body that is read, in bytes", settings.body_limit_bytes.to_string()),
            ("time of a stylesheet, in milliseconds", settings.stylesheets.time.as_millis().to_string()),
            ("time of a script, in milliseconds", settings.scripts.time.as_millis().to_string()),
        ];
        Explanation { services, limits }
    }
}

/// Over what a service is reached, where that is not all that there is.
fn schemes(http: bool, https: bool) -> &'static str {
    match (http, https) {
        (true, true) => "",
        (true, false) => " (http)",
        (false, true) => " (https)",
        (false, false) => " (not offered)",
    }
}

/// Tells of one bus.
struct Teller<'a> {
    bus: &'a Bus,
    /// How many steps of the current service were told.
    told: Cell<usize>,
}

impl<'a> Teller<'a> {
    fn service(&self, service: Service<'a>) -> Told {
        let identity = service.identity(self.bus);
        let routes = match service {
            Service::Main => vec!["every path that names no service".to_owned()],
            Service::Proxy(proxy) => {
                let by_path = format!("/services/{}{}", proxy.identity.name, schemes(proxy.http, proxy.https));
                let is_reached = proxy.http || proxy.https || proxy.sources.is_empty();
                let sources = proxy.sources.iter().map(|source| source.describe());
                is_reached.then_some(by_path).into_iter().chain(sources).collect()
            }
            Service::Api(api, resource) => {
                let route = |resource: &Resource| {
                    let Resource { http, https, .. } = resource;
                    let methods = resource.methods.join(" ");
                    let methods = if methods.is_empty() { "any method" } else { &methods };
                    format!("{methods} {}{}{}", api.prefix, resource.path, schemes(*http, *https))
                };
                api.resources.get(resource).map(route).into_iter().collect()
            }
            Service::InboundSource(source) => vec![source.way.clone()],
            Service::Stray(api, _) => vec![format!("{}/…, where no resource fits", api.prefix)],
        };
        let address = match service {
            Service::Api(api, resource) => {
                api.resources.get(resource).map(|resource| format!("{}{}", api.prefix, resource.path))
            }
            _ => None,
        };
        let flows = [
            ("in", service.incoming(self.bus)),
            ("out", service.outgoing(self.bus)),
            ("fault", service.fault(self.bus)),
        ];
        self.told.set(0);
        let flows = flows.into_iter().filter_map(|(name, sequence)| Some(self.flow(name, sequence?))).collect();
        Told {
            kind: identity.kind,
            name: identity.name.to_string(),
            place: identity.place_text(),
            address,
            routes,
            flows,
            endpoint: service.endpoint(self.bus).map(|endpoint| endpoint.explain(&self.bus.endpoints)),
            cut: self.told.get() > STEP_LIMIT,
        }
    }

    fn flow(&self, name: &'static str, sequence: &'a Sequence) -> Flow {
        Flow { name, steps: self.block(&sequence.block, &mut vec![sequence]) }
    }

    /// `around` are the sequences that are being told.
    fn block(&self, block: &'a Block, around: &mut Vec<&'a Sequence>) -> Vec<Step> {
        let mut steps = Vec::new();
        for node in block.nodes() {
            self.told.set(self.told.get() + 1);
            if self.told.get() > STEP_LIMIT {
                break;
            }
            steps.push(self.step(node, around));
        }
        steps
    }

    fn step(&self, node: &'a Node, around: &mut Vec<&'a Sequence>) -> Step {
        let Effect { reads, changes, sends, fails, inside, .. } = node.mediator.effect();
        let sends = sends.map(|receiver| match receiver {
            Receiver::Client => json!({ "to": "the client" }),
            Receiver::Addressee => json!({ "to": "the client, or where it is addressed" }),
            Receiver::Endpoint(reference) => reference.explain(&self.bus.definitions),
        });
        let inside = inside.into_iter().map(|InnerFlow { label, flow }| self.inside(label, flow, around)).collect();
        let fails = fails.map(str::to_owned);
        let StepPlace { element, place } = &node.step;
        let (element, column) = ((*element).to_owned(), place.column);
        Step { element, place: place.to_string(), column, reads, changes, sends, fails, inside }
    }

    fn inside(&self, label: String, flow: Steps<'a>, around: &mut Vec<&'a Sequence>) -> (String, Vec<Step>) {
        let join = |what: &str| if label.is_empty() { what.to_owned() } else { format!("{label}: {what}") };
        match flow {
            Steps::Block(block) => (label, self.block(block, around)),
            Steps::Sequence(sequence) => (label, self.block(&sequence.block, around)),
            Steps::WorkedOut => (join("a sequence that the message names"), Vec::new()),
            Steps::Named(id) => match self.bus.sequence(id) {
                Some(sequence) => self.named(join(&format!("sequence {}", sequence.name)), sequence, around),
                None => (label, Vec::new()),
            },
            Steps::Template(id) => match self.bus.definitions.template(id) {
                Some(template) => {
                    let sequence = &template.sequence;
                    self.named(join(&format!("template sequence {}", sequence.name)), sequence, around)
                }
                None => (label, Vec::new()),
            },
        }
    }

    fn named(&self, name: String, sequence: &'a Sequence, around: &mut Vec<&'a Sequence>) -> (String, Vec<Step>) {
        if around.len() >= DEPTH_LIMIT || around.iter().any(|outer| std::ptr::eq(*outer, sequence)) {
            return (format!("{name}, as above"), Vec::new());
        }
        around.push(sequence);
        let steps = self.block(&sequence.block, around);
        around.pop();
        (name, steps)
    }
}

impl Step {
    /// The most that this step, or one inside of it, does to the body.
    fn most(&self) -> (Reads, bool) {
        most(self.inside.iter().flat_map(|(_, steps)| steps), (self.reads, self.changes))
    }

    fn to_json(&self) -> Value {
        let inside = self.inside.iter().map(|(label, steps)| {
            let steps = steps.iter().map(Step::to_json).collect();
            object([("label", label.as_str().into()), ("steps", Value::Array(steps))])
        });
        let inside = inside.collect();
        object([
            ("element", self.element.as_str().into()),
            ("place", self.place.as_str().into()),
            ("column", self.column.into()),
            ("reads", self.reads.word().into()),
            ("changes", self.changes.into()),
            ("sends", self.sends.clone().into()),
            ("fails", self.fails.clone().into()),
            ("inside", Value::Array(inside)),
        ])
    }

    fn write(&self, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        let mut remarks = Vec::new();
        if self.reads > Reads::Nothing {
            remarks.push(self.reads.sentence().to_owned());
        }
        if self.changes {
            remarks.push("makes another body".to_owned());
        }
        if let Some(receiver) = &self.sends {
            remarks.push(format!("sends to {}", told(receiver)));
        }
        if let Some(why) = &self.fails {
            remarks.push(format!("fails: {why}"));
        }
        let remarks = if remarks.is_empty() { String::new() } else { format!(": {}", remarks.join("; ")) };
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{indent}{} ({}){remarks}", self.element, self.place);
        for (label, steps) in &self.inside {
            if steps.is_empty() && !label.contains("sequence") {
                continue;
            }
            let deeper = if label.is_empty() { depth + 1 } else { depth + 2 };
            if !label.is_empty() {
                let _ = writeln!(out, "{indent}  {label}");
            }
            steps.iter().for_each(|step| step.write(deeper, out));
        }
    }
}

fn most<'a>(steps: impl Iterator<Item = &'a Step>, start: (Reads, bool)) -> (Reads, bool) {
    steps.map(Step::most).fold(start, |(reads, changes), (more, also)| (reads.max(more), changes | also))
}

/// An object of these members; `json!` would copy those that are large, at each level once more.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// An endpoint in one line.
fn told(endpoint: &Value) -> String {
    let text = |name: &str| endpoint.get(name).and_then(Value::as_str);
    // The endpoint of a connection has a name that nobody wrote.
    let name = text("name").map(|name| match connection_of(name) {
        Some(connection) => format!("connection {connection}"),
        None => name.to_owned(),
    });
    let parts = [name, text("to").map(str::to_owned)];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let mut line = parts.join(" ");
    if let Some(members) = endpoint.get("members").and_then(Value::as_array) {
        let members = members.iter().map(told).collect::<Vec<_>>().join(", ");
        let _ = write!(line, " [{members}]");
    }
    if let Some(timeout) = endpoint.get("timeout_ms").and_then(Value::as_u64) {
        let _ = write!(line, " within {timeout} ms");
    }
    line
}

impl Explanation {
    /// Only what is called so.
    #[must_use]
    pub fn only(mut self, name: &str) -> Explanation {
        self.services.retain(|service| service.name == name);
        self
    }

    /// Whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.services.is_empty()
    }

    /// For people: each service with its routes, what happens to bodies on the whole, and every step.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for service in &self.services {
            let Told { kind, name, place, routes, flows, endpoint, cut, .. } = service;
            // Writing into a string cannot fail.
            let _ = writeln!(out, "{kind} {name} ({place})");
            for route in routes {
                let _ = writeln!(out, "  at {route}");
            }
            for Flow { name, steps } in flows {
                let (reads, changes) = most(steps.iter(), (Reads::Nothing, false));
                let changes = if changes { ", and may make another" } else { "" };
                let _ = writeln!(out, "  {name}: {}{changes}", reads.sentence());
                steps.iter().for_each(|step| step.write(2, &mut out));
            }
            if !flows.iter().any(|flow| flow.name == "out") {
                let _ = writeln!(out, "  out: responses go back as they come");
            }
            if let Some(endpoint) = endpoint {
                let _ = writeln!(out, "  what no step sends goes to {}", told(endpoint));
            }
            if *cut {
                let _ = writeln!(out, "  it has more than {STEP_LIMIT} steps: the others are not told");
            }
            out.push('\n');
        }
        for (what, figure) in &self.limits {
            let _ = writeln!(out, "{what}: {figure}");
        }
        out
    }

    /// For programs.
    ///
    /// Shape: `{"services": [{"kind", "name", "place", "address", "routes": [text], "flows": [{"name", "reads", "changes",
    /// "steps": [{"element", "place", "column", "reads": "nothing" | "passing" | "whole" | "built", "changes", "sends",
    /// "fails", "inside": [{"label", "steps"}]}]}], "endpoint", "cut"}], "limits": {name: text}}`.
    pub fn to_json(&self) -> Value {
        let services = self.services.iter().map(|service| {
            let flows = service.flows.iter().map(|Flow { name, steps }| {
                let (reads, changes) = most(steps.iter(), (Reads::Nothing, false));
                let steps: Vec<_> = steps.iter().map(Step::to_json).collect();
                json!({ "name": name, "reads": reads.word(), "changes": changes, "steps": steps })
            });
            json!({
                "kind": service.kind,
                "name": service.name,
                "place": service.place,
                "address": service.address,
                "routes": service.routes,
                "flows": flows.collect::<Vec<_>>(),
                "endpoint": service.endpoint,
                "cut": service.cut,
            })
        });
        let limits = self.limits.iter().map(|(what, figure)| ((*what).to_owned(), Value::from(figure.as_str())));
        json!({
            "services": services.collect::<Vec<_>>(),
            "limits": limits.collect::<serde_json::Map<_, _>>(),
        })
    }
}
