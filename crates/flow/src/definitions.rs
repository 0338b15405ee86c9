//! What a configuration defines that flows refer to by number or name. It never changes.

mod external_texts;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

pub use external_texts::ExternalTexts;

use crate::property::{ExternalSource, Names, Slot};
use crate::sequence::{Sequence, SequenceId};
use crate::settings::Settings;
use crate::template::{SequenceTemplate, TemplateId};

/// The definitions of a configuration, as flows see them.
#[derive(Default)]
pub struct Definitions {
    /// What the operator sets.
    pub settings: Settings,
    /// The names of properties, by their slots.
    pub names: Names,
    // Faulty ones leave a hole; nothing sound refers to a hole.
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
    /// What layers above define, each found by its type: the endpoints.
    pub tables: Vec<Arc<dyn Any + Send + Sync>>,
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
