//! The attributes of an element as the first members of its object.

use std::collections::HashSet;

use myelin_xml::{Kind, NodeId};

use super::Writer;
use crate::error::Error;
use crate::text::write_string;

const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";

impl<'a> Writer<'a> {
    /// Writes the attributes of an element, and its namespace declarations where they are kept.
    ///
    /// Shape: whether an object is begun; `None` for an element that is `null` by its attributes.
    /// Errors: `Duplicate` for two attributes that have one key.
    #[inline]
    pub(super) fn write_attributes(&mut self, element: NodeId) -> Result<Option<bool>, Error> {
        let document = self.document;
        let mut attributes = document.attributes(element).peekable();
        let declares = self.switches.prefixes && self.switches.declarations;
        if attributes.peek().is_none() && !declares {
            return Ok(Some(false));
        }
        if self.switches.nil && document.attributes(element).any(|attribute| self.is_nil(attribute)) {
            return Ok(None);
        }
        self.seen.clear();
        let mut separator = b'{';
        if declares {
            for (prefix, namespace) in self.declarations(element) {
                if self.switches.nil && namespace == XSI_NAMESPACE {
                    continue;
                }
                self.out.push(separator);
                separator = b',';
                let key = match prefix {
                    "" => "@xmlns".to_owned(),
                    _ => format!("@xmlns{}{prefix}", self.switches.separator),
                };
                write_string(&key, self.out);
                self.out.push(b':');
                write_string(namespace, self.out);
            }
        }
        for attribute in attributes {
            let Some(name) = document.name(attribute) else { continue };
            let key = self.keys.of_attribute(name);
            self.seen.push(key);
            self.out.push(separator);
            separator = b',';
            self.out.extend_from_slice(self.keys.written(key));
            write_string(&document.value(attribute), self.out);
        }
        self.differ()?;
        Ok(Some(separator == b','))
    }

    /// The namespace declarations of an element; for the outermost with those above it that names in it need.
    fn declarations(&self, element: NodeId) -> Vec<(&'a str, &'a str)> {
        let document = self.document;
        let mut declarations: Vec<_> = document.declarations(element).collect();
        if element == self.root {
            let named = document.descendants(element).filter(|&node| document.kind(node) == Kind::Element);
            let elements: Vec<NodeId> = std::iter::once(element).chain(named).collect();
            let attributes = elements.iter().flat_map(|&element| document.attributes(element));
            let names = elements.iter().copied().chain(attributes);
            let used: HashSet<&str> = names.map(|node| document.qname(node).prefix).collect();
            let own: HashSet<&str> = declarations.iter().map(|&(prefix, _)| prefix).collect();
            let inherited = document.namespaces_in_scope(element).into_iter();
            declarations.extend(
                inherited.filter(|(prefix, _)| used.contains(prefix) && !own.contains(prefix) && *prefix != "xml"),
            );
        }
        declarations
    }

    fn is_nil(&self, attribute: NodeId) -> bool {
        let name = self.document.qname(attribute);
        name.local == "nil"
            && (name.namespace.is_empty() || name.namespace == XSI_NAMESPACE)
            && self.document.value(attribute) == "true"
    }

    fn differ(&mut self) -> Result<(), Error> {
        let seen = &mut self.seen;
        if seen.len() > 1 {
            seen.sort_unstable();
            if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::Duplicate { key: self.keys.text(twice[0]) });
            }
        }
        Ok(())
    }
}
