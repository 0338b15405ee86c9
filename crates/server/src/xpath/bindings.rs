//! What the command line gives an expression: namespaces of its prefixes, and variables.

use myelin_xml::Document;
use myelin_xpath::{Argument, Declared, Environment, Error, Host, Item, NodeRef, Value, Version};
use myelin_xslt::{Library, LibraryCalls};

/// Namespaces and variables by name; a variable's slot is its place in the list.
pub(super) struct Bindings {
    pub(super) namespaces: Vec<(String, String)>,
    variables: Vec<(String, String)>,
    version: Version,
    /// The functions of the library that the expression calls.
    pub(super) calls: LibraryCalls,
}

impl Bindings {
    pub(super) fn new(namespaces: &[(String, String)], variables: &[(String, String)], version: Version) -> Bindings {
        let (namespaces, variables) = (namespaces.to_vec(), variables.to_vec());
        Bindings { namespaces, variables, version, calls: LibraryCalls::default() }
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

    fn function(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> Result<Option<Declared>, String> {
        self.calls.declare(name, namespace, arguments.len())
    }

    fn version(&self) -> Version {
        self.version
    }
}

impl<'a> Host<'a> for Bindings {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        Ok(Value::from(self.variables[slot as usize].1.as_str()))
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Err(Error::Host("one pass calls no functions".to_owned()))
    }
}

/// Variables of the command line, and functions of the library.
pub(super) struct Hosts<'a> {
    pub(super) bindings: &'a Bindings,
    pub(super) library: &'a Library<'a>,
}

impl<'a> Host<'a> for Hosts<'a> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        self.bindings.variable(slot)
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.library.call(slot, arguments, item)
    }

    fn find_function(&'a self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        self.library.find(namespace, local, arity)
    }

    fn function_name(&'a self, slot: u32) -> Option<(String, String)> {
        self.library.name(slot)
    }

    fn base_uri(&'a self, node: NodeRef<'a>) -> Option<Option<String>> {
        self.library.base(node)
    }

    fn document_uri(&'a self, document: &'a Document) -> Option<String> {
        self.library.uri(document)
    }
}
