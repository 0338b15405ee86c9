//! Instructions that give what is there: `xsl:copy`, `xsl:copy-of`, `xsl:sequence` and maps (XSLT 2.0 §11.9, §11.10, 3.0
//! §21.3).

use std::rc::Rc;

use super::super::Compiler;
use super::super::block::join_texts;
use super::super::element::Element;
use super::super::here::{Here, truth};
use super::super::problems::Made;
use crate::program::{Choose, Copy, Kind};

pub(in super::super) fn copy<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let select = match compiler.attribute(element, "select") {
        Some(select) => compiler.select(&select, here).map(Some),
        None => Ok(None),
    };
    let namespaces = compiler.copies_namespaces(element);
    let attribute_sets = compiler.used_sets(element, "", here);
    let body = join_texts(compiler.block(element, here));
    Ok(Kind::Copy(Box::new(Copy { select: select?, namespaces: namespaces?, attribute_sets: attribute_sets?, body })))
}

pub(in super::super) fn copy_of<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    compiler.check_empty(element, here);
    let namespaces = compiler.copies_namespaces(element);
    Ok(Kind::CopyOf(compiler.required_select(element, here)?, namespaces?))
}

pub(in super::super) fn sequence<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    // XSLT 3.0 lets its content stand for the sequence: a choice that is always the same.
    if compiler.attribute(element, "select").is_none() && !here.is_backwards() {
        let otherwise = compiler.block(element, here);
        return Ok(Kind::Choose(Box::new(Choose { branches: Vec::new(), otherwise })));
    }
    compiler.refuse_content(element, here, "XTSE3185");
    compiler.required_select(element, here).map(Kind::Sequence)
}

pub(in super::super) fn map<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    Ok(Kind::Map(compiler.block(element, here)))
}

pub(in super::super) fn map_entry<'s>(
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
        match self.attribute(element, "copy-namespaces") {
            Some(attribute) => truth(&attribute, &mut self.problems),
            None => Ok(true),
        }
    }
}
