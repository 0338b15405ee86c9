//! `xsl:if` and `xsl:choose` (XSLT 1.0 §9), and content that depends on other content (3.0 §8.4).

use std::rc::Rc;

use super::super::element::{Child, Element};
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{Block, Choose, Condition, Kind, Part};

pub(in crate::compile) fn if_<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let test = compiler.test(element, here);
    let body = compiler.block(element, here);
    Ok(Kind::If(test?, body))
}

pub(in crate::compile) fn choose<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let mut branches: Vec<Made<(Condition, Block)>> = Vec::new();
    let mut otherwise = None;
    for child in element.children(here) {
        let child = match child {
            Child::Element(child) => child,
            Child::Text(text) if !here.keeps(&text.value) => continue,
            Child::Text(text) => {
                compiler.problems.error(text.visible(), "XTSE0010", "text cannot stand in <xsl:choose>");
                continue;
            }
        };
        let inner = here.enter(child, &mut compiler.problems);
        if !compiler.is_used(child, &inner) {
            continue;
        }
        compiler.check_attributes(child, &inner);
        match child.xslt() {
            Some("when") if otherwise.is_none() => {
                let test = compiler.test(child, &inner);
                let body = compiler.block(child, &inner);
                branches.push(test.map(|test| (test, body)));
            }
            Some("otherwise") if otherwise.is_none() => otherwise = Some(compiler.block(child, &inner)),
            Some("fallback") => {}
            _ => {
                let message = format!("<{}> cannot stand here in <xsl:choose>", child.written());
                compiler.problems.error(child.at(), "XTSE0010", message);
            }
        }
    }
    if branches.is_empty() {
        let message = "<xsl:choose> needs an <xsl:when>";
        return Err(compiler.problems.error(element.at(), "XTSE0010", message));
    }
    let branches = branches.into_iter().collect::<Made<Vec<_>>>()?;
    Ok(Kind::Choose(Box::new(Choose { branches, otherwise: otherwise.unwrap_or_default() })))
}

pub(in crate::compile) fn where_populated<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    Ok(Kind::WherePopulated(compiler.block(element, here)))
}

impl<'s> Compiler<'s> {
    /// `xsl:on-empty` and `xsl:on-non-empty`; `is_last`: whether nothing stands behind it.
    pub(in crate::compile) fn depending(&mut self, element: Element<'s>, here: &Rc<Here>, is_last: bool) -> Made<Part> {
        self.check_attributes(element, here);
        let binding = self.sequence(element, here, "XTSE3185")?;
        if !element.is("on-empty") {
            return Ok(Part::OnNonEmpty(binding));
        }
        if !is_last {
            let message = format!("<{}> has to come last", element.written());
            return Err(self.problems.error(element.at(), "XTSE0010", message));
        }
        Ok(Part::OnEmpty(binding))
    }
}
