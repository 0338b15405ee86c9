//! How long an endpoint's response may take: a number, or what an expression says.

use std::time::Duration;

use crate::config::{Element, Loader};
use crate::content::Need;
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::Outcome;
use crate::mediators::worked_out;

/// How long the response's head may take.
pub(crate) enum Timeout {
    /// Always the same; `None` leaves it to the transport.
    Fixed(Option<Duration>),
    /// As long as an expression says, in milliseconds; the general limit bounds it, and stands in for what is no number.
    Computed { expression: Expression, need: Need },
}

impl Timeout {
    /// Reads `<timeout>`; says also whether a time-out is to run no fault sequence.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> (Timeout, bool) {
        let mut timeout = Timeout::Fixed(loader.endpoint_settings.timeout);
        let mut discard = false;
        for child in &element.children {
            let text = child.text();
            match child.name.as_str() {
                "duration" => match (worked_out(text, loader), text.value.parse::<u64>()) {
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
                _ => loader.warning(child.problem(format!("{} has no effect in <timeout>", child.tag()))),
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
    pub(super) async fn get_ready(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        match self {
            Timeout::Fixed(_) => Ok(()),
            Timeout::Computed { need, .. } => need.bring(exchange, scene).await,
        }
    }

    /// The deadline for one message.
    ///
    /// Errors: of whoever made a message that the expression cannot be asked of.
    pub(super) fn of(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Duration>> {
        let expression = match self {
            Timeout::Fixed(timeout) => return Ok(*timeout),
            Timeout::Computed { expression, .. } => expression,
        };
        let limit = scene.bus.settings.endpoints.timeout;
        let text = expression.text(exchange, scene)?.unwrap_or_default();
        let Some(milliseconds) = text.trim().parse().ok().filter(|&milliseconds| milliseconds > 0) else {
            tracing::warn!(value = %text, "the duration of a timeout is no number of milliseconds: the limit counts");
            return Ok(limit);
        };
        let timeout = Duration::from_millis(milliseconds);
        Ok(Some(limit.map_or(timeout, |limit| timeout.min(limit))))
    }
}
