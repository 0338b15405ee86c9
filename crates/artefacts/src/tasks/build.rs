//! `<task>`: a message for the bus itself, and when it is due.

use std::sync::Arc;
use std::time::Duration;

use myelin_message::is_value;
use myelin_soap::Envelope;

use crate::inbound::{InboundSource, Receiving, ReceivingService};
use crate::loader::{Entry, Loader, is_traced};
use crate::tasks::{Injection, Injector, Kind, Progress, TaskSource, Trigger};
use crate::words::unknown_word;
use myelin_channel::CronExpression;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::{Fragment, text_of};
use myelin_flow::cost::ServiceCost;
use myelin_flow::position::ServiceIdentity;
use myelin_flow::property::{Scope, Value, slot};

/// The one class of Synapse's that a task names.
const INJECTOR: &str = "org.apache.synapse.startup.tasks.MessageInjector";

/// Reads a task.
///
/// Source: Synapse's `MessageInjector` and `TaskDescriptionFactory`.
pub fn task(element: &Element, loader: &mut Loader) -> Result<Receiving, Problem> {
    let name: Arc<str> = element.required("name")?.value.trim().into();
    let class = element.required("class")?;
    if class.value.trim() != INJECTOR {
        let message = format!(
            "task: {} is a JVM class, which cannot run in a native program; {INJECTOR} is offered, and can start a \
             sequence that does the work",
            class.value.trim()
        );
        return Err(class.problem(message));
    }
    element.attribute("group");
    if let Some(text) = element.attribute("pinnedServers").filter(|text| !text.value.trim().is_empty()) {
        loader.warning(text.problem("pinnedServers has no effect: every bus that has the task runs it"));
    }
    let mut trigger_element = None;
    let mut properties: Vec<(Text<'_>, &Element)> = Vec::new();
    for child in &element.children {
        match child.name.as_str() {
            "trigger" if trigger_element.is_none() => trigger_element = Some(child),
            "property" => {
                let name = child.required("name")?;
                if properties.iter().any(|(known, _)| known.value.trim() == name.value.trim()) {
                    return Err(name.problem(format!("there is another property {:?}", name.value)));
                }
                properties.push((name, child));
            }
            "description" => {}
            _ => {
                let message = format!("<task> holds properties and a trigger, not {}", child.tag());
                return Err(child.misnamed(message, &["trigger", "property"]));
            }
        }
    }
    let trigger_element = trigger_element.ok_or_else(|| element.problem("<task>: <trigger> is missing"))?;
    let trigger = trigger(trigger_element)?;
    let (proxy, sequence, injection) = injector(element, &properties, loader)?;
    let definition = format!("{name}\n{}", element.source());
    let progress = loader.inherit("task", definition, |_: &Progress| true, Progress::default);
    let identity = ServiceIdentity::new("task", name, Some(element.place.clone())).traced(is_traced(element));
    let inbound = InboundSource {
        counters: loader.service_counters(&identity, ""),
        state: loader.service_state(identity.kind, &identity.name),
        identity,
        way: trigger.to_string(),
        slot: loader.names().slot("task.name"),
        sequence,
        fault: None,
        cost: ServiceCost::default(),
    };
    let mut properties = inbound.properties();
    properties.put(Scope::Addressing, slot::TO, injection.to.clone());
    if injection.kind == (Kind::Plain { get: true }) {
        properties.put(Scope::Axis2, slot::HTTP_METHOD, Some(Value::Text("GET".into())));
    }
    let body_limit_bytes = loader.settings.body_limit_bytes;
    let state = Arc::clone(&inbound.state);
    let injector = Injector {
        name: Arc::clone(&inbound.identity.name),
        trigger,
        injection,
        progress,
        state: Arc::clone(&state),
        body_limit_bytes,
    };
    let receiver = match proxy {
        Some(proxy) => ReceivingService::Proxy(proxy),
        None => ReceivingService::Inbound(Arc::new(inbound)),
    };
    Ok(Receiving { source: Arc::new(TaskSource(Arc::new(injector))), receiver, properties, state })
}

/// When it is due.
fn trigger(element: &Element) -> Result<Trigger, Problem> {
    let given = |name: &str| element.attribute(name).filter(|text| !text.value.trim().is_empty());
    let number = |text: Text<'_>| match text.value.trim().parse::<i64>() {
        Ok(number) => Ok(number),
        Err(_) => Err(text.problem(format!("{:?} is no number", text.value))),
    };
    let interval = given("interval").map(|text| Ok((number(text)?, text))).transpose()?;
    let count = given("count").map(|text| Ok((number(text)?, text))).transpose()?;
    let once = element.switch("once", false)?;
    if let Some(cron) = given("cron") {
        let clash = [("interval", given("interval")), ("count", given("count"))];
        if let Some((name, Some(text))) = clash.into_iter().find(|(_, text)| text.is_some()) {
            return Err(text.problem(format!("{name} has no meaning beside cron")));
        }
        return CronExpression::parse(cron.value.trim())
            .map(Trigger::Cron)
            .map_err(|error| cron.problem(format!("cron {:?}: {error}", cron.value.trim())));
    }
    if once {
        return Ok(Trigger::Every { interval: Duration::ZERO, count: Some(1) });
    }
    let count = match count {
        // As in Synapse, -1 stands for no end.
        Some((-1, _)) | None => None,
        Some((count, text)) => match u64::try_from(count) {
            Ok(count) if count > 0 => Some(count),
            _ => return Err(text.problem(format!("count {count} is no number of runs: at least 1, or -1 for no end"))),
        },
    };
    match interval {
        Some((seconds, text)) => match u64::try_from(seconds) {
            Ok(seconds) if seconds > 0 => Ok(Trigger::Every { interval: Duration::from_secs(seconds), count }),
            _ => Err(text.problem(format!("interval {seconds} is no number of seconds: at least 1"))),
        },
        None if count == Some(1) => Ok(Trigger::Every { interval: Duration::ZERO, count }),
        None => Err(element.problem("<trigger> says nothing of when: interval (in seconds), once or cron does")),
    }
}

