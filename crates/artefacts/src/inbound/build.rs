//! `<inboundEndpoint>`: a port of its own for HTTP or HTTPS, or a source of another channel.

mod tls;

use std::sync::Arc;

use crate::inbound::{Inbound, InboundSource, Receiving, ReceivingService, by_protocol, source};
use crate::loader::{Loader, is_traced};
use myelin_channel::{Receive, Source, Spec, listed};
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_flow::cost::ServiceCost;
use myelin_flow::position::ServiceIdentity;
use myelin_java_text::pattern::Pattern;
use myelin_spelling::suggestion;

/// Parameters of WSO2's that size what this bus does not have, and what WSO2's tools write where nobody chose anything.
const OF_WORKERS: [(&str, &str); 6] = [
    ("inbound.worker.pool.size.core", "400"),
    ("inbound.worker.pool.size.max", "500"),
    ("inbound.worker.thread.keep.alive.sec", "60"),
    ("inbound.worker.pool.queue.length", "-1"),
    ("inbound.thread.group.id", "PassThroughInboundWorkerPoolGroup"),
    ("inbound.thread.id", "PassThroughInboundWorkerPool"),
];

/// Reads an inbound endpoint; `None` where it is sound but switched off.
///
/// Source: WSO2's `InboundEndpointFactory` and `InboundHttpServerWorker`.
pub fn inbound(element: &Element, loader: &mut Loader) -> Result<Option<InboundEndpoint>, Problem> {
    let name: Arc<str> = element.required("name")?.value.trim().into();
    if let Some(class) = element.attribute("class") {
        let message = format!("{} is a JVM class, which cannot run in a native program", class.value.trim());
        return Err(class.problem(message));
    }
    let protocol = element.required("protocol")?;
    element.attribute("statistics");
    let named = |attribute: &str| element.attribute(attribute).filter(|key| !key.value.trim().is_empty());
    let sequence = named("sequence").map(|key| loader.sequence_id(key)).transpose()?;
    let fault = named("onError").map_or(Ok(None), |key| loader.handler_id(key))?;
    let is_suspended = element.switch("suspend", false)?;
    if is_suspended {
        loader
            .warning(element.problem("the inbound endpoint is off until an operator switches it on: suspend is true"));
    }
    let identity =
        ServiceIdentity::new("inboundEndpoint", name, Some(element.place.clone())).traced(is_traced(element));
    let state = loader.service_state_from(identity.kind, &identity.name, is_suspended);
    let is_secure = match by_protocol(loader.settings.channels, protocol.value.trim()) {
        Some(Spec { receive: Receive::ByListener, .. }) => protocol.value.trim() == "https",
        Some(Spec { receive: Receive::BySource(read), .. }) => {
            if sequence.is_none() {
                loader.main(element.text())?;
            }
            let (source, unknown) = source(*read, &parameters(element, loader), element, loader);
            let whose = format!(" for protocol {}", protocol.value.trim());
            unknown.iter().for_each(|parameter| parameter.tell(&whose, loader));
            let Some(source) = source else { return Ok(None) };
            let source: Arc<dyn Source> = source.into();
            let inbound = InboundSource {
                counters: loader.service_counters(&identity, ""),
                state,
                identity,
                way: source.describe(),
                slot: loader.names().slot("inbound.endpoint.name"),
                sequence,
                fault,
                cost: ServiceCost::default(),
            };
            let (properties, state) = (inbound.properties(), Arc::clone(&inbound.state));
            let receiver = ReceivingService::Inbound(Arc::new(inbound));
            let receiving = Receiving { source, receiver, properties, state };
            return Ok(Some(InboundEndpoint::Source(receiving)));
        }
        _ => {
            let offered = || loader.settings.channels.iter().flat_map(|channel| channel.protocols).copied();
            let (word, meant) = (protocol.value.trim(), suggestion(protocol.value.trim(), offered()));
            let message = format!("protocol {word:?} is not offered yet: {} are{meant}", listed(offered()));
            return Err(protocol.problem(message));
        }
    };
    let Parameters { port, filter, tls, .. } = Parameters::read(element, is_secure, loader)?;
    let Some(port) = port else {
        return Err(element.problem("<inboundEndpoint>: the parameter inbound.http.port is missing"));
    };
    let tls = if is_secure { Some(Arc::new(tls.build(element, loader)?)) } else { None };
    if sequence.is_none() && filter.is_none() {
        loader.main(element.text())?;
    }
    let secured = if is_secure { " by TLS" } else { "" };
    let source = InboundSource {
        counters: loader.service_counters(&identity, ""),
        state,
        identity,
        way: match &filter {
            Some(filter) => format!("port {port}{secured}: {} goes to services, the rest to main", filter.label()),
            None => format!("port {port}{secured}: every path"),
        },
        slot: loader.names().slot("inbound.endpoint.name"),
        sequence,
        fault,
        cost: ServiceCost::default(),
    };
    Ok(Some(InboundEndpoint::Listener(Inbound { source: Arc::new(source), port, filter, tls })))
}

