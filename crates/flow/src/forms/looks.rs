//! The form in which somebody looks at a body, made on another thread where that takes long.

use myelin_content::{BuiltBody, CONVERSION_LONG_BYTES as LONG_BYTES, Json, Tree};

use crate::context::RequestContext;
use crate::exchange::Exchange;
use crate::fault::Outcome;
use crate::memory::reserve;
use crate::offload::offload;

/// A form that may take more memory is made where somebody can wait for it.
const LARGE_BYTES: usize = 2 << 20;

/// Which forms somebody looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeededForms {
    /// Whether somebody looks at XML.
    pub xml: bool,
    /// Whether somebody looks at JSON.
    pub json: bool,
}

impl NeededForms {
    /// Whether a form is not there that takes long to make.
    pub fn take_long(self, exchange: &Exchange) -> bool {
        let body = &exchange.message.body;
        let is_long_json = |json: &Json| {
            !json.has_tree() && (json.value().source().len() > LONG_BYTES || json.conversion_bytes() > LARGE_BYTES)
        };
        let is_long_tree = |tree: &Tree| {
            !tree.has_json() && (tree.document().size_bytes() > LONG_BYTES || tree.conversion_bytes() > LARGE_BYTES)
        };
        (self.xml && body.built::<Json>().is_some_and(is_long_json))
            || (self.json && body.built::<Tree>().is_some_and(is_long_tree))
    }

    /// Makes it, if there is one; whoever looks at what has no such form is told then.
    ///
    /// Errors: the bus's, 503 where too much waits for such a thread, and the body is gone then.
    pub async fn make(self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        let switches = exchange.switches();
        let Some(form) = BuiltBody::take(&mut exchange.message.body)? else { return Ok(()) };
        reserve(&mut exchange.memory, form.memory_bytes() + form.conversion_bytes(), context).await?;
        let work = move || {
            match &form {
                BuiltBody::Json(json) => drop(json.tree(&switches)),
                BuiltBody::Tree(tree) => drop(tree.json(&switches)),
            }
            form
        };
        exchange.message.body = offload(context, work).await?.into_body();
        exchange.count_memory();
        Ok(())
    }
}
