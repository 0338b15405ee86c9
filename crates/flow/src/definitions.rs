//! What a configuration defines that flows refer to by number or name: sequences, templates, texts. It never changes.

mod external_texts;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

pub use external_texts::ExternalTexts;

use myelin_config::problem::Place;

use crate::ids::{SequenceId, TemplateId};
use crate::mediator::Mediator;
use crate::position::StepPlace;
use crate::property::{ExternalSource, Names, Slot};
use crate::settings::Settings;
use crate::template::Parameter;

/// The definitions of a configuration, as flows see them.
#[derive(Default)]
pub struct Definitions {
    /// What the operator sets.
    pub settings: Settings,
    /// The names of properties, by their slots.
    pub names: Names,
    // What is faulty or not there, and is referred to, has one in its place that faults.
    /// The sequences, by their numbers.
    pub sequences: Vec<Option<Sequence>>,
    /// The numbers of the sequences that have names.
    pub sequence_ids: HashMap<String, SequenceId>,
    /// The sequence templates, by their numbers.
    pub templates: Vec<Option<SequenceTemplate>>,
    /// The numbers of the sequence templates.
    pub template_ids: HashMap<String, TemplateId>,
    /// The texts of local entries, by the slots of their keys: `get-property` finds them where no property is set.
    pub entries: HashMap<Slot, String>,
    /// The texts outside the messages that expressions read: of the registry, and of `file.properties`.
    pub external: HashMap<(ExternalSource, Slot), String>,
    /// All of those texts, where expressions work out their names.
    pub external_texts: ExternalTexts,
    /// Whether an exchange of any service may enter a sequence, or go to an endpoint, that is to be traced.
    pub is_traced: bool,
    /// What layers above define, each found by its type: the endpoints.
    pub tables: Vec<Arc<dyn Any + Send + Sync>>,
}

/// A sequence with its error handler.
pub struct Sequence {
    /// Its name, or what it is to a proxy: `inSequence` …
    pub name: Arc<str>,
    /// Where it stands.
    pub place: Place,
    /// What it does.
    pub block: Block,
    /// The sequence that runs when a step of this one fails.
    pub on_error: Option<SequenceId>,
    /// Whether each exchange that enters it is to be traced: `trace="enable"`.
    pub is_traced: bool,
}

/// A sequence of the bus, or one that belongs to a proxy alone.
pub enum SequenceRef {
    /// One of the bus's.
    Named(SequenceId),
    /// One of a service's own.
    Inline(Box<Sequence>),
}

/// A sequence template.
pub struct SequenceTemplate {
    /// What callers may or have to give.
    pub parameters: Arc<[Parameter]>,
    /// What it does.
    pub sequence: Sequence,
}

/// A list of mediators: a sequence, or the inside of one that has an inside.
#[derive(Clone, Default)]
pub struct Block {
    // Shared with what is left of it where a flow goes on in branches, which outlive the flow.
    nodes: Arc<[Node]>,
}

/// A mediator and where it stands.
pub struct Node {
    /// What it is called and where it stands.
    pub step: StepPlace,
    /// The expression that it works out, as people may be shown it; `None` where it has none, or where that is a secret.
    pub expression: Option<Box<str>>,
    /// What it does.
    pub mediator: Box<dyn Mediator>,
}

impl Definitions {
    /// The sequence with that number.
    pub fn sequence(&self, id: SequenceId) -> Option<&Sequence> {
        self.sequences.get(id)?.as_ref()
    }

    /// The sequence template with that number.
    pub fn template(&self, id: TemplateId) -> Option<&SequenceTemplate> {
        self.templates.get(id)?.as_ref()
    }

    /// The table of that type.
    pub fn table<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.tables.iter().find_map(|table| table.downcast_ref())
    }
}

impl SequenceRef {
    /// The sequence meant.
    pub fn find<'a>(&'a self, definitions: &'a Definitions) -> Option<&'a Sequence> {
        match self {
            SequenceRef::Named(id) => definitions.sequence(*id),
            SequenceRef::Inline(sequence) => Some(sequence),
        }
    }
}

impl From<Vec<Node>> for Block {
    fn from(nodes: Vec<Node>) -> Block {
        Block { nodes: nodes.into() }
    }
}

impl Block {
    /// The mediators in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}
