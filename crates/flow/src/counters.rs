//! What is counted of services and endpoints: threads that serve add to it, and others read it meanwhile.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

/// How many parts the threads of a process share: each adds to its own, so that they do not wait for each other's caches.
const PARTS: usize = 16;

/// Upper bounds of latencies, in seconds: finer below 50 ms than Micro Integrator's, which begin at 190 ms.
const BOUNDS: [f64; 16] =
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Which part of all counters a thread adds to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part(usize);

impl Part {
    /// That of a thread by its number.
    pub fn of_thread(number: usize) -> Part {
        Part(number % PARTS)
    }
}

/// A value for each part, made when its thread first adds something.
#[derive(Debug, Default)]
struct Parts<T>([OnceLock<Box<T>>; PARTS]);

impl<T: Default> Parts<T> {
    fn of(&self, part: Part) -> &T {
        self.0[part.0].get_or_init(Box::default)
    }

    fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(OnceLock::get).map(|part| &**part)
    }
}

/// How long something took, by bounds.
#[derive(Debug, Default)]
struct Times {
    /// One more than there are bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanos: AtomicU64,
}

impl Times {
    fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().take_while(|bound| seconds > **bound).count();
        add(&self.buckets[bucket], 1);
        add(&self.nanos, u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

fn sum<'a>(counters: impl Iterator<Item = &'a AtomicU64>) -> u64 {
    counters.map(|counter| counter.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
}

/// How exchanges ended, by the class of the answer's status: 1xx to 5xx, and those whose client did not wait for it.
const ENDS: usize = 6;

/// What is counted of a service.
#[derive(Debug, Default)]
pub struct ServiceCounters(Parts<ServicePart>);

#[derive(Debug, Default)]
struct ServicePart {
    ends: [AtomicU64; ENDS],
    faults: AtomicU64,
    waited_nanos: AtomicU64,
    times: Times,
}

/// What was counted of a service since the process began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceTotals {
    /// Answers by the class of their status: 1xx to 5xx.
    pub answers: [u64; 5],
    /// Exchanges whose client did not wait for the answer.
    pub abandoned: u64,
    /// Exchanges in which there was a fault, whoever answered it.
    pub faults: u64,
    /// How long endpoints were waited for, all together.
    pub waited: Duration,
    /// How long exchanges took until the head of the answer was there.
    pub times: TimeTotals,
}

/// How long things took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeTotals {
    /// Upper bounds in seconds, each with how many took no longer and longer than the bound before; the last is infinite.
    pub buckets: Vec<(f64, u64)>,
    /// All of them together.
    pub sum: Duration,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeEnd {
    /// The status answered with; `None` where the client did not wait.
    pub status: Option<StatusCode>,
    /// Whether there was a fault, whoever answered it.
    pub faulted: bool,
    /// Until the head of the answer was there.
    pub took: Duration,
    /// How much of it endpoints were waited for.
    pub waited: Duration,
}

impl ServiceCounters {
    /// Counts an exchange.
    pub fn add(&self, part: Part, end: &ExchangeEnd) {
        let part = self.0.of(part);
        let class = end.status.map_or(ENDS - 1, |status| usize::from(status.as_u16() / 100).clamp(1, ENDS - 1) - 1);
        add(&part.ends[class], 1);
        if end.faulted {
            add(&part.faults, 1);
        }
        if !end.waited.is_zero() {
            add(&part.waited_nanos, u64::try_from(end.waited.as_nanos()).unwrap_or(u64::MAX));
        }
        part.times.add(end.took);
    }

    /// What was counted so far.
    pub fn totals(&self) -> ServiceTotals {
        let parts = || self.0.all();
        let ends = |end: usize| sum(parts().map(|part| &part.ends[end]));
        ServiceTotals {
            answers: std::array::from_fn(ends),
            abandoned: ends(ENDS - 1),
            faults: sum(parts().map(|part| &part.faults)),
            waited: Duration::from_nanos(sum(parts().map(|part| &part.waited_nanos))),
            times: time_totals(&parts().map(|part| &part.times).collect::<Vec<_>>()),
        }
    }
}

impl ServiceTotals {
    /// All exchanges, those included whose client did not wait.
    pub fn exchanges(&self) -> u64 {
        self.answers.iter().sum::<u64>() + self.abandoned
    }
}

fn time_totals(parts: &[&Times]) -> TimeTotals {
    let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
    let buckets = bounds.enumerate().map(|(at, bound)| (bound, sum(parts.iter().map(|times| &times.buckets[at]))));
    TimeTotals { buckets: buckets.collect(), sum: Duration::from_nanos(sum(parts.iter().map(|times| &times.nanos))) }
}

/// What is counted of an endpoint.
#[derive(Debug, Default)]
pub struct EndpointCounters(Parts<EndpointPart>);

#[derive(Debug, Default)]
struct EndpointPart {
    /// Responses by the class of their status: 1xx to 5xx.
    responses: [AtomicU64; 5],
    failures: [AtomicU64; CallFailure::ALL.len()],
    times: Times,
}

/// Why a request to an endpoint got no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// There was no connection.
    Connect,
    /// No response came in time, or no connection.
    Timeout,
    /// The connection ended before the response was there.
    Closed,
    /// What came was no response of the protocol.
    Protocol,
    /// A limit of the bus, or what the client or the configuration made of the request.
    Other,
}

