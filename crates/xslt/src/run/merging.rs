//! `xsl:merge` (XSLT 3.0 §15): sequences that are in order become one, group by group.

use std::cmp::Ordering;
use std::rc::Rc;

use myelin_xpath::{Error, Item, NodeRef, Value};

use super::arrange::{Key, Order};
use super::failure::{Failure, Outcome};
use super::focus::{Focus, text_of};
use super::frame::Flow;
use super::kept::Merged;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{Merge, MergeFrom, MergeSource};

/// An item on its way into a group.
struct Entry<'a> {
    source: usize,
    item: Item<'a>,
    keys: Vec<Key<'a>>,
    /// The keys as values, for `current-merge-key()`.
    values: Value<'a>,
}

impl<'a> Machine<'a> {
    /// `xsl:merge`
    #[inline(never)]
    pub(super) fn merge(&'a self, merge: &'a Merge, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let mut common: Option<Vec<Order>> = None;
        for (index, source) in merge.sources.iter().enumerate() {
            for place in self.places(source, focus)? {
                let orders: Outcome<Vec<Order>> = source.keys.iter().map(|key| self.order(key, &place)).collect();
                let orders = orders?;
                if common
                    .as_ref()
                    .is_some_and(|common| !common.iter().zip(&orders).all(|(one, other)| one.is_same(other)))
                {
                    let message = "the merge keys of all sources have to be in the same order";
                    return Err(Failure::new("XTDE2210", message));
                }
                let mut of_source = self.entries(index, source, &orders, &place)?;
                if source.sorts_first {
                    self.sort_entries(&mut of_source, &orders)?;
                } else {
                    self.check_order(&of_source, &orders)?;
                }
                entries.append(&mut of_source);
                common.get_or_insert(orders);
            }
        }
        let orders = common.unwrap_or_default();
        // Stable: of equal items those of the first source come first.
        self.sort_entries(&mut entries, &orders)?;
        let mut groups: Vec<Vec<Entry<'a>>> = Vec::new();
        for entry in entries {
            let same = match groups.last().and_then(|group| group.first()) {
                Some(first) => self.compare_keys(&first.keys, &entry.keys, &orders)?.is_eq(),
                None => false,
            };
            match groups.last_mut() {
                Some(group) if same => group.push(entry),
                _ => groups.push(vec![entry]),
            }
        }
        self.run_groups(merge, groups, out)
    }

    fn run_groups(
        &'a self,
        merge: &'a Merge,
        groups: Vec<Vec<Entry<'a>>>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let (outer, group, rule) = (self.merged.take(), self.group.take(), self.rule.take());
        let size = groups.len() as u64;
        let mut result = Ok(Flow::Next);
        for (position, group) in groups.into_iter().enumerate() {
            if let Err(failure) = self.count() {
                result = Err(failure);
                break;
            }
            let key = group.first().map_or(Value::EMPTY, |first| first.values.clone());
            let first = group.first().map(|first| first.item.clone());
            let names = merge.sources.iter().map(|source| source.name.as_deref()).collect();
            let mut items: Vec<Vec<Item<'a>>> = merge.sources.iter().map(|_| Vec::new()).collect();
            for entry in group {
                items[entry.source].push(entry.item);
            }
            let items = items.into_iter().map(|items| Value::from_items(items).shared()).collect();
            self.merged.replace(Some(Rc::new(Merged { names, items, key })));
            let focus = Focus { item: first, position: position as u64 + 1, size };
            result = self.run(&merge.body, &focus, out);
            if !matches!(result, Ok(Flow::Next)) {
                break;
            }
        }
        self.merged.replace(outer);
        self.group.replace(group);
        self.rule.set(rule);
        result
    }

