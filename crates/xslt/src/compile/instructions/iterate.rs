//! `xsl:iterate`, `xsl:next-iteration` and `xsl:break` (XSLT 3.0 §8).

use std::rc::Rc;

use myelin_xpath::{Value, Version};

use super::super::compiler::{Compiler, Loop};
use super::super::element::{Child, Element};
use super::super::here::Here;
use super::super::problems::{Made, Reported};
use crate::program::{Binding, Iterate, Kind, Variable};

pub(in crate::compile) fn iterate<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let select = compiler.required_select(element, here);
    let mark = compiler.frame.open();
    let (parts, rest) = compiler.split(element, here, |local| local == "param");
    let mut names = Loop::new();
    let mut parameters = Vec::with_capacity(parts.len());
    for (part, inner) in parts {
        let bound = compiler.bound(part, &inner);
        let wanted = compiler.flag(part, "required")?;
        let nothing = matches!(&bound, Ok((Binding::EmptySequence, Some(kind)))
            if Value::EMPTY.convert(kind, Version::V3).is_err());
        if wanted || nothing {
            let message = "a parameter of a loop needs a value to begin with";
            compiler.problems.error(part.at(), "XTSE3520", message);
        }
        let Ok(name) = compiler.named(part, &inner) else { continue };
        if names.iter().any(|(known, ..)| *known == name) {
            compiler.problems.error(part.at(), "XTSE0580", format!("the parameter {name} is declared twice"));
        }
        let slot = compiler.frame.declare(name.clone());
        names.push((name, slot, bound.as_ref().ok().and_then(|(_, kind)| kind.clone())));
        parameters.push(bound.map(|(value, kind)| Variable { slot, value, kind }));
    }
    let mut on_completion = Ok(Binding::EmptySequence);
    let mut body = Vec::with_capacity(rest.len());
    for child in rest {
        match child {
            Child::Element(part) if part.is("on-completion") && body.is_empty() => {
                let inner = here.enter(part, &mut compiler.problems);
                compiler.check_attributes(part, &inner);
                on_completion = compiler.sequence(part, &inner, "XTSE3125");
            }
            other => body.push(other),
        }
    }
    compiler.last_in = Some(Rc::new(names));
    let body = compiler.block_of(body, here);
    compiler.last_in = None;
    compiler.frame.close(mark);
    Ok(Kind::Iterate(Box::new(Iterate {
        select: select?,
        parameters: parameters.into_iter().collect::<Made<_>>()?,
        body,
        on_completion: on_completion?,
    })))
}

pub(in crate::compile) fn next_iteration<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let Some(parameters) = compiler.last_in.take() else { return Err(outside(compiler, element)) };
    let (parts, rest) = compiler.split(element, here, |local| local == "with-param");
    compiler.refuse_rest(element, &rest);
    let mut values: Vec<Variable> = Vec::with_capacity(parts.len());
    for (part, inner) in parts {
        let bound = compiler.bound(part, &inner);
        let name = compiler.named(part, &inner)?;
        let Some((_, slot, kind)) = parameters.iter().find(|(known, ..)| *known == name) else {
            let message = format!("<xsl:iterate> has no parameter {name}");
            return Err(compiler.problems.error(part.at(), "XTSE3130", message));
        };
        if values.iter().any(|known| known.slot == *slot) {
            return Err(compiler.problems.error(part.at(), "XTSE0670", format!("{name} is passed twice")));
        }
        let (value, own) = bound?;
        values.push(Variable { slot: *slot, value, kind: kind.clone().or(own) });
    }
    Ok(Kind::NextIteration(values.into()))
}

pub(in crate::compile) fn break_<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    if compiler.last_in.take().is_none() {
        return Err(outside(compiler, element));
    }
    compiler.sequence(element, here, "XTSE3125").map(Kind::Break)
}

fn outside<'s>(compiler: &mut Compiler<'s>, element: Element<'s>) -> Reported {
    let message = format!("<{}> has to be the last thing that an <xsl:iterate> does", element.written());
    compiler.problems.error(element.at(), "XTSE3120", message)
}