impl CallFailure {
    /// All of them.
    pub const ALL: [CallFailure; 5] =
        [CallFailure::Connect, CallFailure::Timeout, CallFailure::Closed, CallFailure::Protocol, CallFailure::Other];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            CallFailure::Connect => "connect",
            CallFailure::Timeout => "timeout",
            CallFailure::Closed => "closed",
            CallFailure::Protocol => "protocol",
            CallFailure::Other => "other",
        }
    }
}

/// What was counted of an endpoint since it is defined as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointTotals {
    /// Responses by the class of their status: 1xx to 5xx.
    pub responses: [u64; 5],
    /// Requests without a response, in the order of [`CallFailure::ALL`].
    pub failures: [u64; CallFailure::ALL.len()],
    /// How long requests took until the head of the response was there, or it was clear that none comes.
    pub times: TimeTotals,
}

impl EndpointCounters {
    /// Counts a request.
    pub fn add(&self, part: Part, outcome: Result<StatusCode, CallFailure>, took: Duration) {
        let part = self.0.of(part);
        match outcome {
            Ok(status) => add(&part.responses[usize::from(status.as_u16() / 100).clamp(1, 5) - 1], 1),
            Err(failure) => add(&part.failures[failure as usize], 1),
        }
        part.times.add(took);
    }

    /// What was counted so far.
    pub fn totals(&self) -> EndpointTotals {
        let parts = || self.0.all();
        EndpointTotals {
            responses: std::array::from_fn(|class| sum(parts().map(|part| &part.responses[class]))),
            failures: std::array::from_fn(|failure| sum(parts().map(|part| &part.failures[failure]))),
            times: time_totals(&parts().map(|part| &part.times).collect::<Vec<_>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: u16, millis: u64) -> ExchangeEnd {
        ExchangeEnd {
            status: StatusCode::from_u16(status).ok(),
            faulted: status >= 500,
            took: Duration::from_millis(millis),
            waited: Duration::from_millis(millis / 2),
        }
    }

    #[test]
    fn what_all_threads_add_is_summed_by_class_and_bound() {
        let counters = ServiceCounters::default();
        assert_eq!(counters.totals().exchanges(), 0);
        for (thread, end) in [(0, end(200, 10)), (1, end(204, 11)), (1, end(503, 200)), (17, end(0, 5))] {
            counters.add(Part::of_thread(thread), &end);
        }
        let totals = counters.totals();
        assert_eq!((totals.answers, totals.abandoned, totals.faults), ([0, 2, 0, 0, 1], 1, 1));
        // A time that is a bound belongs to it.
        let counted: Vec<_> = totals.times.buckets.iter().filter(|(_, count)| *count > 0).copied().collect();
        assert_eq!(counted, [(0.005, 1), (0.01, 1), (0.025, 1), (0.25, 1)]);
        assert_eq!((totals.times.sum.as_millis(), totals.waited.as_millis()), (226, 112));
        assert_eq!(totals.exchanges(), 4);
    }

    #[test]
    fn requests_to_an_endpoint_are_counted_by_response_and_by_why_there_was_none() {
        let counters = EndpointCounters::default();
        let part = Part::default();
        counters.add(part, Ok(StatusCode::OK), Duration::from_micros(300));
        counters.add(part, Err(CallFailure::Timeout), Duration::from_secs(60));
        let totals = counters.totals();
        assert_eq!((totals.responses, totals.failures), ([0, 1, 0, 0, 0], [0, 1, 0, 0, 0]));
        assert_eq!((totals.times.buckets[1], totals.times.buckets[16]), ((0.0005, 1), (f64::INFINITY, 1)));
    }

    #[test]
    fn failures_stand_at_their_own_places() {
        for (index, failure) in CallFailure::ALL.into_iter().enumerate() {
            assert_eq!(failure as usize, index, "{}", failure.name());
        }
    }
}
