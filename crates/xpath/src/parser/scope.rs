//! Variables that expressions bind, and how functions inside them see those around.

use super::Parser;
use crate::ast::{CAPTURED, Expr};
use crate::error::SyntaxError;

/// A variable's namespace and local name.
type Name<'t> = (String, &'t str);

/// The variables of an expression, or of a function inside it, that can be seen where the parser is.
#[derive(Default)]
pub(super) struct Scope<'t> {
    /// Bound here; the number of each is its index.
    bound: Vec<Name<'t>>,
    /// Taken from the scope around, with their numbers there.
    captured: Vec<(Name<'t>, Expr)>,
}

impl<'t> Scope<'t> {
    pub(super) fn bind(&mut self, namespace: String, local: &'t str) -> u32 {
        self.bound.push((namespace, local));
        self.bound.len() as u32 - 1
    }

    /// How many variables are bound.
    pub(super) fn count(&self) -> usize {
        self.bound.len()
    }

    /// Forgets the variables bound after the first `count`.
    pub(super) fn leave(&mut self, count: usize) {
        self.bound.truncate(count);
    }

    /// The captured variables as they are written in the scope around.
    pub(super) fn into_captured(self) -> Vec<Expr> {
        self.captured.into_iter().map(|(_, variable)| variable).collect()
    }
}

/// The number of a variable in the last of these scopes; what an outer one has is captured on the way in.
fn find<'t>(scopes: &mut [Scope<'t>], name: &Name<'t>) -> Option<u32> {
    let (scope, around) = scopes.split_last_mut()?;
    if let Some(index) = scope.bound.iter().rposition(|known| known == name) {
        return Some(index as u32);
    }
    if let Some(index) = scope.captured.iter().position(|(known, _)| known == name) {
        return Some(CAPTURED + index as u32);
    }
    let outer = find(around, name)?;
    scope.captured.push((name.clone(), Expr::Local(outer)));
    Some(CAPTURED + scope.captured.len() as u32 - 1)
}

impl<'t> Parser<'t, '_> {
    /// The scope the parser is in.
    pub(super) fn scope(&mut self) -> &mut Scope<'t> {
        self.scopes.last_mut().expect("the scope of the whole expression is never left")
    }

    /// What tells variables with the same local name apart: the namespace, or the prefix where it has none.
    pub(super) fn variable_namespace(&self, prefix: Option<&str>) -> String {
        let Some(prefix) = prefix else { return String::new() };
        match prefix.strip_prefix("Q{").and_then(|uri| uri.strip_suffix('}')) {
            Some(uri) => uri.trim().to_owned(),
            None => self.environment.namespace(prefix).unwrap_or_else(|| prefix.to_owned()),
        }
    }

    pub(super) fn variable(
        &mut self,
        prefix: Option<&str>,
        local: &'t str,
        offset: usize,
    ) -> Result<Expr, SyntaxError> {
        // Most expressions bind nothing, and their variables' namespaces are the host's matter alone.
        if self.scopes.len() > 1 || self.scope().count() > 0 {
            let name = (self.variable_namespace(prefix), local);
            if let Some(number) = find(&mut self.scopes, &name) {
                return Ok(Expr::Local(number));
            }
        }
        match self.environment.variable(prefix, local) {
            Ok(slot) => {
                self.variables.push(slot);
                if self.scopes.len() > 1 && self.environment.is_passing(slot) {
                    let name = (self.variable_namespace(prefix), local);
                    self.scopes[1].captured.push((name.clone(), Expr::Variable(slot)));
                    return Ok(find(&mut self.scopes, &name).map_or(Expr::Variable(slot), Expr::Local));
                }
                Ok(Expr::Variable(slot))
            }
            Err(message) => {
                // The host knows best what it lacks; a prefix that stands for nothing has a code of its own.
                let lacks_namespace =
                    prefix.is_some_and(|it| !it.starts_with("Q{") && self.prefix(it, offset).is_err());
                let code = if lacks_namespace { "XPST0081" } else { "XPST0008" };
                Err(SyntaxError { offset, message, code })
            }
        }
    }
}
