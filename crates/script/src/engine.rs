//! Running scripts: on a machine that each thread keeps, or on one of its own.

use std::cell::RefCell;

use crate::error::Error;
use crate::facts::{Facts, Outcome};
use crate::limits::Terms;
use crate::machine::Machine;
use crate::script::Script;

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
