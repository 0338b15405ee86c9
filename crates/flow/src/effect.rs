//! What a mediator does to the messages that pass it, told before any comes.

use crate::reference::EndpointReference;
use crate::sequence::{Block, Sequence, SequenceId};
use crate::template::TemplateId;

/// What a mediator does. Debug builds hold every step to what it says of the body.
#[derive(Default)]
pub struct Effect<'a> {
    /// How much of the body it reads.
    pub reads: Reads,
    /// Whether the body is another one afterwards.
    pub changes: bool,
    /// Where it sends the message.
    pub sends: Option<Receiver<'a>>,
    /// The flows that it may run.
    pub inside: Vec<InnerFlow<'a>>,
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

/// A flow inside of a mediator.
pub struct InnerFlow<'a> {
    /// When it runs: `then`, `case IBM` …
    pub label: String,
    /// What it consists of.
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
