//! `xsl:try` (XSLT 3.0 §8.3).

use myelin_xpath::{Item, QName, Value, Version};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::Flow;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{Binding, Catch, Try};

const ERRORS: &str = "http://www.w3.org/2005/xqt-errors";

impl<'a> Machine<'a> {
    /// Gives what the body gives, or what the first clause gives that is for its error.
    pub(super) fn try_catch(&'a self, try_: &'a Try, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let (value, flow) = match self.guarded(|| self.attempt(&try_.body, focus)) {
            Ok(made) => made,
            // A bound that was reached is no error to go on from.
            Err(failure) if failure.is_limit() || failure.is_global => return Err(failure),
            Err(failure) => {
                let code = code(&failure);
                let Some(catch) = try_.catches.iter().find(|catch| is_for(catch, &code)) else { return Err(failure) };
                self.describe_error(catch, &failure, code);
                self.attempt(&catch.body, focus)?
            }
        };
        out.give(value, Version::V3)?;
        Ok(flow)
    }

    /// What a part of it gives, and how it ends: a loop around may be left from within.
    fn attempt(&'a self, binding: &'a Binding, focus: &Focus<'a>) -> Outcome<(Value<'a>, Flow)> {
        let Binding::Sequence(block) = binding else { return Ok((self.bind(binding, focus)?, Flow::Next)) };
        let mut receiver = Receiver::items(self);
        let flow = self.run(block, focus, &mut receiver)?;
        Ok((receiver.into_items(), flow))
    }

    /// Runs something, and puts back what a failure would leave behind.
    pub(super) fn guarded<T>(&'a self, run: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let (depth, mode, rule) = (self.depth.get(), self.mode.get(), self.rule.get());
        let (group, captures) = (self.group.borrow().clone(), self.captures.borrow().clone());
        let (results, output_uri) = (self.results.borrow().mark(), self.output_uri.borrow().clone());
        let (temporary, merged) = (self.temporary.get(), self.merged.borrow().clone());
        let tunnel = std::rc::Rc::clone(&self.tunnel.borrow());
        let result = run();
        if result.is_err() {
            self.depth.set(depth);
            self.mode.set(mode);
            self.rule.set(rule);
            self.group.replace(group);
            self.captures.replace(captures);
            self.tunnel.replace(tunnel);
            self.left.take();
            self.results.borrow_mut().take_back(results);
            self.output_uri.replace(output_uri);
            self.temporary.set(temporary);
            self.merged.replace(merged);
        }
        result
    }

    /// Sets the variables that describe an error.
    fn describe_error(&self, catch: &Catch, failure: &Failure, code: QName) {
        let place = failure.at.map(|at| super::failure::place(self.program, at));
        let number = |number: Option<u64>| {
            number.and_then(|number| i64::try_from(number).ok()).map_or(Value::EMPTY, Value::from)
        };
        let values = [
            Value::Item(Item::Atomic(myelin_xpath::Atomic::QName(Box::new(code)))),
            Value::from(failure.message.clone()),
            if failure.carries_value { self.error_value.borrow().clone() } else { Value::EMPTY },
            place.as_ref().map_or(Value::EMPTY, |place| Value::from(place.file.clone())),
            number(place.as_ref().map(|place| place.line)),
            number(place.as_ref().map(|place| place.column)),
        ];
        for (slot, value) in (catch.slots..).zip(values) {
            self.assign(slot, value);
        }
    }
}

/// The code of a failure as a name.
fn code(failure: &Failure) -> QName {
    let written = &*failure.code;
    match written.strip_prefix("Q{").and_then(|rest| rest.split_once('}')) {
        Some((namespace, local)) => {
            QName { prefix: String::new(), namespace: namespace.to_owned(), local: local.to_owned() }
        }
        None => QName { prefix: "err".to_owned(), namespace: ERRORS.to_owned(), local: written.to_owned() },
    }
}

/// Whether a clause is for an error of that code.
fn is_for(catch: &Catch, code: &QName) -> bool {
    let fits = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
    catch.errors.is_empty()
        || catch.errors.iter().any(|(namespace, local)| fits(namespace, &code.namespace) && fits(local, &code.local))
}
