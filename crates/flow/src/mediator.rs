//! What a mediator is: something that looks at an exchange and says how the flow goes on.

use crate::context::RequestContext;
use crate::effect::Effect;
use crate::exchange::Exchange;
use crate::fault::Outcome;
use crate::transport::LocalFuture;

/// How the flow goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
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
pub enum Step<'a> {
    /// It has done its work.
    Done(&'a mut Exchange, Outcome<Flow>),
    /// It has to wait.
    Wait(LocalFuture<'a, (&'a mut Exchange, Outcome<Flow>)>),
}

impl<'a> Step<'a> {
    /// Waits if there is something to wait for.
    pub async fn finish(self) -> (&'a mut Exchange, Outcome<Flow>) {
        match self {
            Step::Done(exchange, outcome) => (exchange, outcome),
            Step::Wait(future) => future.await,
        }
    }
}

/// One step of a sequence.
pub trait Mediator: Send + Sync {
    /// Does what the element says.
    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a>;

    /// Says what that is.
    fn effect(&self) -> Effect<'_> {
        Effect::default()
    }
}
