//! `xsl:if` and `xsl:choose` (XSLT 1.0 §9).

use std::rc::Rc;

use super::super::Compiler;
use super::super::element::{Child, Element};
use super::super::here::Here;
use super::super::problems::Made;
use crate::program::{Block, Choose, Condition, Kind};

pub(in super::super) fn if_<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let test = compiler.test(element, here);
    let body = compiler.block(element, here);
    Ok(Kind::If(test?, body))
}

pub(in super::super) fn choose<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let mut branches: Vec<Made<(Condition, Block)>> = Vec::new();
    let mut otherwise = None;
    for child in element.children() {
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
