//! Variables that stand in front of those of the template: of loops, calls and lambdas.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::syntax::{Block, Symbol};
use crate::value::Value;

/// Variables, and where to look for others.
pub(super) struct Frame<'r, 'm> {
    outer: Option<Rc<Frame<'r, 'm>>>,
    pub(super) kind: Kind<'r, 'm>,
    variables: RefCell<Vec<(Symbol, Option<Value<'m>>)>>,
}

/// Whose variables they are.
pub(super) enum Kind<'r, 'm> {
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
pub(super) struct Body<'r, 'm> {
    pub(super) block: &'r Block,
    pub(super) variables: &'r [Symbol],
    pub(super) frame: Option<Rc<Frame<'r, 'm>>>,
}

/// How far a loop is.
#[derive(Clone)]
pub(super) struct Position {
    pub(super) variable: Symbol,
    pub(super) index: Cell<usize>,
    length: Option<usize>,
}

impl Position {
    pub(super) fn new(variable: Symbol, length: Option<usize>) -> Position {
        Position { variable, index: Cell::new(0), length }
    }

    pub(super) fn has_next(&self) -> bool {
        self.length.is_none_or(|length| self.index.get() + 1 < length)
    }
}

impl<'r, 'm> Frame<'r, 'm> {
    pub(super) fn new(
        outer: Option<Rc<Frame<'r, 'm>>>,
        kind: Kind<'r, 'm>,
        variables: Vec<(Symbol, Option<Value<'m>>)>,
    ) -> Rc<Frame<'r, 'm>> {
        Rc::new(Frame { outer, kind, variables: RefCell::new(variables) })
    }

    /// What the first of these frames gives, from the innermost on.
    pub(super) fn find<T>(from: Option<&Rc<Self>>, mut give: impl FnMut(&Rc<Self>) -> Option<T>) -> Option<T> {
        let mut frame = from;
        while let Some(inner) = frame {
            if let Some(found) = give(inner) {
                return Some(found);
            }
            frame = inner.outer.as_ref();
        }
        None
    }

    pub(super) fn get(&self, symbol: Symbol) -> Option<Value<'m>> {
        let variables = self.variables.borrow();
        variables.iter().find(|(name, _)| *name == symbol).and_then(|(_, value)| value.clone())
    }

    pub(super) fn put(&self, symbol: Symbol, value: Option<Value<'m>>) {
        let mut variables = self.variables.borrow_mut();
        match variables.iter_mut().find(|(name, _)| *name == symbol) {
            Some(variable) => variable.1 = value,
            None => variables.push((symbol, value)),
        }
    }

    /// Begins one round of a loop.
    pub(super) fn begin(&self, index: usize, values: impl Iterator<Item = (Symbol, Option<Value<'m>>)>) {
        if let Kind::Loop(position) = &self.kind {
            position.index.set(index);
        }
        values.for_each(|(symbol, value)| self.put(symbol, value));
    }
}
