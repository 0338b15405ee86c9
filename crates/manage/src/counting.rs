//! Counts what happens to messages, as the engine of one thread tells it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use myelin_engine::observer::{CallFailure, EndpointCounters, ExchangeEnd, Fault, Origin, Part, ServiceCounters};
use myelin_message::StatusCode;

/// How many codes are told apart: a configuration may throw any, and each is a series that somebody has to keep.
const CODES: usize = 200;
/// What all codes beyond them are counted as.
const OTHER: &str = "other";

/// How many faults there were, by their code and whose side they were on.
#[derive(Debug, Default)]
pub struct FaultCounters(Mutex<BTreeMap<(String, &'static str), u64>>);

impl FaultCounters {
    fn add(&self, fault: &Fault) {
        let origin = match fault.origin {
            Origin::Client => "client",
            Origin::Backend => "backend",
            Origin::Bus => "bus",
        };
        // Faults are rare beside what they cost, so that threads may wait for each other here.
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (fault.error_code().text().into_owned(), origin);
        if counts.len() >= CODES && !counts.contains_key(&key) {
            key.0 = OTHER.to_owned();
        }
        *counts.entry(key).or_default() += 1;
    }

    /// How many there were so far, by code and side.
    pub(crate) fn totals(&self) -> BTreeMap<(String, &'static str), u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Counts what happens to messages on one thread.
#[derive(Debug)]
pub struct ThreadCounters {
    part: Part,
    faults: Arc<FaultCounters>,
}

impl ThreadCounters {
    /// For the thread of that number; all of a process count faults together.
    pub fn new(thread: usize, faults: Arc<FaultCounters>) -> ThreadCounters {
        ThreadCounters { part: Part::of_thread(thread), faults }
    }

    /// Counts an exchange that has ended.
    pub fn answered(&self, service: &ServiceCounters, end: &ExchangeEnd) {
        service.add(self.part, end);
    }

    /// Counts the bytes of a request and its answer, which has left.
    pub fn sent(&self, service: &ServiceCounters, received_bytes: u64, sent_bytes: u64) {
        service.add_bytes(self.part, received_bytes, sent_bytes);
    }

    /// Counts a fault.
    pub fn faulted(&self, fault: &Fault) {
        self.faults.add(fault);
    }

    /// Counts a request to an endpoint, and how it ended.
    pub fn asked(&self, endpoint: &EndpointCounters, outcome: Result<StatusCode, CallFailure>, took: Duration) {
        endpoint.add(self.part, outcome, took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart_up_to_a_bound() {
        let counters = FaultCounters::default();
        for code in 0..CODES + 5 {
            counters.add(&Fault::thrown(&code.to_string(), "x"));
        }
        counters.add(&Fault::thrown("7", "x"));
        let totals = counters.totals();
        assert_eq!(totals[&("7".to_owned(), "bus")], 2);
        assert_eq!(totals[&(OTHER.to_owned(), "bus")], 5);
        assert_eq!(totals.len(), CODES + 1);
    }
}
