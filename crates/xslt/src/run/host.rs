//! What expressions ask of the machine: variables and functions.

use myelin_xml::{Document, Kind};
use myelin_xpath::{Error, Host, Item, NodeRef, SharedContext, Value};

use super::failure::Failure;
use super::failure::Outcome;
use super::frame::{Global, plain_text};
use super::machine::DYNAMIC;
use super::machine::Machine;
use crate::functions::{self, Call};
use crate::name::ExpandedName;
use crate::program::{CallTarget, GLOBAL, UserFunction};

impl<'a> Host<'a> for Machine<'a> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        match slot.checked_sub(GLOBAL) {
            None => Ok(self.stack.get(slot)),
            Some(index) => self.global(index as usize).map_err(|failure| self.leave(failure)),
        }
    }

    fn variable_text(&'a self, slot: u32) -> Option<&'a str> {
        match slot.checked_sub(GLOBAL) {
            None => self.stack.text(slot),
            Some(index) => match self.globals.borrow().get(index as usize)? {
                Global::Set(value) => plain_text(value),
                Global::Unset | Global::Busy => None,
            },
        }
    }

    fn base_uri(&'a self, node: NodeRef<'a>) -> Option<Option<String>> {
        let parentless = node.parent().is_none();
        let has_none = match node.kind() {
            None => true,
            Some(Kind::Attribute | Kind::Text | Kind::Comment) => parentless,
            _ => false,
        };
        Some(if has_none { None } else { self.base_of(node) })
    }

    fn document_uri(&'a self, document: &'a Document) -> Option<String> {
        self.documents.uri(document)
    }

    fn raises(&'a self, value: Value<'a>) {
        self.error_value.replace(value);
    }

    /// A function that is a value sees nothing of what is around its call (XSLT 3.0 §2.2).
    fn call_value(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        let (group, captures, merged) = (self.group.take(), self.captures.take(), self.merged.take());
        let result = self.temporarily(|| self.call_from(slot, arguments, item, false));
        self.group.replace(group);
        self.captures.replace(captures);
        self.merged.replace(merged);
        result
    }

    fn find_function(&'a self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        let name = ExpandedName::new(namespace, local);
        let user = |function: &UserFunction| function.name == name && function.parameters.len() == arity;
        let target = match self.program.functions.iter().position(user) {
            Some(index) => CallTarget::User(index as u32),
            None => CallTarget::Library(functions::find(namespace, local).filter(|function| function.takes(arity))?),
        };
        // Where the name is known only now, the stylesheet as a whole is what it stands in.
        let scope = self.program.scopes.first()?;
        let mut declared = self.declared.borrow_mut();
        declared.push((target, scope));
        Some(DYNAMIC + declared.len() as u32 - 1)
    }

    fn function_name(&'a self, slot: u32) -> Option<(String, String)> {
        let target = match slot.checked_sub(DYNAMIC) {
            None => self.program.calls.get(slot as usize)?.target.clone(),
            Some(index) => self.declared.borrow().get(index as usize)?.0.clone(),
        };
        match target {
            CallTarget::Library(function) => Some(function.expanded_name()),
            CallTarget::User(index) => {
                let name = &self.program.functions[index as usize].name;
                Some((name.namespace.clone(), name.local.clone()))
            }
            CallTarget::Missing(..) => None,
        }
    }

    fn other(&'a self, host: u32) -> Option<SharedContext<'a>> {
        self.context_of(host)
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.call_from(slot, arguments, item, true)
    }
}

impl<'a> Machine<'a> {
    /// Calls a function; `in_place`: the frame is that of the place where the call stands.
    fn call_from(
        &'a self,
        slot: u32,
        arguments: &[Value<'a>],
        item: Option<&Item<'a>>,
        in_place: bool,
    ) -> Result<Value<'a>, Error> {
        let (target, scope, locals) = match slot.checked_sub(DYNAMIC) {
            None => {
                let call = &self.program.calls[slot as usize];
                let locals = if in_place { &*call.locals } else { &[] };
                (call.target.clone(), &self.program.scopes[call.scope.0 as usize], locals)
            }
            Some(index) => {
                let (target, scope) = self.declared.borrow()[index as usize].clone();
                (target, scope, &[][..])
            }
        };
        match target {
            CallTarget::Library(function) => (function.run)(&Call { machine: self, arguments, item, scope, locals }),
            CallTarget::User(index) => {
                let function = &self.program.functions[index as usize];
                self.function(function, arguments, item).map_err(|failure| self.leave(failure))
            }
            CallTarget::Missing(code, message) => Err(Error::value(code, message)),
        }
    }
}

impl Machine<'_> {
    /// Keeps a failure while an expression unwinds, which can hand on no more than a text.
    pub(crate) fn leave(&self, failure: Box<Failure>) -> Error {
        let message = failure.message.clone();
        *self.failed.borrow_mut() = Some(failure);
        Error::Host(message)
    }

    /// The failure behind an error of an expression.
    pub(super) fn failure(&self, error: Error, text: &str) -> Box<Failure> {
        if let Some(failure) = self.failed.take() {
            return failure;
        }
        let raised = matches!(error, Error::Raised { .. });
        let mut failure: Box<Failure> = error.into();
        if raised {
            return failure;
        }
        failure.message = format!("{} in `{text}`", failure.message);
        failure
    }
}

/// What an evaluation gave, with the failure behind an error.
pub(super) trait Explain<T> {
    /// `text` is the expression as it is written.
    fn explain(self, machine: &Machine<'_>, text: &str) -> Outcome<T>;
}

impl<T> Explain<T> for Result<T, Error> {
    #[inline]
    fn explain(self, machine: &Machine<'_>, text: &str) -> Outcome<T> {
        self.map_err(|error| machine.failure(error, text))
    }
}
