//! Global variables and parameters: each is evaluated when somebody first asks for it.

use myelin_xpath::{Argument, Declared, Environment, Expression, Value};

use super::content::Typed;
use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::Global;
use super::host::Explain;
use super::machine::Machine;
use crate::name::ExpandedName;
use crate::options::{Parameter, ParameterValue};
use crate::program::{ContextItem, Usage};

/// Compiles the parameters that are given as expressions; `None` stands for those that are texts.
pub(super) fn compile(parameters: &[Parameter]) -> Outcome<Vec<Option<Expression>>> {
    let compile = |parameter: &Parameter| match &parameter.value {
        ParameterValue::Text(_) => Ok(None),
        ParameterValue::Expression(text) => {
            let refused = |error| Failure::new("XPST0003", format!("parameter {}, `{text}`: {error}", parameter.name));
            Expression::compile(text, &mut Bare).map(Some).map_err(refused)
        }
    };
    parameters.iter().map(compile).collect()
}

/// Knows no prefixes, variables and functions: all that a caller's expression can refer to is the source.
struct Bare;

impl Environment for Bare {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("${local} is unknown here"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

impl<'a> Machine<'a> {
    /// Sets the parameters that the caller gives.
    pub(super) fn set_parameters(&'a self, compiled: &'a [Option<Expression>]) -> Outcome<()> {
        for (given, expression) in self.options.parameters.iter().zip(compiled) {
            let Some(name) = ExpandedName::parse(&given.name) else {
                return Err(Failure::new("XTDE0000", format!("{:?} is no name of a parameter", given.name)));
            };
            let declared = self.program.globals.iter().position(|global| global.parameter && global.name == name);
            let Some(index) = declared else { continue };
            let value = match (&given.value, expression) {
                (ParameterValue::Expression(text), Some(expression)) => {
                    let focus = Focus::on(self.source, 1, 1);
                    expression.evaluate_from(self.shared(), focus.start()).explain(self, text)?
                }
                (ParameterValue::Text(text) | ParameterValue::Expression(text), _) => Value::from(text.as_str()),
            };
            let value = self.convert(value, self.program.globals[index].kind.as_ref(), Typed::PASSED)?;
            self.globals.borrow_mut()[index] = Global::Set(self.held(value));
        }
        let globals = self.program.globals.iter().enumerate();
        for (index, global) in globals.filter(|(_, global)| global.required) {
            if !matches!(self.globals.borrow()[index], Global::Set(_)) {
                let mut failure = Failure::new("XTDE0050", format!("the parameter {} must be given", global.name));
                failure.at(global.at, || None);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// What instructions begin with.
    ///
    /// Errors: `XTDE3086` and `XTTE0590`, where the stylesheet wants another source.
    pub(super) fn first_focus(&self) -> Outcome<Focus<'a>> {
        let focus = self.source_focus();
        if let Some(context) = &self.program.context {
            match &focus.item {
                None if context.usage == Usage::Required => {
                    return Err(Failure::new("XTDE3086", "the stylesheet needs a source, and there is none"));
                }
                Some(item) if context.usage != Usage::Absent => {
                    let fits = context.kind.as_ref().is_none_or(|kind| Value::from(item.clone()).is_instance(kind));
                    if !fits {
                        return Err(Failure::new("XTTE0590", "the source is none that xsl:global-context-item allows"));
                    }
                }
                _ => {}
            }
        }
        Ok(focus)
    }

    /// The source, if there is one.
    fn source_focus(&self) -> Focus<'a> {
        Focus { item: self.context_item.clone(), position: 1, size: 1 }
    }

    /// The value of a global variable.
    pub(super) fn global(&'a self, index: usize) -> Outcome<Value<'a>> {
        match &self.globals.borrow()[index] {
            Global::Set(value) => return Ok(value.clone()),
            Global::Busy => {
                let name = &self.program.globals[index].name;
                return Err(Failure::new("XTDE0640", format!("the variable ${name} is part of its own definition")));
            }
            Global::Unset => {}
        }
        let global = &self.program.globals[index];
        self.globals.borrow_mut()[index] = Global::Busy;
        let focus = match &self.program.context {
            Some(ContextItem { usage: Usage::Absent, .. }) => Focus::nothing(),
            _ => self.source_focus(),
        };
        let value = self.aside(
            global.frame,
            || format!("variable ${}", global.name),
            || {
                let value = self.bind(&global.value, &focus)?;
                self.convert(value, global.kind.as_ref(), Typed::VARIABLE).map(|value| self.held(value))
            },
        );
        let value = value.map_err(|mut failure| {
            failure.at(global.at, || None);
            failure.is_global = true;
            failure
        });
        self.globals.borrow_mut()[index] = match &value {
            Ok(value) => Global::Set(value.clone()),
            Err(_) => Global::Unset,
        };
        value
    }
}
