//! `enableSec` and `policy`: policies become guards while the configuration is loaded, with the keys that they name.
//!
//! Source: Synapse attaches policies to the Axis2 service of a proxy and to the operation client of an endpoint, where
//! Apache Rampart honours them.

use std::collections::HashMap;
use std::sync::Arc;

use myelin_wss::Guard;
use myelin_wss::guard::{Settings, Side, Uses};
use myelin_wss::policy::{Alternative, Binding, Policy};

use crate::guards::{CompiledPolicy, Operation, Protection, ProxySecurity, needs_tls};
use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::{Place, Problem};
use myelin_config::resource::{ENTRY, Resource};

/// The policies that were compiled, by their key and what they are for; faulty ones, too.
#[derive(Default)]
struct CompiledPolicies(HashMap<(String, Side, Uses), Result<CompiledPolicy, Vec<Problem>>>);

/// Reads what protects the messages of a proxy; `None` where it is not secured.
pub fn proxy(element: &Element, loader: &mut Loader) -> Option<ProxySecurity> {
    let enabled = element.child("enableSec");
    let policies: Vec<&Element> = element.children.iter().filter(|child| child.is("policy")).collect();
    let Some(enabled) = enabled else {
        for policy in policies {
            policy.forgive();
            // Synapse would attach it and honour nothing of it.
            let message = "<policy> without <enableSec/> would secure nothing: add <enableSec/>, or take it out";
            loader.problem(policy.problem(message));
        }
        return None;
    };
    if policies.is_empty() {
        let message = "<enableSec> without <policy>: nothing says how messages have to be secured";
        loader.problem(enabled.problem(message));
        return None;
    }
    let mut security = ProxySecurity { general: Protection::default(), operations: Vec::new() };
    for policy in policies {
        if let Err(problem) = loader.attach(policy, &mut security) {
            policy.forgive();
            loader.problem(problem);
        }
    }
    let general = &security.general;
    let doubled = security.operations.iter().find(|Operation { protection, .. }| {
        let both = |one: &Option<CompiledPolicy>, other: &Option<CompiledPolicy>| one.is_some() && other.is_some();
        both(&protection.request, &general.request) || both(&protection.response, &general.response)
    });
    if let Some(Operation { local, .. }) = doubled {
        let message = format!(
            "the messages of operation {local:?} have a policy of their own and that of the proxy: \
             put both into one, policies are not merged"
        );
        loader.problem(enabled.problem(message));
    }
    let ProxySecurity { general, operations } = &mut security;
    for Operation { protection, .. } in operations {
        for (own, general) in
            [(&mut protection.request, &general.request), (&mut protection.response, &general.response)]
        {
            *own = own.take().or_else(|| general.clone());
        }
    }
    Some(security)
}

/// Reads the `<enableSec>` of an endpoint.
pub fn endpoint(element: &Element, loader: &mut Loader) -> Option<Arc<Protection>> {
    let [both, inbound, outbound] = ["policy", "inboundPolicy", "outboundPolicy"].map(|name| element.attribute(name));
    if let (Some(_), Some(text)) = (both, inbound.or(outbound)) {
        loader.problem(text.problem("policy stands for both ways: leave it out, or inboundPolicy and outboundPolicy"));
        return None;
    }
    if [both, inbound, outbound].iter().all(Option::is_none) {
        let message = "<enableSec> without a policy: nothing says how messages have to be secured";
        loader.problem(element.problem(message));
        return None;
    }
    let mut way = |key: Option<Text<'_>>, uses: Uses| {
        let way = key.map(|key| loader.way(key, Side::Initiator, uses))?;
        way.map_err(|problem| loader.problem(problem)).ok().flatten()
    };
    let (request, response) = match both {
        Some(both) => {
            let way = way(Some(both), Uses::Both);
            (way.clone(), way)
        }
        None => (way(outbound, Uses::Secure), way(inbound, Uses::Verify)),
    };
    Some(Arc::new(Protection { request, response }))
}

