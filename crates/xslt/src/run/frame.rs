//! What bodies have while they run: variables on a stack, arguments, the rule and the group that are worked on.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Item, Value};

use crate::program::{CallTemplate, ParameterId};

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
    /// A call in tail position; the frame of the template it calls is on top of the stack.
    pub(super) call: Option<&'a CallTemplate>,
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
    /// Where a frame on top begins.
    #[inline]
    pub(super) fn top(&self) -> usize {
        self.values.borrow().len()
    }

    /// Gives the frame on top, which begins there and does not run yet, room for so many values.
    #[inline]
    pub(super) fn fill(&self, base: usize, size: u32) {
        let mut values = self.values.borrow_mut();
        while values.len() < base + size as usize {
            values.push(Value::EMPTY);
        }
    }

    /// Puts a frame on top that has room for so many values and does not run yet; where it begins.
    #[inline]
    pub(super) fn add(&self, size: u32) -> usize {
        let base = self.top();
        self.fill(base, size);
        base
    }

    /// Puts a value into the frame on top that begins there, and room before it where that is missing.
    #[inline]
    pub(super) fn put(&self, base: usize, slot: u32, value: Value<'a>) {
        self.fill(base, slot);
        let mut values = self.values.borrow_mut();
        match values.get_mut(base + slot as usize) {
            Some(place) => *place = value,
            None => values.push(value),
        }
    }

    /// Drops what is on top from there on.
    #[inline]
    pub(super) fn drop_from(&self, base: usize) {
        self.values.borrow_mut().truncate(base);
    }

    /// Lets the frame run that begins there; gives what closes it again.
    #[inline]
    pub(super) fn open(&self, base: usize) -> usize {
        self.base.replace(base)
    }

    /// Closes the frame that is running; `outer` is what [`open`](Stack::open) gave.
    #[inline]
    pub(super) fn close(&self, outer: usize) {
        self.drop_from(self.base.get());
        self.base.set(outer);
    }

    /// Lets the frame on top, of that size, run in place of the one below it.
    pub(super) fn take_over(&self, size: u32) {
        let mut values = self.values.borrow_mut();
        let top = values.len() - size as usize;
        values.drain(self.base.get()..top);
    }

    /// Sets a value of the frame that is running. It is one that a reference to it copies for little.
    #[inline]
    pub(super) fn set(&self, slot: u32, value: Value<'a>) {
        let index = self.base.get() + slot as usize;
        // The old value is dropped when the borrow is over.
        let _old = self.values.borrow_mut().get_mut(index).map(|place| std::mem::replace(place, value));
    }

    pub(super) fn get(&self, slot: u32) -> Value<'a> {
        self.values.borrow().get(self.base.get() + slot as usize).cloned().unwrap_or(Value::EMPTY)
    }

    /// The text in a slot that holds nothing else.
    #[inline]
    pub(super) fn text(&self, slot: u32) -> Option<&'a str> {
        plain_text(self.values.borrow().get(self.base.get() + slot as usize)?)
    }
}

/// The text that a value is, if that stays where it is.
#[inline]
pub(super) fn plain_text<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::Item(Item::Atomic(Atomic::Text(Cow::Borrowed(text), AtomicType::String | AtomicType::Untyped))) => {
            Some(text)
        }
        _ => None,
    }
}
