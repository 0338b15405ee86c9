//! Waiting for what another thread or process does.

use std::thread::sleep;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until it is so; panics with `what` after a minute.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        sleep(Duration::from_millis(5));
    }
}
