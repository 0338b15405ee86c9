//! The form in which somebody looks at a body, made on another thread where that takes long.

use super::convert::LONG_BYTES;
use super::rendering::Form;
use super::{Json, Tree};
use crate::apart::apart;
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;

/// Which forms somebody looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) xml: bool,
    pub(super) json: bool,
}

impl Looks {
    /// Whether a form is not there that takes long to make.
    pub(super) fn take_long(self, exchange: &Exchange) -> bool {
        let body = &exchange.message.body;
        let is_long_json = |json: &Json| !json.has_tree() && json.value().source().len() > LONG_BYTES;
        let is_long_tree = |tree: &Tree| !tree.has_json() && tree.document().size_bytes() > LONG_BYTES;
        (self.xml && body.built::<Json>().is_some_and(is_long_json))
            || (self.json && body.built::<Tree>().is_some_and(is_long_tree))
    }

    /// Makes it, if there is one; whoever looks at what has no such form is told then.
    ///
    /// Errors: the bus's, 503 where too much waits for such a thread, and the body is gone then.
    pub(super) async fn make(self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        let switches = exchange.switches();
        let Some(form) = Form::take(&mut exchange.message.body)? else { return Ok(()) };
        let work = move || {
            match &form {
                Form::Json(json) => drop(json.tree(&switches)),
                Form::Tree(tree) => drop(tree.json(&switches)),
            }
            form
        };
        exchange.message.body = apart(scene, work).await?.into_body();
        Ok(())
    }
}
