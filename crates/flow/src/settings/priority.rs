//! Who is served first when more requests come than are served at once: `[myelin.priorities]`.
//!
//! A bound on requests under way keeps a bus that is asked too much answering in time. Above it requests wait, those
//! of a higher level first, and where as many wait as may, the lowest is told to come again.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use myelin_message::Head;

use crate::fault::{Fault, Outcome};
use crate::transport::{SendError, SendErrorKind, Transport, within};

/// How many requests are served at once, and in which order the others wait.
#[derive(Clone, Debug, Default)]
pub struct Priorities {
    gate: Arc<Gate>,
    rules: Vec<PriorityRule>,
    wait: Duration,
}

/// Which requests have a level of their own; what a rule does not name may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorityRule {
    /// The name of a proxy or API, or `main`.
    pub service: Option<String>,
    /// The name of a header, which the request must have.
    pub header: Option<String>,
    /// What that header must say.
    pub value: Option<String>,
    /// Higher ones are served first; a request that no rule is for has 0.
    pub level: i32,
}

/// Lets so many in at once.
#[derive(Debug, Default)]
struct Gate {
    at_once: usize,
    /// How many may wait.
    waiting: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    inside: usize,
    /// Those who wait, in the order in which they are let in: by level, then by arrival.
    queue: BTreeMap<(Reverse<i32>, u64), Waiter>,
    arrivals: u64,
}

#[derive(Debug)]
struct Waiter {
    /// Whether it was let in, or sent away; `None` as long as it waits.
    verdict: Option<bool>,
    waker: Waker,
}

/// One who is served; dropping it lets the next one in.
#[derive(Debug)]
pub struct Permit(Arc<Gate>);

/// One who waits; dropping it ends the wait, and lets the next one in where it was let in and has not gone.
struct Ticket<'a> {
    gate: &'a Arc<Gate>,
    key: Option<(Reverse<i32>, u64)>,
}

impl Priorities {
    /// Serves `at_once` requests at once; up to `waiting` others wait up to `wait`.
    pub fn new(at_once: usize, waiting: usize, wait: Duration, rules: Vec<PriorityRule>) -> Priorities {
        Priorities { gate: Arc::new(Gate { at_once: at_once.max(1), waiting, state: Mutex::default() }), rules, wait }
    }

    /// The level of a request: that of the first rule that is for it.
    fn level(&self, service: &str, head: &Head) -> i32 {
        let is_meant = |rule: &&PriorityRule| {
            let is_service = rule.service.as_deref().is_none_or(|name| name == service);
            let said = rule.header.as_deref().map(|name| head.first(name));
            let is_said = match (said, &rule.value) {
                (None, _) => true,
                (Some(None), _) => false,
                (Some(Some(_)), None) => true,
                (Some(Some(said)), Some(value)) => said == value.as_bytes(),
            };
            is_service && is_said
        };
        self.rules.iter().find(is_meant).map_or(0, |rule| rule.level)
    }

    /// Waits until a request may be served.
    ///
    /// Errors: 303000, answered with 503, where it waited too long or had to make room.
    pub async fn admit(&self, service: &str, head: &Head, transport: &dyn Transport) -> Outcome<Permit> {
        let refused = |detail: &str| {
            Box::<Fault>::from(SendError { kind: SendErrorKind::Overloaded, message: detail.to_owned() })
        };
        let mut ticket = match self.gate.enter(self.level(service, head)) {
            Entry::Inside(permit) => return Ok(permit),
            Entry::Waits(ticket) => ticket,
            Entry::Full => return Err(refused("as many requests wait to be served as may wait")),
        };
        match within(transport, self.wait, poll_fn(|cx| ticket.poll(cx))).await {
            Some(Some(permit)) => Ok(permit),
            Some(None) => Err(refused("a request of a higher level took its place among those that wait")),
            None => Err(refused("it was not its turn to be served in time")),
        }
    }
}

enum Entry<'a> {
    Inside(Permit),
    Waits(Ticket<'a>),
    Full,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-way by those who hold it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(self: &Arc<Gate>, level: i32) -> Entry<'_> {
        let mut state = self.state();
        if state.inside < self.at_once {
            state.inside += 1;
            return Entry::Inside(Permit(Arc::clone(self)));
        }
        let still = |state: &State| state.queue.values().filter(|waiter| waiter.verdict.is_none()).count();
        if still(&state) >= self.waiting {
            // The last of the lowest makes room for a higher one.
            let last = state.queue.iter_mut().rev().find(|(_, waiter)| waiter.verdict.is_none());
            match last {
                Some(((Reverse(lowest), _), waiter)) if *lowest < level => {
                    waiter.verdict = Some(false);
                    waiter.waker.wake_by_ref();
                }
                _ => return Entry::Full,
            }
        }
        state.arrivals += 1;
        let key = (Reverse(level), state.arrivals);
        state.queue.insert(key, Waiter { verdict: None, waker: Waker::noop().clone() });
        Entry::Waits(Ticket { gate: self, key: Some(key) })
    }

    /// Somebody has gone: the next who waits comes in.
    fn leave(&self) {
        let mut state = self.state();
        match state.queue.values_mut().find(|waiter| waiter.verdict.is_none()) {
            Some(next) => {
                next.verdict = Some(true);
                next.waker.wake_by_ref();
            }
            None => state.inside -= 1,
        }
    }
}

