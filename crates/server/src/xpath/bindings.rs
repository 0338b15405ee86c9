//! What the command line gives an expression: namespaces of its prefixes, and variables.

use myelin_xpath::{Argument, Declared, Environment, Error, Host, Item, Value};

/// Namespaces and variables by name; a variable's slot is its place in the list.
pub(super) struct Bindings {
    namespaces: Vec<(String, String)>,
    variables: Vec<(String, String)>,
}

impl Bindings {
    pub(super) fn new(namespaces: &[(String, String)], variables: &[(String, String)]) -> Bindings {
        Bindings { namespaces: namespaces.to_vec(), variables: variables.to_vec() }
    }
}

impl Environment for Bindings {
    fn namespace(&self, prefix: &str) -> Option<String> {
        // Whoever repeats an option means the last.
        self.namespaces.iter().rev().find(|(name, _)| name == prefix).map(|(_, uri)| uri.clone())
    }

    fn variable(&mut self, prefix: Option<&str>, local: &str) -> Result<u32, String> {
        let name = prefix.map_or_else(|| local.to_owned(), |prefix| format!("{prefix}:{local}"));
        let slot = self.variables.iter().rposition(|(known, _)| *known == name);
        slot.and_then(|slot| u32::try_from(slot).ok())
            .ok_or_else(|| format!("variable ${name} has no value; --var {name}=TEXT gives it one"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

impl<'a> Host<'a> for Bindings {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(Value::from(self.variables[slot as usize].1.as_str()))
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Err(Error::Host("the command line declares no functions".to_owned()))
    }
}
