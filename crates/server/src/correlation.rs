//! The correlation id of an exchange: what came as `activityid`, or one made here.

use myelin_engine::{Position, identity};
use myelin_message::{CorrelationId, Head, HeaderId};

/// The header that carries it, as in WSO2 Micro Integrator.
const HEADER: &str = "activityid";

/// Adds it to a head that has none.
pub(crate) fn add(head: &mut Head, id: &CorrelationId) {
    if let Some(value) = id.field_value() {
        // A head of two gigabytes goes without.
        let _ = head.append_known(HeaderId::ActivityId, HEADER, value);
    }
}

/// The id of the exchange that this thread works for.
pub(crate) fn here() -> CorrelationId {
    let known = Position::here().correlation.filter(|id| !id.as_str().is_empty());
    known.unwrap_or_else(|| CorrelationId::on_demand(identity::new))
}
