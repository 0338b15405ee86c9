//! What is counted of services and endpoints: threads that serve add to it, and others read it meanwhile.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
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
#[derive(Debug)]
struct Parts<T>([OnceLock<Box<T>>; PARTS]);

impl<T> Default for Parts<T> {
    fn default() -> Parts<T> {
        Parts([const { OnceLock::new() }; PARTS])
    }
}

impl<T> Parts<T> {
    #[inline]
    fn of(&self, part: Part, make: impl FnOnce() -> T) -> &T {
        self.0[part.0].get_or_init(|| Box::new(make()))
    }

    fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(OnceLock::get).map(|part| &**part)
    }
}

/// Upper bounds of times, in seconds and rising: a histogram has a bucket for each, and one for all above.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds(Arc<[f64]>);

impl Bounds {
    /// How many there may be: each is a series of every service.
    pub const MOST: usize = 64;

    /// Those bounds; `None` where they do not rise, one is none, or there are none or too many.
    pub fn new(bounds: &[f64]) -> Option<Bounds> {
        let is_rising = bounds.windows(2).all(|pair| pair[0] < pair[1]);
        let are_sound = bounds.iter().all(|bound| bound.is_finite() && *bound > 0.0);
        let is_few = (1..=Bounds::MOST).contains(&bounds.len());
        (is_rising && are_sound && is_few).then(|| Bounds(bounds.into()))
    }
}

impl Default for Bounds {
    fn default() -> Bounds {
        static USUAL: LazyLock<Arc<[f64]>> = LazyLock::new(|| BOUNDS.into());
        Bounds(Arc::clone(&USUAL))
    }
}

/// How long something took, by bounds.
#[derive(Debug)]
struct Times {
    bounds: Bounds,
    /// One more than there are bounds.
    buckets: Box<[AtomicU64]>,
    nanos: AtomicU64,
}

impl Times {
    fn new(bounds: &Bounds) -> Times {
        let buckets = (0..=bounds.0.len()).map(|_| AtomicU64::new(0)).collect();
        Times { bounds: bounds.clone(), buckets, nanos: AtomicU64::new(0) }
    }

    fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = self.bounds.0.iter().take_while(|bound| seconds > **bound).count();
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

/// What is counted of a service; a copy counts with it.
#[derive(Clone, Debug, Default)]
pub struct ServiceCounters(Arc<ServiceShared>);

#[derive(Debug)]
struct ServiceShared {
    /// The element of the service, and its name; both empty for what no service is for.
    kind: &'static str,
    name: Arc<str>,
    bounds: Bounds,
    parts: Parts<ServicePart>,
}

impl Default for ServiceShared {
    fn default() -> ServiceShared {
        ServiceShared { kind: "", name: "".into(), bounds: Bounds::default(), parts: Parts::default() }
    }
}

#[derive(Debug)]
struct ServicePart {
    ends: [AtomicU64; ENDS],
    faults: AtomicU64,
    waited_nanos: AtomicU64,
    received_bytes: AtomicU64,
    sent_bytes: AtomicU64,
    times: Times,
}

impl ServicePart {
    fn new(bounds: &Bounds) -> ServicePart {
        ServicePart {
            ends: Default::default(),
            faults: AtomicU64::new(0),
            waited_nanos: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            times: Times::new(bounds),
        }
    }
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
    /// Bytes that clients sent, heads included.
    pub received_bytes: u64,
    /// Bytes that clients got, heads included.
    pub sent_bytes: u64,
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
#[derive(Clone, Debug)]
pub struct ExchangeEnd {
    /// The status answered with; `None` where the client did not wait.
    pub status: Option<StatusCode>,
    /// Whether there was a fault, whoever answered it.
    pub faulted: bool,
    /// Until the head of the answer was there.
    pub took: Duration,
    /// How much of it endpoints were waited for.
    pub waited: Duration,
    /// The name of the endpoint that was asked last; empty for one without a name.
    pub endpoint: Option<Arc<str>>,
}

impl ServiceCounters {
    /// Those of a service of that element and name, whose times have these bounds.
    pub fn of(kind: &'static str, name: Arc<str>, bounds: Bounds) -> ServiceCounters {
        ServiceCounters(Arc::new(ServiceShared { kind, name, bounds, parts: Parts::default() }))
    }

