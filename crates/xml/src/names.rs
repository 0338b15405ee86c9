//! The names one parser or document met, each as a small number.

mod identity;
mod table;

use std::ops::Range;

pub use identity::NamesId;
pub(crate) use table::same;
use table::{Hasher, Table};

use crate::characters;

/// The namespace that the prefix `xml` is always bound to.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// The namespace of `xmlns` attributes.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// What every document knows, by the numbers of its atoms.
const KNOWN: [&str; 5] = ["", "xml", "xmlns", XML_NAMESPACE, XMLNS_NAMESPACE];

/// A text that stands once in a [`Names`]: a prefix, a local name or a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom(u32);

impl Atom {
    /// The atom at a place that was one's [`index`](Atom::index).
    #[inline]
    pub(crate) fn from_index(index: u32) -> Atom {
        Atom(index)
    }

    /// The empty text: no prefix, no namespace.
    pub const EMPTY: Atom = Atom(0);
    pub(crate) const XML: Atom = Atom(1);
    pub(crate) const XMLNS: Atom = Atom(2);
    pub(crate) const XML_NAMESPACE: Atom = Atom(3);
    pub(crate) const XMLNS_NAMESPACE: Atom = Atom(4);

    /// Its place among the texts, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A qualified name: prefix, local name and namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The name at a place that was one's [`index`](NameId::index).
    #[inline]
    pub(crate) fn from_index(index: u32) -> NameId {
        NameId(index)
    }

    /// Stands for the name of an attribute until all declarations of its tag are known.
    pub(crate) const PENDING: NameId = NameId(u32::MAX);

    /// Its place among the names, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expanded name: local name and namespace; what XPath compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpandedId(u32);

impl ExpandedId {
    /// Its place among the expanded names, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A qualified name, as texts; an empty one means there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// What stands before the colon.
    pub prefix: &'a str,
    /// What stands behind it.
    pub local: &'a str,
    /// What the prefix was bound to.
    pub namespace: &'a str,
}

impl<'a> Name<'a> {
    /// The name as it is written, with its prefix.
    pub fn written(&self) -> std::borrow::Cow<'a, str> {
        match self.prefix {
            "" => self.local.into(),
            prefix => format!("{prefix}:{}", self.local).into(),
        }
    }
}

/// What a name takes beyond its text, about: its entries and their slots.
pub(crate) const NAME_BYTES: usize = 96;

/// The names that one parser or document met.
///
/// Shape: numbers count from 0 without gaps and stay valid until [`clear`](Names::clear).
#[derive(Debug)]
pub struct Names {
    id: NamesId,
    text: String,
    hasher: Hasher,
    atoms: Vec<AtomEntry>,
    atom_table: Table,
    names: Vec<NameEntry>,
    name_table: Table,
    expanded: Vec<(Atom, Atom)>,
    expanded_table: Table,
}

/// A text, and what is known of it as a qualified name in a document.
#[derive(Clone, Debug)]
struct AtomEntry {
    start: u32,
    end: u32,
    /// Its first bytes, as [`head`] gives them.
    head: u64,
    shape: Shape,
    prefix: Atom,
    local: Atom,
    /// The last name made of this text, and the namespace its prefix was bound to then:
    /// the next element of that name mostly is in the same.
    last: Option<(Atom, NameId)>,
    /// The name of an attribute with this text and without a prefix.
    bare: Option<NameId>,
    /// The name that followed this one in a document when it was met last; empty where none did.
    follower: Atom,
    /// The namespace that it declared in a document when it was met last; empty where it did not.
    declared: Atom,
}

#[derive(Clone, Copy, Debug)]
struct NameEntry {
    prefix: Atom,
    local: Atom,
    namespace: Atom,
    expanded: ExpandedId,
}

/// What a text is as a qualified name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nobody has looked yet.
    Unknown,
    /// Without a prefix.
    Plain,
    /// With a prefix.
    Prefixed,
    /// `xmlns`, which declares the default namespace.
    DeclaresDefault,
    /// `xmlns:prefix`, which declares the prefix that is its local name.
    DeclaresPrefix,
}

impl Names {
    /// Knows only what every document knows: `xml`, `xmlns` and their namespaces; takes no memory before more is met.
    pub fn new() -> Names {
        Names {
            id: NamesId::next(),
            text: String::new(),
            hasher: Hasher::default(),
            atoms: Vec::new(),
            atom_table: Table::default(),
            names: Vec::new(),
            name_table: Table::default(),
            expanded: Vec::new(),
            expanded_table: Table::default(),
        }
    }

