//! `key-expression`: an endpoint whose name is worked out from the message.

use std::borrow::Cow;

use crate::loader::Loader;
use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// The code of the fault where there is no endpoint of the name that is asked for.
pub(super) const NOT_FOUND: u32 = 305100;

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

    /// The name of the endpoint that the current message is for.
    ///
    /// Errors: of whoever made a message that cannot be read.
    pub(super) async fn name<'e>(
        &'e self,
        exchange: &'e mut Exchange,
        context: &'e RequestContext<'_>,
    ) -> Outcome<Cow<'e, str>> {
        self.need.fulfil(exchange, context).await?;
        Ok(self.expression.text(exchange, context)?.unwrap_or_default())
    }

    /// That there is no endpoint of that name: 305100.
    pub(super) fn not_found(name: &str) -> Box<Fault> {
        Fault::not_ready(NOT_FOUND, format!("there is no endpoint {name:?}, which the expression names"))
    }
}
