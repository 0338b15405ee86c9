//! Holds clients to a least rate: whoever sends or reads a byte a minute would otherwise keep its memory for ever.

use crate::options::Pace;
use crate::timer::Tick;

/// Measures one direction of one client, counting only the time the bus waits for it.
pub(crate) struct Pacer {
    pace: Pace,
    since: Tick,
    bytes: u64,
}

impl Pacer {
    pub(crate) fn new(pace: Pace) -> Pacer {
        Pacer { pace, since: Tick::now(), bytes: 0 }
    }

    /// Counts bytes that the client sent or took.
    pub(crate) fn moved(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Starts again: the bus is not waiting for this client.
    pub(crate) fn reset(&mut self) {
        (self.since, self.bytes) = (Tick::now(), 0);
    }

    /// Whether the client has been below its rate for a whole window.
    pub(crate) fn is_too_slow(&mut self) -> bool {
        let Pace { least_bytes_per_second: least, window } = self.pace;
        let waited = Tick::since(self.since);
        if least == 0 || waited < window {
            return false;
        }
        let slow = self.bytes < least.saturating_mul(waited.as_millis() as u64) / 1000;
        self.reset();
        slow
    }

    /// When to look again.
    pub(crate) fn next_look(&self) -> Tick {
        if self.pace.least_bytes_per_second == 0 { Tick::NEVER } else { Tick::after(self.pace.window) }
    }
}
