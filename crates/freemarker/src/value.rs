//! What expressions stand for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::decimal::Decimal;
use crate::error::Trouble;
use crate::escape::Format;
use crate::moment::Moment;

/// A value, of the template's own making or of the caller's.
#[derive(Clone)]
#[non_exhaustive]
pub enum Value<'m> {
    /// A text.
    Text(Text<'m>),
    /// A number.
    Number(Decimal),
    /// `true` or `false`.
    Boolean(bool),
    /// A date, a time, or both.
    Moment(Moment),
    /// Values in order.
    List(Rc<List<'m>>),
    /// Numbers in a row.
    Range(Range),
    /// Values by their names.
    Hash(Rc<Hash<'m>>),
    /// Something of the caller's.
    Object(Rc<dyn Object<'m> + 'm>),
    /// A text that is in an output format already.
    Markup(Arc<str>, Format),
    /// A macro or function, by its number in the template.
    Callable(usize),
    /// What `x!` gives where nothing is: a text, a list and a hash, all empty.
    Nothing,
}

/// Values in order.
pub struct List<'m> {
    items: Vec<Option<Value<'m>>>,
    depth: usize,
}

/// A text: borrowed from the data, or shared.
#[derive(Clone, Debug)]
pub enum Text<'m> {
    /// Of the data.
    Borrowed(&'m str),
    /// Of the template, or made while it ran.
    Shared(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl<'m> From<Cow<'m, str>> for Text<'m> {
    fn from(text: Cow<'m, str>) -> Text<'m> {
        match text {
            Cow::Borrowed(text) => Text::Borrowed(text),
            Cow::Owned(text) => Text::Shared(text.into()),
        }
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Text::Shared(text.into()))
    }
}

/// Numbers in a row, up or down.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub(crate) start: i64,
    pub(crate) step: i64,
    /// How many there are; `None` without an end.
    pub(crate) length: Option<usize>,
    /// Whether a slice by it may end where the sequence ends: `..*`.
    pub(crate) is_cut: bool,
}

impl Range {
    pub(crate) fn item(self, index: usize) -> Option<i64> {
        let inside = self.length.is_none_or(|length| index < length);
        let offset = i64::try_from(index).ok()?.checked_mul(self.step)?;
        self.start.checked_add(offset).filter(|_| inside)
    }
}

/// Something of the caller's that a template looks into; it may be a text, a sequence and a hash at once.
///
/// Errors of its functions are sentences; whoever asks adds the place.
pub trait Object<'m> {
    /// What it is called in a fault: `an XML element`.
    fn name(&self) -> String;

    /// Its text; `None` where it is something that has none.
    ///
    /// Errors: where it would have one, save for what is in it.
    fn text(&self) -> Result<Option<Text<'m>>, String> {
        Ok(None)
    }

    /// How many values it has in order; `None` where it is no sequence.
    fn length(&self) -> Option<usize> {
        None
    }

    /// One of the values in order, counted from 0.
    fn item(&self, _index: usize) -> Option<Value<'m>> {
        None
    }

    /// Whether it has values by name.
    fn is_hash(&self) -> bool {
        false
    }

    /// The value of that name.
    fn member(&self, _name: &str) -> Result<Option<Value<'m>>, String> {
        Ok(None)
    }

    /// The names it has, and what they stand for, in order; `None` where they cannot be listed.
    fn members(&self) -> Option<Members<'m>> {
        None
    }

    /// What is asked of a node of a tree: `parent`, `children`, `root`, `ancestors`, `node_name`, `node_type`,
    /// `node_namespace`, `next_sibling`, `previous_sibling`; `None` of what is no node.
    fn node(&self, _question: &str) -> Option<Option<Value<'m>>> {
        None
    }

    /// About how many steps it costs to ask for the member of that name.
    fn cost(&self, _name: &str) -> u64 {
        1
    }
}

/// Names with what they stand for.
pub type Members<'m> = Vec<Member<'m>>;

/// A name with what it stands for; `None` is null.
pub type Member<'m> = (Text<'m>, Option<Value<'m>>);

/// Values by name, in the order in which they came.
#[derive(Clone, Default)]
pub struct Hash<'m> {
    entries: Members<'m>,
    /// Where the names stand, once there are many.
    index: HashMap<Box<str>, usize>,
    depth: usize,
}

/// So few names are found by looking at each.
const FEW: usize = 8;

