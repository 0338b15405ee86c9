//! Expressions that are known only while a stylesheet runs.

use myelin_xpath::{Argument, Declared, Environment, Error, Expression, Version};

use crate::functions::{find, refusal};
use crate::name::ExpandedName;
use crate::program::{CallTarget, GLOBAL, Program};
use crate::scope::Scope;

/// Compiles an expression that is known only while a stylesheet runs, as if it stood where `scope` is.
///
/// Shape: `declare` gives a number to what the expression calls, which the host's `call` understands.
/// Errors: `XPST0003` and its like for what is no expression.
pub(crate) fn compile(
    program: &Program,
    text: &str,
    scope: &Scope,
    declare: &mut dyn FnMut(CallTarget) -> u32,
) -> Result<Expression, Error> {
    Expression::compile(text, &mut Late { program, scope, declare })
        .map_err(|error| Error::value(error.code, format!("the expression {text:?}: {error}")))
}

/// What an expression may refer to that is compiled late.
struct Late<'p> {
    program: &'p Program,
    scope: &'p Scope,
    declare: &'p mut dyn FnMut(CallTarget) -> u32,
}

impl Late<'_> {
    fn expand(&self, prefix: Option<&str>, local: &str) -> Option<ExpandedName> {
        let namespace = match prefix {
            Some(prefix) => self.scope.namespace(prefix)?,
            None => "",
        };
        Some(ExpandedName::new(namespace, local))
    }
}

impl Environment for Late<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.scope.namespace(prefix).map(str::to_owned)
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let name = self.expand(prefix, local);
        let globals = &self.program.globals;
        match globals.iter().position(|global| Some(&global.name) == name.as_ref()) {
            Some(index) => Ok(GLOBAL | index as u32),
            None => Err(format!("${local} is no global variable, and others cannot be seen from here")),
        }
    }

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        let local = name.rsplit_once(':').map_or(name, |(_, local)| local);
        let namespace = namespace.unwrap_or("");
        if namespace.is_empty() && local == "current" && arguments.is_empty() {
            return Ok(Some(Declared::Current));
        }
        let functions = &self.program.functions;
        let user = functions.iter().position(|function| {
            function.name.local == local
                && function.name.namespace == namespace
                && function.parameters.len() >= arguments.len()
                && function.parameters[arguments.len()..].iter().all(|parameter| parameter.default.is_some())
        });
        let target = match (user, find(namespace, local)) {
            (Some(index), _) => CallTarget::User(index as u32),
            (None, Some(function)) if function.takes(arguments.len()) => CallTarget::Library(function),
            (None, Some(_)) => return Err(format!("{name}() does not take {} arguments", arguments.len())),
            (None, None) => return refusal(namespace).map_or(Ok(None), |why| Err(format!("{name}(): {why}"))),
        };
        Ok(Some(Declared::Function((self.declare)(target))))
    }

    fn version(&self) -> Version {
        self.scope.rules()
    }
}
