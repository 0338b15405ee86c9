//! Attributes and namespace declarations: how they are called, and those that come when the start tag is over.

use std::borrow::Cow;
use std::ops::Range;

use myelin_xml::{XML_NAMESPACE, XMLNS_NAMESPACE, is_ncname};

use super::characters::{Context, write_string};
use super::refused::Refused;
use crate::convert::names::{encode, encode_first, is_plain};
use crate::reader::Event;

/// How many prefixes may be declared at once: each is compared with that of each key which has a colon.
const MOST_PREFIXES: usize = 64;

/// The attributes of all objects that are open.
#[derive(Default)]
pub(super) struct Attributes {
    /// Their names, one behind the other.
    names: Vec<u8>,
    ranges: Vec<Range<usize>>,
    /// The prefixes that are declared, and what for.
    prefixes: Vec<(String, String)>,
    /// Attributes that came behind content: where their start tag ends, and where they stand in `late_text`.
    late: Vec<(usize, Range<usize>)>,
    late_text: Vec<u8>,
}

/// How many attributes and prefixes there were when an object came.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    attributes: usize,
    prefixes: usize,
}

impl Attributes {
    #[inline]
    pub(super) fn mark(&self) -> Mark {
        Mark { attributes: self.ranges.len(), prefixes: self.prefixes.len() }
    }

    /// Forgets the attributes and prefixes of the object that ends.
    ///
    /// Errors: `Twice` for two attributes of one name.
    #[inline]
    pub(super) fn end(&mut self, mark: Mark) -> Result<(), Box<Refused>> {
        let count = self.ranges.len() - mark.attributes;
        if count == 0 {
            return Ok(());
        }
        if count > 1 {
            self.differ(&self.ranges[mark.attributes..])?;
        }
        self.names.truncate(self.ranges[mark.attributes].start);
        self.ranges.truncate(mark.attributes);
        self.prefixes.truncate(mark.prefixes);
        Ok(())
    }

    fn differ(&self, ranges: &[Range<usize>]) -> Result<(), Box<Refused>> {
        let mut names: Vec<_> = ranges.iter().map(|range| self.expanded(range)).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Box::new(Refused::Twice(format!("@{}", String::from_utf8_lossy(pair[0].1))))),
            None => Ok(()),
        }
    }

    /// The namespace and local name of an attribute; declarations are told apart by all of their names.
    fn expanded(&self, range: &Range<usize>) -> (&str, &[u8]) {
        let name = &self.names[range.clone()];
        let Some(colon) = memchr::memchr(b':', name) else { return ("", name) };
        let (prefix, local) = (&name[..colon], &name[colon + 1..]);
        match prefix {
            b"xmlns" => ("", name),
            b"xml" => (XML_NAMESPACE, local),
            _ => {
                let declared = self.prefixes.iter().rfind(|(declared, _)| declared.as_bytes() == prefix);
                (declared.map_or("", |(_, namespace)| namespace.as_str()), local)
            }
        }
    }

    /// Whether the key is a name whose prefix is declared.
    pub(super) fn is_prefixed(&self, key: &str) -> bool {
        let Some((prefix, local)) = key.split_once(':') else { return false };
        let declared = prefix == "xml" || self.prefixes.iter().any(|(declared, _)| declared == prefix);
        declared && is_ncname(local)
    }

    /// The name of the attribute with this key, which a declaration that is one brings into force.
    ///
    /// A declaration of a prefix that comes late would change what names mean that are written already, and is none.
    pub(super) fn name<'a>(&mut self, key: &str, value: impl FnOnce() -> Cow<'a, str>, late: bool) -> Range<usize> {
        let start = self.names.len();
        if key == "xmlns" {
            if is_reserved(&value()) {
                encode_first(key, &mut self.names);
            } else {
                self.names.extend_from_slice(key.as_bytes());
            }
        } else if is_plain(key.as_bytes()) {
            self.names.extend_from_slice(key.as_bytes());
        } else if let Some(prefix) = key.strip_prefix("xmlns:") {
            let namespace = value();
            let named = is_ncname(prefix) && prefix != "xml" && prefix != "xmlns";
            let room = self.prefixes.len() < MOST_PREFIXES;
            if named && room && !late && !namespace.is_empty() && !is_reserved(&namespace) {
                self.prefixes.push((prefix.to_owned(), namespace.into_owned()));
                self.names.extend_from_slice(key.as_bytes());
            } else {
                encode(key, &mut self.names);
            }
        } else if self.is_prefixed(key) {
            self.names.extend_from_slice(key.as_bytes());
        } else {
            encode(key, &mut self.names);
        }
        self.ranges.push(start..self.names.len());
        start..self.names.len()
    }

    /// The name of an attribute of what is open.
    pub(super) fn named(&self, name: Range<usize>) -> &[u8] {
        &self.names[name]
    }

    /// Writes an attribute into the start tag at the end of `out`, or keeps it for the one that ends at `late`.
    ///
    /// Shape: whether its value is written without references.
    /// Errors: the character that XML cannot hold.
    pub(super) fn write(
        &mut self,
        name: Range<usize>,
        late: Option<usize>,
        event: &Event<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, char> {
        let start = self.late_text.len();
        let target = if late.is_some() { &mut self.late_text } else { out };
        target.push(b' ');
        target.extend_from_slice(&self.names[name]);
        target.extend_from_slice(b"=\"");
        let verbatim = write_string(event, Context::Attribute, target)?;
        target.push(b'"');
        if let Some(at) = late {
            self.late.push((at, start..self.late_text.len()));
        }
        Ok(verbatim)
    }

    /// Puts the attributes that came late into their start tags.
    pub(super) fn put_in_late(&mut self, out: &mut Vec<u8>) {
        if self.late.is_empty() {
            return;
        }
        self.late.sort_by_key(|&(at, _)| at);
        let mut whole = Vec::with_capacity(out.len() + self.late_text.len());
        let mut copied = 0;
        for (at, range) in self.late.drain(..) {
            whole.extend_from_slice(&out[copied..at]);
            whole.extend_from_slice(&self.late_text[range]);
            copied = at;
        }
        whole.extend_from_slice(&out[copied..]);
        *out = whole;
    }
}

/// Whether no prefix may be declared for a namespace, and no default.
fn is_reserved(namespace: &str) -> bool {
    namespace == XML_NAMESPACE || namespace == XMLNS_NAMESPACE
}
