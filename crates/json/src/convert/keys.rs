//! The keys that the names of a tree become, each worked out once.

use std::collections::HashMap;

use myelin_xml::{NameId, Names};

use super::names::decode;
use super::{ARRAY, ELEMENT, OBJECT, Switches};
use crate::error::shortened;
use crate::text::{unescape, write_string};

/// A key of the JSON that is made: equal keys are equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u32);

/// What an element is that stands for something without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapper {
    Object,
    Array,
    Element,
}

impl Key {
    /// What an element of this key stands for, where it is not a member.
    #[inline]
    pub(super) fn wrapper(self) -> Option<Wrapper> {
        // In the order in which they are made.
        match self.0 {
            0 => Some(Wrapper::Object),
            1 => Some(Wrapper::Array),
            2 => Some(Wrapper::Element),
            _ => None,
        }
    }
}

/// The keys of one conversion.
pub(super) struct Keys {
    /// Those of elements and of attributes, by the numbers of their names.
    elements: Vec<Option<Key>>,
    attributes: Vec<Option<Key>>,
    by_text: HashMap<String, Key>,
    /// Where each key ends in `written`.
    ends: Vec<usize>,
    /// The keys as JSON writes them, with quotes and colon.
    written: Vec<u8>,
}

impl Keys {
    pub(super) fn new(names: &Names) -> Keys {
        let none = vec![None; names.count()];
        let mut keys = Keys {
            elements: none.clone(),
            attributes: none,
            by_text: HashMap::new(),
            ends: Vec::new(),
            written: Vec::new(),
        };
        for wrapper in [OBJECT, ARRAY, ELEMENT] {
            keys.of_text(wrapper.to_owned());
        }
        keys
    }

    /// The key of an element.
    #[inline]
    pub(super) fn of_element(&mut self, name: NameId, names: &Names, switches: &Switches) -> Key {
        if let Some(key) = self.elements[name.index()] {
            return key;
        }
        let key = self.of_text(spelled("", name, names, switches));
        self.elements[name.index()] = Some(key);
        key
    }

    /// The key of an attribute.
    #[inline]
    pub(super) fn of_attribute(&mut self, name: NameId, names: &Names, switches: &Switches) -> Key {
        if let Some(key) = self.attributes[name.index()] {
            return key;
        }
        let key = self.of_text(spelled("@", name, names, switches));
        self.attributes[name.index()] = Some(key);
        key
    }

    /// The key with this text.
    pub(super) fn of_text(&mut self, text: String) -> Key {
        if let Some(&key) = self.by_text.get(&text) {
            return key;
        }
        write_string(&text, &mut self.written);
        self.written.push(b':');
        let key = Key(self.ends.len() as u32);
        self.ends.push(self.written.len());
        self.by_text.insert(text, key);
        key
    }

    /// The key as it is written, with quotes and colon.
    #[inline]
    pub(super) fn written(&self, key: Key) -> &[u8] {
        let index = key.0 as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.written[start..self.ends[index]]
    }

    /// The text of the key, as much of it as errors show.
    pub(super) fn text(&self, key: Key) -> String {
        let written = self.written(key);
        shortened(&unescape(&written[1..written.len() - 2]))
    }
}

/// The text of a key: `mark`, the prefix where it is kept, and the key that the local name stands for.
fn spelled(mark: &str, name: NameId, names: &Names, switches: &Switches) -> String {
    let name = names.get(name);
    let mut text = mark.to_owned();
    if switches.prefixes && !name.prefix.is_empty() {
        text.push_str(name.prefix);
        text.push(switches.separator);
    }
    text.push_str(&decode(name.local));
    text
}
