//! How long an endpoint's response may take: a number, or what an expression says.

use std::time::Duration;

use crate::loader::Loader;
use crate::values::embedded_expression;
use myelin_config::element::Element;
use myelin_expression::Expression;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// How long the response's head may take.
pub enum Timeout {
    /// Always the same; `None` leaves it to the transport.
    Fixed(Option<Duration>),
    /// As long as an expression says, in milliseconds; the general limit bounds it, and stands in for what is no number.
    Computed {
        /// Gives the milliseconds.
        expression: Expression,
        /// What has to be read of the message before.
        need: Need,
    },
}

impl Timeout {
    /// Reads `<timeout>`; says also whether a time-out is to run no fault sequence.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> (Timeout, bool) {
        let mut timeout = Timeout::Fixed(loader.settings.endpoints.timeout);
        let mut discard = false;
        for child in &element.children {
            let text = child.text();
            match child.name.as_str() {
                "duration" => match (embedded_expression(text, loader), text.value.parse::<u64>()) {
                    (Ok(Some(expression)), _) => {
                        timeout = Timeout::Computed { need: Need::of([&expression]), expression };
                    }
                    (Err(problem), _) => loader.problem(problem),
                    (Ok(None), Ok(0)) => {}
                    (Ok(None), Ok(milliseconds)) => timeout = Timeout::Fixed(Some(Duration::from_millis(milliseconds))),
                    (Ok(None), Err(_)) => {
                        loader.problem(child.problem(format!("{:?} is no duration in milliseconds", text.value)));
                    }
                },
                "responseAction" | "action" => match text.value.to_ascii_lowercase().as_str() {
                    "discard" => discard = true,
                    "fault" | "none" | "" => {}
                    other => loader.problem(child.problem(format!("{other:?} is neither fault nor discard"))),
                },
                _ => loader.no_effect(child, "<timeout>", &["duration", "responseAction", "action"]),
            }
        }
        (timeout, discard)
    }

    /// What is known of it beforehand.
    pub(super) fn milliseconds(&self) -> Option<u64> {
        match self {
            Timeout::Fixed(timeout) => timeout.map(|timeout| timeout.as_millis() as u64),
            Timeout::Computed { .. } => None,
        }
    }

    /// Reads as much of the message as the expression looks at.
    ///
    /// Errors: faults of whoever sent a body that cannot be read.
    pub(super) async fn get_ready(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        match self {
            Timeout::Fixed(_) => Ok(()),
            Timeout::Computed { need, .. } => need.fulfil(exchange, context).await,
        }
    }

    /// The deadline for one message.
    ///
    /// Errors: of whoever made a message that the expression cannot be asked of.
    pub(super) fn of(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Duration>> {
        let expression = match self {
            Timeout::Fixed(timeout) => return Ok(*timeout),
            Timeout::Computed { expression, .. } => expression,
        };
        let limit = context.definitions.settings.endpoints.timeout;
        let text = expression.text(exchange, context)?.unwrap_or_default();
        let Some(milliseconds) = text.trim().parse().ok().filter(|&milliseconds| milliseconds > 0) else {
            tracing::warn!(value = %text, "the duration of a timeout is no number of milliseconds: the limit counts");
            return Ok(limit);
        };
        let timeout = Duration::from_millis(milliseconds);
        Ok(Some(limit.map_or(timeout, |limit| timeout.min(limit))))
    }
}
