//! A subtree as it was read: what is canonical in the source already goes to the sink as it stands there.
//!
//! Most messages come in a form that differs from the canonical one in a few tags, or in none. Only what has to be
//! written anew ends a range of the source, and a long range goes to the sink without being gathered.

use super::walk::{GATHERED, Open, Walk};
use crate::document::Entry;
use crate::{Kind, NodeId};

impl Walk<'_> {
    /// Whether all of an element can be written by [`copy_subtree`](Walk::copy_subtree).
    #[inline]
    pub(super) fn copies(&self, element: NodeId) -> bool {
        self.selection.is_whole() && self.document.is_subtree_as_read(element) && !self.document.hides_space()
    }

    /// Writes an element that is as it was read, with all below it.
    pub(super) fn copy_subtree(&mut self, top: NodeId) {
        let document = self.document;
        // The elements whose start tags were written anew, and that the walk is inside of. The topmost always is one:
        // namespaces have to know that something is around all others.
        let mut levels = std::mem::take(&mut self.levels);
        let mut links = document.links_of(top);
        let mut entry = document.entry(top);
        // From here on the source is canonical and waits to be written.
        let mut waits = entry.start;
        loop {
            self.flush(waits, entry.start);
            if entry.kind == Kind::Element {
                self.start_tag(entry.node);
                levels.push(entry);
                waits = entry.content.start;
            } else {
                self.leaf(entry.node);
                waits = entry.end;
            }
            links.start = entry.node.index() + 1;
            let next = loop {
                let Some(&around) = levels.last() else { break None };
                let mut known = None;
                let found = document.find_not_canonical(links.clone(), (waits, around.end), |name| {
                    let prefix = document.names().prefix_of(name);
                    if known != Some(prefix) && self.namespaces.is_shown(prefix) {
                        known = Some(prefix);
                    }
                    known == Some(prefix)
                });
                links.start = found.unwrap_or(links.end);
                let next = found.map(|link| document.entry_at(link));
                match next {
                    Some(next) if next.start < around.end && (next.follows == next.start || waits == next.start) => {
                        break Some(next);
                    }
                    // A CDATA section without content, which is no node.
                    Some(next) if next.start < around.end => {
                        self.flush(waits, next.follows);
                        waits = next.start;
                    }
                    _ => {
                        waits = self.close(&around, waits);
                        levels.pop();
                    }
                }
            };
            match next {
                Some(next) => entry = next,
                None => break,
            }
        }
        self.flush(waits, document.entry(top).end);
        self.levels = levels;
    }

    /// Ends an element whose start tag was written anew; from where the source waits to be written then.
    fn close(&mut self, element: &Entry, waits: usize) -> usize {
        let Some(Open { mark, .. }) = self.open.pop() else { return waits };
        self.namespaces.leave(mark);
        if element.ends_canonically(self.document) {
            return waits;
        }
        self.flush(waits, element.content.end);
        self.end_tag(element.node);
        element.end
    }

    /// Writes a part of the source that consists of tags without attributes and texts without references.
    fn flush(&mut self, start: usize, end: usize) {
        let document = self.document;
        let mut bytes = &document.all_source()[start..end];
        // Each tag has one of both; others stand in texts, where the canonical form has a reference.
        let count = |byte| memchr::memchr_iter(byte, bytes).count();
        let mut in_texts = count(b'>').saturating_sub(count(b'<'));
        while in_texts > 0 {
            let tag = memchr::memchr(b'<', bytes).unwrap_or(bytes.len());
            let mut done = 0;
            for at in memchr::memchr_iter(b'>', &bytes[..tag]) {
                self.pass(&bytes[done..at]);
                self.pass(b"&gt;");
                in_texts -= 1;
                done = at + 1;
            }
            let behind = memchr::memchr(b'>', &bytes[tag..]).map_or(bytes.len(), |length| tag + length + 1);
            self.pass(&bytes[done..behind]);
            bytes = &bytes[behind..];
        }
        self.pass(bytes);
    }

    /// Gathers bytes, or gives them to the sink where they are many.
    fn pass(&mut self, bytes: &[u8]) {
        if bytes.len() < GATHERED {
            self.gathered.extend_from_slice(bytes);
            self.give_gathered(GATHERED);
        } else {
            self.give_gathered(1);
            self.sink.write(bytes);
        }
    }

    /// Gives the sink what was gathered if it is at least so many bytes.
    pub(super) fn give_gathered(&mut self, least: usize) {
        if self.gathered.len() >= least {
            self.sink.write(&self.gathered);
            self.gathered.clear();
        }
    }
}
