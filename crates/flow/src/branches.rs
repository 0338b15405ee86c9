//! Flows of one client's request that run beside each other: what mediators and the engine both know of them.

mod aggregation;
mod correlation_group;
mod join_set;
mod permits;
mod split;

pub use aggregation::{Aggregation, Contribution, Gathered, MessageCount, too_large};
pub use correlation_group::{CorrelationGroup, GroupMember};
pub use join_set::JoinSet;
pub use permits::{BranchPermit, BranchPermits};
pub use split::{BranchMessages, BranchProperties, BranchResponse, BranchTargets, Split, called};

use crate::settings::Settings;

/// The live copies of a request may take so many times the memory of the largest body that a mediator may read.
pub const LIVE_COPIES: usize = 4;

/// How much memory what the flows of one request make together may take.
pub fn gathered_limit_bytes(settings: &Settings) -> usize {
    body_limit_bytes(settings).saturating_mul(LIVE_COPIES)
}

/// The largest body that a mediator may read.
pub fn body_limit_bytes(settings: &Settings) -> usize {
    usize::try_from(settings.body_limit_bytes).unwrap_or(usize::MAX)
}
