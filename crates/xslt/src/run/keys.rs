//! Keys: for each document and each key an index, made when somebody first asks (XSLT 1.0 §12.2).

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Atomic, Item, Node, NodeRef, Value, Version};

use super::caches::Index;
use super::failure::Failure;
use super::failure::Outcome;
use super::focus::{Focus, path};
use super::machine::Machine;
use crate::functions::composite_key;
use crate::program::{Binding, Key};

impl<'a> Machine<'a> {
    /// The nodes of a document, in document order, that have this value of a key.
    ///
    /// Values are equal if their texts are, and they are of comparable types.
    pub(super) fn keyed_nodes(&'a self, key: usize, value: &Atomic<'a>, document: &'a Document) -> Outcome<Value<'a>> {
        let index = self.index(key, document)?;
        let wanted = comparable(value);
        let found = wanted.and_then(|wanted| index.get(&*wanted)).map_or(&[][..], Vec::as_slice);
        self.meter.add(found.len() as u64, 0);
        Ok(Value::nodes(document, found.iter().copied().map(Node::Tree).collect()))
    }

    fn index(&'a self, key: usize, document: &'a Document) -> Outcome<Rc<Index>> {
        let place = (key, std::ptr::from_ref(document));
        if let Some(index) = self.keys.borrow().get(&place) {
            let circular = || Failure::new("XTDE0640", "the key is part of its own definition");
            return index.clone().ok_or_else(circular);
        }
        self.build(INDEX_BYTES)?;
        self.keys.borrow_mut().insert(place, None);
        let made = self.make_index(&self.program.keys[key], document).map(Rc::new);
        let mut keys = self.keys.borrow_mut();
        match &made {
            Ok(index) => drop(keys.insert(place, Some(Rc::clone(index)))),
            Err(_) => drop(keys.remove(&place)),
        }
        made
    }

    fn make_index(&'a self, key: &'a Key, document: &'a Document) -> Outcome<Index> {
        let mut index = HashMap::new();
        let top = document.document_node();
        for node in std::iter::once(top).chain(document.descendants(top)) {
            self.enter_key(key, document, node, &mut index)?;
            if document.kind(node) == Kind::Element {
                for attribute in document.attributes(node) {
                    self.enter_key(key, document, attribute, &mut index)?;
                }
            }
        }
        Ok(index)
    }

    /// Puts a node under each value that the key has for it.
    fn enter_key(&'a self, key: &'a Key, document: &'a Document, node: NodeId, index: &mut Index) -> Outcome<()> {
        let focus = Focus::on(NodeRef::new(document, node), 1, 1);
        for definition in &key.definitions {
            self.count()?;
            if !self.matches_any(&definition.patterns, &focus)? {
                continue;
            }
            // In 1.0 all values are texts.
            let typed = !matches!(&definition.value, Binding::Select(it) if it.expr.version() == Version::V1);
            let mut failed = self.aside(
                definition.frame,
                || format!("key {}", key.name),
                || {
                    let value = self.bind(&definition.value, &focus)?;
                    let value = if key.composite { Value::from(composite_key(&value)) } else { value };
                    for value in value.into_items() {
                        let text = match &value {
                            Item::Atomic(atomic) if typed => match comparable(atomic) {
                                Some(text) => Cow::Owned(text.into_owned()),
                                None => continue,
                            },
                            _ => self.item_text(value),
                        };
                        self.build(text.len() + ENTRY_BYTES)?;
                        let nodes = index.entry(text.into_owned()).or_default();
                        if nodes.last() != Some(&node) {
                            nodes.push(node);
                        }
                    }
                    Ok(())
                },
            );
            if let Err(failure) = &mut failed {
                failure.at(definition.at, || Some(path(NodeRef::new(document, node))));
            }
            failed?;
        }
        Ok(())
    }
}

/// The text that a value shares with those it is equal to, and with no others: what is no text has a sign in front that
/// texts cannot have. `None`: it is equal to nothing.
fn comparable<'v>(value: &'v Atomic<'_>) -> Option<Cow<'v, str>> {
    Some(match value {
        Atomic::Text(text, _) => Cow::Borrowed(text),
        Atomic::Moment(moment) => Cow::Owned(format!("\0{} {}", moment.kind, moment.timeline())),
        other => match other.as_double() {
            Some(number) if number.is_nan() => return None,
            Some(number) => Cow::Owned(format!("\0{number}")),
            None => Cow::Owned(format!("\0{} {}", other.atomic_type(), other.text(Version::V2))),
        },
    })
}

/// What an index is counted as before it has entries.
const INDEX_BYTES: usize = 160;

/// What an entry of an index is counted as, beside its text.
const ENTRY_BYTES: usize = 64;
