#![no_main]
//! What expressions give from events is what the tree gives, and no answer comes before it is certain.

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/xpath/tests/expressions/stream/check.rs"]
mod check;
#[path = "../../crates/xpath/tests/expressions/stream/generator.rs"]
mod generator;

fuzz_target!(|bytes: &[u8]| check::check(&mut generator::Choices(bytes), &mut check::Tally::default()));
