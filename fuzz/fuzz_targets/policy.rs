#![no_main]
//! Whatever a policy says, it is refused with places, or has alternatives that guards are made of or not.

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use myelin_wss::Guard;
use myelin_wss::guard::{Keys, NoUsers, Settings, Side, Users, Uses};
use myelin_wss::keys::{Trust, TrustLimits};
use myelin_wss::policy::Policy;

fuzz_target!(|source: &[u8]| {
    let policy = match Policy::parse(source) {
        Ok((policy, _)) => policy,
        Err(problems) => {
            assert!(!problems.is_empty() && problems.iter().all(|problem| problem.line > 0));
            return;
        }
    };
    assert!((1..=64).contains(&policy.alternatives.len()));
    for side in [Side::Initiator, Side::Recipient] {
        let users: Arc<dyn Users> = Arc::new(NoUsers);
        let trust = Arc::new(Trust::new(Vec::new(), Vec::new(), TrustLimits::default()));
        let keys = Keys { signature: None, decryption: Vec::new(), encryption: None, trust, users: Arc::clone(&users) };
        let settings = Settings::new(users);
        if let Err(problems) = Guard::new(policy.clone(), side, Uses::Both, keys, settings) {
            assert!(!problems.is_empty());
        }
    }
});
