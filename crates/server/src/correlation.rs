//! The correlation id of an exchange: what came as `activityid`, or one made here.

use myelin_engine::{Position, identity};
use myelin_message::CorrelationId;

/// The header that carries it, as in WSO2 Micro Integrator.
pub(crate) const HEADER: &str = "activityid";

/// The id of the exchange that this thread works for.
pub(crate) fn here() -> CorrelationId {
    let known = Position::here().correlation.filter(|id| !id.as_str().is_empty());
    known.unwrap_or_else(|| CorrelationId::on_demand(identity::new))
}
