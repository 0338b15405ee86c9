//! Mediators that wait for nothing but the body.

use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};

use crate::{Need, when_ready};

/// A mediator that does its work at once, as soon as the body is in the form it needs.
pub trait Immediate: Send + Sync {
    /// Does what the element says.
    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow>;

    /// Says what that is, apart from what it reads, which its need says.
    fn effect(&self) -> Effect<'_> {
        Effect::default()
    }
}

/// A mediator that waits for nothing but the body.
struct OnceReady<T> {
    need: Need,
    mediator: T,
}

impl<T: Immediate> Mediator for OnceReady<T> {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let outcome = self.mediator.mediate(exchange, context);
            Step::Done(exchange, outcome)
        })
    }

    fn effect(&self) -> Effect<'_> {
        let effect = self.mediator.effect();
        Effect { reads: effect.reads.max(self.need.reads()), ..effect }
    }
}

/// A mediator that needs nothing of the body.
struct AtOnce<T>(T);

impl<T: Immediate> Mediator for AtOnce<T> {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let outcome = self.0.mediate(exchange, context);
        Step::Done(exchange, outcome)
    }

    fn effect(&self) -> Effect<'_> {
        self.0.effect()
    }
}

/// A mediator that never waits, boxed.
pub fn at_once(mediator: impl Immediate + 'static) -> Box<dyn Mediator> {
    Box::new(AtOnce(mediator))
}

/// A mediator that waits until the body is as it needs it, boxed.
pub fn once_ready(need: Need, mediator: impl Immediate + 'static) -> Box<dyn Mediator> {
    if need.is_nothing() { at_once(mediator) } else { Box::new(OnceReady { need, mediator }) }
}
