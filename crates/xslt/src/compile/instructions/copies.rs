//! Instructions that give what is there: `xsl:copy`, `xsl:copy-of`, `xsl:sequence` and maps (XSLT 2.0 §11.9, §11.10, 3.0
//! §21.3).

use std::rc::Rc;

use super::super::element::{Child, Element};
use super::super::here::{Here, truth};
use super::super::problems::Made;
use super::super::texts::join_texts;
use crate::compile::compiler::Compiler;
use crate::program::{Choose, Copy, Kind};

pub(in crate::compile) fn copy<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let select = element.attribute("select").map(|select| compiler.select(&select, here)).transpose();
    let namespaces = compiler.copies_namespaces(element);
    let inherits = compiler.inherits_namespaces(element, "");
    let attribute_sets = compiler.used_sets(element, "", here);
    let body = join_texts(compiler.block(element, here));
    Ok(Kind::Copy(Box::new(Copy {
        select: select?,
        namespaces: namespaces?,
        attribute_sets: attribute_sets?,
        inherits: inherits?,
        body,
    })))
}

pub(in crate::compile) fn copy_of<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    compiler.check_empty(element, here);
    let namespaces = compiler.copies_namespaces(element);
    let accumulators = compiler.flag(element, "copy-accumulators")?;
    let select = compiler.required_select(element, here)?;
    match accumulators {
        true => Ok(Kind::CopyAccumulating(Box::new((select, namespaces?)))),
        false => Ok(Kind::CopyOf(select, namespaces?)),
    }
}

pub(in crate::compile) fn sequence<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    // XSLT 3.0 lets its content stand for the sequence: a choice that is always the same.
    if element.attribute("select").is_none() && !here.is_backwards() {
        let otherwise = compiler.block(element, here);
        return Ok(Kind::Choose(Box::new(Choose { branches: Vec::new(), otherwise })));
    }
    compiler.refuse_content(element, here, "XTSE3185");
    compiler.required_select(element, here).map(Kind::Sequence)
}

/// `xsl:fork`: its branches run one after the other.
pub(in crate::compile) fn fork<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let used = |child: &Element<'s>| !child.is("fallback");
    let parts: Vec<Element<'s>> = element.elements().filter(used).collect();
    let groups = parts.iter().filter(|part| part.is("for-each-group")).count();
    let fits = |part: &&Element<'s>| part.is("sequence") || part.is("for-each-group");
    let text = element.children(here).into_iter().find_map(|child| match child {
        Child::Text(text) if here.keeps(&text.value) => Some(text.visible()),
        _ => None,
    });
    let wrong = parts.iter().find(|part| !fits(part)).map(|part| part.at()).or(text);
    if let Some(at) = wrong.or((groups > 0 && parts.len() > 1).then(|| element.at())) {
        let message = "<xsl:fork> holds <xsl:sequence>, or one <xsl:for-each-group>, and nothing else";
        return Err(compiler.problems.error(at, "XTSE0010", message));
    }
    let otherwise = compiler.block(element, here);
    Ok(Kind::Choose(Box::new(Choose { branches: Vec::new(), otherwise })))
}

pub(in crate::compile) fn map<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    Ok(Kind::Map(compiler.block(element, here)))
}

pub(in crate::compile) fn map_entry<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let key = compiler.required(element, "key").and_then(|key| compiler.expression(&key, here));
    let value = compiler.sequence(element, here, "XTSE3280");
    Ok(Kind::MapEntry(Box::new((key?, value?))))
}

impl<'s> Compiler<'s> {
    /// `copy-namespaces`
    fn copies_namespaces(&mut self, element: Element<'s>) -> Made<bool> {
        match element.attribute("copy-namespaces") {
            Some(attribute) => truth(&attribute, &mut self.problems),
            None => Ok(true),
        }
    }

    /// `inherit-namespaces`, in the namespace that it has on the element.
    pub(in crate::compile) fn inherits_namespaces(&mut self, element: Element<'s>, namespace: &str) -> Made<bool> {
        match element.attribute_in(namespace, "inherit-namespaces") {
            Some(attribute) => truth(&attribute, &mut self.problems),
            None => Ok(true),
        }
    }
}
