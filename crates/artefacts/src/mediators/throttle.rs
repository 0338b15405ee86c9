//! `<throttle>`: more requests than a policy allows are turned away.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::throttle::{Caller, Permit, Rejection, Throttle as Limiter};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::answer;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::extensions::Extension;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::recorder::StepDecision;

pub(super) const SPEC: Spec = Spec::new("throttle", DOC, build);

const DOC: &str = r#"
Lets requests pass as a policy allows, and turns the others away. Responses pass; see [qos.md](qos.md).

- `id` (required): throttles with the same `id` and policy count together.
- `policy`: the policy, or the `key` of a local entry or resource of the registry that holds it; without it all pass.
- `onAccept`, `onReject`: what runs for requests that pass, and for those that do not: mediators inside, or as attributes
  the names of sequences. Without `onReject` the answer is 503 where too many are under way, 429 with `Retry-After`
  where too many came, and 403 for callers that are denied.

The policy says how many requests may be under way at once (`MaximumConcurrentAccess`), and for callers by `IP` or
`DOMAIN` how many may come in a stretch of time, or that all or none may.
A request is under way until its response passes a throttle with the same `id`, or its exchange ends in any way.

    <throttle id="quotes" onReject="audit">
        <policy>
            <wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
                        xmlns:throttle="http://www.wso2.org/products/wso2commons/throttle">
                <throttle:MediatorThrottleAssertion>
                    <throttle:MaximumConcurrentAccess>10</throttle:MaximumConcurrentAccess>
                    <wsp:Policy>
                        <throttle:ID throttle:type="IP">other</throttle:ID>
                        <wsp:Policy>
                            <throttle:Control>
                                <wsp:Policy>
                                    <throttle:MaximumCount>4</throttle:MaximumCount>
                                    <throttle:UnitTime>60000</throttle:UnitTime>
                                </wsp:Policy>
                            </throttle:Control>
                        </wsp:Policy>
                    </wsp:Policy>
                </throttle:MediatorThrottleAssertion>
            </wsp:Policy>
        </policy>
        <onAccept>
            <log level="custom"/>
        </onAccept>
    </throttle>
"#;

struct Throttle {
    id: Box<str>,
    /// `None` lets all pass.
    limiter: Option<Arc<Limiter>>,
    on_accept: Option<InnerSequence>,
    on_reject: Option<InnerSequence>,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let id = element.required("id")?.value.trim();
    for child in &element.children {
        if !["policy", "onAccept", "onReject", "description"].iter().any(|known| child.is(known)) {
            return Err(child.problem(format!("<throttle> does not hold {}", child.tag())));
        }
    }
    let limiter = match element.child("policy") {
        Some(policy) => limiter(id, policy, loader)?,
        None => None,
    };
    let on_accept = flow(element, "onAccept", loader)?;
    let on_reject = flow(element, "onReject", loader)?;
    Ok(Box::new(Throttle { id: id.into(), limiter, on_accept, on_reject }))
}

/// The throttle of a policy that stands here, or that a key names.
fn limiter(id: &str, policy: &Element, loader: &mut Loader) -> Result<Option<Arc<Limiter>>, Problem> {
    if let Some(key) = policy.attribute("key") {
        let element = loader.entry_element(key)?;
        return Limiter::load(id, &element, loader).map(Some);
    }
    match policy.children.first() {
        Some(inside) => Limiter::load(id, inside, loader).map(Some),
        None => {
            loader.warning(policy.problem("nothing is throttled: <policy> is empty"));
            Ok(None)
        }
    }
}

/// What runs in one of the two cases: the sequence that an attribute names, or mediators inside; the attribute wins.
fn flow(element: &Element, name: &str, loader: &mut Loader) -> Result<Option<InnerSequence>, Problem> {
    let inside = element.child(name);
    match (element.attribute(name), inside) {
        (Some(key), inside) => {
            if let Some(inside) = inside {
                inside.forgive();
                let message = format!("{} has no effect: the attribute {name:?} names a sequence", inside.tag());
                loader.warning(inside.problem(message));
            }
            loader.sequence_id(key).map(|id| Some(InnerSequence::Named(id)))
        }
        (None, Some(inside)) => Ok(Some(InnerSequence::Inline(loader.block(inside)))),
        (None, None) => Ok(None),
    }
}

/// The permits by which a request, and its copies, count as under way.
#[derive(Default)]
struct Permits(Vec<Arc<Permit>>);

