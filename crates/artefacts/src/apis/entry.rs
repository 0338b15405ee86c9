//! What becomes of a request for an API before any sequence runs.

use std::sync::Arc;

use myelin_message::{Body, HeaderId, Message, StatusCode};

use crate::apis::handler::{self, Passed, empty};
use crate::apis::offer::Offer;
use crate::apis::{Api, Brought, Choice, Offers, Resource, Visit};
use myelin_flow::answer;
use myelin_flow::property::{Names, Properties};
use myelin_flow::recorder::StepDecision;
use myelin_flow::sequence::SequenceId;
use myelin_flow::transport::Transport;
use myelin_message::Arrival;

/// The APIs of a bus, and what belongs to all of them.
#[derive(Default)]
pub struct Apis {
    /// The APIs in the order in which they are asked.
    pub offers: Offers,
    brought: Brought,
    /// The sequences for requests that no resource is for, and for those whose method it does not know.
    mismatch: Option<SequenceId>,
    method_not_allowed: Option<SequenceId>,
}

impl Apis {
    /// The APIs at these addresses; `sequence` finds what is sound by its name.
    pub fn new(offers: Vec<Offer>, names: &Names, sequence: impl Fn(&str) -> Option<SequenceId>) -> Apis {
        Apis {
            offers: Offers::new(offers),
            brought: Brought::of(names),
            mismatch: sequence("_resource_mismatch_handler_"),
            method_not_allowed: sequence("_method_not_allowed_handler_"),
        }
    }
}

/// What serves a request, and the properties it starts with; or the answer.
type Entered = Result<(Entry, Properties), Box<Message>>;

/// The part of an API that serves a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The resource with that number.
    Resource(usize),
    /// No resource is for it, and this sequence answers then.
    Stray(SequenceId),
}

/// Where in a request's target the path starts, and where the address of its API ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The offset in the request's target where its path begins.
    pub path_start: usize,
    /// The offset in the request's target where the address of the API ends.
    pub address_end: usize,
}

/// Takes a request through the handlers of an API to one of its resources.
pub async fn enter(
    api: &Arc<Api>,
    extent: Extent,
    request: &mut Message,
    apis: &Apis,
    transport: &dyn Transport,
    passed: &mut Passed,
    arrival: &Arrival<'_>,
) -> Entered {
    let visit = Visit::new(request, extent, arrival);
    if let Some(answer) = definition(api, &visit) {
        return Err(Box::new(answer));
    }
    if !api.handlers.is_empty() {
        // Few APIs have any: on the heap they do not make every exchange larger.
        Box::pin(handler::pass(&api.handlers, &api.resources, &request.head, &visit, transport, passed)).await?;
    }
    let entered = find(api, &visit, apis)?;
    if let (Entry::Resource(index), "OPTIONS") = (entered.0, visit.method) {
        count_down(request, &api.resources[index])?;
    }
    for header in &passed.spent {
        request.head.remove(header);
    }
    Ok(entered)
}

/// Why a request goes to a resource of an API, or to none.
pub fn decision(api: &Api, extent: Extent, request: &Message, arrival: &Arrival<'_>) -> StepDecision {
    api.resources.decision(&Visit::new(request, extent, arrival))
}

/// Finds the resource, and what else there is where none is for the request.
fn find(api: &Arc<Api>, visit: &Visit<'_>, apis: &Apis) -> Entered {
    let Apis { brought, mismatch, method_not_allowed, .. } = apis;
    let (handler, status) = match api.resources.choose(visit) {
        Choice::Resource(index, found) => {
            let resource = &api.resources[index];
            if visit.method == "OPTIONS" && !resource.lists("OPTIONS") {
                return Err(Box::new(options(resource)));
            }
            let mut properties = brought.of_request(api, visit);
            brought.add_resource(&mut properties, resource, &found, visit);
            return Ok((Entry::Resource(index), properties));
        }
        Choice::Nowhere => (mismatch, StatusCode::NOT_FOUND),
        Choice::MethodUnknown => (method_not_allowed, StatusCode::METHOD_NOT_ALLOWED),
        Choice::Unfit => (&None, StatusCode::BAD_REQUEST),
    };
    match handler {
        Some(sequence) => Ok((Entry::Stray(*sequence), brought.of_request(api, visit))),
        None => Err(Box::new(empty(status))),
    }
}

/// The answer to a question for what a resource can do (RFC 9110 §9.3.7).
fn options(resource: &Resource) -> Message {
    let mut answer = empty(StatusCode::OK);
    answer.head.set("Allow", resource.methods().as_bytes()).expect("methods are valid header values");
    answer
}

/// Counts how often a question may still be passed on; who gets the last one answers it.
///
/// Source: RFC 9110 §7.6.2.
fn count_down(request: &mut Message, resource: &Resource) -> Result<(), Box<Message>> {
    let limit = request.head.first("Max-Forwards").and_then(|limit| std::str::from_utf8(limit).ok());
    match limit.and_then(|limit| limit.trim().parse::<u64>().ok()) {
        Some(0) => Err(Box::new(options(resource))),
        Some(limit) => {
            let left = (limit - 1).to_string();
            request.head.set("Max-Forwards", left.as_bytes()).expect("a number is a valid header value");
            Ok(())
        }
        None => Ok(()),
    }
}

/// The definition of an API, where it is asked for.
fn definition(api: &Api, visit: &Visit<'_>) -> Option<Message> {
    if !matches!(visit.method, "GET" | "HEAD") {
        return None;
    }
    let query = visit.path[visit.start..].trim_start_matches('/').strip_prefix('?')?;
    let (text, content_type) = match query {
        "swagger.json" => (&api.definition.json, "application/json"),
        "swagger.yaml" => (&api.definition.yaml, "application/yaml"),
        _ => return None,
    };
    Some(match text {
        Some(text) => answer::with_body(content_type, text.clone()),
        None => answer::plain(StatusCode::NOT_FOUND, "The definition of this API is not offered in this form"),
    })
}

impl<'a> Visit<'a> {
    fn new(request: &'a Message, extent: Extent, arrival: &Arrival<'_>) -> Visit<'a> {
        let head = &request.head;
        let target = head.target();
        Visit {
            method: head.method(),
            path: &target[extent.path_start..],
            start: extent.address_end - extent.path_start,
            secure: arrival.is_secure(),
            host: head.known(HeaderId::Host).and_then(|host| std::str::from_utf8(host).ok()),
            content_type: head.known(HeaderId::ContentType),
            user_agent: head.known(HeaderId::UserAgent),
            has_body: !matches!(request.body, Body::Empty),
        }
    }
}
