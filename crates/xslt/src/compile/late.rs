//! Expressions that are known only while a stylesheet runs.

use myelin_xpath::{Argument, Declared, Environment, Error, Expression, SyntaxError, Version};

use crate::functions::{OF_XSLT, find, refusal};
use crate::name::{ExpandedName, FUNCTIONS_OF_XPATH};
use crate::program::{CallTarget, GLOBAL, Program};
use crate::scope::Scope;

/// Compiles an expression that is known only while a stylesheet runs, as if it stood where `scope` is.
///
/// Shape: `locals` are the variables of the frame it runs in; `declare` gives a number to what the expression calls, which
/// the host's `call` understands.
/// Errors: `XPST0003` and its like for what is no expression.
pub(crate) fn compile(
    program: &Program,
    text: &str,
    (scope, locals): (&Scope, &[(ExpandedName, u32)]),
    declare: &mut dyn FnMut(CallTarget) -> u32,
) -> Result<Expression, Error> {
    Expression::compile(text, &mut Late { program, scope, locals, declare, given: None, default_namespace: None })
        .map_err(|error| Error::value(error.code, format!("the expression {text:?}: {error}")))
}

/// Compiles the expression of `xsl:evaluate`, which sees no variables but those that are given: each in the slot of its
/// place in the list.
///
/// Errors: what is wrong with it.
/// Source: XSLT 3.0 §10.4.1.
pub(crate) fn compile_evaluated(
    program: &Program,
    text: &str,
    scope: &Scope,
    default_namespace: &str,
    given: &[ExpandedName],
    declare: &mut dyn FnMut(CallTarget) -> u32,
) -> Result<Expression, SyntaxError> {
    let default_namespace = Some(default_namespace);
    Expression::compile(text, &mut Late { program, scope, locals: &[], declare, given: Some(given), default_namespace })
}

/// What an expression may refer to that is compiled late.
struct Late<'p> {
    program: &'p Program,
    scope: &'p Scope,
    locals: &'p [(ExpandedName, u32)],
    declare: &'p mut dyn FnMut(CallTarget) -> u32,
    /// The variables of `xsl:evaluate`; `None`: the global ones.
    given: Option<&'p [ExpandedName]>,
    default_namespace: Option<&'p str>,
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

    fn default_namespace(&self) -> Option<String> {
        self.default_namespace.map(str::to_owned)
    }

    fn is_passing(&self, slot: u32) -> bool {
        slot < GLOBAL
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let name = match prefix.and_then(|prefix| prefix.strip_prefix("Q{")).and_then(|uri| uri.strip_suffix('}')) {
            Some(uri) => Some(ExpandedName::new(uri, local)),
            None => self.expand(prefix, local),
        };
        if let Some(given) = self.given {
            let found = given.iter().position(|known| Some(known) == name.as_ref());
            return found.map(|slot| slot as u32).ok_or_else(|| format!("${local} is not given"));
        }
        if let Some((_, slot)) = self.locals.iter().find(|(known, _)| Some(known) == name.as_ref()) {
            return Ok(*slot);
        }
        let globals = &self.program.globals;
        match globals.iter().position(|global| Some(&global.name) == name.as_ref()) {
            Some(index) => Ok(GLOBAL | index as u32),
            None => Err(format!("${local} is no variable that can be seen from here")),
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
        if self.given.is_some() && OF_XSLT.contains(&local) && (namespace.is_empty() || namespace == FUNCTIONS_OF_XPATH)
        {
            return Err(format!("{name}() cannot be called here"));
        }
        if namespace.is_empty() && local == "current" && arguments.is_empty() {
            return Ok(Some(Declared::Current));
        }
        let functions = &self.program.functions;
        let user = functions.iter().position(|function| {
            function.name.local == local
                && function.name.namespace == namespace
                && (self.given.is_none() || function.public)
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
