//! The state of one endpoint: how errors, successes and the operator change it, and when it may be tried.
//!
//! Nothing in here reads a clock, takes a lock or logs: what happened goes in with the time, what changed comes out.
//! Source: Synapse's `EndpointContext` and `AbstractEndpoint`, whose arithmetic is followed to the millisecond.

use std::fmt;
use std::time::Duration;

/// How long an endpoint is suspended whose configuration gives a negative duration, which is the default.
const DEFAULT_SUSPENSION_MS: i64 = 30_000;

/// The errors that count as time-outs where the configuration lists none: no answer in time, connection closed.
const TIMEOUT_CODES: [u32; 2] = [101504, 101505];

/// Whether an endpoint is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is.
    Active,
    /// A request took too long; it is tried again after a delay, so and so often.
    Timeout,
    /// It failed; it is tried again after a duration that may grow each time.
    Suspended,
    /// The operator took it out; only the operator brings it back.
    Off,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Active => "active",
            State::Timeout => "waiting after a time-out",
            State::Suspended => "suspended",
            State::Off => "switched off",
        })
    }
}

/// A list of error codes; an empty one stands for a default that its user knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codes(pub Vec<i32>);

impl Codes {
    fn contains(&self, code: u32) -> bool {
        self.0.iter().any(|&listed| i64::from(listed) == i64::from(code))
    }
}

/// What the configuration says about an endpoint's errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// `markForSuspension`: the errors that are time-outs.
    pub timeout_codes: Codes,
    /// How many time-outs in a row are forgiven.
    pub retries: i32,
    /// How long after a time-out it is not tried, in milliseconds.
    pub retry_delay_ms: i32,
    /// `suspendOnFailure`: the errors that suspend; all that are no time-outs where it is empty.
    pub suspend_codes: Codes,
    /// The first suspension, in milliseconds; a negative one stands for thirty seconds.
    pub initial_ms: i64,
    /// By how much each suspension is longer than the one before.
    pub factor: f32,
    /// The longest suspension, in milliseconds.
    pub maximum_ms: i64,
    /// `retryConfig`: the errors after which a group does not send to another member.
    pub retry_disabled: Codes,
    /// The only ones after which it does, where there are any.
    pub retry_enabled: Codes,
    /// How many failures are counted one by one before each further one suspends for `Duration`, whatever it is.
    pub failure_limit: Option<(u32, Duration)>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            timeout_codes: Codes::default(),
            retries: 0,
            retry_delay_ms: 0,
            suspend_codes: Codes::default(),
            initial_ms: -1,
            factor: 1.0,
            maximum_ms: i64::MAX,
            retry_disabled: Codes::default(),
            retry_enabled: Codes::default(),
            failure_limit: None,
        }
    }
}

impl Rules {
    fn is_timeout(&self, code: u32) -> bool {
        match self.timeout_codes.0.is_empty() {
            true => TIMEOUT_CODES.contains(&code),
            false => self.timeout_codes.contains(code),
        }
    }

    fn suspends(&self, code: u32) -> bool {
        self.suspend_codes.0.is_empty() || self.suspend_codes.contains(code)
    }

    /// Whether a group that this endpoint belongs to may send to another member after that error.
    pub fn allows_retry(&self, code: u32) -> bool {
        !self.retry_disabled.contains(code) && (self.retry_enabled.0.is_empty() || self.retry_enabled.contains(code))
    }

    /// How long a suspension lasts that follows one of `last_ms`.
    ///
    /// A first one that is left to the default is not held to the maximum, as in Synapse.
    fn suspension_ms(&self, last_ms: Option<i64>) -> i64 {
        let next = match last_ms {
            Some(last) => (last as f32 * self.factor) as i64,
            None => self.initial_ms,
        };
        if next > self.maximum_ms {
            self.maximum_ms
        } else if next < 0 {
            DEFAULT_SUSPENSION_MS
        } else {
            next
        }
    }
}

/// Where an endpoint stands; times are those of a clock that never jumps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub state: State,
    /// When it may be tried again, while it is [`State::Timeout`] or [`State::Suspended`].
    pub retry_at: Duration,
    /// How many time-outs are still forgiven; `None` where none was counted since it was active.
    retries: Option<i32>,
    /// How many failures are still counted before `failure_limit` applies; as `retries`.
    failures: Option<u32>,
    /// The last suspension since it was active.
    last_ms: Option<i64>,
}

/// What an error or success changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Nothing,
    /// It timed out, and is tried again after a delay, this many times.
    TimedOut {
        retries: i32,
    },
    /// It is suspended, for that long.
    Suspended {
        milliseconds: i64,
    },
    /// It works again.
    Recovered,
}

impl Condition {
    pub fn new() -> Condition {
        Condition { state: State::Active, retry_at: Duration::ZERO, retries: None, failures: None, last_ms: None }
    }

    /// Whether a request may be sent.
    ///
    /// The time of the next try changes nothing by itself: only a success makes it active again.
    pub fn is_ready(&self, now: Duration) -> bool {
        match self.state {
            State::Active => true,
            State::Off => false,
            State::Timeout | State::Suspended => now >= self.retry_at,
        }
    }

    /// A request ended in an error of the backend.
    pub fn failed(&mut self, rules: &Rules, code: u32, now: Duration) -> Change {
        if self.state == State::Off {
            return Change::Nothing;
        }
        if let Some((limit, suspension)) = rules.failure_limit {
            match self.failures.unwrap_or(limit).checked_sub(1) {
                Some(left) => self.failures = Some(left),
                None => return self.suspend(i64::try_from(suspension.as_millis()).unwrap_or(i64::MAX), now),
            }
        }
        if rules.is_timeout(code) {
            let retries = self.retries.unwrap_or(rules.retries);
            if retries > 0 {
                self.state = State::Timeout;
                self.retries = Some(retries - 1);
                self.retry_at = after(now, rules.retry_delay_ms.into());
                return Change::TimedOut { retries: retries - 1 };
            }
            self.retries = Some(retries);
        } else if !rules.suspends(code) {
            return Change::Nothing;
        }
        // One of no length counts as none: the next starts from the beginning.
        let last = self.last_ms.filter(|&last| last > 0);
        self.suspend(rules.suspension_ms(last), now)
    }

    fn suspend(&mut self, milliseconds: i64, now: Duration) -> Change {
        self.state = State::Suspended;
        self.last_ms = Some(milliseconds);
        self.retry_at = after(now, milliseconds);
        Change::Suspended { milliseconds }
    }

    /// A response came.
    pub fn succeeded(&mut self) -> Change {
        match self.state {
            State::Active | State::Off => Change::Nothing,
            State::Timeout | State::Suspended => {
                *self = Condition::new();
                Change::Recovered
            }
        }
    }

    /// The operator takes it out.
    pub fn switch_off(&mut self) {
        *self = Condition { state: State::Off, ..Condition::new() };
    }

    /// The operator brings it back, from wherever it stands.
    pub fn switch_on(&mut self) {
        *self = Condition::new();
    }
}

fn after(now: Duration, milliseconds: i64) -> Duration {
    now.saturating_add(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests;