impl Extension for Permits {
    fn for_copy(&self) -> Option<Box<dyn Extension>> {
        Some(Box::new(Permits(self.0.clone())))
    }
}

impl Throttle {
    /// Lets a request pass, or not.
    fn admit(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Result<(), Rejection> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let head = &exchange.message.head;
        // As in WSO2, what a proxy in front says of its client counts; of several the first.
        let forwarded = |name: &str| {
            let value = String::from_utf8_lossy(head.first(name)?);
            Some(value.split(',').next().unwrap_or_default().trim().to_owned())
        };
        let peer = context.arrival.peer.map(|peer| peer.ip());
        let address = forwarded("X-Forwarded-For").map_or(peer, |text| text.parse().ok());
        let peer = || peer.map(|peer| peer.to_string()).unwrap_or_default();
        let domain = forwarded("X-Forwarded-Host").unwrap_or_else(peer);
        let service = || format!("{} {}", context.service.kind, context.service.name);
        let caller = Caller { address, domain: &domain };
        let permit = limiter.admit(&caller, service, context.transport.monotonic())?;
        if let Some(permit) = permit {
            exchange.extensions.get_or_default::<Permits>().0.push(Arc::new(permit));
        }
        Ok(())
    }
}

impl Mediator for Throttle {
    fn effect(&self) -> Effect<'_> {
        let flows = [("accept", &self.on_accept), ("reject", &self.on_reject)];
        let flows = flows.into_iter().filter_map(|(label, flow)| Some((label, flow.as_ref()?)));
        flows.fold(Effect::default(), |effect, (label, flow)| effect.with(label, flow.steps()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if exchange.is_response() {
            if exchange.extensions.get::<Permits>().is_some() {
                exchange.extensions.get_or_default::<Permits>().0.retain(|permit| !permit.is_of(&self.id));
            }
            return Step::Done(exchange, Ok(Flow::Next));
        }
        let outcome = self.admit(exchange, context);
        context.watch.decided(|| match outcome {
            Ok(()) => StepDecision::chose("accepted"),
            Err(Rejection::Full) => StepDecision::chose("rejected").because("as many requests are under way as may be"),
            Err(Rejection::Denied) => StepDecision::chose("rejected").because("a rule denies this caller"),
            Err(Rejection::TooMany(again)) => StepDecision::chose("rejected")
                .because(format!("more requests came than may; the next passes in {} s at most", seconds(again))),
        });
        let flow = if outcome.is_ok() { &self.on_accept } else { &self.on_reject };
        match (flow, outcome) {
            (Some(flow), _) => flow.run(exchange, context),
            (None, Ok(())) => Step::Done(exchange, Ok(Flow::Next)),
            (None, Err(rejection)) => {
                let outcome = turn_away(rejection, exchange);
                Step::Done(exchange, outcome)
            }
        }
    }
}

/// Answers a request that may not pass, in its own language; no sequence hears of it.
fn turn_away(rejection: Rejection, exchange: &mut Exchange) -> Outcome<Flow> {
    let (status, message, again) = match rejection {
        Rejection::Full => (StatusCode::SERVICE_UNAVAILABLE, "Too many requests are under way", None),
        Rejection::Denied => (StatusCode::FORBIDDEN, "This service is not open to you", None),
        Rejection::TooMany(again) => {
            (StatusCode::TOO_MANY_REQUESTS, "This client sends too many requests", Some(again))
        }
    };
    let mut answer = answer::from_fault(&Fault::throttled(status, message), exchange.format);
    if let Some(again) = again {
        answer.head.set("Retry-After", seconds(again).to_string().as_bytes())?;
    }
    exchange.set_response(answer);
    Ok(Flow::Respond)
}

/// In whole seconds, rounded up: who comes then is not too early (RFC 9110 §10.2.3).
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediators::tests::{check, check_missing};

    #[test]
    fn what_a_throttle_cannot_mean_is_a_problem_in_its_line() {
        check("<throttle/>", "\"id\" is missing");
        check("<throttle id='A'><log/></throttle>", "<throttle> does not hold <log>");
        check_missing("<throttle id='A' onReject='nobody'/>", "there is no sequence \"nobody\"");
        check_missing("<throttle id='A'><policy key='nobody'/></throttle>", "there is no local entry \"nobody\"");
        check("<throttle id='A'/>", "");
    }

    #[test]
    fn a_started_second_is_waited_for() {
        assert_eq!([0, 1, 1000, 1001].map(|time| seconds(Duration::from_millis(time))), [0, 1, 1, 2]);
    }
}
