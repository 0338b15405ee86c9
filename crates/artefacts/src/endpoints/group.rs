//! Endpoints that choose a backend among several and, where it fails, another: `loadbalance` and `failover`.
//!
//! Source: Synapse's `LoadbalanceEndpoint`, `SALoadbalanceEndpoint` and `FailoverEndpoint`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::endpoints::balance::Wheel;
use crate::endpoints::endpoint::EndpointRef;
use crate::endpoints::sessions::Sessions;

const BALANCE_FAILED_OVER: u32 = 303100;
const FAILED_OVER: u32 = 304100;

/// Several endpoints and a rule.
pub struct Group {
    pub(super) members: Box<[EndpointRef]>,
    /// Whether a message that one member failed to take is sent to another.
    pub(super) fails_over: bool,
    /// What changes while serving; it goes on after a reload.
    pub(super) choice: Arc<Choice>,
}

/// How a member is chosen, and what is remembered for that.
pub(super) struct Choice {
    pub(super) rule: Rule,
    pub(super) sessions: Option<Sessions>,
}

pub(super) enum Rule {
    Balance(Wheel),
    Failover {
        /// Whether the first member is preferred as soon as it is ready again.
        dynamic: bool,
        /// The one in use, where it is not.
        current: AtomicUsize,
    },
}

impl Rule {
    /// The member to send to, of those that `is_ready` names.
    pub(super) fn next(&self, count: usize, is_ready: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Rule::Balance(wheel) => wheel.next(is_ready),
            Rule::Failover { dynamic: true, .. } => (0..count).find(|&member| is_ready(member)),
            Rule::Failover { dynamic: false, current } => {
                let used = Some(current.load(Ordering::Relaxed)).filter(|&member| is_ready(member));
                let next = used.or_else(|| (0..count).find(|&member| is_ready(member)))?;
                current.store(next, Ordering::Relaxed);
                Some(next)
            }
        }
    }

    pub(super) fn code_of_failing_over(&self) -> u32 {
        match self {
            Rule::Balance(_) => BALANCE_FAILED_OVER,
            Rule::Failover { .. } => FAILED_OVER,
        }
    }
}

impl Group {
    /// The element that says it.
    pub(super) fn kind(&self) -> &'static str {
        match self.choice.rule {
            Rule::Balance(_) => "loadbalance",
            Rule::Failover { .. } => "failover",
        }
    }
}
