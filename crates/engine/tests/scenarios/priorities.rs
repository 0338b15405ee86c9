//! Requests above the bound of what is served at once.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::common::{Scenario, load_with, post, response};
use myelin_engine::{Priorities, Settings};

#[test]
fn who_has_no_place_is_answered_at_once_and_who_waits_is_served_in_turn() {
    let check = |waiting: usize, expected: [u16; 3]| {
        let priorities = Some(Priorities::new(1, waiting, Duration::from_secs(1), Vec::new()));
        let proxy = "<proxy name='P'><target><inSequence><property name='x' expression='//q'/><respond/></inSequence>\
             </target></proxy>";
        let loaded = load_with(proxy, &Settings { priorities, ..Settings::default() });
        let scenario = Scenario::of(loaded, |_, _| Ok(response(200, &[], "")));
        let requests = (0..3).map(|_| post("/services/P", &[], "<q/>")).collect();
        let replies = scenario.serve_together(requests);
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        assert_eq!(statuses, expected);
        // Nobody's place is lost.
        assert_eq!(scenario.serve(post("/services/P", &[], "<q/>")).status, 200);
    };
    check(0, [200, 503, 503]);
    check(1, [200, 200, 503]);
    check(2, [200, 200, 200]);
}
