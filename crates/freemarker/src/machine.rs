//! The state of one run of a template, and the frames of its variables.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;

use crate::formats::Formats;
use crate::names::{Names, Symbol};
use crate::syntax::{Block, Template};
use crate::value::Value;

/// How much one run may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many steps: instructions, parts of expressions, and what they cost.
    pub steps: u64,
    /// How many bytes the output, and each text on the way, may have.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 5_000_000, bytes: 10 << 20 }
    }
}

/// How a run goes.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// How much it may do.
    pub limits: Limits,
    /// What `.now` is, in milliseconds since 1970.
    pub now: i64,
    /// Whether the time for it is over; asked now and then.
    pub expired: Option<&'o dyn Fn() -> bool>,
}

/// One run of a template.
pub(crate) struct Run<'r, 'm> {
    pub(crate) template: &'r Template,
    pub(crate) options: &'r Options<'r>,
    pub(crate) given: &'r [(&'r str, Value<'m>)],
    /// The data, and what was assigned: by the numbers of the names.
    pub(crate) data: Vec<Option<Value<'m>>>,
    pub(crate) globals: Vec<Option<Value<'m>>>,
    pub(crate) variables: Vec<Option<Value<'m>>>,
    /// The innermost of what stands in front of these.
    pub(crate) frame: Option<Rc<Frame<'r, 'm>>>,
    pub(crate) out: String,
    pub(crate) steps: u64,
    pub(crate) calls: usize,
    pub(crate) formats: Formats,
    /// The names of the template and those that came up in `?eval`.
    pub(crate) names: Option<Names>,
    pub(crate) patterns: HashMap<(String, String), Regex>,
    /// What went wrong in the `#attempt` around.
    pub(crate) error: Option<String>,
}

/// Variables, and where to look for others.
pub(crate) struct Frame<'r, 'm> {
    outer: Option<Rc<Frame<'r, 'm>>>,
    pub(crate) kind: Kind<'r, 'm>,
    variables: RefCell<Vec<(Symbol, Option<Value<'m>>)>>,
}

/// Whose variables they are.
pub(crate) enum Kind<'r, 'm> {
    /// A lambda's, or those of the body of a call.
    Plain,
    Loop(Position),
    /// Of a `#list` without variables, whose `#items` follows.
    Pending(Value<'m>),
    /// Of a macro or function, with the body of the call.
    Call(Option<Body<'r, 'm>>),
}

/// What stands between the tags of a call, with the variables seen there.
#[derive(Clone)]
pub(crate) struct Body<'r, 'm> {
    pub(crate) block: &'r Block,
    pub(crate) variables: &'r [Symbol],
    pub(crate) frame: Option<Rc<Frame<'r, 'm>>>,
}

/// How far a loop is.
#[derive(Clone)]
pub(crate) struct Position {
    pub(crate) variable: Symbol,
    pub(crate) index: Cell<usize>,
    length: Option<usize>,
}

impl Position {
    pub(crate) fn new(variable: Symbol, length: Option<usize>) -> Position {
        Position { variable, index: Cell::new(0), length }
    }

    pub(crate) fn has_next(&self) -> bool {
        self.length.is_none_or(|length| self.index.get() + 1 < length)
    }
}

impl<'r, 'm> Frame<'r, 'm> {
    pub(crate) fn new(
        outer: Option<Rc<Frame<'r, 'm>>>,
        kind: Kind<'r, 'm>,
        variables: Vec<(Symbol, Option<Value<'m>>)>,
    ) -> Rc<Frame<'r, 'm>> {
        Rc::new(Frame { outer, kind, variables: RefCell::new(variables) })
    }

    /// What the first of these frames gives, from the innermost on.
    pub(crate) fn find<T>(from: Option<&Rc<Self>>, mut give: impl FnMut(&Rc<Self>) -> Option<T>) -> Option<T> {
        let mut frame = from;
        while let Some(inner) = frame {
            if let Some(found) = give(inner) {
                return Some(found);
            }
            frame = inner.outer.as_ref();
        }
        None
    }

    pub(crate) fn get(&self, symbol: Symbol) -> Option<Value<'m>> {
        let variables = self.variables.borrow();
        variables.iter().find(|(name, _)| *name == symbol).and_then(|(_, value)| value.clone())
    }

    pub(crate) fn put(&self, symbol: Symbol, value: Option<Value<'m>>) {
        let mut variables = self.variables.borrow_mut();
        match variables.iter_mut().find(|(name, _)| *name == symbol) {
            Some(variable) => variable.1 = value,
            None => variables.push((symbol, value)),
        }
    }

    /// Begins one round of a loop.
    pub(crate) fn begin(&self, index: usize, values: impl Iterator<Item = (Symbol, Option<Value<'m>>)>) {
        if let Kind::Loop(position) = &self.kind {
            position.index.set(index);
        }
        values.for_each(|(symbol, value)| self.put(symbol, value));
    }
}
