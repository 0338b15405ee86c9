//! `xsl:analyze-string` (XSLT 2.0 §15).

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{AnalyzeString, Avt, Kind};

pub(in crate::compile) fn analyze_string<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let select = compiler.required(element, "select").and_then(|select| compiler.expression(&select, here));
    let regex = compiler.required_template(element, "regex", here);
    let flags = compiler.template(element, "flags", here);
    let is_part = |local: &str| matches!(local, "matching-substring" | "non-matching-substring");
    let (parts, rest) = compiler.split(element, here, is_part);
    compiler.refuse_rest(element, &rest);
    if parts.is_empty() {
        let message = "<xsl:analyze-string> needs <xsl:matching-substring> or <xsl:non-matching-substring>";
        compiler.problems.error(element.at(), "XTSE1130", message);
    }
    let (mut matching, mut other) = (None, None);
    for (part, inner) in parts {
        let block = compiler.block(part, &inner);
        let place = if part.is("matching-substring") { &mut matching } else { &mut other };
        if place.replace(block).is_some() {
            let message = format!("<{}> stands twice in <{}>", part.written(), element.written());
            compiler.problems.error(part.at(), "XTSE0010", message);
        }
    }
    Ok(Kind::AnalyzeString(Box::new(AnalyzeString {
        select: select?,
        regex: regex?,
        flags: flags?.unwrap_or_else(|| Avt::Constant(Box::default())),
        matching: matching.unwrap_or_default(),
        other: other.unwrap_or_default(),
    })))
}
