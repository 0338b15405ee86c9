//! A call of a function: its arguments are worked out when the function asks for them, in the form it asks for.

use std::borrow::Cow;
use std::ops::Deref;
use std::rc::Rc;

use crate::ast::Expr;
use crate::collation::Collation;
use crate::environment::Version;
use crate::error::Error;
use crate::function::Call;
use crate::pattern::Pattern;
use crate::run::{Flow, finish};
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Array, Atomic, FunctionItem, Item, Map, NodeRef, Value, whole};

/// A pattern of the expression, or one that was compiled while it runs.
pub(super) enum CompiledPattern<'a> {
    Constant(&'a Pattern),
    Cached(Rc<Pattern>),
}

impl Deref for CompiledPattern<'_> {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        match self {
            CompiledPattern::Constant(pattern) => pattern,
            CompiledPattern::Cached(pattern) => pattern,
        }
    }
}

impl<'a> Call<'_, 'a> {
    #[inline]
    pub(super) fn is_v1(&self) -> bool {
        self.run.version == Version::V1
    }

    /// How many arguments there are.
    pub(super) fn count(&self) -> usize {
        self.arguments.len()
    }

    /// An argument as it is.
    pub(super) fn value(&self, index: usize) -> Result<Value<'a>, Error> {
        self.run.value(&self.arguments[index], self.focus)
    }

    /// The items of an argument one by one, in order.
    pub(super) fn each(&self, index: usize, mut sink: impl FnMut(Item<'a>) -> Result<(), Error>) -> Result<(), Error> {
        finish(self.run.each(&self.arguments[index], self.focus, &mut |item| Ok(sink(item)?)))
    }

    /// The atomic values of an argument one by one, in order.
    pub(super) fn each_atomic(
        &self,
        index: usize,
        mut sink: impl FnMut(Atomic<'a>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut sink = |atomic| Ok(sink(atomic)?);
        finish(self.run.each(&self.arguments[index], self.focus, &mut |item| self.run.each_atomic(item, &mut sink)))
    }

    /// Adds the items of a value to a list, paid for.
    pub(super) fn gather(&self, items: &mut Vec<Item<'a>>, value: Value<'a>) -> Result<(), Error> {
        self.run.build(value.len() * size_of::<Item<'_>>())?;
        self.run.step(value.len() as u64)?;
        items.extend(value.into_items());
        Ok(())
    }

    /// How many items an argument has; what hands them out one by one is not gathered for that.
    pub(super) fn length(&self, index: usize) -> Result<u64, Error> {
        if let Expr::Variable(_) | Expr::Local(_) = self.arguments[index] {
            return Ok(self.value(index)?.len() as u64);
        }
        let mut count = 0;
        self.each(index, |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    /// The items of an argument in order, until the sink has had enough.
    pub(super) fn each_until(&self, index: usize, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Result<(), Error> {
        finish(self.run.each(&self.arguments[index], self.focus, sink))
    }

    /// The items of an argument in any order, until the sink has had enough.
    pub(super) fn any_until(&self, index: usize, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Result<(), Error> {
        finish(self.run.any(&self.arguments[index], self.focus, sink))
    }

    /// An argument as a condition.
    pub(super) fn condition(&self, index: usize) -> Result<bool, Error> {
        self.run.condition(&self.arguments[index], self.focus)
    }

    /// An argument as one item or none; in version 1 the first of several.
    pub(super) fn item(&self, index: usize) -> Result<Option<Item<'a>>, Error> {
        self.run.one(&self.arguments[index], self.focus)
    }

    /// An argument as one atomic value or none.
    pub(super) fn atomic(&self, index: usize) -> Result<Option<Atomic<'a>>, Error> {
        self.run.operand(&self.arguments[index], self.focus)
    }

    /// An argument as a text whatever type it has: the empty text where it is empty.
    #[inline]
    pub(super) fn any_text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        self.run.text(&self.arguments[index], self.focus)
    }

    /// An argument as a text: the empty text where it is empty; later versions refuse numbers and the like.
    #[inline]
    pub(super) fn text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        match self.is_v1() {
            true => self.any_text(index),
            false => Ok(self.optional_text(index)?.unwrap_or_default()),
        }
    }

    /// An argument as a text, if it is not empty.
    pub(super) fn optional_text(&self, index: usize) -> Result<Option<Cow<'a, str>>, Error> {
        if self.is_v1() {
            return match self.item(index)? {
                None => Ok(None),
                Some(item) => self.run.item_text(item).map(Some),
            };
        }
        match self.atomic(index)? {
            None => Ok(None),
            Some(Atomic::Text(text, _)) => Ok(Some(text)),
            Some(other) => Err(wrong_type("a text", &other)),
        }
    }

    /// An argument as a text that must be there.
    pub(super) fn required_text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        match self.optional_text(index)? {
            Some(text) => Ok(text),
            None if self.is_v1() => Ok(Cow::Borrowed("")),
            None => Err(missing()),
        }
    }

    /// An argument as a double: NaN where version 1 finds none; `None` where later versions find nothing.
    pub(super) fn double(&self, index: usize) -> Result<Option<f64>, Error> {
        if self.is_v1() {
            return self.run.number(&self.arguments[index], self.focus).map(Some);
        }
        match self.numeric(index)? {
            None => Ok(None),
            Some(atomic) => Ok(atomic.as_double()),
        }
    }

    /// An argument as a double that must be there.
    #[inline]
    pub(super) fn required_double(&self, index: usize) -> Result<f64, Error> {
        if let Expr::Number(number) = &self.arguments[index] {
            return Ok(*number);
        }
        self.double(index)?.ok_or_else(missing)
    }

    /// An argument as a number of whatever type; in version 1 always a double.
    pub(super) fn numeric(&self, index: usize) -> Result<Option<Atomic<'a>>, Error> {
        if self.is_v1() {
            return Ok(self.double(index)?.map(Atomic::Double));
        }
        match self.atomic(index)? {
            None => Ok(None),
            Some(atomic) if atomic.is_numeric() => Ok(Some(atomic)),
            Some(atomic) if atomic.atomic_type() == T::Untyped => cast(atomic, T::Double, self.run.version).map(Some),
            Some(other) => Err(wrong_type("a number", &other)),
        }
    }

    /// An argument as a whole number that must be there.
    pub(super) fn integer(&self, index: usize) -> Result<i64, Error> {
        let atomic = self.atomic(index)?.ok_or_else(missing)?;
        whole(&atomic, self.run.version)
    }

    /// An argument as a value of one type, if it is not empty; a text of a type unknown is read as one.
    pub(super) fn typed(&self, index: usize, wanted: T) -> Result<Option<Atomic<'a>>, Error> {
        match self.atomic(index)? {
            None => Ok(None),
            Some(atomic) if atomic.atomic_type().is(wanted) => Ok(Some(atomic)),
            Some(atomic) if atomic.atomic_type() == T::Untyped || self.is_v1() => {
                cast(atomic, wanted, self.run.version).map(Some)
            }
            Some(other) => Err(wrong_type(wanted.name(), &other)),
        }
    }

    /// An argument as one node or none; in version 1 the first of several.
    pub(super) fn node(&self, index: usize) -> Result<Option<NodeRef<'a>>, Error> {
        if let (Expr::Context, Some(Item::Node(node))) = (&self.arguments[index], self.focus.item) {
            return Ok(Some(*node));
        }
        match self.item(index)? {
            None => Ok(None),
            Some(Item::Node(node)) => Ok(Some(node)),
            Some(Item::Atomic(other)) => Err(wrong_type("a node", &other)),
            Some(Item::Function(_)) => Err(Error::value("XPTY0004", "a node is wanted here, and there is a function")),
        }
    }

    /// An argument as a function.
    pub(super) fn function(&self, index: usize) -> Result<FunctionItem<'a>, Error> {
        self.run.function(self.value(index)?)
    }

    /// An argument as a map.
    pub(super) fn map(&self, index: usize) -> Result<Map<'a>, Error> {
        match self.value(index)? {
            Value::Item(Item::Function(FunctionItem::Map(map))) => Ok(map),
            _ => Err(no_map()),
        }
    }

    /// An argument as an array.
    pub(super) fn array(&self, index: usize) -> Result<Array<'a>, Error> {
        match self.value(index)? {
            Value::Item(Item::Function(FunctionItem::Array(array))) => Ok(array),
            _ => Err(no_array()),
        }
    }

    /// The pattern in an argument, with the flags behind it if they are there.
    pub(super) fn pattern(&self, index: usize, flags: usize) -> Result<CompiledPattern<'a>, Error> {
        if let Expr::Pattern(pattern) = &self.arguments[index] {
            return Ok(CompiledPattern::Constant(pattern));
        }
        let flags = if flags < self.count() { self.required_text(flags)? } else { Cow::Borrowed("") };
        self.run.patterns().get(&self.required_text(index)?, &flags).map(CompiledPattern::Cached)
    }

    /// How texts are compared; an argument that is left out or empty says as the expression compares them.
    ///
    /// Errors: `FOCH0002` where there is no such collation.
    pub(super) fn collation(&self, index: usize) -> Result<Collation, Error> {
        if index >= self.count() {
            return Ok(Collation::CODEPOINTS);
        }
        let uri = self.required_text(index)?;
        Collation::named(&uri).map_err(|message| Error::value("FOCH0002", message))
    }

    /// A text that was made, paid for.
    #[inline]
    pub(super) fn built(&self, text: impl Into<Cow<'a, str>>) -> Result<Cow<'a, str>, Error> {
        let text = text.into();
        if let Cow::Owned(text) = &text {
            self.run.build(text.len())?;
        }
        Ok(text)
    }
}

pub(super) fn wrong_type(wanted: &str, found: &Atomic<'_>) -> Error {
    Error::value("XPTY0004", format!("{wanted} is wanted here, and there is {}", found.atomic_type()))
}

pub(super) fn missing() -> Error {
    Error::value("XPTY0004", "a value is wanted here, and there is none")
}

pub(super) fn no_map() -> Error {
    Error::value("XPTY0004", "a map is wanted here, and there is something else")
}

pub(super) fn no_array() -> Error {
    Error::value("XPTY0004", "an array is wanted here, and there is something else")
}
