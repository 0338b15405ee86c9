//! How a mediator is found by its element, and built.

use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Immediate, Need, ready};
use myelin_flow::exchange::Direction;
use myelin_flow::mediator::Mediator;
use myelin_flow::sequence::Sequence;

/// What a builder gives.
pub type Built = Result<Box<dyn Mediator>, Problem>;

/// A mediator that never waits, as a builder gives it.
pub fn at_once(mediator: impl Immediate + 'static) -> Built {
    Ok(ready::at_once(mediator))
}

/// A mediator that waits until the body is as it needs it, as a builder gives it.
pub fn once_ready(need: Need, mediator: impl Immediate + 'static) -> Built {
    Ok(ready::once_ready(need, mediator))
}

/// A mediator's element, its documentation, how to build it, and what it does to the flow around it.
pub struct Spec {
    /// The element's local name.
    pub element: &'static str,
    /// Markdown: what it does, its attributes, examples as indented code.
    pub doc: &'static str,
    /// Builds one from its element.
    pub build: fn(&Element, &mut Loader) -> Built,
    /// Whether it sends the message of its flow, or copies of it; what the mediators inside it do is theirs.
    pub sends: bool,
    /// Whether nothing behind it runs in its flow.
    pub ends: fn(&Element) -> bool,
    /// The only messages that pass through it, where not all of them do.
    pub only: Option<Direction>,
    /// How it runs with a copy of the message, beside the flow, where the flow needs the message again behind it;
    /// without this it leaves the message as it is.
    pub beside: Option<RunBeside>,
}

/// Makes a mediator that runs a sequence with a copy of the message, beside the flow.
pub type RunBeside = fn(Sequence, &mut Loader) -> Box<dyn Mediator>;

impl Spec {
    /// A mediator that lets the flow go on and sends nothing itself.
    pub const fn new(element: &'static str, doc: &'static str, build: fn(&Element, &mut Loader) -> Built) -> Spec {
        Spec { element, doc, build, sends: false, ends: |_| false, only: None, beside: None }
    }

    /// The same, which sends the message of its flow or copies of it.
    pub const fn sends(self) -> Spec {
        Spec { sends: true, ..self }
    }

    /// The same, behind which nothing runs.
    pub const fn ends(self) -> Spec {
        Spec { ends: |_| true, ..self }
    }

    /// The same, behind which nothing runs where its element says so.
    pub const fn ends_if(self, ends: fn(&Element) -> bool) -> Spec {
        Spec { ends, ..self }
    }

    /// The same, for requests only or for responses only.
    pub const fn only(self, direction: Direction) -> Spec {
        Spec { only: Some(direction), ..self }
    }

    /// The same, which runs beside the flow where the flow needs the message again.
    pub const fn beside(self, beside: RunBeside) -> Spec {
        Spec { beside: Some(beside), ..self }
    }
}

/// All mediators that a loader can build.
pub struct Mediators {
    /// The mediators of the documentation.
    pub table: &'static [Spec],
    /// The operations of the connectors that are built in.
    pub operations: &'static [Spec],
    /// What builds every other element with a dot in its name: an operation of a connector from an archive.
    pub archived_operation: &'static Spec,
}

impl Mediators {
    /// The names of the elements that the documentation has.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.table.iter().map(|spec| spec.element)
    }

    /// The names of the operations that are built in.
    pub(crate) fn operations_named(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.operations.iter().map(|spec| spec.element)
    }

    /// What builds the mediator that an element stands for; `None` where there is none.
    pub fn find(&self, element: &Element) -> Option<&Spec> {
        if !element.is_synapse() {
            return None;
        }
        let known = self.table.iter().chain(self.operations).find(|spec| spec.element == element.name);
        known.or_else(|| element.name.contains('.').then_some(self.archived_operation))
    }
}
