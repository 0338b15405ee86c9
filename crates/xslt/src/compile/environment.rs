//! What the names in an expression mean at its place in the stylesheet.

use std::rc::Rc;

use myelin_xpath::{Argument, Declared, Environment, Version};

use super::compiler::Compiler;
use super::here::Here;
use crate::functions;
use crate::name::{ExpandedName, FUNCTIONS_OF_XPATH};
use crate::program::{Call, CallTarget, GLOBAL};
use crate::scope::At;

/// The surroundings of one expression.
pub(super) struct Surroundings<'c, 's> {
    compiler: &'c mut Compiler<'s>,
    here: &'c Rc<Here>,
    at: At,
    /// How many functions of the expression are around what is read.
    functions: u32,
}

impl<'c, 's> Surroundings<'c, 's> {
    /// Those of an expression of its own.
    pub(super) fn new(compiler: &'c mut Compiler<'s>, here: &'c Rc<Here>, at: At) -> Surroundings<'c, 's> {
        Surroundings { compiler, here, at, functions: 0 }
    }
}

impl Environment for Surroundings<'_, '_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.here.namespace(prefix).map(str::to_owned)
    }

    fn default_namespace(&self) -> Option<String> {
        Some(self.here.default_namespace.clone())
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let namespace = match prefix {
            None => "",
            Some(prefix) => match prefix.strip_prefix("Q{").and_then(|uri| uri.strip_suffix('}')) {
                Some(uri) => uri.trim(),
                None => {
                    let undeclared =
                        || format!("the prefix {prefix:?} is not declared: xmlns:{prefix}=\"…\" is missing");
                    self.here.namespace(prefix).ok_or_else(undeclared)?
                }
            },
        };
        let name = ExpandedName::new(namespace, local);
        if let Some(slot) = self.compiler.frame.find(&name) {
            return Ok(slot);
        }
        match self.compiler.index.globals.get(&name) {
            Some(_) if self.compiler.defining.as_ref() == Some(&name) => {
                Err(format!("${name} cannot be part of its own definition"))
            }
            Some(&global) => Ok(GLOBAL + global),
            None => Err(format!(
                "${} is not declared here: a variable is known behind its declaration, within the element around it",
                prefix.map_or_else(|| local.to_owned(), |prefix| format!("{prefix}:{local}")),
            )),
        }
    }

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        let local = name.rsplit(':').next().unwrap_or(name);
        let namespace = namespace.filter(|namespace| *namespace != FUNCTIONS_OF_XPATH).unwrap_or_default();
        if namespace.is_empty() && local == "current" && !name.contains(':') {
            return match arguments {
                [] => Ok(Some(Declared::Current)),
                _ => Err(format!("current() takes no arguments, not {}", arguments.len())),
            };
        }
        let Some(target) = self.target(name, namespace, local, arguments.len())? else { return Ok(None) };
        let scope = self.compiler.scope(self.here);
        let locals = match &target {
            // A function inside the expression runs when other variables have the slots.
            CallTarget::Library(function) if function.sees_variables() && self.functions == 0 => {
                self.compiler.frame.visible()
            }
            _ => Box::default(),
        };
        let calls = &mut self.compiler.calls;
        calls.push(Call { target, scope, locals });
        Ok(Some(Declared::Function(calls.len() as u32 - 1)))
    }

    fn is_passing(&self, slot: u32) -> bool {
        slot < GLOBAL
    }

    fn enters_function(&mut self) {
        self.functions += 1;
    }

    fn leaves_function(&mut self) {
        self.functions -= 1;
    }

    fn name(&mut self, namespace: &str, local: &str) -> Option<u32> {
        Some(self.compiler.names.number(ExpandedName::new(namespace, local)))
    }

    fn version(&self) -> Version {
        self.here.rules()
    }
}

impl Surroundings<'_, '_> {
    /// What a call is for; `None`: nothing of that name is known, and it cannot be left to the time of running.
    fn target(
        &mut self,
        written: &str,
        namespace: &str,
        local: &str,
        arguments: usize,
    ) -> Result<Option<CallTarget>, String> {
        let name = ExpandedName::new(namespace, local);
        if let Some(takes) = self.compiler.index.functions.get(&name) {
            return match takes.iter().find(|known| known.takes(arguments)) {
                Some(known) => Ok(Some(CallTarget::User(known.function))),
                None => Err(format!("{written}() is declared, but not with {arguments} arguments")),
            };
        }
        if let Some(function) = functions::find(namespace, local) {
            if !function.takes(arguments) {
                let takes = match (function.least, function.most) {
                    (least, 255) => format!("at least {least}"),
                    (least, most) if least == most => least.to_string(),
                    (least, most) => format!("{least} to {most}"),
                };
                return Err(format!("{written}() takes {takes} arguments, not {arguments}"));
            }
            return Ok(Some(CallTarget::Library(function)));
        }
        // Stylesheets for several processors ask function-available() before they call (XSLT 1.0 §14.2, 3.0 §3.8); in a
        // namespace of which there is nothing here, they mean another processor's.
        let foreign = !namespace.is_empty()
            && (self.here.is_backwards()
                || !(self.compiler.index.has_functions_in(namespace) || functions::is_reserved(namespace)));
        if !foreign && !self.here.is_forwards() {
            return Ok(None);
        }
        let reason = functions::refusal(namespace).map_or_else(String::new, |reason| format!(": {reason}"));
        let message = format!("{written}() is no known function{reason}");
        let code = if self.here.is_backwards() { "XTDE1425" } else { "XPST0017" };
        self.compiler.problems.warning(self.at, code, format!("{message}; calling it will be an error"));
        Ok(Some(CallTarget::Missing(code, message.into())))
    }
}
