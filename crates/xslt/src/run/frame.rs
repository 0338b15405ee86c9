//! What bodies have while they run: variables on a stack, arguments, the rule and the group that are worked on.

use std::cell::{Cell, RefCell};

use myelin_xpath::Value;

use crate::program::ParameterId;

/// All frames, one behind the other.
#[derive(Default)]
pub(super) struct Stack<'a> {
    values: RefCell<Vec<Value<'a>>>,
    /// Where the frame begins that is running.
    base: Cell<usize>,
}

/// How far a global variable has come.
pub(super) enum Global<'a> {
    Unset,
    /// It is being evaluated: whoever asks now is part of its own definition.
    Busy,
    Set(Value<'a>),
}

/// What a template is called with: the values of parameters by name.
pub(super) type Arguments<'a> = Vec<(ParameterId, Value<'a>)>;

/// A rule that was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    /// Its place in the order of the mode's rules.
    pub(super) rule: u32,
    pub(super) template: u32,
}

/// A group, as long as it is worked on.
pub(super) struct Group<'a> {
    pub(super) items: Value<'a>,
    /// Nothing where groups begin or end by a pattern.
    pub(super) key: Option<Value<'a>>,
}

/// What is left for whoever takes it up.
#[derive(Default)]
pub(super) struct Left<'a> {
    /// The result of `xsl:break` or `func:result`.
    pub(super) value: Option<Value<'a>>,
    /// A call in tail position: the template and what it is called with.
    pub(super) call: Option<(u32, Arguments<'a>)>,
}

/// What comes behind an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// The next instruction.
    Next,
    /// The end of the loop.
    Break,
    /// The next round of the loop.
    Continue,
    /// The end of the function; its result is left.
    Return,
    /// The end of the template; a call is left.
    Tail,
}

impl<'a> Stack<'a> {
    /// Opens a frame with room for so many values; gives what closes it again.
    pub(super) fn open(&self, size: u32) -> usize {
        let mut values = self.values.borrow_mut();
        let base = values.len();
        values.resize(base + size as usize, Value::EMPTY);
        self.base.replace(base)
    }

    /// Closes the frame that is running; `outer` is what [`open`](Stack::open) gave.
    pub(super) fn close(&self, outer: usize) {
        self.values.borrow_mut().truncate(self.base.get());
        self.base.set(outer);
    }

    pub(super) fn set(&self, slot: u32, value: Value<'a>) {
        let index = self.base.get() + slot as usize;
        // Shared, so that no reference copies a list. The old value is dropped when the borrow is over.
        let value = value.shared();
        let _old = self.values.borrow_mut().get_mut(index).map(|place| std::mem::replace(place, value));
    }

    pub(super) fn get(&self, slot: u32) -> Value<'a> {
        self.values.borrow().get(self.base.get() + slot as usize).cloned().unwrap_or(Value::EMPTY)
    }
}
