//! What a mediator asks of a built body, answered before it runs; on another thread where that takes long.

use std::sync::Arc;

use myelin_json::Path;

use super::outcomes::{Outcomes, follow_all, follow_here};
use super::rendering::Form;
use super::{Json, Tree};
use crate::apart::apart;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Answers, Expression, Question, XPath, answer_all, answer_here};
use crate::fault::Outcome;

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

    /// Adds those of another mediator.
    pub(super) fn extend(&mut self, others: Questions) {
        self.xpaths.extend(others.xpaths);
        self.paths.extend(others.paths);
    }

    /// A mediator is about to ask: what others were told does not count.
    pub(super) fn forget(&self, exchange: &mut Exchange) {
        if !self.xpaths.is_empty()
            && let Some(tree) = made_tree(exchange)
        {
            *tree.answers_mut() = Answers::default();
        }
        if !self.paths.is_empty()
            && let Some(json) = made_json(exchange)
        {
            *json.outcomes_mut() = Outcomes::default();
        }
    }

    /// Answers them, unless that takes long; whether all are, as far as there is a body to ask.
    pub(super) fn are_answered(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> bool {
        // Both are made that are asked, also where the first takes long.
        (self.xpaths.is_empty() || tree_of(exchange).is_none_or(|tree| answer_here(tree, &self.xpaths, scene)))
            & (self.paths.is_empty()
                || json_of(exchange).is_none_or(|json| follow_here(json, &self.paths, &scene.json_rules())))
    }

    /// Answers them on another thread.
    ///
    /// Errors: the bus's, 503 where too much waits for such a thread, and the body is gone then.
    pub(super) async fn answer(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        let Some(mut form) = Form::take(&mut exchange.message.body)? else { return Ok(()) };
        let (questions, now, rules) = (self.clone(), scene.moment(), scene.json_rules());
        let work = move || {
            if let Some(tree) = form.made_tree() {
                answer_all(tree, &questions.xpaths, now);
            }
            if let Some(json) = form.made_json() {
                follow_all(json, &questions.paths, &rules);
            }
            form
        };
        exchange.message.body = apart(scene, work).await?.into_body();
        Ok(())
    }
}

/// The tree that expressions are asked of, where the body has been built and can be XML; whoever asks would make it.
fn tree_of(exchange: &mut Exchange) -> Option<&mut Tree> {
    if exchange.message.body.built::<Json>().is_some() {
        exchange.tree().ok()?;
    }
    made_tree(exchange)
}

/// The JSON that paths lead into, the same way.
fn json_of(exchange: &mut Exchange) -> Option<&mut Json> {
    if exchange.message.body.built::<Tree>().is_some() {
        exchange.json().ok()?;
    }
    made_json(exchange)
}

/// The tree, where it is at hand.
fn made_tree(exchange: &mut Exchange) -> Option<&mut Tree> {
    let body = &mut exchange.message.body;
    match body.built::<Json>() {
        Some(_) => body.built_mut::<Json>()?.made_tree(),
        None => body.built_mut::<Tree>(),
    }
}

/// The JSON, where it is at hand.
fn made_json(exchange: &mut Exchange) -> Option<&mut Json> {
    let body = &mut exchange.message.body;
    match body.built::<Tree>() {
        Some(_) => body.built_mut::<Tree>()?.made_json(),
        None => body.built_mut::<Json>(),
    }
}

impl Form {
    fn made_tree(&mut self) -> Option<&mut Tree> {
        match self {
            Form::Tree(tree) => Some(tree),
            Form::Json(json) => json.made_tree(),
        }
    }

    fn made_json(&mut self) -> Option<&mut Json> {
        match self {
            Form::Tree(tree) => tree.made_json(),
            Form::Json(json) => Some(json),
        }
    }
}
