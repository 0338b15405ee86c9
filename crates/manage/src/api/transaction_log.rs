//! How many requests came in each month, as far as this process knows.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use myelin_engine::{Bus, ServiceKind};

/// How many months are kept.
pub(super) const MONTHS: usize = 120;

/// How many requests came in each month.
#[derive(Debug, Default)]
pub struct TransactionLog(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    months: BTreeMap<(i16, i8), u64>,
    /// All that was counted so far, of the services that are there.
    last: u64,
}

/// The year and the month of a time, in UTC.
pub(super) fn month_of(now: SystemTime) -> (i16, i8) {
    let date = Timestamp::try_from(now).unwrap_or_default().to_zoned(TimeZone::UTC).date();
    (date.year(), date.month())
}

impl TransactionLog {
    /// Counts what has come since the last time; to be called every minute, so that months are told apart.
    pub fn note(&self, bus: &Bus, now: SystemTime) {
        let counts = [ServiceKind::Proxy, ServiceKind::Api, ServiceKind::InboundEndpoint, ServiceKind::Main];
        let services = bus.services();
        let counted = services.iter().filter(|view| counts.contains(&view.kind));
        self.add(counted.map(|view| view.counters.totals().exchanges()).sum(), month_of(now));
    }

    fn add(&self, total: u64, month: (i16, i8)) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The counts of a service end with it: then there are fewer, and counting goes on from there.
        let more = total.saturating_sub(counted.last);
        counted.last = total;
        *counted.months.entry(month).or_default() += more;
        if counted.months.len() > MONTHS {
            counted.months.pop_first();
        }
    }

    /// How many came in a month.
    pub(super) fn of(&self, month: (i16, i8)) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).months.get(&month).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_in_the_month_in_which_they_came() {
        let log = TransactionLog::default();
        log.add(5, (2026, 11));
        log.add(7, (2026, 12));
        // A service is gone with its counts.
        log.add(3, (2026, 12));
        log.add(4, (2026, 12));
        assert_eq!((log.of((2026, 11)), log.of((2026, 12)), log.of((2027, 1))), (5, 3, 0));
    }
}
