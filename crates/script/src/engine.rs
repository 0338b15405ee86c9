//! Running scripts: on a machine that each thread keeps, or on one of its own.

use std::cell::RefCell;

use crate::error::Error;
use crate::facts::{Facts, Outcome};
use crate::machine::Machine;
use crate::script::Script;

/// How much a script may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much memory its values may take, in bytes.
    pub memory_bytes: usize,
    /// How deep its calls may go, in bytes of the thread's stack; the thread must have that much, and as much again.
    pub stack_bytes: usize,
}

impl Default for Limits {
    /// 64 MiB of memory, and a stack of 256 KiB, which is about a thousand calls deep.
    fn default() -> Limits {
        Limits { memory_bytes: 64 << 20, stack_bytes: 256 << 10 }
    }
}

/// What a run may take.
pub struct Terms {
    /// What it may ask for.
    pub limits: Limits,
    /// How often it may be looked at, about ten thousand steps apart, before it is given up with [`Error::Long`], as it is
    /// when it asks for more than 8 MiB; `None` as often as it takes.
    pub polls: Option<u32>,
    /// Whether its time is over.
    pub expired: Box<dyn Fn() -> bool + Send>,
}

thread_local! {
    /// The machine of this thread, as long as nobody runs on it.
    static KEPT: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

/// Runs a script on a message.
///
/// Shape: nothing has happened when it ends; the effects say what should.
/// Errors: [`Error`]: the script's, or its limits'.
pub fn run(script: &Script, facts: &Facts, terms: Terms) -> Result<Outcome, Error> {
    let kept = if script.is_tame { KEPT.take() } else { None };
    let machine = kept.map_or_else(|| Machine::new(script.is_tame), Ok);
    let mut machine = machine.map_err(|text| Error::Thrown { text, place: None })?;
    let result = machine.run(script, facts, terms);
    // What ran into a limit may have left the engine with little of it, or in the midst of something.
    if script.is_tame && machine.is_sound() {
        KEPT.set(Some(machine));
    }
    result
}

#[cfg(test)]
mod tests;
