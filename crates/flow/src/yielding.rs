//! A flow that does much without ever waiting lets others on its thread have their turn.

use std::time::Duration;

use crate::transport::Transport;

/// How long a flow goes on while others wait.
const TURN: Duration = Duration::from_millis(1);

/// When a flow began to go on without waiting.
pub struct Yielding<'a> {
    transport: &'a dyn Transport,
    since: Duration,
}

impl Yielding<'_> {
    /// A flow that goes on from now.
    pub fn new(transport: &dyn Transport) -> Yielding<'_> {
        Yielding { transport, since: transport.monotonic() }
    }

    /// Waits until others had their turn, where this flow had its own.
    pub async fn pass(&mut self) {
        if self.transport.monotonic().saturating_sub(self.since) >= TURN {
            self.transport.turn().await;
            self.since = self.transport.monotonic();
        }
    }
}
