//! What a mediator is: something that looks at an exchange and says how the flow goes on, and what it does to the
//! messages that pass it, told before any comes.

use std::time::Duration;

use serde_json::Value;

use crate::context::RequestContext;
use crate::definitions::{Block, Definitions, Sequence};
use crate::exchange::Exchange;
use crate::fault::Outcome;
use crate::ids::{SequenceId, TemplateId};
use crate::transport::LocalFuture;

/// One step of a sequence.
pub trait Mediator: Send + Sync {
    /// Does what the element says.
    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a>;

    /// Says what that is.
    fn effect(&self) -> Effect<'_> {
        Effect::default()
    }
}

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

/// What a mediator does. Debug builds hold every step to what it says of the body.
#[derive(Default)]
pub struct Effect<'a> {
    /// How much of the body it reads.
    pub reads: Reads,
    /// Whether the body is another one afterwards.
    pub changes: bool,
    /// Where it sends the message.
    pub sends: Option<Receiver<'a>>,
    /// What it does with branches.
    pub branching: Option<Branching<'a>>,
    /// Why it can only fail, where it can.
    pub fails: Option<&'a str>,
    /// The flows that it may run.
    pub inside: Vec<InnerFlow<'a>>,
}

/// What a mediator does with the branches of a flow.
#[derive(Clone, Copy, Debug)]
pub enum Branching<'a> {
    /// The flow goes on in branches behind it.
    Splits,
    /// Branches meet at it.
    Gathers {
        /// The `id` of the mediator that made them; `None` for those of the nearest one.
        id: Option<&'a str>,
        /// How long after the split it waits for them, if not for good.
        time: Option<Duration>,
    },
}

/// How much of a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// It passes as it came.
    #[default]
    Nothing,
    /// As far as a decision needs, while it passes; what that cannot answer is read whole.
    Passing,
    /// All of it.
    Whole,
    /// All of it, understood as XML or JSON.
    Built,
}

/// Where a message is sent.
pub enum Receiver<'a> {
    /// To an endpoint.
    Endpoint(&'a dyn EndpointReference),
    /// To where it is addressed; a response to the client.
    Addressee,
    /// To the client.
    Client,
}

/// A reference to an endpoint, as the explanation of a flow tells it.
pub trait EndpointReference {
    /// What it is, for people and programs: `{"name", "to", "timeout_ms"}`; of a group, `to` lists its members so.
    fn explain(&self, definitions: &Definitions) -> Value;
}

/// A flow inside of a mediator.
pub struct InnerFlow<'a> {
    /// When it runs: `then`, `case IBM` …
    pub label: String,
    /// Its steps.
    pub flow: Steps<'a>,
}

/// The steps of a flow.
#[derive(Clone, Copy)]
pub enum Steps<'a> {
    /// Mediators that stand inside.
    Block(&'a Block),
    /// A sequence that stands inside.
    Sequence(&'a Sequence),
    /// A named sequence.
    Named(SequenceId),
    /// The sequence of a template.
    Template(TemplateId),
    /// Which one is known when a message comes.
    WorkedOut,
}

impl<'a> Effect<'a> {
    /// That of a mediator that only reads.
    pub fn reading(reads: Reads) -> Effect<'a> {
        Effect { reads, ..Effect::default() }
    }

    /// That of a mediator that makes another body.
    pub fn changing(reads: Reads) -> Effect<'a> {
        Effect { reads, changes: true, ..Effect::default() }
    }

    /// That of a mediator that sends.
    pub fn sending(receiver: Receiver<'a>) -> Effect<'a> {
        Effect { sends: Some(receiver), ..Effect::default() }
    }

    /// The same with a flow inside.
    pub fn with(mut self, label: impl Into<String>, flow: Steps<'a>) -> Effect<'a> {
        self.inside.push(InnerFlow { label: label.into(), flow });
        self
    }
}

impl Reads {
    /// As programs are told.
    pub fn word(self) -> &'static str {
        match self {
            Reads::Nothing => "nothing",
            Reads::Passing => "passing",
            Reads::Whole => "whole",
            Reads::Built => "built",
        }
    }

    /// As people are told.
    pub fn sentence(self) -> &'static str {
        match self {
            Reads::Nothing => "leaves the body unread",
            Reads::Passing => "reads the body as far as it must, while it passes",
            Reads::Whole => "reads the whole body",
            Reads::Built => "reads the whole body and understands it",
        }
    }
}
