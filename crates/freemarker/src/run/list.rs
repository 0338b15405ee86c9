//! What runs several times, and what is chosen of several.

use super::{Ran, Signal};
use crate::machine::Run;
use crate::machine::{Kind, Position};
use crate::names::Symbol;
use crate::syntax::{Block, Expression, List};
use crate::value::{Value, expected};

impl<'r, 'm> Run<'r, 'm> {
    pub(super) fn list(&mut self, list: &'r List) -> Ran<'m> {
        let value = self.value(&list.sequence)?;
        let is_empty = match (&value, list.variables.len()) {
            (Value::Range(range), _) => range.length == Some(0),
            (value, 2) => value.members().is_some_and(|members| members.is_empty()),
            // Without variables a hash may follow as well.
            (value, 0) if value.length().is_none() => value.members().is_some_and(|members| members.is_empty()),
            (value, _) => value.length() == Some(0),
        };
        if is_empty {
            return self.block(&list.otherwise);
        }
        if !list.variables.is_empty() {
            return self.items(&value, &list.variables, &list.block, list.sequence.at);
        }
        let outer = self.enter(Kind::Pending(value), Vec::new());
        let signal = self.block(&list.block);
        self.frame = outer;
        Ok(match signal? {
            Signal::Break | Signal::Continue => Signal::Next,
            signal => signal,
        })
    }

    pub(super) fn items(&mut self, value: &Value<'m>, variables: &'r [Symbol], block: &'r Block, at: u32) -> Ran<'m> {
        if variables.len() == 2 {
            let Some(members) = value.members() else {
                return Err(expected("a hash", value)).map_err(self.place_of(at));
            };
            let members = members.into_owned();
            self.spend(members.len() as u64).map_err(self.place_of(at))?;
            let count = members.len();
            let mut members = members.into_iter();
            return self.each(Some(count), variables, block, at, |_| {
                members.next().map(|(name, value)| vec![Some(Value::Text(name)), value])
            });
        }
        let is_endless = matches!(value, Value::Range(range) if range.length.is_none());
        let length = value.length();
        if length.is_none() && !is_endless {
            return Err(expected("a sequence", value)).map_err(self.place_of(at));
        }
        self.each(length, variables, block, at, |index| Some(vec![value.item(index)]))
    }

    /// Runs a block for each of several values, with variables for what they are.
    fn each(
        &mut self,
        length: Option<usize>,
        variables: &'r [Symbol],
        block: &'r Block,
        at: u32,
        mut values: impl FnMut(usize) -> Option<Vec<Option<Value<'m>>>>,
    ) -> Ran<'m> {
        let outer = self.enter(Kind::Loop(Position::new(variables[0], length)), Vec::new());
        let mut result = Ok(Signal::Next);
        for index in 0..length.unwrap_or(usize::MAX) {
            let Some(values) = values(index) else { break };
            if let Err(trouble) = self.spend(1) {
                result = Err(trouble).map_err(self.place_of(at));
                break;
            }
            if let Some(frame) = &self.frame {
                frame.begin(index, variables.iter().copied().zip(values));
            }
            match self.block(block) {
                Ok(Signal::Next | Signal::Continue) => {}
                Ok(Signal::Break) => break,
                other => {
                    result = other;
                    break;
                }
            }
        }
        self.frame = outer;
        result
    }

    pub(super) fn switch(&mut self, value: &'r Expression, cases: &'r [(Option<Expression>, Block)]) -> Ran<'m> {
        let value = self.value(value)?;
        let mut first = None;
        for (index, (case, _)) in cases.iter().enumerate() {
            let Some(case) = case else { continue };
            let candidate = self.value(case)?;
            match self.is_equal(&value, &candidate) {
                Ok(true) => {
                    first = Some(index);
                    break;
                }
                Ok(false) => {}
                Err(trouble) => return self.fail(case, trouble),
            }
        }
        let first = first.or_else(|| cases.iter().position(|(case, _)| case.is_none()));
        // As in Java, what follows a case runs as well, until somebody leaves.
        for (_, block) in &cases[first.unwrap_or(cases.len())..] {
            match self.block(block)? {
                Signal::Next => {}
                Signal::Break => return Ok(Signal::Next),
                signal => return Ok(signal),
            }
        }
        Ok(Signal::Next)
    }
}
