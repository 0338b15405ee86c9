//! Documents that begin with the same bytes: the next one is read on from where they may differ.

use super::stage::Stage;
use super::{Binding, Open, Parser};
use crate::names::Atom;
use crate::options::DeclaredEncoding;

/// How a document began, and how the parser stood behind that.
///
/// Numbers of names and tags are those of the parser that noted it, and serve no other.
#[derive(Debug)]
pub(super) struct Beginning {
    /// As far as it was read; and a `<` behind that, because text before it would go on without.
    bytes: Vec<u8>,
    at: usize,
    declared_encoding: DeclaredEncoding,
    open: Vec<Open>,
    hidden: Vec<(Atom, Binding)>,
    /// The bindings of the same prefixes that were in force.
    bound: Vec<(Atom, Binding)>,
    last_name: Atom,
}

impl Parser {
    /// Notes what was read of a document so far, for others that begin in the same way; whether it can be noted.
    ///
    /// Shape: `input` as for [`next`](Parser::next), with nothing forgotten. It takes the place of what was noted before.
    /// Only between the events of an element's content, and where there is no document type, it can be noted.
    pub fn note_beginning(&mut self, input: &[u8]) -> bool {
        let is_inside = self.stage == Stage::Content && self.base == 0 && !self.doctype;
        if is_inside {
            let bound = |&(prefix, _): &(Atom, Binding)| (prefix, self.bindings[prefix.index()]);
            let ahead = usize::from(input.get(self.at) == Some(&b'<'));
            self.beginning = Some(Box::new(Beginning {
                bytes: input[..self.at + ahead].to_vec(),
                at: self.at,
                declared_encoding: self.options.declared_encoding,
                open: self.open.clone(),
                hidden: self.hidden.clone(),
                bound: self.hidden.iter().map(bound).collect(),
                last_name: self.last_name,
            }));
        }
        is_inside
    }

    /// Starts a document behind the beginning that was noted, if it begins in the same way; whether it does.
    ///
    /// Shape: to be called before the first [`next`](Parser::next) of the document. What follows, and where errors are
    /// said to be, is as if all of it had been read.
    pub fn begin_behind(&mut self, input: &[u8]) -> bool {
        let Some(beginning) = &self.beginning else { return false };
        let is_same = self.stage == Stage::Start
            && self.options.declared_encoding == beginning.declared_encoding
            && input.starts_with(&beginning.bytes);
        if is_same {
            self.stage = Stage::Content;
            self.at = beginning.at;
            self.open.extend_from_slice(&beginning.open);
            self.hidden.extend_from_slice(&beginning.hidden);
            for &(prefix, binding) in &beginning.bound {
                self.bindings[prefix.index()] = binding;
            }
            self.last_name = beginning.last_name;
            // The bytes of the beginning were found to be UTF-8 when it was noted; those behind it are looked at.
            (self.seen, self.checked) = (self.at, self.at);
            self.check_utf8(input);
        }
        is_same
    }
}
