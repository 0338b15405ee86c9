//! What a mediator does to the messages that pass it, told before any comes.

use crate::endpoint::EndpointRef;
use crate::function::FunctionId;
use crate::sequence::{Block, Sequence, SequenceId};

/// What a mediator does. Debug builds hold every step to what it says of the body.
#[derive(Default)]
pub(crate) struct Effect<'a> {
    /// How much of the body it reads.
    pub(crate) reads: Reads,
    /// Whether the body is another one afterwards.
    pub(crate) changes: bool,
    /// Where it sends the message.
    pub(crate) sends: Option<Receiver<'a>>,
    /// The flows that it may run.
    pub(crate) inside: Vec<Inside<'a>>,
}

/// How much of a body is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reads {
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
pub(crate) enum Receiver<'a> {
    /// To an endpoint.
    Endpoint(&'a EndpointRef),
    /// To where it is addressed; a response to the client.
    Addressee,
    /// To the client.
    Client,
}

/// A flow inside of a mediator.
pub(crate) struct Inside<'a> {
    /// When it runs: `then`, `case IBM` …
    pub(crate) label: String,
    pub(crate) flow: Steps<'a>,
}

/// The steps of a flow.
#[derive(Clone, Copy)]
pub(crate) enum Steps<'a> {
    Block(&'a Block),
    Sequence(&'a Sequence),
    Named(SequenceId),
    Template(FunctionId),
    /// Which one is known when a message comes.
    WorkedOut,
}

impl<'a> Effect<'a> {
    /// That of a mediator that only reads.
    pub(crate) fn reading(reads: Reads) -> Effect<'a> {
        Effect { reads, ..Effect::default() }
    }

    /// That of a mediator that makes another body.
    pub(crate) fn changing(reads: Reads) -> Effect<'a> {
        Effect { reads, changes: true, ..Effect::default() }
    }

    /// That of a mediator that sends.
    pub(crate) fn sending(receiver: Receiver<'a>) -> Effect<'a> {
        Effect { sends: Some(receiver), ..Effect::default() }
    }

    /// The same with a flow inside.
    pub(crate) fn with(mut self, label: impl Into<String>, flow: Steps<'a>) -> Effect<'a> {
        self.inside.push(Inside { label: label.into(), flow });
        self
    }
}

impl Reads {
    /// As programs are told.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Reads::Nothing => "nothing",
            Reads::Passing => "passing",
            Reads::Whole => "whole",
            Reads::Built => "built",
        }
    }

    /// As people are told.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Reads::Nothing => "leaves the body unread",
            Reads::Passing => "reads the body as far as it must, while it passes",
            Reads::Whole => "reads the whole body",
            Reads::Built => "reads the whole body and understands it",
        }
    }
}
