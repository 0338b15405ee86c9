//! `[myelin.trace]`: message traces.

use myelin_observe::messages::{TraceLimits, Wish};
use serde::Deserialize;

use crate::deployment::values::set;

/// `[myelin.trace]`: see [`TraceLimits`] and [`Wish`].
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::deployment) struct OwnTrace {
    services: Vec<String>,
    when: Option<String>,
    faulted: Option<bool>,
    kept: Option<usize>,
    kept_bytes: Option<usize>,
    body_bytes: Option<usize>,
    steps: Option<usize>,
}

impl OwnTrace {
    /// How much is recorded and kept.
    pub(in crate::deployment) fn limits(&self) -> TraceLimits {
        let mut limits = TraceLimits::default();
        set(&mut limits.kept, self.kept);
        set(&mut limits.kept_bytes, self.kept_bytes);
        set(&mut limits.body_bytes, self.body_bytes);
        set(&mut limits.steps, self.steps);
        limits
    }

    /// Which exchanges are traced from the start; those of all services where only `when` or `faulted` says something.
    pub(in crate::deployment) fn wishes(&self) -> Vec<Wish> {
        let faulted = self.faulted.unwrap_or_default();
        let wish = |service: Option<&String>| Wish {
            service: service.filter(|service| *service != "*").cloned(),
            when: self.when.clone(),
            faulted,
            ..Wish::default()
        };
        if self.services.is_empty() && (faulted || self.when.is_some()) {
            return vec![wish(None)];
        }
        self.services.iter().map(|service| wish(Some(service))).collect()
    }
}
