//! Variables, parameters and what is passed to them (XSLT 1.0 §11, 2.0 §9 and §10.1).

use std::rc::Rc;

use myelin_xpath::types::SequenceType;

use super::compiler::Compiler;
use super::element::{Child, Element, RESERVED, XSLT};
use super::here::{Here, truth};
use super::problems::Made;
use super::texts::join_texts;
use crate::name::ExpandedName;
use crate::program::{Binding, Kind, TemplateParameter, Variable, WithParam};

/// What a variable or parameter is bound to, and its type.
pub(super) type Bound = (Binding, Option<SequenceType>);

/// A local `xsl:variable`.
pub(super) fn variable<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    // The name is not in scope in its own value.
    let bound = compiler.bound(element, here);
    let name = compiler.named(element, here)?;
    compiler.refuse_static(element);
    // Also if the value is wrong: what refers to it is not.
    let slot = compiler.frame.declare(name);
    let (value, kind) = bound?;
    Ok(Kind::Variable(Box::new(Variable { slot, value, kind })))
}

impl<'s> Compiler<'s> {
    /// The name of a declaration.
    pub(super) fn named(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<ExpandedName> {
        let attribute = self.required(element, "name")?;
        let name = self.qname(&attribute, here)?;
        let allowed = name.namespace == XSLT && name.local == "initial-template" && element.is("template");
        if RESERVED.contains(&name.namespace.as_str()) && !allowed {
            let message = format!("{} is in a namespace of the standards: take one of your own", attribute.trimmed());
            return Err(self.problems.error(attribute.at(), "XTSE0080", message));
        }
        Ok(name)
    }

    /// The value of a variable, a parameter or what is passed to one.
    pub(super) fn bound(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Bound> {
        let kind = self.kind(element, here);
        let typed = !matches!(kind, Ok(None));
        let binding = match element.attribute("select") {
            Some(select) => {
                self.refuse_content(element, here, "XTSE0620");
                self.select(&select, here).map(Binding::Select)
            }
            None if !self.has_content(element, here) => {
                Ok(if typed { Binding::EmptySequence } else { Binding::EmptyText })
            }
            None => {
                let block = self.block(element, here);
                Ok(if typed { Binding::Sequence(block) } else { Binding::Tree(join_texts(block)) })
            }
        };
        Ok((binding?, kind?))
    }

    /// What an element gives that has `select` or content: a sequence.
    pub(super) fn sequence(&mut self, element: Element<'s>, here: &Rc<Here>, code: &'static str) -> Made<Binding> {
        match element.attribute("select") {
            Some(select) => {
                self.refuse_content(element, here, code);
                self.select(&select, here).map(Binding::Select)
            }
            None if self.has_content(element, here) => Ok(Binding::Sequence(self.block(element, here))),
            None => Ok(Binding::EmptySequence),
        }
    }

    /// The `xsl:with-param` of an instruction that holds nothing else.
    pub(super) fn only_params(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Box<[WithParam]>> {
        let (parts, rest) = self.split(element, here, |local| local == "with-param");
        self.refuse_rest(element, &rest);
        self.with_params(parts)
    }

    /// Refuses what stands behind the parts that an instruction is made of.
    pub(super) fn refuse_rest(&mut self, element: Element<'s>, rest: &[Child<'s>]) {
        for child in rest {
            let (at, what) = match child {
                Child::Element(inner) if inner.is("fallback") => continue,
                Child::Element(inner) => (inner.at(), format!("<{}>", inner.written())),
                Child::Text(text) => (text.visible(), "text".to_owned()),
            };
            self.problems.error(at, "XTSE0010", format!("{what} cannot stand in <{}>", element.written()));
        }
    }

    pub(super) fn with_params(&mut self, elements: Vec<(Element<'s>, Rc<Here>)>) -> Made<Box<[WithParam]>> {
        let mut names = Vec::new();
        let mut passed = Vec::with_capacity(elements.len());
        for (element, here) in elements {
            let bound = self.bound(element, &here);
            let tunnel = self.flag(element, "tunnel");
            let name = self.named(element, &here);
            let Ok(name) = name else { continue };
            if names.contains(&name) {
                self.problems.error(element.at(), "XTSE0670", format!("{name} is passed twice"));
            }
            names.push(name.clone());
            let name = self.parameter(name);
            passed.push(bound.and_then(|(value, kind)| Ok(WithParam { name, tunnel: tunnel?, value, kind })));
        }
        passed.into_iter().collect()
    }

    /// Only what is declared below the stylesheet element is known before anything runs.
    pub(super) fn refuse_static(&mut self, element: Element<'s>) {
        if let Some(attribute) =
            element.attribute("static").filter(|word| !matches!(word.trimmed(), "no" | "false" | "0"))
        {
            let message = "only declarations below the stylesheet element can be static";
            self.problems.error(attribute.at(), "XTSE0020", message);
        }
    }

    /// A `xsl:param` of a template.
    pub(super) fn template_parameter(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<TemplateParameter> {
        self.refuse_static(element);
        let bound = self.bound(element, here);
        let (tunnel, required) = (self.flag(element, "tunnel"), self.is_required(element, here));
        let expanded = self.named(element, here)?;
        let mark = self.frame.open();
        if self.frame.find(&expanded).is_some() {
            self.problems.error(element.at(), "XTSE0580", format!("the parameter {expanded} is declared twice"));
            self.frame.close(mark);
        }
        let name = self.parameter(expanded.clone());
        let slot = self.frame.declare(expanded);
        let (default, kind) = bound?;
        Ok(TemplateParameter { name, slot, tunnel: tunnel?, required: required?, default, kind, at: element.at() })
    }

    /// `required`, which leaves no room for a default.
    pub(super) fn is_required(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<bool> {
        let required = self.flag(element, "required")?;
        if required && (element.attribute("select").is_some() || self.has_content(element, here)) {
            let message = "a parameter that is required has no default: select and content have to go";
            return Err(self.problems.error(element.at(), "XTSE0010", message));
        }
        Ok(required)
    }

    /// An attribute that says yes or no; no if it is not there.
    pub(super) fn flag(&mut self, element: Element<'s>, local: &str) -> Made<bool> {
        match element.attribute(local) {
            Some(attribute) => truth(&attribute, &mut self.problems),
            None => Ok(false),
        }
    }
}
