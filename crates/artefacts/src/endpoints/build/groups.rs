//! `<loadbalance>`, `<failover>` and `<recipientlist>`, with their members and sessions.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::endpoints::balance::{Algorithm, Wheel};
use crate::endpoints::build::{endpoint_reference, health};
use crate::endpoints::group::{Choice, Group, Rule};
use crate::endpoints::recipients::{List, Pool};
use crate::endpoints::sessions::{Kind, Sessions};
use crate::endpoints::state::{Codes, Rules};
use crate::endpoints::{Endpoint, EndpointKind, EndpointRef, Member, Recipients, Timeout, rules};
use crate::loader::Loader;
use crate::values::embedded_expression;
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_flow::branches::BranchProperties;

/// How long a `<member>` that failed is not tried: Synapse looks every half second whether it is back.
const MEMBER_PAUSE_MS: i64 = 500;

/// How many endpoints of addresses that came up while serving are kept, and the most that a configuration may ask for.
const POOL_SIZE: usize = 20;
const POOL_LIMIT: usize = 1000;

/// The largest `loadbalance.weight`: a round of all members must fit in a number.
const WEIGHT_LIMIT: u32 = 1_000_000;

/// Synapse's classes, whose names stand in configurations.
const ALGORITHMS: &str = "org.apache.synapse.endpoints.algorithms.";

/// Reads `<failover>`.
pub(super) fn failover(element: &Element, loader: &mut Loader) -> Result<Group, Problem> {
    let dynamic = switch(element.attribute("dynamic"), true);
    // Whoever may have to send twice reads the body first, whatever this says.
    element.attribute("buildMessage");
    let members = endpoints(element, loader)?;
    let choice = || Choice { rule: Rule::Failover { dynamic, current: AtomicUsize::new(0) }, sessions: None };
    let choice = loader.inherit("choice", element.source().to_owned(), |_| true, choice);
    Ok(Group { members, fails_over: true, choice })
}

/// Reads `<loadbalance>`, and the `<session>` that stands beside it.
pub(super) fn balance(element: &Element, session: Option<&Element>, loader: &mut Loader) -> Result<Group, Problem> {
    element.attribute("buildMessage");
    let named = element.attribute("algorithm").or(element.attribute("policy"));
    let (algorithm, weighted) = match named {
        Some(text) => algorithm(text)?,
        None => (Algorithm::InTurn, false),
    };
    let sessions = session.map(|session| sessions(session, loader)).transpose()?;
    // A session's first request may always go to another member; Synapse does not ask the attribute then.
    let fails_over = switch(element.attribute("failover"), true) || sessions.is_some();
    let members = match element.children.iter().any(|child| child.is("member")) {
        true if weighted => {
            let message = "weights belong to <endpoint>s, a <member> cannot have one";
            return Err(named.map_or_else(|| element.problem(message), |named| named.problem(message)));
        }
        true => members(element, fails_over, loader)?,
        false => endpoints(element, loader)?,
    };
    let weights = match weighted {
        true => element.children.iter().filter(|child| child.is("endpoint")).map(weight).collect::<Result<_, _>>()?,
        false => vec![1; members.len()],
    };
    // Both say how a member is chosen.
    let definition = [Some(element), session].into_iter().flatten().map(Element::source).collect();
    let choice = || Choice { rule: Rule::Balance(Wheel::new(algorithm, &weights)), sessions };
    let choice = loader.inherit("choice", definition, |_| true, choice);
    Ok(Group { members, fails_over, choice })
}

/// Reads `<recipientlist>`.
pub(super) fn recipients(element: &Element, loader: &mut Loader) -> Result<Recipients, Problem> {
    let list = match element.child("endpoints") {
        Some(computed) => {
            let value = computed.required("value")?;
            let Some(expression) = embedded_expression(value, loader)? else {
                return Err(
                    value.problem("<endpoints> needs an expression in braces; those that are known are <endpoint>s")
                );
            };
            let limit = match computed.attribute("max-cache") {
                Some(text) => text.value.trim().parse().unwrap_or(POOL_SIZE),
                None => POOL_SIZE,
            };
            let rules = rules::default(&loader.settings.endpoints);
            let make = || Pool::new(computed.place.clone(), rules, limit.min(POOL_LIMIT));
            let pool = loader.inherit("recipients", computed.source().to_owned(), |_| true, make);
            List::Computed { need: Need::of([&expression]), expression, pool }
        }
        None if element.children.iter().any(|child| child.is("member")) => {
            List::Members(members(element, false, loader)?)
        }
        None => List::Members(endpoints(element, loader)?),
    };
    Ok(Recipients { list, marks: BranchProperties::new(None, loader.names()) })
}

