//! Why a collector did not take a message.

use std::time::Duration;

/// Why a collector did not take a message.
#[derive(Debug)]
pub(super) struct Refused {
    /// A sentence for the log.
    pub(super) reason: String,
    /// When to try again: `None` never, and else at least after this time.
    pub(super) retry: Option<Duration>,
}

impl Refused {
    /// For good: the same message would be refused again.
    pub(super) fn for_good(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into(), retry: None }
    }

    /// For now.
    pub(super) fn for_now(reason: impl Into<String>) -> Refused {
        Refused { reason: reason.into(), retry: Some(Duration::ZERO) }
    }
}
