//! Answers from events are the answers of the tree, and none is given before it is certain.

mod check;
mod generator;

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use check::Tally;
use generator::Choices;

/// Few thousands each time; `PROPTEST_CASES=300000` for who changes the automaton.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3_000)
}

#[test]
fn answers_from_events_are_those_of_the_tree() {
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let tally = RefCell::new(Tally::default());
    let bytes = proptest::collection::vec(any::<u8>(), 0..400);
    let checked = TestRunner::new(config).run(&bytes, |bytes| {
        check::check(&mut Choices(&bytes), &mut tally.borrow_mut());
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    // Cases in which nothing is compared would prove nothing.
    let tally = tally.into_inner();
    assert!(tally.streamed * 2 > tally.expressions, "{tally:?}");
    assert!(tally.needed_tree * 5 < tally.streamed, "{tally:?}");
    assert!(tally.early * 10 > tally.streamed, "{tally:?}");
}
