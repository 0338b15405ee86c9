//! The keys that the names of a tree become, each worked out once.

use std::collections::HashMap;

use myelin_xml::{Atom, NameId, Names};

use super::names::decode;
use super::{ARRAY, ELEMENT, OBJECT, Switches};
use crate::error::shortened;
use crate::text::{unescape, write_string};

/// A key of the JSON that is made: equal keys are equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(u32);

/// What an element is that stands for something without a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapper {
    Object,
    Array,
    Element,
}

/// The first keys of every conversion.
const WRAPPERS: [&str; 3] = [OBJECT, ARRAY, ELEMENT];

/// How many keys there is room for at the start.
const GUESSED_KEYS: usize = 32;

impl Key {
    /// What an element of this key stands for, where it is not a member.
    #[inline]
    pub(super) fn wrapper(self) -> Option<Wrapper> {
        // As `WRAPPERS` has them.
        match self.0 {
            0 => Some(Wrapper::Object),
            1 => Some(Wrapper::Array),
            2 => Some(Wrapper::Element),
            _ => None,
        }
    }
}

/// The keys of one conversion.
pub(super) struct Keys<'a> {
    names: &'a Names,
    switches: &'a Switches,
    /// Those of elements and of attributes, by the numbers of their names.
    elements: Vec<Option<Key>>,
    attributes: Vec<Option<Key>>,
    /// Those of texts that are names of the document as they stand, by the numbers of their atoms.
    by_atom: Vec<Option<Key>>,
    /// Those of all other texts.
    by_text: HashMap<String, Key>,
    /// Where each key ends in `written`, and the object in which it was met last.
    ends: Vec<usize>,
    met: Vec<u32>,
    /// The keys as JSON writes them, with quotes and colon.
    written: Vec<u8>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(names: &'a Names, switches: &'a Switches) -> Keys<'a> {
        let mut keys = Keys {
            names,
            switches,
            elements: vec![None; names.count()],
            attributes: Vec::new(),
            by_atom: vec![None; names.size().0],
            by_text: HashMap::new(),
            ends: Vec::with_capacity(GUESSED_KEYS),
            met: Vec::with_capacity(GUESSED_KEYS),
            written: Vec::with_capacity(GUESSED_KEYS * 16),
        };
        for wrapper in WRAPPERS {
            let atom = keys.atom(wrapper);
            keys.add(wrapper, atom);
        }
        keys
    }

    /// The key of an element.
    #[inline]
    pub(super) fn of_element(&mut self, name: NameId) -> Key {
        if let Some(key) = self.elements[name.index()] {
            return key;
        }
        let key = self.spelled("", name);
        self.elements[name.index()] = Some(key);
        key
    }

    /// The key of an attribute.
    #[inline]
    pub(super) fn of_attribute(&mut self, name: NameId) -> Key {
        if let Some(Some(key)) = self.attributes.get(name.index()) {
            return *key;
        }
        self.attributes.resize(self.elements.len(), None);
        let key = self.spelled("@", name);
        self.attributes[name.index()] = Some(key);
        key
    }

    /// The key that a name has: `mark`, the prefix where it is kept, and what the local name stands for.
    #[cold]
    fn spelled(&mut self, mark: &str, name: NameId) -> Key {
        let (_, atom, _) = self.names.atoms(name);
        let name = self.names.get(name);
        let local = decode(name.local);
        let kept = self.switches.prefixes && !name.prefix.is_empty();
        if !kept && mark.is_empty() {
            // Most names stand for themselves, and the document knows their atoms.
            let known = if *local == *name.local { Some(atom.index()) } else { self.atom(&local) };
            return self.of_atom(known, &local);
        }
        let mut text = mark.to_owned();
        if kept {
            text.push_str(name.prefix);
            text.push(self.switches.separator);
        }
        text.push_str(&local);
        self.of_text(&text)
    }

    /// The key with this text.
    pub(super) fn of_text(&mut self, text: &str) -> Key {
        self.of_atom(self.atom(text), text)
    }

    /// The key with this text, which is that atom of the document, if any.
    fn of_atom(&mut self, atom: Option<usize>, text: &str) -> Key {
        let known = match atom {
            Some(atom) => self.by_atom[atom],
            None => match WRAPPERS.iter().position(|&wrapper| wrapper == text) {
                Some(wrapper) => Some(Key(wrapper as u32)),
                None => self.by_text.get(text).copied(),
            },
        };
        known.unwrap_or_else(|| {
            let key = self.add(text, atom);
            if atom.is_none() {
                self.by_text.insert(text.to_owned(), key);
            }
            key
        })
    }

    /// The number of the atom that a text is in the document.
    fn atom(&self, text: &str) -> Option<usize> {
        self.names.find_atom(text).map(Atom::index).filter(|&atom| atom < self.by_atom.len())
    }

    fn add(&mut self, text: &str, atom: Option<usize>) -> Key {
        write_string(text, &mut self.written);
        self.written.push(b':');
        let key = Key(self.ends.len() as u32);
        self.ends.push(self.written.len());
        self.met.push(0);
        if let Some(atom) = atom {
            self.by_atom[atom] = Some(key);
        }
        key
    }

    /// Whether the key was met in the object of this number, which is not 0; now it is.
    #[inline]
    pub(super) fn met(&mut self, key: Key, object: u32) -> bool {
        std::mem::replace(&mut self.met[key.0 as usize], object) == object
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