    /// Tells these names from all others of the process, so that what was learnt of a number can be kept.
    ///
    /// Shape: it stays the same while names are added; a clone, and names that were cleared, have another.
    #[inline]
    pub fn id(&self) -> NamesId {
        self.id
    }

    /// The texts of a name.
    #[inline]
    pub fn get(&self, id: NameId) -> Name<'_> {
        let NameEntry { prefix, local, namespace, .. } = self.names[id.index()];
        Name { prefix: self.text(prefix), local: self.text(local), namespace: self.text(namespace) }
    }

    /// The expanded name of a qualified one.
    #[inline]
    pub fn expanded(&self, id: NameId) -> ExpandedId {
        self.names[id.index()].expanded
    }

    /// The text of an atom.
    #[inline]
    pub fn text(&self, atom: Atom) -> &str {
        match self.atoms.get(atom.index()) {
            Some(entry) => &self.text[entry.start as usize..entry.end as usize],
            None => KNOWN[atom.index()],
        }
    }

    /// The expanded name with these texts, if it was met.
    pub fn find(&self, namespace: &str, local: &str) -> Option<ExpandedId> {
        let key = (self.find_atom(namespace)?, self.find_atom(local)?);
        let found = self.expanded_table.find(self.hasher.pair(key.0.0, key.1.0), |id| self.expanded[id] == key);
        found.map(|id| ExpandedId(number(id)))
    }

    /// The atom of a text, if it was met.
    pub fn find_atom(&self, text: &str) -> Option<Atom> {
        if self.atoms.is_empty() {
            return KNOWN.iter().position(|&known| known == text).map(|place| Atom(number(place)));
        }
        self.look_up(text.as_bytes(), self.hasher.bytes(text.as_bytes()))
    }

    /// The name with these texts, new if it was not met; for names made by programs, so nothing is checked.
    pub fn intern(&mut self, prefix: &str, local: &str, namespace: &str) -> NameId {
        let (prefix, local, namespace) = (self.atom(prefix), self.atom(local), self.atom(namespace));
        self.name(prefix, local, namespace)
    }

    /// The atom of a text, new if it was not met.
    pub fn atom(&mut self, text: &str) -> Atom {
        if self.atoms.is_empty() {
            self.begin();
        }
        let hash = self.hasher.bytes(text.as_bytes());
        match self.look_up(text.as_bytes(), hash) {
            Some(atom) => atom,
            None => self.add(text, hash),
        }
    }

    /// The atoms of a name.
    ///
    /// Shape: prefix, local name, namespace.
    pub fn atoms(&self, id: NameId) -> (Atom, Atom, Atom) {
        let NameEntry { prefix, local, namespace, .. } = self.names[id.index()];
        (prefix, local, namespace)
    }

    /// The prefix of a name.
    #[inline]
    pub(crate) fn prefix_of(&self, id: NameId) -> Atom {
        self.names[id.index()].prefix
    }

    /// How many names there are; each number is below.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// How many expanded names there are; each number is below.
    pub fn expanded_count(&self) -> usize {
        self.expanded.len()
    }

    /// Forgets all names and keeps the memory.
    pub fn clear(&mut self) {
        self.id = NamesId::next();
        self.text.clear();
        self.atoms.clear();
        self.atom_table.clear();
        self.names.clear();
        self.name_table.clear();
        self.expanded.clear();
        self.expanded_table.clear();
    }

    /// How many texts or names there are, whichever are more, and how many bytes the texts have together.
    #[inline]
    pub fn size(&self) -> (usize, usize) {
        (self.atoms.len().max(self.names.len()), self.text.len())
    }

    /// How much memory they take, about.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        let (count, bytes) = self.size();
        bytes + count * NAME_BYTES
    }

    /// The atom of a qualified name as it stands in a document, split at its colon.
    ///
    /// Errors: the place in `raw` where it stops being a name.
    #[inline]
    pub(crate) fn qualified(&mut self, raw: &[u8], namespaces: bool) -> Result<Atom, usize> {
        let hash = self.hasher.bytes(raw);
        if let Some(atom) = self.look_up(raw, hash)
            && self.atoms[atom.index()].shape != Shape::Unknown
        {
            return Ok(atom);
        }
        self.split(raw, hash, namespaces)
    }

    /// The text of an atom that was met in a document.
    #[inline]
    pub(crate) fn bytes(&self, atom: Atom) -> &[u8] {
        match self.atoms.get(atom.index()) {
            Some(entry) => &self.text.as_bytes()[entry.start as usize..entry.end as usize],
            None => &[],
        }
    }

    /// The place behind an atom's text, if that stands at `start`; the empty text stands nowhere.
    #[inline(always)]
    pub(crate) fn end_at(&self, atom: Atom, window: &[u8], start: usize) -> Option<usize> {
        let entry = self.atoms.get(atom.index())?;
        let length = (entry.end - entry.start) as usize;
        let rest = window.get(start..)?;
        let stands = match (length, rest.first_chunk()) {
            // The bits of the bytes behind the text are shifted out.
            (1..=8, Some(bytes)) => (u64::from_le_bytes(*bytes) ^ entry.head) << (64 - 8 * length) == 0,
            (0, _) => false,
            _ => rest.get(..length).is_some_and(|found| same(found, self.bytes(atom))),
        };
        stands.then_some(start + length)
    }

    /// The name that followed this one in a document when it was met last; empty where none did.
    #[inline]
    pub(crate) fn follower(&self, name: Atom) -> Atom {
        self.atoms.get(name.index()).map_or(Atom::EMPTY, |entry| entry.follower)
    }

    /// Notes which name followed this one.
    pub(crate) fn follow(&mut self, name: Atom, follower: Atom) {
        self.atoms[name.index()].follower = follower;
    }

    /// The namespace that this name declared in a document when it was met last; empty where it did not.
    #[inline]
    pub(crate) fn declared(&self, name: Atom) -> Atom {
        self.atoms[name.index()].declared
    }

    /// Notes which namespace this name declared, as it stands there.
    pub(crate) fn declare(&mut self, name: Atom, namespace: Atom) {
        self.atoms[name.index()].declared = namespace;
    }

    #[inline]
    pub(crate) fn shape(&self, raw: Atom) -> Shape {
        self.atoms[raw.index()].shape
    }

    #[inline]
    pub(crate) fn prefix(&self, raw: Atom) -> Atom {
        self.atoms[raw.index()].prefix
    }

    pub(crate) fn local(&self, raw: Atom) -> Atom {
        self.atoms[raw.index()].local
    }

    /// The name that `raw` is while its prefix is bound to `namespace`.
    #[inline]
    pub(crate) fn resolve(&mut self, raw: Atom, namespace: Atom) -> NameId {
        let entry = &self.atoms[raw.index()];
        match entry.last {
            Some((last, name)) if last == namespace => name,
            _ => {
                let name = self.name(entry.prefix, entry.local, namespace);
                self.atoms[raw.index()].last = Some((namespace, name));
                name
            }
        }
    }

    /// The name that `raw` was the last time, if its prefix is bound to the same namespace still.
    #[inline]
    pub(crate) fn resolved(&self, raw: Atom, namespace: impl FnOnce(Atom) -> Option<Atom>) -> Option<NameId> {
        let entry = &self.atoms[raw.index()];
        let (last, name) = entry.last?;
        (namespace(entry.prefix) == Some(last)).then_some(name)
    }

    /// The name that `raw`, which has no prefix, is for an attribute: default namespaces are not for attributes.
    #[inline]
    pub(crate) fn resolve_bare(&mut self, raw: Atom) -> NameId {
        let entry = &self.atoms[raw.index()];
        match entry.bare {
            Some(name) => name,
            None => {
                let name = self.name(entry.prefix, entry.local, Atom::EMPTY);
                self.atoms[raw.index()].bare = Some(name);
                name
            }
        }
    }

    /// Gives the known texts their atoms, before the first other one gets its own.
    #[cold]
    fn begin(&mut self) {
        self.hasher = Hasher::new();
        self.text.reserve(256);
        self.atoms.reserve(16);
        for text in KNOWN {
            self.add(text, self.hasher.bytes(text.as_bytes()));
        }
    }

    #[inline]
    fn look_up(&self, bytes: &[u8], hash: u64) -> Option<Atom> {
        let found = self.atom_table.find(hash, |id| {
            let entry = &self.atoms[id];
            same(&self.text.as_bytes()[entry.start as usize..entry.end as usize], bytes)
        });
        found.map(|id| Atom(number(id)))
    }

    fn add(&mut self, text: &str, hash: u64) -> Atom {
        let atom = Atom(number(self.atoms.len()));
        let Range { start, end } = self.text.len()..self.text.len() + text.len();
        self.text.push_str(text);
        self.atoms.push(AtomEntry {
            start: number(start),
            end: number(end),
            head: head(text.as_bytes()),
            shape: Shape::Unknown,
            prefix: Atom::EMPTY,
            local: atom,
            last: None,
            bare: None,
            follower: Atom::EMPTY,
            declared: Atom::EMPTY,
        });
        self.atom_table.insert(hash, atom.0);
        atom
    }

    #[cold]
    #[inline(never)]
    fn split(&mut self, raw: &[u8], hash: u64, namespaces: bool) -> Result<Atom, usize> {
        if self.atoms.is_empty() {
            self.begin();
            return self.qualified(raw, namespaces);
        }
        let name = std::str::from_utf8(raw).map_err(|error| error.valid_up_to())?;
        if let Some(at) = characters::name_error(name) {
            return Err(at);
        }
        let colon = if namespaces { name.find(':') } else { None };
        let (prefix, local) = match colon {
            None => ("", name),
            Some(colon) => (&name[..colon], &name[colon + 1..]),
        };
        if let Some(colon) = colon {
            if prefix.is_empty() {
                return Err(colon);
            }
            if let Some(at) = characters::name_error(local).or_else(|| local.find(':')) {
                return Err(colon + 1 + at);
            }
        }
        let (prefix, local) = (self.atom(prefix), self.atom(local));
        let atom = self.look_up(raw, hash).unwrap_or_else(|| self.add(name, hash));
        let entry = &mut self.atoms[atom.index()];
        entry.shape = match (colon, prefix, atom) {
            (None, _, Atom::XMLNS) if namespaces => Shape::DeclaresDefault,
            (None, ..) => Shape::Plain,
            (Some(_), Atom::XMLNS, _) => Shape::DeclaresPrefix,
            (Some(_), ..) => Shape::Prefixed,
        };
        (entry.prefix, entry.local) = (prefix, local);
        Ok(atom)
    }

    /// The name with the texts of these atoms, new if it was not met.
    pub fn name(&mut self, prefix: Atom, local: Atom, namespace: Atom) -> NameId {
        let hash = self.hasher.pair(namespace.0, local.0);
        let expanded = match self.expanded_table.find(hash, |id| self.expanded[id] == (namespace, local)) {
            Some(id) => ExpandedId(number(id)),
            None => {
                let id = ExpandedId(number(self.expanded.len()));
                self.expanded.push((namespace, local));
                self.expanded_table.insert(hash, id.0);
                id
            }
        };
        let hash = self.hasher.pair(expanded.0, prefix.0);
        let same = |id: usize| self.names[id].expanded == expanded && self.names[id].prefix == prefix;
        if let Some(id) = self.name_table.find(hash, same) {
            return NameId(number(id));
        }
        let id = NameId(number(self.names.len()));
        self.names.push(NameEntry { prefix, local, namespace, expanded });
        self.name_table.insert(hash, id.0);
        id
    }
}

impl Clone for Names {
    fn clone(&self) -> Names {
        Names {
            // From here on each of them may give the same number to another name.
            id: NamesId::next(),
            text: self.text.clone(),
            hasher: self.hasher,
            atoms: self.atoms.clone(),
            atom_table: self.atom_table.clone(),
            names: self.names.clone(),
            name_table: self.name_table.clone(),
            expanded: self.expanded.clone(),
            expanded_table: self.expanded_table.clone(),
        }
    }
}

impl Default for Names {
    fn default() -> Names {
        Names::new()
    }
}

/// The first bytes of a text as one number, with nothing behind a shorter one.
fn head(text: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = text.len().min(bytes.len());
    bytes[..length].copy_from_slice(&text[..length]);
    u64::from_le_bytes(bytes)
}

/// Memory ends long before the numbers do: each takes some dozen bytes.
#[inline]
fn number(index: usize) -> u32 {
    u32::try_from(index).expect("the names of one document are fewer, and shorter together, than 4 GiB")
}

#[cfg(test)]
mod tests;