impl<'m> Hash<'m> {
    /// Adds a value, or puts it in the place of the one with that name.
    pub fn put(&mut self, name: Text<'m>, value: Option<Value<'m>>) {
        self.depth = self.depth.max(value.as_ref().map_or(0, Value::depth));
        if let Some(at) = self.find(&name) {
            self.entries[at].1 = value;
            return;
        }
        self.entries.push((name, value));
        if self.entries.len() == FEW + 1 {
            self.index = self.entries.iter().enumerate().map(|(at, (name, _))| ((**name).into(), at)).collect();
        } else if self.entries.len() > FEW {
            let at = self.entries.len() - 1;
            self.index.insert((*self.entries[at].0).into(), at);
        }
    }

    /// The value of that name; `None` where there is none, or it is null.
    pub fn get(&self, name: &str) -> Option<&Value<'m>> {
        self.find(name).and_then(|at| self.entries[at].1.as_ref())
    }

    fn find(&self, name: &str) -> Option<usize> {
        match self.entries.len() {
            0..=FEW => self.entries.iter().position(|(known, _)| **known == *name),
            _ => self.index.get(name).copied(),
        }
    }

    /// All names with their values.
    pub fn entries(&self) -> &[Member<'m>] {
        &self.entries
    }
}

impl<'m> FromIterator<Member<'m>> for Hash<'m> {
    fn from_iter<I: IntoIterator<Item = Member<'m>>>(entries: I) -> Hash<'m> {
        let mut hash = Hash::default();
        entries.into_iter().for_each(|(name, value)| hash.put(name, value));
        hash
    }
}

impl<'m> Value<'m> {
    /// A text of the data.
    pub fn text(text: impl Into<Cow<'m, str>>) -> Value<'m> {
        Value::Text(text.into().into())
    }

    /// Several values in order.
    pub fn list(items: Vec<Option<Value<'m>>>) -> Value<'m> {
        let depth = items.iter().flatten().map(Value::depth).max().unwrap_or(0);
        Value::List(Rc::new(List { items, depth }))
    }

    /// How deep sequences and hashes of the template's own lie in each other.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Value::List(list) => list.depth + 1,
            Value::Hash(hash) => hash.depth + 1,
            _ => 0,
        }
    }

    /// What it is called in a fault.
    pub(crate) fn name(&self) -> String {
        let name = match self {
            Value::Text(_) => "a text",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Moment(_) => "a date",
            Value::List(_) | Value::Range(_) => "a sequence",
            Value::Hash(_) => "a hash",
            Value::Object(object) => return object.name(),
            Value::Markup(..) => "markup",
            Value::Callable(_) => "a macro or function",
            Value::Nothing => "an empty text, sequence and hash",
        };
        name.to_owned()
    }

    /// How many values it has in order; `None` where it is no sequence, or one without an end.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Value::List(list) => Some(list.items.len()),
            Value::Range(range) => range.length,
            Value::Object(object) => object.length(),
            Value::Nothing => Some(0),
            _ => None,
        }
    }

    /// One of the values in order; the inner `None` is null.
    pub(crate) fn item(&self, index: usize) -> Option<Value<'m>> {
        match self {
            Value::List(list) => list.items.get(index).cloned().flatten(),
            Value::Range(range) => range.item(index).map(|number| Value::Number(number.into())),
            Value::Object(object) => object.item(index),
            _ => None,
        }
    }

    /// Whether it has values by name.
    pub(crate) fn is_hash(&self) -> bool {
        match self {
            Value::Hash(_) | Value::Nothing => true,
            Value::Object(object) => object.is_hash(),
            _ => false,
        }
    }

    /// The value of that name.
    pub(crate) fn member(&self, name: &str) -> Result<Option<Value<'m>>, Trouble> {
        match self {
            Value::Hash(hash) => Ok(hash.get(name).cloned()),
            Value::Object(object) if object.is_hash() => object.member(name).map_err(Trouble::wrong),
            Value::Nothing => Ok(None),
            other => Err(Trouble::wrong(format!("{} has no members, so there is no {name:?} in it", other.name()))),
        }
    }

    /// The names it has, and what they stand for.
    pub(crate) fn members(&self) -> Option<Cow<'_, [Member<'m>]>> {
        match self {
            Value::Hash(hash) => Some(Cow::Borrowed(hash.entries())),
            Value::Object(object) => object.members().map(Cow::Owned),
            Value::Nothing => Some(Cow::Borrowed(&[])),
            _ => None,
        }
    }
}

/// What one expression may do to another kind of value: said in the same words everywhere.
pub(crate) fn expected(wanted: &str, found: &Value<'_>) -> Trouble {
    Trouble::wrong(format!("{wanted} is wanted here, and this is {}", found.name()))
}