impl Ticket<'_> {
    /// `Some` when it is let in, `None` where it is sent away.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Permit>> {
        let Some(key) = self.key else { return Poll::Ready(None) };
        let mut state = self.gate.state();
        let Some(waiter) = state.queue.get_mut(&key) else { return Poll::Ready(None) };
        let Some(is_let_in) = waiter.verdict else {
            waiter.waker.clone_from(cx.waker());
            return Poll::Pending;
        };
        state.queue.remove(&key);
        self.key = None;
        Poll::Ready(is_let_in.then(|| Permit(Arc::clone(self.gate))))
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let waiter = self.gate.state().queue.remove(&key);
        if waiter.is_some_and(|waiter| waiter.verdict == Some(true)) {
            self.gate.leave();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(at_once: usize, waiting: usize) -> Arc<Gate> {
        Priorities::new(at_once, waiting, Duration::ZERO, Vec::new()).gate
    }

    fn waits(gate: &Arc<Gate>, level: i32) -> Ticket<'_> {
        match gate.enter(level) {
            Entry::Waits(ticket) => ticket,
            _ => panic!("it does not wait"),
        }
    }

    fn inside(gate: &Arc<Gate>) -> Permit {
        match gate.enter(0) {
            Entry::Inside(permit) => permit,
            _ => panic!("it is not let in"),
        }
    }

    fn poll(ticket: &mut Ticket<'_>) -> Poll<Option<Permit>> {
        ticket.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn higher_levels_come_first_and_equal_ones_in_their_order() {
        let gate = gate(1, 10);
        let mut served = inside(&gate);
        let mut tickets: Vec<Ticket<'_>> = [0, 5, 0, 5].map(|level| waits(&gate, level)).into();
        // Of those that are left, who is next.
        for expected in [1, 2, 0, 0] {
            drop(served);
            let verdicts: Vec<_> = tickets.iter_mut().map(poll).collect();
            let let_in = verdicts.into_iter().enumerate().filter_map(|(index, verdict)| match verdict {
                Poll::Ready(permit) => Some((index, permit.unwrap())),
                Poll::Pending => None,
            });
            let mut let_in: Vec<(usize, Permit)> = let_in.collect();
            let (index, permit) = let_in.pop().unwrap();
            assert_eq!((index, let_in.len()), (expected, 0));
            tickets.remove(index);
            served = permit;
        }
        drop(served);
        let state = gate.state();
        assert_eq!((state.inside, state.queue.len()), (0, 0));
    }

    #[test]
    fn the_lowest_that_waits_makes_room_for_a_higher_one_and_for_no_other() {
        let gate = gate(1, 2);
        let _served = inside(&gate);
        let (mut low, mut high) = (waits(&gate, 1), waits(&gate, 7));
        assert!(matches!(gate.enter(1), Entry::Full));
        let mut higher = waits(&gate, 5);
        assert!(matches!(poll(&mut low), Poll::Ready(None)));
        assert!(poll(&mut high).is_pending() && poll(&mut higher).is_pending());
    }

    #[test]
    fn who_goes_away_keeps_no_place() {
        let gate = gate(1, 5);
        let served = inside(&gate);
        let (first, mut second) = (waits(&gate, 0), waits(&gate, 0));
        drop(served);
        // It was let in and went away without having noticed.
        drop(first);
        assert!(matches!(poll(&mut second), Poll::Ready(Some(_))));
        let state = gate.state();
        assert_eq!((state.inside, state.queue.len()), (0, 0));
    }

    #[test]
    fn the_first_rule_that_is_for_a_request_says_its_level() {
        let rule = |service: Option<&str>, header: Option<(&str, Option<&str>)>, level| PriorityRule {
            service: service.map(str::to_owned),
            header: header.map(|(name, _)| name.to_owned()),
            value: header.and_then(|(_, value)| value).map(str::to_owned),
            level,
        };
        let rules = vec![
            rule(Some("Orders"), Some(("X-Tier", Some("gold"))), 9),
            rule(Some("Orders"), None, 3),
            rule(None, Some(("X-Batch", None)), -1),
        ];
        let priorities = Priorities::new(1, 1, Duration::ZERO, rules);
        let check = |service: &str, header: &str, value: &str, expected: i32| {
            let mut head = Head::default();
            head.set(header, value.as_bytes()).unwrap();
            assert_eq!(priorities.level(service, &head), expected);
        };
        check("Orders", "x-tier", "gold", 9);
        check("Orders", "x-tier", "silver", 3);
        check("Quotes", "x-tier", "gold", 0);
        check("Quotes", "X-Batch", "", -1);
    }
}
