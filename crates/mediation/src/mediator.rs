//! What a mediator is: something that looks at an exchange and says how the flow goes on.

use crate::config::{Element, Loader, Problem};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::transport::LocalFuture;

/// How the flow goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next mediator.
    Next,
    /// The current message is the answer.
    Respond,
    /// The current message goes to the out sequence, as if it were a response.
    Loopback,
    /// It goes on in branches, which begin when all around the mediator know of it.
    Split,
    /// It ends here.
    Drop,
}

/// What a mediator gives back: a result at once, or a future where it really has to wait.
///
/// The exchange travels with it, so that whoever runs several mediators can hand it to the next.
pub(crate) enum Step<'a> {
    Done(&'a mut Exchange, Outcome<Flow>),
    Wait(LocalFuture<'a, (&'a mut Exchange, Outcome<Flow>)>),
}

impl<'a> Step<'a> {
    /// Waits if there is something to wait for.
    pub(crate) async fn finish(self) -> (&'a mut Exchange, Outcome<Flow>) {
        match self {
            Step::Done(exchange, outcome) => (exchange, outcome),
            Step::Wait(future) => future.await,
        }
    }
}

/// One step of a sequence.
pub(crate) trait Mediator: Send + Sync {
    /// Does what the element says.
    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a>;

    /// Says what that is.
    fn effect(&self) -> Effect<'_> {
        Effect::default()
    }
}

/// A mediator that does its work at once, as soon as the body is in the form it needs.
pub(crate) trait Immediate: Send + Sync {
    /// Does what the element says.
    fn mediate(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow>;

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
    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let outcome = self.mediator.mediate(exchange, scene);
            Step::Done(exchange, outcome)
        })
    }

    fn effect(&self) -> Effect<'_> {
        let effect = self.mediator.effect();
        Effect { reads: effect.reads.max(self.need.reads()), ..effect }
    }
}

/// What a builder gives.
pub(crate) type Built = Result<Box<dyn Mediator>, Problem>;

/// A mediator that never waits, boxed.
pub(crate) fn at_once(mediator: impl Immediate + 'static) -> Built {
    once_ready(Need::default(), mediator)
}

/// A mediator that waits until the body is as it needs it, boxed.
pub(crate) fn once_ready(need: Need, mediator: impl Immediate + 'static) -> Built {
    Ok(Box::new(OnceReady { need, mediator }))
}

/// A mediator's element, its documentation, and how to build it.
pub(crate) struct Spec {
    /// The element's local name.
    pub(crate) element: &'static str,
    /// Markdown: what it does, its attributes, examples as indented code.
    pub(crate) doc: &'static str,
    /// Builds one from its element.
    pub(crate) build: fn(&Element, &mut Loader) -> Built,
}
