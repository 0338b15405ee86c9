//! Literal result elements (XSLT 1.0 §7.1.1).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::{Element, XSLT};
use super::here::{Here, STANDARD};
use super::problems::Made;
use super::specs;
use super::texts::join_texts;
use crate::name::QualifiedName;
use crate::output::LiteralStart;
use crate::program::{Kind, LiteralAttribute, LiteralElement};

impl<'s> Compiler<'s> {
    pub(super) fn literal(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
        let name = element.name();
        let name = self.aliased(name.prefix, name.local, name.namespace);
        let mut attributes = Vec::new();
        for attribute in element.attributes() {
            let written = attribute.name();
            if written.namespace == XSLT {
                let known = STANDARD.contains(&written.local)
                    || matches!(written.local, "use-attribute-sets" | "inherit-namespaces" | "type" | "validation")
                    || here.is_forwards();
                if known {
                    specs::check_value(&attribute, &mut self.problems);
                } else {
                    let message = format!("literal result elements have no attribute {}", attribute.written());
                    self.problems.error(attribute.at(), "XTSE0805", message);
                }
                continue;
            }
            // An attribute without a prefix is in no namespace, whatever that is an alias for.
            let name = match written.namespace {
                "" => {
                    QualifiedName { prefix: String::new(), local: written.local.to_owned(), namespace: String::new() }
                }
                namespace => self.aliased(written.prefix, written.local, namespace),
            };
            attributes.push(self.avt(&attribute, here).map(|value| LiteralAttribute { name, value }));
        }
        let inherits = self.inherits_namespaces(element, XSLT);
        let attribute_sets = self.used_sets(element, XSLT, here);
        let body = join_texts(self.block(element, here));
        let namespaces = self.result_namespaces(here);
        Ok(Kind::Literal(Box::new(LiteralElement {
            start: LiteralStart::new(name, &namespaces, &mut self.namespace_sets),
            attributes: attributes.into_iter().collect::<Made<_>>()?,
            attribute_sets: attribute_sets?,
            inherits: inherits?,
            body,
        })))
    }

    /// The namespaces that a literal result element brings into the result: all in scope but XSLT's and those that are
    /// excluded, as aliases have it.
    fn result_namespaces(&self, here: &Here) -> Vec<(String, String)> {
        let mut bindings: Vec<(String, String)> = Vec::new();
        for (prefix, namespace) in &here.namespaces {
            let binding = match self.aliases.iter().find(|alias| alias.stylesheet == *namespace) {
                Some(alias) if alias.result.is_empty() => continue,
                Some(alias) => (alias.prefix.clone(), alias.result.clone()),
                None if namespace == XSLT => continue,
                None if here.excluded.contains(namespace) || here.extensions.contains(namespace) => continue,
                None => (prefix.clone(), namespace.clone()),
            };
            if !bindings.iter().any(|(known, _)| *known == binding.0) {
                bindings.push(binding);
            }
        }
        bindings
    }

    /// A name of the stylesheet as it is in the result (XSLT 1.0 §7.1.1, namespace-alias).
    fn aliased(&self, prefix: &str, local: &str, namespace: &str) -> QualifiedName {
        let (prefix, namespace) = match self.aliases.iter().find(|alias| alias.stylesheet == namespace) {
            Some(alias) => (alias.prefix.as_str(), alias.result.as_str()),
            None => (prefix, namespace),
        };
        QualifiedName { prefix: prefix.to_owned(), local: local.to_owned(), namespace: namespace.to_owned() }
    }
}
