//! `xsl:evaluate` (XSLT 3.0 §10.4) and `xsl:source-document` (§18.1).

use std::borrow::Cow;

use myelin_xpath::{Atomic, FunctionItem, Item, SharedContext, Value};

use super::content::Typed;
use super::failure::{Failure, Outcome};
use super::focus::Focus;
use super::frame::Flow;
use super::host::Explain;
use super::machine::{DYNAMIC, Machine};
use super::receiver::Receiver;
use crate::compile::late;
use crate::name::ExpandedName;
use crate::program::{Evaluate, Expr, SourceDocument};
use crate::scope::Scope;

/// What a letter of an expression is counted as.
const EXPRESSION_BYTES: usize = 24;

impl<'a> Machine<'a> {
    /// `xsl:evaluate`
    #[inline(never)]
    pub(super) fn evaluate_text(&'a self, evaluate: &'a Evaluate, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let text = self.only_text(self.evaluate(&evaluate.expression, focus)?, &evaluate.expression)?;
        if let Some(schema_aware) = self.optional_avt(evaluate.schema_aware.as_ref(), focus)?
            && !matches!(schema_aware.trim(), "yes" | "true" | "1" | "no" | "false" | "0")
        {
            return Err(Failure::new("XTDE0030", format!("schema-aware is {schema_aware:?}, expected yes or no")));
        }
        let mut names = Vec::new();
        let mut values = Vec::new();
        for parameter in &evaluate.parameters {
            let value = self.parameter(parameter, focus)?;
            names.push(self.program.parameters[parameter.name.0 as usize].clone());
            values.push(value);
        }
        if let Some(given) = &evaluate.with_params {
            self.add_given(self.evaluate(given, focus)?, &mut names, &mut values)?;
        }
        let scope = self.evaluation_scope(evaluate, focus)?;
        let item = match &evaluate.context_item {
            None => None,
            Some(item) => {
                let value = self.evaluate(item, focus)?;
                if value.len() > 1 {
                    return Err(Failure::new(
                        "XTTE3210",
                        "the context item of xsl:evaluate is one item, and not several",
                    ));
                }
                value.first()
            }
        };
        let default_namespace = match &evaluate.namespace_context {
            None => &*evaluate.default_namespace,
            Some(_) => scope.namespace("").unwrap_or(""),
        };
        let mut declare = |target| {
            let mut declared = self.declared.borrow_mut();
            declared.push((target, scope));
            DYNAMIC + declared.len() as u32 - 1
        };
        let compiled = late::compile_evaluated(self.program, &text, scope, default_namespace, &names, &mut declare);
        let compiled = compiled.map_err(|error| {
            Failure::new("XTDE3160", format!("the expression {text:?} is wrong: {} ({})", error.message, error.code))
        })?;
        self.build(EXPRESSION_BYTES * (text.len() + 8))?;
        let expression = self.expressions.keep(compiled);
        let focus = Focus { item, position: 1, size: 1 };
        let shared = SharedContext { names: None, ..*self.shared() };
        let value = self.aside(
            names.len() as u32,
            || "xsl:evaluate".to_owned(),
            || {
                for (slot, value) in values.into_iter().enumerate() {
                    self.assign(slot as u32, value);
                }
                expression.evaluate_from(&shared, focus.start()).explain(self, &text)
            },
        )?;
        self.convert(value, evaluate.kind.as_ref(), Typed::EVALUATED)
    }

    /// A text that an attribute gives; values of other types are refused.
    pub(super) fn only_text(&'a self, value: Value<'a>, expr: &'a Expr) -> Outcome<Cow<'a, str>> {
        let value = value.atomized().explain(self, &expr.text)?;
        match (value.len(), value.first()) {
            (1, Some(Item::Atomic(Atomic::Text(text, _)))) => Ok(text),
            _ => Err(Failure::new("XPTY0004", format!("`{}` gives something other than one text", expr.text))),
        }
    }

    /// Adds the parameters of a map; they take the place of those of the same name.
    fn add_given(&self, given: Value<'a>, names: &mut Vec<ExpandedName>, values: &mut Vec<Value<'a>>) -> Outcome<()> {
        let wrong = || Failure::new("XTTE3165", "with-params is a map from xs:QName to values, and nothing else");
        let (1, Some(Item::Function(FunctionItem::Map(map)))) = (given.len(), given.first()) else {
            return Err(wrong());
        };
        for (key, value) in map.entries() {
            let Atomic::QName(name) = key else { return Err(wrong()) };
            let name = ExpandedName::new(name.namespace.as_str(), name.local.as_str());
            match names.iter().position(|known| *known == name) {
                Some(index) => values[index] = value.clone(),
                None => {
                    names.push(name);
                    values.push(value.clone());
                }
            }
        }
        Ok(())
    }

    /// What prefixes and relative references in the expression mean.
    fn evaluation_scope(&'a self, evaluate: &'a Evaluate, focus: &Focus<'a>) -> Outcome<&'a Scope> {
        let around = &self.program.scopes[evaluate.scope.0 as usize];
        let base = self.optional_avt(evaluate.base.as_ref(), focus)?;
        let namespaces = match &evaluate.namespace_context {
            None => None,
            Some(context) => {
                let value = self.evaluate(context, focus)?;
                let wrong = || Failure::new("XTTE3170", "namespace-context is one node, and nothing else");
                let (1, Some(node)) = (value.len(), value.first().and_then(|item| item.node())) else {
                    return Err(wrong());
                };
                let tree = node.node.tree();
                Some(tree.map(|tree| node.document.namespaces_in_scope(tree)).unwrap_or_default())
            }
        };
        if base.is_none() && namespaces.is_none() && around.version >= 3.0 {
            return Ok(around);
        }
        let owned = |(prefix, uri): &(&str, &str)| ((*prefix).to_owned(), (*uri).to_owned());
        let namespaces = match namespaces {
            Some(namespaces) => namespaces.iter().filter(|(prefix, _)| *prefix != "xml").map(owned).collect(),
            None => around.namespaces.clone(),
        };
        self.build(size_of::<Scope>() + namespaces.len() * 96)?;
        let base =
            base.map_or_else(|| around.base.clone(), |base| crate::functions::resolve(base.trim(), &around.base));
        Ok(self.scopes.keep(Scope { namespaces, base, version: around.version.max(3.0) }))
    }

    /// `xsl:source-document`
    pub(super) fn source_document(
        &'a self,
        source: &'a SourceDocument,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let href = self.avt(&source.href, focus)?;
        let base = &self.program.scopes[source.scope.0 as usize].base;
        let href = href.split('#').next().unwrap_or_default().trim();
        let document = self.load_document(href, base).map_err(|error| self.failure(error, href))?;
        self.uses_accumulators(document, &source.accumulators);
        let focus = Focus::on(myelin_xpath::NodeRef::new(document, document.document_node()), 1, 1);
        self.run(&source.body, &focus, out)
    }
}