    /// The element of the service; empty for what no service is for.
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// The name of the service.
    pub fn name(&self) -> &Arc<str> {
        &self.0.name
    }

    #[inline]
    fn part(&self, part: Part) -> &ServicePart {
        self.0.parts.of(part, || ServicePart::new(&self.0.bounds))
    }

    /// Counts the bytes of an exchange, once its answer has left.
    pub fn add_bytes(&self, part: Part, received: u64, sent: u64) {
        let part = self.part(part);
        add(&part.received_bytes, received);
        add(&part.sent_bytes, sent);
    }

    /// Counts an exchange.
    pub fn add(&self, part: Part, end: &ExchangeEnd) {
        let part = self.part(part);
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
        let parts = || self.0.parts.all();
        let ends = |end: usize| sum(parts().map(|part| &part.ends[end]));
        ServiceTotals {
            answers: std::array::from_fn(ends),
            abandoned: ends(ENDS - 1),
            faults: sum(parts().map(|part| &part.faults)),
            waited: Duration::from_nanos(sum(parts().map(|part| &part.waited_nanos))),
            received_bytes: sum(parts().map(|part| &part.received_bytes)),
            sent_bytes: sum(parts().map(|part| &part.sent_bytes)),
            times: time_totals(&self.0.bounds, &parts().map(|part| &part.times).collect::<Vec<_>>()),
        }
    }
}

impl ServiceTotals {
    /// How long exchanges took beside what they waited for endpoints: the bus's own share, all together.
    pub fn own_time(&self) -> Duration {
        self.times.sum.saturating_sub(self.waited)
    }

    /// All exchanges, those included whose client did not wait.
    pub fn exchanges(&self) -> u64 {
        self.answers.iter().sum::<u64>() + self.abandoned
    }
}

fn time_totals(bounds: &Bounds, parts: &[&Times]) -> TimeTotals {
    let bounds = bounds.0.iter().copied().chain([f64::INFINITY]);
    let buckets = bounds.enumerate().map(|(at, bound)| (bound, sum(parts.iter().map(|times| &times.buckets[at]))));
    TimeTotals { buckets: buckets.collect(), sum: Duration::from_nanos(sum(parts.iter().map(|times| &times.nanos))) }
}

/// What is counted of an endpoint.
#[derive(Debug)]
pub struct EndpointCounters {
    name: Arc<str>,
    parts: Parts<EndpointPart>,
    /// Attempts after the first, in the order of [`Attempt::ALL`]: they are rare, so that threads share the numbers.
    attempts: [AtomicU64; Attempt::ALL.len()],
}

/// Why a message is sent once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// Another member of the group did not take it.
    Failover,
    /// This member did not take it, and its state forgives that.
    Retry,
}

impl Attempt {
    /// All of them.
    pub const ALL: [Attempt; 2] = [Attempt::Failover, Attempt::Retry];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Attempt::Failover => "failover",
            Attempt::Retry => "retry",
        }
    }
}

impl Default for EndpointCounters {
    fn default() -> EndpointCounters {
        EndpointCounters::of("")
    }
}

#[derive(Debug)]
struct EndpointPart {
    /// Responses by the class of their status: 1xx to 5xx.
    responses: [AtomicU64; 5],
    failures: [AtomicU64; CallFailure::ALL.len()],
    times: Times,
}

impl Default for EndpointPart {
    fn default() -> EndpointPart {
        let (responses, failures) = Default::default();
        EndpointPart { responses, failures, times: Times::new(&Bounds::default()) }
    }
}

