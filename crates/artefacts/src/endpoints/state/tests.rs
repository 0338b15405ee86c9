use proptest::prelude::*;

use crate::endpoints::state::*;

const TIMEOUT: u32 = 101504;
const REFUSED: u32 = 101503;

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn suspending(initial_ms: i64, factor: f32, maximum_ms: i64) -> Rules {
    Rules { initial_ms, factor, maximum_ms, ..Rules::default() }
}

/// How long each of several failures in a row suspends for.
fn suspensions(rules: &Rules, count: usize) -> Vec<i64> {
    let mut condition = Condition::new();
    let mut now = Duration::ZERO;
    (0..count)
        .map(|_| match condition.failed(rules, REFUSED, now) {
            Change::Suspended { milliseconds } => {
                now = condition.retry_at;
                milliseconds
            }
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_failure_suspends_for_thirty_seconds_unless_something_is_configured() {
    let mut condition = Condition::new();
    assert_eq!(condition.failed(&Rules::default(), REFUSED, at(500)), Change::Suspended { milliseconds: 30_000 });
    assert!(!condition.is_ready(at(30_499)));
    assert!(condition.is_ready(at(30_500)));
    assert_eq!(condition.state, State::Suspended, "time alone makes nothing active");
    assert_eq!(condition.succeeded(), Change::Recovered);
    assert_eq!(condition, Condition::new());
}

#[test]
fn each_suspension_is_longer_by_the_factor_up_to_the_maximum() {
    assert_eq!(suspensions(&suspending(1000, 2.0, 64_000), 8), [1, 2, 4, 8, 16, 32, 64, 64].map(|s| s * 1000));
    assert_eq!(suspensions(&suspending(1000, 1.0, i64::MAX), 3), [1000; 3]);
    assert_eq!(suspensions(&suspending(1000, 1.5, 2000), 4), [1000, 1500, 2000, 2000]);
    // What the defaults of the tools and odd values come to in Synapse.
    assert_eq!(suspensions(&suspending(-1, 1.0, 0), 2), [30_000, 0]);
    assert_eq!(suspensions(&suspending(1000, -1.0, i64::MAX), 3), [1000, 30_000, 30_000]);
    assert_eq!(suspensions(&suspending(0, 2.0, i64::MAX), 3), [0; 3]);
    assert_eq!(suspensions(&suspending(-1, 1.0, 10_000), 3), [30_000, 10_000, 10_000]);
    assert_eq!(suspensions(&suspending(i64::MAX, 10.0, i64::MAX), 2), [i64::MAX; 2]);
}

#[test]
fn time_outs_are_forgiven_as_often_as_configured() {
    let rules = Rules { retries: 2, retry_delay_ms: 100, initial_ms: 1000, ..Rules::default() };
    let mut condition = Condition::new();
    assert_eq!(condition.failed(&rules, TIMEOUT, at(0)), Change::TimedOut { retries: 1 });
    assert!(!condition.is_ready(at(99)) && condition.is_ready(at(100)));
    assert_eq!(condition.failed(&rules, TIMEOUT, at(100)), Change::TimedOut { retries: 0 });
    assert_eq!(condition.failed(&rules, TIMEOUT, at(200)), Change::Suspended { milliseconds: 1000 });
    assert_eq!(condition.failed(&rules, TIMEOUT, at(1200)), Change::Suspended { milliseconds: 1000 });
    condition.succeeded();
    assert_eq!(condition.failed(&rules, TIMEOUT, at(1300)), Change::TimedOut { retries: 1 });
}

#[test]
fn error_codes_tell_time_outs_failures_and_what_is_neither() {
    let check = |timeout: &[i32], suspend: &[i32], code, expected| {
        let rules = Rules {
            timeout_codes: Codes(timeout.to_vec()),
            suspend_codes: Codes(suspend.to_vec()),
            retries: 9,
            ..Rules::default()
        };
        assert_eq!(Condition::new().failed(&rules, code, at(0)), expected, "{timeout:?} {suspend:?} {code}");
    };
    let (timed_out, suspended) = (Change::TimedOut { retries: 8 }, Change::Suspended { milliseconds: 30_000 });
    check(&[], &[], 101504, timed_out);
    check(&[], &[], 101505, timed_out);
    check(&[], &[], 101508, suspended);
    check(&[101508], &[], 101508, timed_out);
    check(&[101508], &[], 101504, suspended);
    check(&[101508], &[101503], 101504, Change::Nothing);
    // The idiom that switches suspension off.
    check(&[-1], &[-1], 101503, Change::Nothing);
    check(&[-1], &[-1], 101504, Change::Nothing);
}

#[test]
fn what_is_switched_off_stays_off_whatever_happens() {
    let mut condition = Condition::new();
    condition.failed(&Rules::default(), REFUSED, at(0));
    condition.switch_off();
    assert!(!condition.is_ready(Duration::MAX));
    assert_eq!(condition.succeeded(), Change::Nothing);
    assert_eq!(condition.failed(&Rules::default(), REFUSED, at(0)), Change::Nothing);
    condition.switch_on();
    assert_eq!(condition, Condition::new());
}

#[test]
fn a_limit_of_failures_suspends_even_for_what_is_never_to_suspend() {
    let never = Codes(vec![-1]);
    let rules = Rules {
        timeout_codes: never.clone(),
        suspend_codes: never,
        failure_limit: Some((2, at(700))),
        ..Rules::default()
    };
    let mut condition = Condition::new();
    assert_eq!(condition.failed(&rules, REFUSED, at(0)), Change::Nothing);
    assert_eq!(condition.failed(&rules, REFUSED, at(0)), Change::Nothing);
    assert_eq!(condition.failed(&rules, REFUSED, at(0)), Change::Suspended { milliseconds: 700 });
    condition.succeeded();
    assert_eq!(condition.failed(&rules, REFUSED, at(0)), Change::Nothing);
}

#[test]
fn retry_lists_say_after_which_errors_a_group_goes_on() {
    let check = |disabled: &[i32], enabled: &[i32], code, expected| {
        let rules = Rules {
            retry_disabled: Codes(disabled.to_vec()),
            retry_enabled: Codes(enabled.to_vec()),
            ..Rules::default()
        };
        assert_eq!(rules.allows_retry(code), expected);
    };
    check(&[], &[], REFUSED, true);
    check(&[101504], &[], TIMEOUT, false);
    check(&[101504], &[], REFUSED, true);
    check(&[], &[101503], REFUSED, true);
    check(&[], &[101503], TIMEOUT, false);
    check(&[101503], &[101503], REFUSED, false);
}

/// The machine again, as a person would play it with a pencil: all that ever happened, looked through from the start.
struct Played<'a> {
    rules: &'a Rules,
    /// Since it was last active: each error that counted, with its time in milliseconds.
    errors: Vec<(u32, u64)>,
    off: bool,
}

impl Played<'_> {
    /// The state, and the millisecond from which on it may be tried.
    fn now(&self) -> (State, u64) {
        if self.off {
            return (State::Off, u64::MAX);
        }
        let mut state = (State::Active, 0);
        let mut forgiven = 0;
        let mut duration = None;
        for &(code, time) in &self.errors {
            let listed = |codes: &Codes| codes.0.contains(&(code as i32));
            let defaults = self.rules.timeout_codes.0.is_empty();
            let timed_out = if defaults { code == 101504 || code == 101505 } else { listed(&self.rules.timeout_codes) };
            if timed_out && forgiven < self.rules.retries {
                forgiven += 1;
                state = (State::Timeout, time + self.rules.retry_delay_ms as u64);
            } else if timed_out || self.rules.suspend_codes.0.is_empty() || listed(&self.rules.suspend_codes) {
                let next = match duration {
                    Some(last) if last > 0 => (last as f32 * self.rules.factor) as i64,
                    _ => self.rules.initial_ms,
                };
                let next = if next < 0 { 30_000 } else { next.min(self.rules.maximum_ms) };
                duration = Some(next);
                state = (State::Suspended, time + next as u64);
            }
        }
        state
    }
}

#[derive(Clone, Debug)]
enum Event {
    Failed(u32),
    Succeeded,
    Wait(u64),
    Off,
    On,
}

fn codes() -> impl Strategy<Value = Codes> {
    proptest::collection::vec(prop_oneof![Just(-1), 101503..101509_i32], 0..3).prop_map(Codes)
}

fn rules() -> impl Strategy<Value = Rules> {
    let suspension = (-1..5000_i64, 0.5..3.0_f32, 0..20_000_i64);
    (codes(), 0..4_i32, 0..300_i32, codes(), suspension).prop_map(
        |(timeout_codes, retries, retry_delay_ms, suspend_codes, (initial_ms, factor, maximum_ms))| Rules {
            timeout_codes,
            retries,
            retry_delay_ms,
            suspend_codes,
            initial_ms,
            factor,
            maximum_ms,
            ..Rules::default()
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (101503..101509_u32).prop_map(Event::Failed),
        2 => Just(Event::Succeeded),
        4 => (0..3000_u64).prop_map(Event::Wait),
        1 => Just(Event::Off),
        1 => Just(Event::On),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_it_stands_where_the_rules_of_the_language_say(
        rules in rules(),
        events in proptest::collection::vec(event(), 0..40),
    ) {
        let mut condition = Condition::new();
        let mut played = Played { rules: &rules, errors: Vec::new(), off: false };
        let mut now = 0;
        for event in events {
            match event {
                Event::Failed(code) => {
                    condition.failed(&rules, code, at(now));
                    if !played.off {
                        played.errors.push((code, now));
                    }
                }
                Event::Succeeded => {
                    condition.succeeded();
                    if played.now().0 != State::Active {
                        played.errors.clear();
                    }
                }
                Event::Wait(milliseconds) => now += milliseconds,
                Event::Off => {
                    condition.switch_off();
                    played.off = true;
                    played.errors.clear();
                }
                Event::On => {
                    condition.switch_on();
                    played.off = false;
                    played.errors.clear();
                }
            }
            let (state, retry_at) = played.now();
            prop_assert_eq!(condition.state, state);
            let ready = state == State::Active || (state != State::Off && now >= retry_at);
            prop_assert_eq!(condition.is_ready(at(now)), ready);
        }
    }
}
