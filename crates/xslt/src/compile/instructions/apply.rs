//! Instructions that go on in a template (XSLT 1.0 §5 and §6, 2.0 §6).

use std::rc::Rc;

use super::super::compiler::{Compiler, NamedCall};
use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::program::{ApplyTemplates, CallTemplate, Kind, ModeUse};

pub(in crate::compile) fn apply_templates<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let select = element.attribute("select").map(|select| compiler.select(&select, here)).transpose();
    let mode = match element.attribute("mode") {
        Some(mode) if mode.trimmed() == "#current" => Ok(ModeUse::Current),
        Some(mode) => compiler.mode(&mode, here).map(ModeUse::Mode),
        None => compiler.use_mode(here.default_mode.clone(), element.at()).map(ModeUse::Mode),
    };
    let (parts, rest) = compiler.split(element, here, |local| matches!(local, "sort" | "with-param"));
    compiler.refuse_rest(element, &rest);
    let (sorts, parameters): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(part, _)| part.is("sort"));
    let sorts = compiler.sorts(&sorts);
    let parameters = compiler.with_params(parameters);
    let apply = ApplyTemplates { select: select?, mode: mode?, sorts: sorts?, parameters: parameters? };
    Ok(Kind::ApplyTemplates(Box::new(apply)))
}

pub(in crate::compile) fn call_template<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let parameters = compiler.only_params(element, here);
    let attribute = compiler.required(element, "name")?;
    let name = compiler.qname(&attribute, here)?;
    let Some(&template) = compiler.index.templates.get(&name) else {
        let message = format!("there is no template with the name {}", attribute.trimmed());
        return Err(compiler.problems.error(attribute.at(), "XTSE0650", message));
    };
    let call = CallTemplate { template, parameters: parameters?, tail: false };
    let passed = call.parameters.iter().filter(|parameter| !parameter.tunnel).map(|parameter| parameter.name).collect();
    let (at, lenient) = (element.at(), here.is_backwards());
    compiler.named_calls.push(NamedCall { template, passed, at, lenient });
    Ok(Kind::CallTemplate(Box::new(call)))
}

pub(in crate::compile) fn apply_imports<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    compiler.only_params(element, here).map(Kind::ApplyImports)
}

pub(in crate::compile) fn next_match<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    compiler.only_params(element, here).map(Kind::NextMatch)
}