/// How long something takes, again and again, on each thread.
#[derive(Debug, Default)]
pub struct TimeCounters(Parts<ThreadTimes>);

#[derive(Debug)]
struct ThreadTimes(Times);

impl TimeCounters {
    /// Counts one time.
    pub fn add(&self, part: Part, took: Duration) {
        self.0.of(part, || ThreadTimes(Times::new(&Bounds::default()))).0.add(took);
    }

    /// What each thread counted so far, by the number of its part.
    pub fn totals(&self) -> Vec<(usize, TimeTotals)> {
        let parts = self.0.0.iter().enumerate().filter_map(|(number, part)| Some((number, part.get()?)));
        parts.map(|(number, part)| (number, time_totals(&Bounds::default(), &[&part.0]))).collect()
    }
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
    /// Requests that were not the first attempt to send their message, in the order of [`Attempt::ALL`].
    pub attempts: [u64; Attempt::ALL.len()],
    /// How long requests took until the head of the response was there, or it was clear that none comes.
    pub times: TimeTotals,
}

impl EndpointTotals {
    /// All requests, those without a response included.
    pub fn requests(&self) -> u64 {
        self.responses.iter().chain(&self.failures).sum()
    }
}

impl EndpointCounters {
    /// Those of the endpoints of that name.
    pub fn of(name: &str) -> EndpointCounters {
        EndpointCounters { name: name.into(), parts: Parts::default(), attempts: Default::default() }
    }

    /// The name of those endpoints; empty for those that have none.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Counts a request.
    pub fn add(&self, part: Part, outcome: Result<StatusCode, CallFailure>, took: Duration) {
        let part = self.parts.of(part, EndpointPart::default);
        match outcome {
            Ok(status) => add(&part.responses[usize::from(status.as_u16() / 100).clamp(1, 5) - 1], 1),
            Err(failure) => add(&part.failures[failure as usize], 1),
        }
        part.times.add(took);
    }

    /// Counts an attempt after the first; its request is counted by [`EndpointCounters::add`] as all are.
    pub fn count_attempt(&self, attempt: Attempt) {
        self.attempts[attempt as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub fn totals(&self) -> EndpointTotals {
        let parts = || self.parts.all();
        EndpointTotals {
            responses: std::array::from_fn(|class| sum(parts().map(|part| &part.responses[class]))),
            failures: std::array::from_fn(|failure| sum(parts().map(|part| &part.failures[failure]))),
            attempts: Attempt::ALL.map(|attempt| self.attempts[attempt as usize].load(Ordering::Relaxed)),
            times: time_totals(&Bounds::default(), &parts().map(|part| &part.times).collect::<Vec<_>>()),
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
            endpoint: None,
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
    fn bounds_of_ones_own_take_the_place_of_the_usual_ones() {
        let counters = ServiceCounters::of("proxy", "P".into(), Bounds::new(&[0.01, 1.0]).unwrap());
        assert_eq!((counters.kind(), &**counters.name()), ("proxy", "P"));
        counters.add(Part::default(), &end(200, 10));
        counters.add(Part::default(), &end(200, 2000));
        counters.add_bytes(Part::default(), 10, 20);
        let totals = counters.totals();
        assert_eq!(totals.times.buckets, [(0.01, 1), (1.0, 0), (f64::INFINITY, 1)]);
        assert_eq!((totals.received_bytes, totals.sent_bytes, totals.own_time().as_millis()), (10, 20, 1005));
        for wrong in [&[][..], &[1.0, 1.0], &[2.0, 1.0], &[0.0], &[f64::NAN], &[f64::INFINITY], &[1.0; 65]] {
            assert_eq!(Bounds::new(wrong), None, "{wrong:?}");
        }
        let lag = TimeCounters::default();
        lag.add(Part::of_thread(3), Duration::from_millis(10));
        let totals = lag.totals();
        assert_eq!((totals.len(), totals[0].0, totals[0].1.sum.as_millis()), (1, 3, 10));
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