/// How the messages of an inbound endpoint get here.
pub enum InboundEndpoint {
    /// By a port of its own.
    Listener(Inbound),
    /// By a source of its own.
    Source(Receiving),
}

/// The parameters of an inbound endpoint; what else stands there has no effect.
fn parameters<'e>(element: &'e Element, loader: &mut Loader) -> Vec<&'e Element> {
    let mut parameters = Vec::new();
    for child in &element.children {
        match child.name.as_str() {
            "parameters" => parameters.extend(&child.children),
            "description" => {}
            _ => loader.no_effect(child, "an inbound endpoint", &["parameters"]),
        }
    }
    parameters
}

/// What the parameters of an inbound endpoint say.
#[derive(Default)]
struct Parameters<'e> {
    port: Option<u16>,
    filter: Option<Pattern>,
    tls: tls::Parameters<'e>,
    /// Those of [`OF_WORKERS`] for which somebody chose a value.
    of_workers: Vec<(&'static str, Text<'e>)>,
}

impl<'e> Parameters<'e> {
    fn read(element: &'e Element, is_secure: bool, loader: &mut Loader) -> Result<Parameters<'e>, Problem> {
        let mut read = Parameters::default();
        for child in &element.children {
            match child.name.as_str() {
                "parameters" => {
                    for parameter in &child.children {
                        read.take(parameter, is_secure, loader)?;
                    }
                }
                "description" => {}
                _ => loader.no_effect(child, "an inbound endpoint", &["parameters"]),
            }
        }
        if let Some((_, first)) = read.of_workers.first() {
            let names = listed(read.of_workers.iter().map(|(name, _)| *name));
            loader.warning(first.problem(format!("no effect: {names}; there are no pools of threads to size")));
        }
        Ok(read)
    }

    fn take(&mut self, parameter: &'e Element, is_secure: bool, loader: &mut Loader) -> Result<(), Problem> {
        match parameter.required("name")?.value.trim() {
            "inbound.http.port" => self.port = Some(number(parameter.text())?),
            "dispatch.filter.pattern" => {
                let text = parameter.text();
                let pattern = |text: Text<'_>| Pattern::compile(text.value).map_err(|message| text.problem(message));
                self.filter = (!text.value.is_empty()).then(|| pattern(text)).transpose()?;
            }
            other if let Some((name, usual)) = OF_WORKERS.into_iter().find(|(name, _)| *name == other) => {
                let text = parameter.text();
                if !["", "-1", usual].contains(&text.value) {
                    self.of_workers.push((name, text));
                }
            }
            other if is_secure && self.tls.take(other, parameter, loader)? => {}
            other => {
                parameter.forgive();
                let protocol = if is_secure { "https" } else { "http" };
                let message = format!("parameter {other:?} has no effect for protocol {protocol}");
                loader.warning(parameter.problem(message));
            }
        }
        Ok(())
    }
}

fn number(text: Text<'_>) -> Result<u16, Problem> {
    match text.value.trim().parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(text.problem(format!("{:?} is no port: 1 to 65535 are", text.value.trim()))),
    }
}
