//! Sorting (XSLT 1.0 §10, 2.0 §13).

use std::cmp::Ordering;

use myelin_xpath::{Atomic, Collation, Item, Moment, Value, Version};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{Avt, Binding, Sort};

/// How one key compares.
pub(super) struct Order {
    descending: bool,
    by: By,
}

impl Order {
    /// Whether keys compare alike.
    pub(super) fn is_same(&self, other: &Order) -> bool {
        self.descending == other.descending && self.by == other.by
    }
}

/// What keys are.
#[derive(PartialEq)]
enum By {
    Text(Collation),
    Number,
    /// By their types, as 2.0 has it; texts by the collation.
    Type(Collation),
}

/// A key of an item.
pub(super) enum Key<'a> {
    /// Nothing comes first.
    Nothing,
    Text(String),
    Number(f64),
    Atomic(Atomic<'a>),
}

impl<'a> Machine<'a> {
    /// The items in the order that the sorts say.
    pub(super) fn sorted(&'a self, value: Value<'a>, sorts: &'a [Sort], focus: &Focus<'a>) -> Outcome<Value<'a>> {
        if sorts.is_empty() {
            return Ok(value);
        }
        if value.len() < 2 {
            // What is wrong with the order is wrong of few items, too.
            let is_said = |avt: &Option<Avt>| matches!(avt, Some(Avt::Parts(_)));
            for sort in sorts {
                let parts = [&sort.order, &sort.lang, &sort.case_order, &sort.data_type];
                if sort.collation.is_some() || parts.into_iter().any(is_said) {
                    self.order(sort, focus)?;
                }
            }
            return Ok(value);
        }
        let items: Vec<Item<'a>> = value.into_items().collect();
        let order = self.order_of(&items, sorts, focus, |_, _| {})?;
        let mut items: Vec<Option<Item<'a>>> = items.into_iter().map(Some).collect();
        Ok(Value::from_items(order.into_iter().filter_map(|index| items[index].take()).collect()))
    }

    /// The places of items in the order that the sorts say. `prepare` is told each item's place before its keys are
    /// evaluated, with the machine.
    pub(super) fn order_of(
        &'a self,
        items: &[Item<'a>],
        sorts: &'a [Sort],
        focus: &Focus<'a>,
        mut prepare: impl FnMut(&'a Machine<'a>, usize),
    ) -> Outcome<Vec<usize>> {
        let orders: Outcome<Vec<Order>> = sorts.iter().map(|sort| self.order(sort, focus)).collect();
        let orders = orders?;
        let size = items.len() as u64;
        let mut keys: Vec<(usize, Vec<Key<'a>>)> = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            prepare(self, index);
            let focus = Focus { item: Some(item.clone()), position: index as u64 + 1, size };
            let of_item: Outcome<Vec<Key<'a>>> =
                sorts.iter().zip(&orders).map(|(sort, order)| self.key_of(sort, &order.by, &focus)).collect();
            self.build(size_of::<Key<'_>>() * sorts.len())?;
            keys.push((index, of_item?));
        }
        let mut failed = None;
        // Stable, so that equal items stay in the order they had.
        keys.sort_by(|(_, one), (_, other)| {
            for ((one, other), order) in one.iter().zip(other).zip(&orders) {
                let compared = compare(one, other, &order.by, self.options.now).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    Ordering::Equal
                });
                let compared = if order.descending { compared.reverse() } else { compared };
                if compared.is_ne() {
                    return compared;
                }
            }
            Ordering::Equal
        });
        match failed {
            Some(failure) => Err(failure),
            None => Ok(keys.into_iter().map(|(index, _)| index).collect()),
        }
    }

    pub(super) fn order(&'a self, sort: &'a Sort, focus: &Focus<'a>) -> Outcome<Order> {
        let order = self.optional_avt(sort.order.as_ref(), focus)?;
        let descending = match order.as_deref().map(str::trim) {
            None | Some("ascending") => false,
            Some("descending") => true,
            Some(other) => {
                return Err(Failure::new("XTDE0030", format!("order must be ascending or descending, not {other:?}")));
            }
        };
        let lang = self.optional_avt(sort.lang.as_ref(), focus)?;
        if let Some(lang) = lang.as_deref().map(str::trim)
            && !lang.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Err(Failure::new("XTDE0030", format!("lang must be a language such as en or pt-BR, not {lang:?}")));
        }
        let case_order = self.optional_avt(sort.case_order.as_ref(), focus)?;
        let collation = self.optional_avt(sort.collation.as_ref(), focus)?;
        let collation = || Collation::of_sort(lang.as_deref(), case_order.as_deref(), collation.as_deref());
        let collation = || collation().map_err(|message| Failure::new("XTDE1035", message));
        let data_type = self.optional_avt(sort.data_type.as_ref(), focus)?;
        let by = match data_type.as_deref().map(str::trim) {
            Some("number") => By::Number,
            Some("text") => By::Text(collation()?),
            None if sort.compatible => By::Text(collation()?),
            None => By::Type(collation()?),
            // A type that only an extension would know sorts as text.
            Some(other) if other.contains(':') => By::Text(collation()?),
            Some(other) => {
                return Err(Failure::new("XTDE0030", format!("data-type must be text or number, not {other:?}")));
            }
        };
        Ok(Order { descending, by })
    }

    fn key_of(&'a self, sort: &'a Sort, by: &By, focus: &Focus<'a>) -> Outcome<Key<'a>> {
        let value = self.temporarily(|| self.bind(&sort.key, focus))?;
        self.key_by(sort, by, value)
    }

    /// The key that a value is.
    pub(super) fn key_of_value(&self, sort: &Sort, order: &Order, value: Value<'a>) -> Outcome<Key<'a>> {
        self.key_by(sort, &order.by, value)
    }

    /// How keys of two items compare.
    pub(super) fn compare_keys(&self, one: &[Key<'a>], other: &[Key<'a>], orders: &[Order]) -> Outcome<Ordering> {
        for ((one, other), order) in one.iter().zip(other).zip(orders) {
            let compared = compare(one, other, &order.by, self.options.now)?;
            if compared.is_ne() {
                return Ok(if order.descending { compared.reverse() } else { compared });
            }
        }
        Ok(Ordering::Equal)
    }

    fn key_by(&self, sort: &Sort, by: &By, value: Value<'a>) -> Outcome<Key<'a>> {
        let count = value.len();
        let item = value.first();
        if count > 1 && !sort.compatible {
            return Err(Failure::new("XTTE1020", "a sort key is one value, and this one has several"));
        }
        Ok(match (by, item) {
            (By::Number, item) => Key::Number(item.map_or(f64::NAN, |item| item.number())),
            (By::Text(_), item) => {
                let version = if sort.compatible { Version::V1 } else { Version::V2 };
                let text = item.map_or_else(String::new, |item| item.into_text(version).into_owned());
                self.build(text.len())?;
                Key::Text(text)
            }
            (By::Type(_), None) => Key::Nothing,
            (By::Type(_), Some(item)) => match item.atomize()? {
                Atomic::Text(text, _) => Key::Text(text.into_owned()),
                other => Key::Atomic(other),
            },
        })
    }

    /// `xsl:perform-sort`
    pub(super) fn perform_sort(
        &'a self,
        items: &'a Binding,
        sorts: &'a [Sort],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let value = self.bind(items, focus)?;
        let sorted = self.sorted(value, sorts, focus)?;
        out.give(sorted, Version::V2)
    }
}

fn compare(one: &Key<'_>, other: &Key<'_>, by: &By, now: Option<Moment>) -> Result<Ordering, Box<Failure>> {
    Ok(match (one, other) {
        (Key::Nothing, Key::Nothing) => Ordering::Equal,
        (Key::Nothing, _) => Ordering::Less,
        (_, Key::Nothing) => Ordering::Greater,
        (Key::Text(one), Key::Text(other)) => match by {
            By::Text(collation) | By::Type(collation) => collation.compare(one, other),
            By::Number => one.cmp(other),
        },
        (Key::Number(one), Key::Number(other)) => numbers(*one, *other),
        (Key::Atomic(one), Key::Atomic(other)) => one.order(other, now)?,
        _ => return Err(Failure::new("XTDE1030", "these sort keys cannot be compared: they are of different types")),
    })
}

/// What is no number comes first (§10).
fn numbers(one: f64, other: f64) -> Ordering {
    one.partial_cmp(&other).unwrap_or_else(|| other.is_nan().cmp(&one.is_nan()))
}
