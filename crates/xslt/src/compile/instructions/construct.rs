//! Instructions that make nodes (XSLT 1.0 §7).

use std::rc::Rc;

use super::super::element::{Child, Element};
use super::super::here::{Here, truth};
use super::super::problems::Made;
use super::super::texts::join_texts;
use crate::compile::compiler::Compiler;
use crate::program::{self, Avt, Content, Instruction, Kind};

pub(in crate::compile) fn element<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let name = compiler.required_template(element, "name", here);
    let namespace = compiler.template(element, "namespace", here);
    let inherits = compiler.inherits_namespaces(element, "");
    let attribute_sets = compiler.used_sets(element, "", here);
    let body = join_texts(compiler.block(element, here));
    Ok(Kind::Element(Box::new(program::Element {
        name: name?,
        namespace: namespace?,
        scope: compiler.scope(here),
        attribute_sets: attribute_sets?,
        inherits: inherits?,
        body,
    })))
}

pub(in crate::compile) fn attribute<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let name = compiler.required_template(element, "name", here);
    let namespace = compiler.template(element, "namespace", here);
    let value = compiler.content(element, here, "");
    let scope = compiler.scope(here);
    Ok(Kind::Attribute(Box::new(program::Attribute { name: name?, namespace: namespace?, scope, value: value? })))
}

pub(in crate::compile) fn namespace<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let name = compiler.required_template(element, "name", here);
    if element.attribute("select").is_none() && !compiler.has_content(element, here) {
        let message = "<xsl:namespace> needs select=\"…\" or content: the namespace";
        compiler.problems.error(element.at(), "XTSE0910", message);
    }
    let content = compiler.content(element, here, " ");
    Ok(Kind::Namespace(Box::new((name?, content?))))
}

pub(in crate::compile) fn comment<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    compiler.content(element, here, " ").map(Kind::Comment)
}

pub(in crate::compile) fn processing_instruction<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let name = compiler.required_template(element, "name", here);
    let content = compiler.content(element, here, " ");
    Ok(Kind::ProcessingInstruction(Box::new((name?, content?))))
}

pub(in crate::compile) fn document<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    Ok(Kind::Document(join_texts(compiler.block(element, here))))
}

pub(in crate::compile) fn text<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let unescaped = compiler.unescaped(element)?;
    let mut parts = Vec::new();
    for child in element.children(here) {
        match child {
            Child::Text(text) => compiler.text(&text, here, &mut parts),
            Child::Element(inner) => {
                let message = format!("<{}> cannot stand in <xsl:text>", inner.written());
                return Err(compiler.problems.error(inner.at(), "XTSE0010", message));
            }
        }
    }
    match parts.pop() {
        None => Ok(Kind::Text(Box::default(), unescaped)),
        Some(Instruction { kind: Kind::Text(only, false), .. }) if parts.is_empty() => Ok(Kind::Text(only, unescaped)),
        last => {
            parts.extend(last);
            Ok(Kind::ValueOf(Content::Block(parts.into(), Some(Avt::Constant(Box::default()))), unescaped))
        }
    }
}

pub(in crate::compile) fn value_of<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let unescaped = compiler.unescaped(element)?;
    if element.attribute("select").is_none() && here.is_backwards() && !compiler.has_content(element, here) {
        let message = "<xsl:value-of> needs select=\"…\"";
        return Err(compiler.problems.error(element.at(), "XTSE0010", message));
    }
    Ok(Kind::ValueOf(compiler.content(element, here, "")?, unescaped))
}

impl<'s> Compiler<'s> {
    /// `disable-output-escaping`
    fn unescaped(&mut self, element: Element<'s>) -> Made<bool> {
        match element.attribute("disable-output-escaping") {
            Some(attribute) => {
                let unescaped = truth(&attribute, &mut self.problems)?;
                self.unescaped |= unescaped;
                Ok(unescaped)
            }
            None => Ok(false),
        }
    }
}