    /// What the sequences of a source start from.
    fn places(&'a self, source: &'a MergeSource, focus: &Focus<'a>) -> Outcome<Vec<Focus<'a>>> {
        let items = match &source.from {
            MergeFrom::Here => return Ok(vec![focus.clone()]),
            MergeFrom::Items(select) => self.select(select, focus)?.into_items().collect::<Vec<_>>(),
            MergeFrom::Documents(select) => {
                let base = &self.program.scopes[source.scope.0 as usize].base;
                let mut documents = Vec::new();
                for href in self.select(select, focus)?.atomized()?.into_items() {
                    let href = text_of(href, myelin_xpath::Version::V3);
                    let document = self.load_document(href.trim(), base).map_err(|error| self.failure(error, &href))?;
                    self.uses_accumulators(document, &source.accumulators);
                    documents.push(Item::Node(NodeRef::new(document, document.document_node())));
                }
                documents
            }
        };
        self.build(items.len() * size_of::<Focus<'_>>())?;
        let size = items.len() as u64;
        let focus = |(index, item)| Focus { item: Some(item), position: index as u64 + 1, size };
        Ok(items.into_iter().enumerate().map(focus).collect())
    }

    /// The items of one sequence with their keys.
    fn entries(
        &'a self,
        index: usize,
        source: &'a MergeSource,
        orders: &[Order],
        place: &Focus<'a>,
    ) -> Outcome<Vec<Entry<'a>>> {
        let selected = self.select(&source.select, place)?;
        let size = selected.len() as u64;
        let mut entries = Vec::with_capacity(selected.len());
        for (position, item) in selected.into_items().enumerate() {
            self.count()?;
            self.build(size_of::<Entry<'_>>() + size_of::<Key<'_>>() * orders.len())?;
            let focus = Focus { item: Some(item.clone()), position: position as u64 + 1, size };
            let mut keys = Vec::with_capacity(orders.len());
            let mut values = Vec::with_capacity(orders.len());
            for (key, order) in source.keys.iter().zip(orders) {
                let value = self.temporarily(|| self.bind(&key.key, &focus))?.atomized()?;
                keys.push(self.key_of_value(key, order, value.clone())?);
                values.extend(value.into_items());
            }
            entries.push(Entry { source: index, item, keys, values: Value::from_items(values) });
        }
        Ok(entries)
    }

    fn sort_entries(&self, entries: &mut [Entry<'a>], orders: &[Order]) -> Outcome<()> {
        let mut failed = None;
        entries.sort_by(|one, other| {
            self.compare_keys(&one.keys, &other.keys, orders).unwrap_or_else(|failure| {
                failed.get_or_insert(failure);
                Ordering::Equal
            })
        });
        failed.map_or(Ok(()), |failure| Err(incomparable(failure)))
    }

    fn check_order(&self, entries: &[Entry<'a>], orders: &[Order]) -> Outcome<()> {
        for pair in entries.windows(2) {
            if self.compare_keys(&pair[0].keys, &pair[1].keys, orders).map_err(incomparable)?.is_gt() {
                let message =
                    "the items of a merge source are not in the order of its keys: sort-before-merge=\"yes\" sorts";
                return Err(Failure::new("XTDE2220", message));
            }
        }
        Ok(())
    }

    /// `current-merge-group()`; of one source where a name is given.
    pub(super) fn merge_group(&self, name: Option<&str>) -> Result<Value<'a>, Error> {
        let merged = self.merged.borrow();
        let none = || Error::value("XTDE3480", "current-merge-group(): nothing is merged here");
        let merged = merged.as_ref().ok_or_else(none)?;
        let Some(name) = name else {
            let items = merged.items.iter().flat_map(|items| items.items().collect::<Vec<_>>()).collect();
            return Ok(Value::from_items(items));
        };
        let place = merged.names.iter().position(|known| *known == Some(name));
        let unknown = || Error::value("XTDE3490", format!("current-merge-group(): there is no source {name:?}"));
        place.map(|place| merged.items[place].clone()).ok_or_else(unknown)
    }

    /// `current-merge-key()`
    pub(super) fn merge_key(&self) -> Result<Value<'a>, Error> {
        let merged = self.merged.borrow();
        let none = || Error::value("XTDE3510", "current-merge-key(): nothing is merged here");
        merged.as_ref().map(|merged| merged.key.clone()).ok_or_else(none)
    }
}

/// What cannot be compared is told by a code of its own.
fn incomparable(mut failure: Box<Failure>) -> Box<Failure> {
    if failure.code == "XTDE1030" || failure.code == "XPTY0004" {
        failure.code = "XTTE2230".into();
    }
    failure
}