/// What an algorithm's name stands for, and whether it asks for weights.
fn algorithm(text: Text<'_>) -> Result<(Algorithm, bool), Problem> {
    let name = text.value.trim();
    match name.strip_prefix(ALGORITHMS).unwrap_or(name) {
        "RoundRobin" | "roundRobin" => Ok((Algorithm::InTurn, false)),
        "WeightedRoundRobin" => Ok((Algorithm::InTurn, true)),
        "WeightedRRLCAlgorithm" => Ok((Algorithm::LeastBusy, true)),
        short => {
            let known = ["RoundRobin", "WeightedRoundRobin", "WeightedRRLCAlgorithm"];
            Err(text.problem(unknown_word("algorithm", short, &known)))
        }
    }
}

/// The property `loadbalance.weight` of a member; one without it counts once.
fn weight(member: &Element) -> Result<u32, Problem> {
    let is_weight = |child: &&Element| {
        child.is("property") && child.attribute("name").is_some_and(|name| name.value.trim() == "loadbalance.weight")
    };
    let Some(property) = member.children.iter().find(is_weight) else { return Ok(1) };
    let value = property.required("value")?;
    match value.value.trim().parse() {
        Ok(weight) if (1..=WEIGHT_LIMIT).contains(&weight) => Ok(weight),
        _ => Err(value.problem(format!("loadbalance.weight is a number from 1 to {WEIGHT_LIMIT}"))),
    }
}

fn endpoints(element: &Element, loader: &mut Loader) -> Result<Box<[EndpointRef]>, Problem> {
    let mut members = Vec::new();
    let mut keys = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if !child.is("endpoint") {
            return Err(child.problem(format!("{} holds <endpoint>s, not {}", element.tag(), child.tag())));
        }
        let member = endpoint_reference(child, loader)?;
        if let EndpointRef::Named(id) = member {
            if keys.contains(&id) {
                return Err(child.problem(format!("{} names the same endpoint twice", element.tag())));
            }
            keys.push(id);
        }
        members.push(member);
    }
    match members.is_empty() {
        true => Err(element.problem(format!("{} needs at least one <endpoint>", element.tag()))),
        false => Ok(members.into()),
    }
}

/// Reads `<member>`s. One that fails is left out for a moment where another can take its place, and is always tried
/// where none can.
fn members(element: &Element, fails_over: bool, loader: &mut Loader) -> Result<Box<[EndpointRef]>, Problem> {
    let never = || Codes(vec![-1]);
    let suspend_codes = if fails_over { Codes::default() } else { never() };
    let rules = Rules { timeout_codes: never(), suspend_codes, initial_ms: MEMBER_PAUSE_MS, ..Rules::default() };
    let member = |child: &Element| {
        if !child.is("member") {
            return Err(child.problem(format!("{} holds <member>s or <endpoint>s, not both", element.tag())));
        }
        Ok(EndpointRef::Inline(Arc::new(Endpoint {
            name: "".into(),
            place: child.place.clone(),
            kind: EndpointKind::Member(Member::read(child)?),
            health: health(child, &rules, loader),
            properties: None,
            timeout: Timeout::Fixed(loader.settings.endpoints.timeout),
            discard: false,
            on_error: None,
            policy: None,
            counters: loader.endpoint_counters(""),
            is_traced: false,
        })))
    };
    element.children.iter().filter(|child| !child.is("description")).map(member).collect()
}

fn sessions(element: &Element, loader: &mut Loader) -> Result<Sessions, Problem> {
    let kind = element.required("type")?;
    let kind = match kind.value.trim().to_ascii_lowercase().as_str() {
        "http" => Kind::Http,
        "soap" => Kind::Soap,
        "simpleclientsession" => Kind::Client,
        _ => return Err(kind.problem(format!("{:?} is neither http, soap nor simpleClientSession", kind.value))),
    };
    let mut lifetime = loader.settings.endpoints.session_timeout;
    for child in &element.children {
        match (child.name.as_str(), child.text().value.parse()) {
            ("sessionTimeout", Ok(milliseconds)) => lifetime = Duration::from_millis(milliseconds),
            ("sessionTimeout", Err(_)) => {
                let message = format!("{:?} is no duration in milliseconds", child.text().value);
                loader.problem(child.problem(message));
            }
            _ => loader.no_effect(child, "<session>", &["sessionTimeout"]),
        }
    }
    Ok(Sessions::new(kind, lifetime))
}

/// A switch that is on or off unless its attribute says otherwise, as Java reads booleans.
fn switch(text: Option<Text<'_>>, usual: bool) -> bool {
    match text.map(|text| text.value.trim().to_ascii_lowercase()).as_deref() {
        Some("true" | "yes" | "1") => true,
        Some("false" | "no" | "0") => false,
        _ => usual,
    }
}
