//! Macros and functions, and what stands between the tags of a call.

use std::rc::Rc;

use super::{CALLS, Ran, Signal, shallow};
use crate::error::Trouble;
use crate::machine::Run;
use crate::machine::{Body, Frame, Kind};
use crate::names::Symbol;
use crate::syntax::{Call, Callable, Expression};
use crate::value::{Hash, Text, Value, expected};

impl<'r, 'm> Run<'r, 'm> {
    pub(super) fn call(&mut self, call: &'r Call) -> Ran<'m> {
        let callee = self.value(&call.callee)?;
        let Value::Callable(index) = callee else {
            return self.fail(&call.callee, expected("a macro", &callee));
        };
        let template = self.template;
        let callable = &template.callables[index];
        if callable.is_function {
            return self.fail(&call.callee, Trouble::wrong("this is a function: call it in an expression"));
        }
        let mut positional = Vec::with_capacity(call.positional.len());
        for argument in &call.positional {
            positional.push(self.evaluate(argument)?);
        }
        let mut named = Vec::with_capacity(call.named.len());
        for (name, argument) in &call.named {
            named.push((*name, self.evaluate(argument)?));
        }
        let body =
            call.body.as_ref().map(|block| Body { block, variables: &call.variables, frame: self.frame.clone() });
        let bound = self.bound(callable, positional, named, body);
        let outer = bound.or_else(|trouble| self.fail(&call.callee, trouble))?;
        let signal = self.block(&callable.body);
        self.frame = outer;
        self.calls -= 1;
        signal.map(|_| Signal::Next)
    }

    /// Calls a function; what it prints is nowhere.
    pub(crate) fn function(
        &mut self,
        callee: &Value<'m>,
        arguments: Vec<Option<Value<'m>>>,
    ) -> Result<Option<Value<'m>>, Trouble> {
        let Value::Callable(index) = callee else { return Err(expected("a function", callee)) };
        let template = self.template;
        let callable = &template.callables[*index];
        if !callable.is_function {
            return Err(Trouble::wrong("this is a macro: call it by <@…>"));
        }
        let outer = self.bound(callable, arguments, Vec::new(), None)?;
        let result = self.captured(&callable.body);
        self.frame = outer;
        self.calls -= 1;
        match result?.1 {
            Signal::Return(Some(value)) => shallow(&value).map(|()| Some(value)),
            _ => Ok(None),
        }
    }

    /// Makes the variables of a call; what is returned is the frame to go back to.
    fn bound(
        &mut self,
        callable: &'r Callable,
        positional: Vec<Option<Value<'m>>>,
        named: Vec<(Symbol, Option<Value<'m>>)>,
        body: Option<Body<'r, 'm>>,
    ) -> Result<Option<Rc<Frame<'r, 'm>>>, Trouble> {
        self.spend(1)?;
        if self.calls == CALLS {
            return Err(Trouble::limit(format!("macros and functions call each other more than {CALLS} deep")));
        }
        let mut variables: Vec<(Symbol, Option<Value<'m>>)> =
            callable.parameters.iter().map(|(symbol, _)| (*symbol, None)).collect();
        let name = self.template.names.name(callable.name);
        let mut left = Vec::new();
        for (index, value) in positional.into_iter().enumerate() {
            match variables.get_mut(index) {
                Some(variable) => variable.1 = value,
                None => left.push(value),
            }
        }
        let mut others = Hash::default();
        for (symbol, value) in named {
            match variables.iter_mut().find(|(parameter, _)| *parameter == symbol) {
                Some(variable) => variable.1 = value,
                None => others.put(Text::Shared(self.template.names.name(symbol).into()), value),
            }
        }
        match callable.rest {
            Some(rest) if others.entries().is_empty() => variables.push((rest, Some(Value::list(left)))),
            Some(rest) => variables.push((rest, Some(Value::Hash(Rc::new(others))))),
            None if left.is_empty() && others.entries().is_empty() => {}
            None => {
                return Err(Trouble::wrong(format!("{name} does not take so many arguments, or not of these names")));
            }
        }
        let missing: Vec<usize> =
            (0..callable.parameters.len()).filter(|&index| variables[index].1.is_none()).collect();
        let outer = self.frame.take();
        self.frame = Some(Frame::new(None, Kind::Call(body), variables));
        self.calls += 1;
        // A default may use the parameters in front of it.
        for index in missing {
            let (symbol, default) = &callable.parameters[index];
            let value = match default {
                Some(default) => self.value(default).map_err(Trouble::from),
                None => {
                    let parameter = self.template.names.name(*symbol);
                    Err(Trouble::wrong(format!("{name} needs a value for {parameter}")))
                }
            };
            match value {
                Ok(value) => self.frame.iter().for_each(|frame| frame.put(*symbol, Some(value.clone()))),
                Err(trouble) => {
                    (self.frame, self.calls) = (outer, self.calls - 1);
                    return Err(trouble);
                }
            }
        }
        Ok(outer)
    }

    pub(super) fn nested(&mut self, values: &'r [Expression]) -> Ran<'m> {
        let mut given = Vec::with_capacity(values.len());
        for value in values {
            given.push(self.evaluate(value)?);
        }
        let body = self.call_frame().and_then(|frame| match &frame.kind {
            Kind::Call(body) => body.clone(),
            _ => None,
        });
        let Some(Body { block, variables, frame }) = body else { return Ok(Signal::Next) };
        let outer = std::mem::replace(&mut self.frame, frame);
        let given = variables.iter().copied().zip(given.into_iter().chain(std::iter::repeat(None))).collect();
        self.enter(Kind::Plain, given);
        let signal = self.block(block);
        self.frame = outer;
        signal
    }
}
