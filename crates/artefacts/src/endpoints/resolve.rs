//! `key-expression`: an endpoint whose name is worked out from the message.

use std::sync::Arc;

use crate::endpoints::{Endpoint, Endpoints};
use crate::loader::Loader;
use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

const NOT_FOUND: u32 = 305100;

/// An expression that gives the name of an endpoint.
pub struct Resolving {
    expression: Expression,
    need: Need,
}

impl Resolving {
    pub(super) fn read(text: Text<'_>, loader: &mut Loader) -> Result<Resolving, Problem> {
        let expression = Expression::compile(text, ResultType::Text, loader)?;
        Ok(Resolving { need: Need::of([&expression]), expression })
    }

    /// The endpoint that the current message is for.
    ///
    /// Errors: 305100 where there is none of that name, or of whoever made a message that cannot be read.
    pub(super) async fn endpoint<'a>(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'a>,
    ) -> Outcome<&'a Arc<Endpoint>> {
        self.need.fulfil(exchange, context).await?;
        let key = self.expression.text(exchange, context)?.unwrap_or_default();
        Endpoints::of(context.definitions).find(key.trim()).ok_or_else(|| {
            Fault::not_ready(NOT_FOUND, format!("there is no endpoint {key:?}, which the expression names"))
        })
    }
}
