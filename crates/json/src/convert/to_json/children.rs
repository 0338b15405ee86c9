//! The children of an element: which of them count, and in what order.

use std::borrow::Cow;
use std::collections::HashMap;

use myelin_xml::{Kind, NodeId};

use super::Writer;
use crate::convert::MULTIPLE;
use crate::convert::keys::Key;
use crate::convert::names::decode;

impl<'a> Writer<'a> {
    /// The text of an element that has nothing else, as most have.
    #[inline]
    pub(super) fn only_text(&self, element: NodeId) -> Option<Cow<'a, str>> {
        let document = self.document;
        let only = document.first_child(element)?;
        let plain = document.kind(only) == Kind::Text
            && document.next_sibling(only).is_none()
            && document.attributes(element).next().is_none()
            && !(self.switches.prefixes && self.switches.declarations);
        let text = plain.then(|| document.value(only))?;
        (text.bytes().any(|byte| byte > b' ')).then_some(text)
    }

    /// The first child from `next` on that counts: no comment, no other instruction, no white space alone.
    #[inline]
    pub(super) fn counting(&self, next: Option<NodeId>) -> Option<NodeId> {
        match next {
            Some(child) if self.document.kind(child) != Kind::Element => self.counting_other(child),
            _ => next,
        }
    }

    fn counting_other(&self, mut child: NodeId) -> Option<NodeId> {
        loop {
            let counts = match self.document.kind(child) {
                Kind::Element => true,
                Kind::Text => self.counts(child),
                Kind::Instruction => self.switches.read_instructions && self.document.qname(child).local == MULTIPLE,
                Kind::Document | Kind::Attribute | Kind::Comment => false,
            };
            if counts {
                return Some(child);
            }
            child = self.document.next_sibling(child)?;
        }
    }

    /// Whether a text is more than white space, or is to be kept as all there is.
    #[inline]
    fn counts(&self, text: NodeId) -> bool {
        let document = self.document;
        // As Java's `String.trim` has it.
        document.value(text).bytes().any(|byte| byte > b' ')
            || (self.switches.spaces
                && document.previous_sibling(text).is_none()
                && document.next_sibling(text).is_none())
    }

    /// The key of the array that an instruction begins; without one it is that of the next element.
    pub(super) fn instructed(&mut self, instruction: NodeId) -> Option<Key> {
        let data = self.document.value(instruction);
        let data = data.trim();
        let name = match data.rsplit_once(':') {
            Some((_, local)) if !self.switches.prefixes => local,
            _ => data,
        };
        if data.is_empty() {
            let next = self.counting(self.document.next_sibling(instruction))?;
            return self.element_key(next);
        }
        Some(self.keys.of_text(&decode(name)))
    }

    /// A text with those behind it up to the next element, and the next child that counts.
    pub(super) fn text_run(&self, first: NodeId) -> (Cow<'a, str>, Option<NodeId>) {
        let mut text = self.document.value(first);
        let mut next = self.counting(self.document.next_sibling(first));
        while let Some(child) = next.filter(|&child| self.document.kind(child) == Kind::Text) {
            text.to_mut().push_str(&self.document.value(child));
            next = self.counting(self.document.next_sibling(child));
        }
        (text, next)
    }

    /// The key of the member that a child belongs to, if it is not text.
    #[inline]
    pub(super) fn member_key(&mut self, child: NodeId) -> Option<Key> {
        match self.document.kind(child) {
            Kind::Element => Some(self.key(child)),
            Kind::Instruction => self.instructed(child),
            _ => None,
        }
    }

    /// The key of a child, if that is an element.
    #[inline]
    fn element_key(&mut self, child: NodeId) -> Option<Key> {
        (self.document.kind(child) == Kind::Element).then(|| self.key(child))
    }

    #[inline]
    pub(super) fn key(&mut self, element: NodeId) -> Key {
        let name = self.document.name(element).expect("an element has a name");
        self.keys.of_element(name)
    }

    /// The children from `first` on with those of one key behind the first of them, the last child first;
    /// `None` if they stand so already.
    pub(super) fn gathered(&mut self, first: NodeId) -> Option<Vec<NodeId>> {
        let (mut places, mut children) = (HashMap::new(), Vec::new());
        let mut next = Some(first);
        while let Some(child) = next {
            let place = children.len();
            let key = self.member_key(child);
            children.push((key.map_or(place, |key| *places.entry(key).or_insert(place)), child));
            next = match self.document.kind(child) {
                Kind::Text => self.text_run(child).1,
                _ => self.counting(self.document.next_sibling(child)),
            };
        }
        if children.is_sorted_by_key(|&(place, _)| place) {
            return None;
        }
        children.sort_by_key(|&(place, _)| place);
        Some(children.into_iter().rev().map(|(_, child)| child).collect())
    }
}
