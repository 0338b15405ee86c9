//! A call of a function: its arguments are worked out when the function asks for them, in the form it asks for.

use std::borrow::Cow;

use crate::ast::Expr;
use crate::environment::Version;
use crate::error::Error;
use crate::evaluate::{Flow, Focus, Run, finish};
use crate::functions::Pattern;
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Atomic, Item, NodeRef, Value, whole};

/// The only collation there is: by the numbers of the characters.
pub(super) const CODEPOINTS: &str = "http://www.w3.org/2005/xpath-functions/collation/codepoint";

/// A call of a function while an expression runs.
pub(crate) struct Call<'r, 'a> {
    pub(super) run: &'r Run<'a>,
    pub(super) focus: &'r Focus<'r, 'a>,
    arguments: &'a [Expr],
}

impl<'r, 'a> Call<'r, 'a> {
    pub(crate) fn new(run: &'r Run<'a>, focus: &'r Focus<'r, 'a>, arguments: &'a [Expr]) -> Call<'r, 'a> {
        Call { run, focus, arguments }
    }

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
    pub(super) fn any_text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        self.run.text(&self.arguments[index], self.focus)
    }

    /// An argument as a text: the empty text where it is empty; later versions refuse numbers and the like.
    pub(super) fn text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        Ok(self.optional_text(index)?.unwrap_or_default())
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
            return Ok(Some(self.item(index)?.map_or(Ok(f64::NAN), |item| self.run.item_number(item))?));
        }
        match self.numeric(index)? {
            None => Ok(None),
            Some(atomic) => Ok(atomic.as_double()),
        }
    }

    /// An argument as a double that must be there.
    pub(super) fn required_double(&self, index: usize) -> Result<f64, Error> {
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
        match self.item(index)? {
            None => Ok(None),
            Some(Item::Node(node)) => Ok(Some(node)),
            Some(Item::Atomic(other)) => Err(wrong_type("a node", &other)),
        }
    }

    /// The pattern in an argument, with the flags behind it if they are there.
    pub(super) fn pattern(&self, index: usize, flags: usize) -> Result<Cow<'a, Pattern>, Error> {
        if let Expr::Pattern(pattern) = &self.arguments[index] {
            return Ok(Cow::Borrowed(pattern));
        }
        let flags = if flags < self.count() { self.required_text(flags)? } else { Cow::Borrowed("") };
        Pattern::new(&self.required_text(index)?, &flags).map(Cow::Owned)
    }

    /// Refuses a collation that is not there; an argument that is left out is none.
    pub(super) fn collation(&self, index: usize) -> Result<(), Error> {
        if index >= self.count() {
            return Ok(());
        }
        let collation = self.required_text(index)?;
        if collation == CODEPOINTS || collation.ends_with("collation/codepoint") {
            return Ok(());
        }
        Err(Error::value("FOCH0002", format!("there is no collation {collation:?}: texts compare by {CODEPOINTS}")))
    }

    /// A count: a double in version 1.
    pub(super) fn whole(&self, number: u64) -> Value<'a> {
        if self.is_v1() { Value::from(number as f64) } else { Value::from(number as i64) }
    }

    /// A text that was made.
    pub(super) fn built(&self, text: impl Into<Cow<'a, str>>) -> Result<Value<'a>, Error> {
        let text = text.into();
        if let Cow::Owned(text) = &text {
            self.run.build(text.len())?;
        }
        Ok(Value::from(text))
    }
}

pub(super) fn wrong_type(wanted: &str, found: &Atomic<'_>) -> Error {
    Error::value("XPTY0004", format!("{wanted} is wanted here, and there is {}", found.atomic_type()))
}

pub(super) fn missing() -> Error {
    Error::value("XPTY0004", "a value is wanted here, and there is none")
}
