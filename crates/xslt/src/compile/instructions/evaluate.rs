//! `xsl:evaluate` (XSLT 3.0 §10.4).

use std::rc::Rc;

use super::super::element::Element;
use super::super::here::Here;
use super::super::problems::Made;
use crate::compile::compiler::Compiler;
use crate::program::{Evaluate, Expr, Kind};

pub(in crate::compile) fn evaluate<'s>(
    compiler: &mut Compiler<'s>,
    element: Element<'s>,
    here: &Rc<Here>,
) -> Made<Kind> {
    let expression = compiler.required(element, "xpath").and_then(|xpath| compiler.expression(&xpath, here));
    let kind = compiler.kind(element, here);
    let base = compiler.template(element, "base-uri", here);
    let schema_aware = compiler.template(element, "schema-aware", here);
    let mut optional = |local| -> Made<Option<Expr>> {
        element.attribute(local).map(|attribute| compiler.expression(&attribute, here)).transpose()
    };
    let (with_params, context_item) = (optional("with-params"), optional("context-item"));
    let namespace_context = optional("namespace-context");
    let parameters = compiler.only_params(element, here)?;
    Ok(Kind::Evaluate(Box::new(Evaluate {
        expression: expression?,
        kind: kind?,
        base: base?,
        with_params: with_params?,
        context_item: context_item?,
        namespace_context: namespace_context?,
        schema_aware: schema_aware?,
        parameters,
        scope: compiler.scope(here),
        default_namespace: here.default_namespace.as_str().into(),
    })))
}
