#![no_main]
//! A secured message that is cut up and put together anew is refused, or says what it said: never a panic, and nothing
//! that its sender did not sign.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::security::Exchange;

fuzz_target!(|data: &[u8]| Exchange::with(|exchange| exchange.attack(data)));
