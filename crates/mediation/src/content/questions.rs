//! What a mediator asks of a built body, answered before it runs; on another thread where that takes long.

use super::rendering::Form;
use super::{Json, Tree};
use crate::apart::apart;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Answers, Expression, Question, XPath, answer_all, answer_here};
use crate::fault::Outcome;

/// The expressions that ask nothing but the message.
#[derive(Debug, Default)]
pub(super) struct Questions(Vec<Question>);

impl Questions {
    /// Adds an expression, if it is one of these.
    pub(super) fn add(&mut self, expression: &Expression) {
        self.0.extend(expression.xpath().and_then(XPath::question));
    }

    /// Adds those of another mediator.
    pub(super) fn extend(&mut self, others: Questions) {
        self.0.extend(others.0);
    }

    /// A mediator is about to ask: what others were told does not count.
    pub(super) fn forget(&self, exchange: &mut Exchange) {
        if !self.0.is_empty()
            && let Some(tree) = made_tree(exchange)
        {
            *tree.answers_mut() = Answers::default();
        }
    }

    /// Answers them, unless that takes long; whether all are, as far as there is a body to ask.
    pub(super) fn are_answered(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> bool {
        self.0.is_empty() || tree_of(exchange).is_none_or(|tree| answer_here(tree, &self.0, scene))
    }

    /// Answers them on another thread.
    ///
    /// Errors: the bus's, 503 where too much waits for such a thread, and the body is gone then.
    pub(super) async fn answer(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        let Some(mut form) = Form::take(&mut exchange.message.body)? else { return Ok(()) };
        let (questions, now) = (self.0.clone(), scene.moment());
        let work = move || {
            let tree = match &mut form {
                Form::Tree(tree) => Some(&mut **tree),
                Form::Json(json) => json.made_tree(),
            };
            if let Some(tree) = tree {
                answer_all(tree, &questions, now);
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

/// The same, where it is at hand.
fn made_tree(exchange: &mut Exchange) -> Option<&mut Tree> {
    let body = &mut exchange.message.body;
    match body.built::<Json>() {
        Some(_) => body.built_mut::<Json>()?.made_tree(),
        None => body.built_mut::<Tree>(),
    }
}
