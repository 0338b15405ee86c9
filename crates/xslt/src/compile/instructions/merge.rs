//! `xsl:merge` (XSLT 3.0 §15).

use std::rc::Rc;

use super::super::element::{Child, Element};
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{Kind, Merge, MergeFrom, MergeSource};

pub(in crate::compile) fn merge<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let mut sources: Vec<Made<MergeSource>> = Vec::new();
    let mut body = None;
    for child in element.children(here) {
        let part = match child {
            Child::Element(part) if part.is("fallback") => continue,
            Child::Element(part) => part,
            Child::Text(text) if !here.keeps(&text.value) => continue,
            other => {
                compiler.refuse_rest(element, &[other]);
                continue;
            }
        };
        let inner = here.enter(part, &mut compiler.problems);
        if !compiler.is_used(part, &inner) {
            continue;
        }
        compiler.check_attributes(part, &inner);
        match part.xslt() {
            Some("merge-source") if body.is_none() => sources.push(source(compiler, part, &inner)),
            Some("merge-action") if body.is_none() => body = Some(compiler.block(part, &inner)),
            _ => compiler.refuse_rest(element, &[Child::Element(part)]),
        }
    }
    let Some(body) = body.filter(|_| !sources.is_empty()) else {
        let message = "<xsl:merge> needs <xsl:merge-source> and then one <xsl:merge-action>";
        return Err(compiler.problems.error(element.at(), "XTSE0010", message));
    };
    let sources = sources.into_iter().collect::<Made<Vec<_>>>()?;
    if sources.windows(2).any(|pair| pair[0].keys.len() != pair[1].keys.len()) {
        let message = "each <xsl:merge-source> needs as many <xsl:merge-key> as the others";
        return Err(compiler.problems.error(element.at(), "XTSE2200", message));
    }
    let names: Vec<_> = sources.iter().filter_map(|source| source.name.as_ref()).collect();
    if (1..names.len()).any(|index| names[..index].contains(&names[index])) {
        let message = "two <xsl:merge-source> have the same name";
        return Err(compiler.problems.error(element.at(), "XTSE3190", message));
    }
    Ok(Kind::Merge(Box::new(Merge { sources, body })))
}

fn source<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<MergeSource> {
    let has = |local| element.attribute(local).is_some();
    let by_item = has("for-each-item");
    let beside = ["for-each-source", "use-accumulators", "streamable"].into_iter().any(has);
    let alone = has("use-accumulators") || has("streamable");
    if (by_item && beside) || (alone && !has("for-each-source")) {
        let message = "for-each-item stands alone, and use-accumulators and streamable need for-each-source";
        compiler.problems.error(element.at(), "XTSE3195", message);
    }
    let name = element.attribute("name").map(|attribute| attribute.trimmed().to_owned());
    if let Some(name) = name.as_deref().filter(|name| !myelin_xml::is_ncname(name)) {
        let message = format!("name={name:?} is no name without a colon");
        compiler.problems.error(element.at(), "XTSE0020", message);
    }
    compiler.flag(element, "streamable")?;
    let sorts_first = compiler.flag(element, "sort-before-merge");
    let from = match (element.attribute("for-each-item"), element.attribute("for-each-source")) {
        (Some(items), _) => compiler.select(&items, here).map(MergeFrom::Items),
        (None, Some(sources)) => compiler.select(&sources, here).map(MergeFrom::Documents),
        (None, None) => Ok(MergeFrom::Here),
    };
    let select = compiler.required_select(element, here);
    let accumulators = compiler.used_accumulators(element, here);
    let (parts, rest) = compiler.split(element, here, |local| local == "merge-key");
    compiler.refuse_rest(element, &rest);
    if parts.is_empty() {
        let message = "<xsl:merge-source> needs an <xsl:merge-key>";
        compiler.problems.error(element.at(), "XTSE0010", message);
    }
    let keys: Vec<_> = parts.iter().map(|(part, inner)| compiler.sort(*part, inner, "XTSE3200")).collect();
    Ok(MergeSource {
        name: name.map(String::into_boxed_str),
        from: from?,
        select: select?,
        sorts_first: sorts_first?,
        keys: keys.into_iter().collect::<Made<_>>()?,
        accumulators: accumulators?,
        scope: compiler.scope(here),
    })
}
