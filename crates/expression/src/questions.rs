//! What a mediator asks of a built body, answered before it runs; on another thread where that takes long.

use std::sync::Arc;

use myelin_content::{BuiltBody, Json, Tree};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::offload::offload;
use myelin_json::Path;

use crate::Expression;
use crate::ahead::{Question, answer_all, answer_here};
use crate::xpath::XPath;

/// What of expressions asks nothing but the message.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions {
    /// What is asked of its XML.
    xpaths: Vec<Question>,
    /// The ways that are followed into its JSON.
    paths: Vec<Arc<Path>>,
}

impl Questions {
    /// Adds what an expression asks.
    pub(super) fn add(&mut self, expression: &Expression) {
        self.xpaths.extend(expression.xpath().and_then(XPath::question));
        self.paths.extend(expression.paths());
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.xpaths.is_empty() && self.paths.is_empty()
    }

    /// Adds those of another mediator.
    pub(super) fn extend(&mut self, others: Questions) {
        self.xpaths.extend(others.xpaths);
        self.paths.extend(others.paths);
    }

    /// A mediator is about to ask: what others were told does not count.
    pub(super) fn forget(&self, exchange: &mut Exchange) {
        if !self.xpaths.is_empty()
            && let Some(tree) = cached_tree(exchange)
        {
            tree.annotation_mut().clear();
        }
        if !self.paths.is_empty()
            && let Some(json) = cached_json(exchange)
        {
            json.forget_paths();
        }
    }

    /// Answers them, unless that takes long; whether all are, as far as there is a body to ask.
    pub(super) fn are_answered(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> bool {
        // Both are made that are asked, also where the first takes long.
        (self.xpaths.is_empty() || tree_of(exchange).is_none_or(|tree| answer_here(tree, &self.xpaths, context)))
            & (self.paths.is_empty()
                || json_of(exchange).is_none_or(|json| json.follow_here(&self.paths, &context.json_rules())))
    }

    /// Answers them on another thread.
    ///
    /// Errors: the bus's, 503 where too much waits for such a thread, and the body is gone then.
    pub(super) async fn answer(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        let Some(mut form) = BuiltBody::take(&mut exchange.message.body)? else { return Ok(()) };
        let (questions, now, rules) = (self.clone(), context.moment(), context.json_rules());
        let work = move || {
            if let Some(tree) = form.cached_tree() {
                answer_all(tree, &questions.xpaths, now);
            }
            if let Some(json) = form.cached_json() {
                json.follow_all(&questions.paths, &rules);
            }
            form
        };
        exchange.message.body = offload(context, work).await?.into_body();
        Ok(())
    }
}

/// The tree that expressions are asked of, where the body has been built and can be XML; whoever asks would make it.
fn tree_of(exchange: &mut Exchange) -> Option<&mut Tree> {
    if exchange.message.body.built::<Json>().is_some() {
        exchange.tree().ok()?;
    }
    cached_tree(exchange)
}

/// The JSON that paths lead into, the same way.
fn json_of(exchange: &mut Exchange) -> Option<&mut Json> {
    if exchange.message.body.built::<Tree>().is_some() {
        exchange.json().ok()?;
    }
    cached_json(exchange)
}

/// The tree, where it is at hand.
fn cached_tree(exchange: &mut Exchange) -> Option<&mut Tree> {
    let body = &mut exchange.message.body;
    match body.built::<Json>() {
        Some(_) => body.built_mut::<Json>()?.cached_tree(),
        None => body.built_mut::<Tree>(),
    }
}

/// The JSON, where it is at hand.
fn cached_json(exchange: &mut Exchange) -> Option<&mut Json> {
    let body = &mut exchange.message.body;
    match body.built::<Tree>() {
        Some(_) => body.built_mut::<Tree>()?.cached_json(),
        None => body.built_mut::<Json>(),
    }
}
