//! Where `enrich` puts what it took.

use std::sync::Arc;

use myelin_json::Path;

use crate::loader::Loader;
use crate::mediators::enrich::attributes::{expression, kind, named};
use crate::mediators::enrich::source::{Source, SourceKind};
use crate::message_edits::json::{self, JsonContent};
use crate::message_edits::{
    Content, EditAction, EditOptions, into_body, into_envelope, into_node, into_property, json_of, no_conversion,
    no_envelope, xml,
};
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

pub(super) enum EnrichTarget {
    Custom(Expression),
    /// `$header`, which a message may lack.
    Header,
    Path(Arc<Path>),
    Key(Arc<Path>),
    Body,
    Envelope,
    /// A property, or a variable.
    Property(Scope, Slot),
}

impl EnrichTarget {
    /// Whether the message is another one afterwards.
    pub(super) fn is_in_message(&self) -> bool {
        !matches!(self, EnrichTarget::Property(..) | EnrichTarget::Key(_))
    }

    pub(super) fn read(
        element: &Element,
        action: EditAction,
        source: &Source,
        loader: &mut Loader,
    ) -> Result<EnrichTarget, Problem> {
        let target = match kind(element) {
            "custom" => {
                let text = element.required("xpath")?;
                let expression = expression(element, loader)?;
                match expression.json() {
                    Some(path) => {
                        if action == EditAction::Sibling {
                            loader.warning(text.problem("action sibling has no effect on JSON"));
                        }
                        EnrichTarget::Path(Arc::clone(path))
                    }
                    None if text.value.trim() == "$header" && action == EditAction::Child => EnrichTarget::Header,
                    None => EnrichTarget::Custom(expression),
                }
            }
            "key" => {
                let path = expression(element, loader)?.json().cloned();
                EnrichTarget::Key(path.ok_or_else(|| element.problem("<target>: type key needs a json-eval path"))?)
            }
            "body" => EnrichTarget::Body,
            "envelope" => EnrichTarget::Envelope,
            "property" | "variable" => {
                let (scope, slot) = named(element, loader)?;
                EnrichTarget::Property(scope, slot)
            }
            other => {
                let known = ["custom", "body", "envelope", "property", "variable", "key"];
                return Err(element.problem(format!("<target>: {}", unknown_word("type", other, &known))));
            }
        };
        let fits = match (&source.kind, &target) {
            (SourceKind::Paths(_), EnrichTarget::Body | EnrichTarget::Property(..))
            | (SourceKind::Custom(_), EnrichTarget::Body) => true,
            _ => action != EditAction::Remove,
        };
        if !fits {
            return Err(element.problem("<target>: what is removed is removed from the body, or JSON from a property"));
        }
        Ok(target)
    }

    /// What it needs of the body, and what the source needs.
    pub(super) fn need(&self, source: Need) -> Need {
        match self {
            EnrichTarget::Custom(expression) => source.and(expression),
            EnrichTarget::Property(..) => source,
            EnrichTarget::Header
            | EnrichTarget::Path(_)
            | EnrichTarget::Key(_)
            | EnrichTarget::Body
            | EnrichTarget::Envelope => Need::built(),
        }
    }

    /// Puts what was taken there.
    pub(super) fn put(
        &self,
        content: Content,
        source: &Source,
        action: EditAction,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        let is_envelope = matches!(source.kind, SourceKind::Envelope);
        if is_envelope && !matches!(self, EnrichTarget::Envelope | EnrichTarget::Property(..)) {
            return Err(Fault::bus("A whole envelope can only be put in a property or in the place of the envelope"));
        }
        match (self, content) {
            (EnrichTarget::Property(scope, slot), content) => {
                into_property(exchange, (*scope, *slot), content, action, context)
            }
            (EnrichTarget::Envelope, content) => into_envelope(exchange, content),
            (EnrichTarget::Body, content) => {
                let options = EditOptions { moves: source.moves, json_becomes_body: source.gives_text() };
                into_body(exchange, content, options, action, context)
            }
            (EnrichTarget::Path(path), Content::Text(text)) => json::change(
                exchange.json_mut()?.change(),
                path,
                action,
                &JsonContent::of(&text),
                &context.json_rules(),
            ),
            (EnrichTarget::Key(path), Content::Text(text)) => {
                json::rename(exchange.json_mut()?.change(), path, text.trim(), &context.json_rules())
            }
            (EnrichTarget::Path(path), content) => {
                let text = json_of(&content.fragments(exchange)?, context)?;
                json::change(
                    exchange.json_mut()?.change(),
                    path,
                    action,
                    &JsonContent::of(&text),
                    &context.json_rules(),
                )
            }
            (EnrichTarget::Key(_), _) => Err(no_conversion("XML", "the name of a member")),
            (EnrichTarget::Header, content) => xml::add_blocks(exchange, content, source.moves),
            (EnrichTarget::Custom(expression), content) => {
                into_node(exchange, expression, content, action, source.moves, context)
            }
        }
    }

    /// What becomes of the target where there is nothing to put there.
    pub(super) fn without_source(&self, source: &Source, exchange: &mut Exchange) -> Outcome<()> {
        match (self, &source.kind) {
            (EnrichTarget::Property(scope, slot), SourceKind::Custom(_)) => {
                exchange.properties.put(*scope, *slot, Some(Value::Text("".into())));
                Ok(())
            }
            (EnrichTarget::Envelope, _) => Err(no_envelope()),
            _ => Ok(()),
        }
    }
}
