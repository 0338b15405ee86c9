//! Which traces are recorded: decided when they begin, and once more when they have ended.

use std::time::Duration;

use crate::trace_context::{TraceContext, TraceId};

/// Which traces are recorded, decided when they begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampler {
    /// What holds for traces that begin here.
    pub root: RootSampler,
    /// Whether a trace that began elsewhere is recorded as its sender does.
    pub follows_parent: bool,
}

/// Which of the traces that begin here are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RootSampler {
    /// All.
    Always,
    /// None.
    Never,
    /// A part of them, between 0 and 1: those whose identifier is small, so that all who know it decide alike.
    Ratio(f64),
}

/// Which traces are kept when they have ended, though they were not to be recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailSampler {
    /// Those with a fault.
    pub faults: bool,
    /// Those that took longer than this.
    pub slower_than: Option<Duration>,
}

impl Default for Sampler {
    /// As the specification of OpenTelemetry has it: `parentbased_always_on`.
    fn default() -> Sampler {
        Sampler { root: RootSampler::Always, follows_parent: true }
    }
}

impl Sampler {
    /// Whether a trace is recorded; `parent` is the context that the message brought, if it did.
    pub fn samples(&self, trace: &TraceId, parent: Option<&TraceContext>) -> bool {
        match parent {
            Some(parent) if self.follows_parent => parent.flags.is_sampled(),
            _ => self.root.samples(trace),
        }
    }

    /// The sampler that a name of OpenTelemetry means, as in `OTEL_TRACES_SAMPLER`.
    ///
    /// Shape: `ratio` is the argument of those that need one.
    pub fn named(name: &str, ratio: f64) -> Option<Sampler> {
        let (rest, follows_parent) = match name.strip_prefix("parentbased_") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let root = match rest {
            "always_on" => RootSampler::Always,
            "always_off" => RootSampler::Never,
            "traceidratio" => RootSampler::Ratio(ratio),
            _ => return None,
        };
        Some(Sampler { root, follows_parent })
    }
}

/// The names that [`Sampler::named`] knows.
pub const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

impl RootSampler {
    fn samples(self, trace: &TraceId) -> bool {
        const ALL: f64 = (1_u64 << 56) as f64;
        match self {
            RootSampler::Always => true,
            RootSampler::Never => false,
            RootSampler::Ratio(ratio) => (trace.randomness() as f64) < ratio * ALL,
        }
    }
}

impl TailSampler {
    /// Whether it may keep anything.
    pub fn is_active(&self) -> bool {
        self.faults || self.slower_than.is_some()
    }

    /// Whether it keeps a trace that has ended so.
    pub fn keeps(&self, has_fault: bool, took: Duration) -> bool {
        self.faults && has_fault || self.slower_than.is_some_and(|limit| took > limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace_context::{SpanId, TraceFlags};

    fn parent(is_sampled: bool) -> TraceContext {
        TraceContext { trace: TraceId::new(), span: SpanId::new(), flags: TraceFlags::new(is_sampled), state: None }
    }

    #[test]
    fn a_sampler_follows_the_sender_where_it_is_told_to() {
        let trace = TraceId::new();
        for (name, alone, recorded, unrecorded) in [
            ("always_on", true, true, true),
            ("always_off", false, false, false),
            ("parentbased_always_on", true, true, false),
            ("parentbased_always_off", false, true, false),
        ] {
            let sampler = Sampler::named(name, 1.0).unwrap();
            let found = [None, Some(parent(true)), Some(parent(false))].map(|it| sampler.samples(&trace, it.as_ref()));
            assert_eq!(found, [alone, recorded, unrecorded], "{name}");
        }
        assert_eq!(Sampler::named("parentbased_always_on", 1.0), Some(Sampler::default()));
        assert_eq!(Sampler::named("sometimes", 1.0), None);
        assert!(SAMPLERS.iter().all(|name| Sampler::named(name, 0.5).is_some()));
    }

    #[test]
    fn a_part_of_all_traces_is_recorded_and_the_smaller_part_is_in_the_larger() {
        let at = |ratio: f64, trace: &TraceId| Sampler::named("traceidratio", ratio).unwrap().samples(trace, None);
        let traces: Vec<TraceId> = (0..20_000).map(|_| TraceId::new()).collect();
        let count = |ratio: f64| traces.iter().filter(|trace| at(ratio, trace)).count();
        assert_eq!((count(0.0), count(1.0)), (0, 20_000));
        let tenth = count(0.1);
        assert!((1_700..2_300).contains(&tenth), "{tenth}");
        assert!(traces.iter().all(|trace| !at(0.1, trace) || at(0.3, trace)));
    }

    #[test]
    fn faults_and_slow_traces_are_kept_where_that_is_wanted() {
        let (quick, slow) = (Duration::from_millis(1), Duration::from_secs(3));
        let none = TailSampler::default();
        assert!(!none.is_active() && !none.keeps(true, slow));
        let both = TailSampler { faults: true, slower_than: Some(Duration::from_secs(2)) };
        assert!(both.is_active() && both.keeps(true, quick) && both.keeps(false, slow) && !both.keeps(false, quick));
    }
}