impl Loader {
    /// Puts what a `<policy>` of a proxy says where it belongs.
    fn attach(&mut self, element: &Element, security: &mut ProxySecurity) -> Result<(), Problem> {
        let uses = match element.attribute("type").map(|kind| (kind.value.trim(), kind)) {
            None => Uses::Both,
            Some(("in", _)) => Uses::Verify,
            Some(("out", _)) => Uses::Secure,
            Some((other, text)) => return Err(text.problem(format!("type {other:?} is neither in nor out"))),
        };
        let Some(way) = self.way(element.required("key")?, Side::Recipient, uses)? else {
            element.forgive();
            return Ok(());
        };
        let namespace = element.attribute("operationNamespace").map(|namespace| namespace.value.to_owned());
        let protection = match element.attribute("operationName") {
            None => &mut security.general,
            Some(name) => {
                let local = name.value.trim();
                // A prefix says nothing that the namespace does not.
                let local = local.rsplit(':').next().unwrap_or(local).to_owned();
                let is_same = |operation: &Operation| operation.local == local && operation.namespace == namespace;
                let index = security.operations.iter().position(is_same).unwrap_or_else(|| {
                    security.operations.push(Operation { local, namespace, protection: Protection::default() });
                    security.operations.len() - 1
                });
                &mut security.operations[index].protection
            }
        };
        let slots = [(Uses::Secure, &mut protection.request), (Uses::Verify, &mut protection.response)];
        for (other, slot) in slots {
            if uses != other && slot.replace(way.clone()).is_some() {
                let message = "another policy is for the same messages: put both into one, policies are not merged";
                return Err(element.problem(message));
            }
        }
        Ok(())
    }

    /// The guard of the policy that a key names, compiled once for each side and use.
    ///
    /// `None`: the policy is faulty; what is wrong with it is then a problem of the artefact that is being built, once
    /// however many uses the policy has there, each with its place in the policy.
    /// Errors: a [`Problem`] at the key, which names nothing.
    fn way(&mut self, key: Text<'_>, side: Side, uses: Uses) -> Result<Option<CompiledPolicy>, Problem> {
        let name = key.value.trim();
        let resource = self.resource(key)?;
        let known = self.state::<CompiledPolicies>().0.get(&(name.to_owned(), side, uses)).cloned();
        let way = known.unwrap_or_else(|| {
            let way = self.compile_policy(&resource, side, uses, key);
            self.state::<CompiledPolicies>().0.insert((name.to_owned(), side, uses), way.clone());
            way
        });
        match way {
            Ok(way) => Ok(Some(way)),
            Err(problems) => {
                for problem in problems {
                    if !self.problems.contains(&problem) {
                        self.problem(problem);
                    }
                }
                Ok(None)
            }
        }
    }

    fn compile_policy(
        &mut self,
        resource: &Resource,
        side: Side,
        uses: Uses,
        key: Text<'_>,
    ) -> Result<CompiledPolicy, Vec<Problem>> {
        let at = |problem: &myelin_wss::Problem| located(problem, resource, key);
        let all_at = |problems: Vec<myelin_wss::Problem>| -> Vec<Problem> { problems.iter().map(at).collect() };
        let (policy, mut warnings) = Policy::parse(&resource.bytes).map_err(all_at)?;
        let asks = |alternative: &&Alternative| {
            matches!(alternative.binding, Binding::Transport { client_certificate: true, .. })
        };
        if let Some(alternative) = policy.alternatives.iter().find(asks) {
            let message = "the policy asks for certificates of clients in TLS, which is not offered yet";
            return Err(all_at(vec![alternative.problem(message)]));
        }
        let tls = needs_tls(&policy);
        let security = &self.security;
        let settings = Settings {
            limits: security.limits.clone(),
            rsa_bits_min: security.rsa_bits_min,
            users: security.accounts(),
            assertion: security.assertion.clone(),
            audiences: security.audiences.clone(),
            sha1_signatures: security.sha1_signatures,
        };
        let (guard, more) = Guard::load(policy, side, uses, &self.key_files(), &settings).map_err(all_at)?;
        warnings.extend(more);
        warnings.extend(self.security.now.into_iter().flat_map(|now| guard.not_valid_at(now)));
        for warning in warnings.iter().map(at) {
            if !self.warnings.contains(&warning) {
                self.warning(warning);
            }
        }
        Ok(CompiledPolicy::new(guard, tls))
    }
}

/// What is wrong with a policy, as a problem of the configuration; at the key where no place in the policy is to blame.
fn located(problem: &myelin_wss::Problem, resource: &Resource, key: Text<'_>) -> Problem {
    if problem.line == 0 {
        return key.problem(&*problem.message);
    }
    // A part of a file has its lines and columns.
    let file = resource.uri.split_once(ENTRY).map_or(&*resource.uri, |(file, _)| file);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let place = Place { file: file.into(), line: number(problem.line), column: number(problem.column) };
    Problem::new(place, problem.message.clone())
}
