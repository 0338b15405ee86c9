//! What was here before: nonces and signed timestamps that are remembered.

/// What was here before, shared by all threads.
#[derive(Default)]
pub struct Replays {}
