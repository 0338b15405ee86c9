//! `key-expression`: an endpoint whose name is worked out from the message.

use std::sync::Arc;

use super::Endpoint;
use crate::config::{Loader, Problem, Text};
use crate::content::Need;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};

const NOT_FOUND: u32 = 305100;

/// An expression that gives the name of an endpoint.
pub(crate) struct Resolving {
    expression: Expression,
    need: Need,
}

impl Resolving {
    pub(super) fn read(text: Text<'_>, loader: &mut Loader) -> Result<Resolving, Problem> {
        let expression = Expression::compile(text, Wanted::Text, loader)?;
        Ok(Resolving { need: Need::of([&expression]), expression })
    }

    /// The endpoint that the current message is for.
    ///
    /// Errors: 305100 where there is none of that name, or of whoever made a message that cannot be read.
    pub(super) async fn endpoint<'a>(&self, exchange: &mut Exchange, scene: &Scene<'a>) -> Outcome<&'a Arc<Endpoint>> {
        self.need.bring(exchange, scene).await?;
        let key = self.expression.text(exchange, scene)?.unwrap_or_default();
        let id = scene.bus.endpoint_ids.get(key.trim());
        id.and_then(|&id| scene.bus.endpoint(id)).ok_or_else(|| {
            Fault::not_ready(NOT_FOUND, format!("there is no endpoint {key:?}, which the expression names"))
        })
    }
}
