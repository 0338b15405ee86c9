//! Faulty proxies, APIs and `main`, which the bus does not serve: each answers clients with its name, and tells the log
//! once a second at most.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use myelin_content::Format;
use myelin_flow::answer;
use myelin_flow::fault::Fault;
use myelin_message::{Arrival, HeaderId, Message};

/// A faulty proxy, API or `main` that was left out when the configuration was loaded; it keeps its paths, so that nobody
/// else answers in its place.
pub struct LeftOut {
    /// The name of its element.
    kind: &'static str,
    name: Arc<str>,
    /// The second in which the log was told last, counted from 1.
    told: AtomicU64,
}

impl LeftOut {
    /// One that nobody has asked for yet.
    pub fn new(kind: &'static str, name: &str) -> LeftOut {
        LeftOut { kind, name: name.into(), told: AtomicU64::new(0) }
    }

    /// The answer to a request that is meant for it, 503; `now` is the time since some moment.
    ///
    /// One line in the log for each second in which anybody asks.
    pub fn answer(&self, request: &Message, arrival: &Arrival<'_>, now: Duration) -> Message {
        let fault = Fault::left_out(self.kind, &self.name);
        let second = now.as_secs().saturating_add(1);
        if self.told.swap(second, Ordering::Relaxed) != second {
            fault.log(arrival);
        }
        answer::from_fault(&fault, Format::of(request.head.known(HeaderId::ContentType)))
    }
}

#[cfg(test)]
mod tests {
    use myelin_message::{Body, CorrelationId};

    use super::*;

    #[test]
    fn the_log_hears_of_it_once_a_second() {
        let left_out = LeftOut::new("api", "orders");
        let correlation = CorrelationId::NONE;
        let arrival = Arrival { transport: "http", peer: None, local: None, inbound: None, correlation };
        let request = Message::answer(http::StatusCode::OK, Body::Empty);
        let heard_at = |millis: u64| {
            let before = left_out.told.load(Ordering::Relaxed);
            assert_eq!(left_out.answer(&request, &arrival, Duration::from_millis(millis)).status, 503);
            left_out.told.load(Ordering::Relaxed) != before
        };
        assert_eq!([100, 500, 999, 1_000, 1_900, 7_000].map(heard_at), [true, false, false, true, false, true]);
    }
}
