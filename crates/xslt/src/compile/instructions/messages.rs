//! `xsl:message` and `xsl:assert` (XSLT 1.0 §13, 3.0 §23).

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{Avt, Binding, Instruction, Kind, Message};

pub(in crate::compile) fn message<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let terminate = match element.attribute("terminate") {
        // 1.0 takes the value as it is.
        Some(attribute) => compiler.avt(&attribute, here),
        None => Ok(Avt::Constant("no".into())),
    };
    if let Ok(Avt::Constant(word)) = &terminate
        && !matches!(word.trim(), "yes" | "no" | "true" | "false" | "1" | "0")
    {
        let message = format!("terminate={word:?} is neither yes nor no");
        compiler.problems.error(element.at(), "XTSE0020", message);
    }
    let message = say(compiler, element, here)?;
    Ok(Kind::Message(Box::new(Message { terminate: terminate?, ..message })))
}

pub(in crate::compile) fn assert<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
    let test = compiler.test(element, here);
    let message = say(compiler, element, here)?;
    Ok(Kind::Assert(Box::new((test?, message))))
}

/// What is said, and with which code.
fn say<'s>(compiler: &mut Compiler<'s>, element: Element<'s>, here: &Rc<Here>) -> Made<Message> {
    let code = compiler.template(element, "error-code", here);
    // Both may be there: what `select` gives comes first (XSLT 3.0 §23.1).
    let select = element.attribute("select").map(|select| compiler.select(&select, here));
    let at = element.at();
    let body = compiler.block(element, here);
    let content = match select {
        None => Binding::Sequence(body),
        Some(select) if body.is_empty() => Binding::Select(select?),
        Some(select) => {
            let first = Instruction { at, kind: Kind::Sequence(select?) };
            Binding::Sequence(std::iter::once(first).chain(body).collect())
        }
    };
    let scope = compiler.scope(here);
    Ok(Message { content, terminate: Avt::Constant("yes".into()), code: code?, scope })
}
