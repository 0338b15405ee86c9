//! `xsl:try` and `xsl:catch` (XSLT 3.0 §8.3).

use std::rc::Rc;

use super::super::element::{Attribute, Child, Element};
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::name::ExpandedName;
use crate::program::{Binding, Catch, Kind, Try};

/// The namespace of the variables that tell what went wrong.
const ERRORS: &str = "http://www.w3.org/2005/xqt-errors";

const VARIABLES: [&str; 6] = ["code", "description", "value", "module", "line-number", "column-number"];

pub(in crate::compile) fn try_<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    // The loop may be ended in either part.
    let last_in = compiler.last_in.take();
    let mut inside = Vec::new();
    let mut catches = Vec::new();
    for child in element.children(here) {
        match child {
            Child::Element(part) if part.is("catch") => {
                let inner = here.enter(part, &mut compiler.problems);
                if compiler.is_used(part, &inner) {
                    compiler.check_attributes(part, &inner);
                    compiler.last_in.clone_from(&last_in);
                    catches.push(catch(compiler, part, &inner));
                }
            }
            Child::Element(part) if part.is("fallback") => {}
            Child::Text(text) if !here.keeps(&text.value) => {}
            other if catches.is_empty() => inside.push(other),
            other => compiler.refuse_rest(element, &[other]),
        }
    }
    if catches.is_empty() {
        let message = "<xsl:try> needs an <xsl:catch>";
        compiler.problems.error(element.at(), "XTSE0010", message);
    }
    let body = match element.attribute("select") {
        Some(select) => {
            if !inside.is_empty() {
                let message = "<xsl:try> has both select=\"…\" and content: one of them has to go";
                compiler.problems.error(element.at(), "XTSE3140", message);
            }
            compiler.select(&select, here).map(Binding::Select)
        }
        None => {
            compiler.last_in = last_in;
            Ok(Binding::Sequence(compiler.block_of(inside, here)))
        }
    };
    Ok(Kind::Try(Box::new(Try { body: body?, catches: catches.into_iter().collect::<Made<_>>()? })))
}

fn catch<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Catch> {
    let errors = match element.attribute("errors") {
        Some(attribute) => attribute.words().map(|word| error_test(compiler, &attribute, word, here)).collect(),
        None => Ok(Vec::new()),
    };
    let mark = compiler.frame.open();
    let slots = VARIABLES.map(|local| compiler.frame.declare(ExpandedName::new(ERRORS, local)));
    let body = compiler.sequence(element, here, "XTSE3150");
    compiler.frame.close(mark);
    Ok(Catch { errors: errors?, slots: slots[0], body: body? })
}

/// `*`, `*:local`, `prefix:*` or a name.
fn error_test<'s>(
    compiler: &mut Compiler<'s>,
    attribute: &Attribute<'s>,
    word: &str,
    here: &Here,
) -> Made<(Option<String>, Option<String>)> {
    if word == "*" {
        return Ok((None, None));
    }
    if let Some(local) = word.strip_prefix("*:") {
        return Ok((None, Some(local.to_owned())));
    }
    let any = word.strip_suffix('*').filter(|before| before.ends_with([':', '}']));
    // A name stands in for the star, to be read with its namespace.
    let name = match any {
        Some(before) => here.name(attribute, &format!("{before}any"), &mut compiler.problems)?,
        None => here.name(attribute, word, &mut compiler.problems)?,
    };
    Ok((Some(name.namespace), any.is_none().then_some(name.local)))
}