/// What gets a task's message, a proxy or a sequence (`main` where neither is named), and the message.
type Injected = (Option<Arc<str>>, Option<usize>, Injection);

/// What the properties say of the message and of who gets it.
fn injector(element: &Element, properties: &[(Text<'_>, &Element)], loader: &mut Loader) -> Result<Injected, Problem> {
    let find = |name: &str| properties.iter().find(|(known, _)| known.value.trim() == name).map(|(_, child)| *child);
    let text = |name: &str| {
        let child = find(name)?;
        let text = child.attribute("value").unwrap_or_else(|| child.text());
        (!text.value.trim().is_empty()).then_some(text)
    };
    for (name, child) in properties {
        match name.value.trim() {
            "message" | "format" | "to" | "soapAction" | "injectTo" | "sequenceName" | "proxyName" | "registryKey" => {}
            "invokeHandlers" => {
                child.forgive();
                loader.warning(child.problem("invokeHandlers has no effect: handlers are Java classes"));
            }
            other => {
                child.forgive();
                loader.warning(child.problem(format!("property {other:?} has no effect in a task")));
            }
        }
    }
    let format = text("format");
    let kind = format.map_or("", |format| format.value.trim());
    let kind = Kind::of(kind).ok_or_else(|| {
        let message = unknown_word("format", kind, &["soap11", "soap12", "pox", "get"]);
        format.map_or_else(|| element.problem(&*message), |format| format.problem(&*message))
    })?;
    if let Some(format) = format.filter(|_| kind == (Kind::Plain { get: true })) {
        let message = "a GET leaves without the message: an endpoint with format=\"get\" makes parameters of it";
        loader.warning(format.problem(message));
    }
    let (kind, body) = match (text("registryKey"), find("message")) {
        (Some(key), _) => match loader.entry(key)? {
            Entry::Xml(fragment) => of_xml(kind, &fragment),
            Entry::Text(text) => {
                let fragment = Fragment::parse(&text);
                let message = || key.problem(format!("what {:?} holds is no XML", key.value.trim()));
                of_xml(kind, &fragment.ok_or_else(message)?)
            }
        },
        (None, Some(child)) => match child.children.first() {
            Some(content) => of_xml(kind, &content.fragment()),
            None => {
                let given = text("message").ok_or_else(|| child.problem("the message is empty"))?;
                of_text(kind, given)?
            }
        },
        (None, None) => return Err(element.problem("<task>: the property message or registryKey is missing")),
    };
    let soap_action = match text("soapAction") {
        Some(action) if !is_value(action.value.as_bytes()) || action.value.contains('"') => {
            return Err(action.problem("no header line can hold this"));
        }
        action => action.map(|action| action.value.to_owned()),
    };
    let to = text("to").map(|to| Value::Text(to.value.trim().into()));
    let into = text("injectTo");
    let named = |name: &str, of: &str| {
        text(name)
            .ok_or_else(|| element.problem(format!("<task>: the property {name} is missing, which names the {of}")))
    };
    let (proxy, sequence) = match into.map_or("main", |into| into.value.trim()).to_ascii_lowercase().as_str() {
        "sequence" => (None, Some(loader.sequence_id(named("sequenceName", "sequence")?)?)),
        "proxy" => {
            let name = named("proxyName", "proxy")?;
            loader.proxy(name);
            (Some(Arc::from(name.value.trim())), None)
        }
        "main" => {
            loader.main(into.unwrap_or_else(|| element.text()))?;
            (None, None)
        }
        other => {
            let message = unknown_word("injectTo", other, &["main", "sequence", "proxy"]);
            return Err(into.map_or_else(|| element.problem(&*message), |into| into.problem(&*message)));
        }
    };
    Ok((proxy, sequence, Injection { kind, body, soap_action, to }))
}

/// The message that an element is.
fn of_xml(kind: Kind, fragment: &Fragment) -> (Kind, Vec<u8>) {
    let is_envelope = Envelope::of(&fragment.document).is_some();
    (kind, kind.of_xml(&text_of(&fragment.document, fragment.node), is_envelope))
}

/// The message that a text is: JSON, or XML.
fn of_text(kind: Kind, given: Text<'_>) -> Result<(Kind, Vec<u8>), Problem> {
    let text = given.value.trim();
    if let Some(fragment) = Fragment::parse(text) {
        return Ok(of_xml(kind, &fragment));
    }
    if text.starts_with(['{', '[']) && Value::json(text).is_some() {
        return Ok((Kind::Json, text.as_bytes().to_vec()));
    }
    Err(given.problem("the message is neither XML nor a JSON object or array"))
}
