//! The client's side of a policy, as a plan holds it.

use std::fmt;
use std::sync::Arc;

use myelin_wss::Guard;

/// A client's side of a policy.
#[derive(Clone)]
pub struct Client(Arc<Guard>);

impl Client {
    /// A client with a guard of the initiator's side.
    pub fn new(guard: Guard) -> Client {
        Client(Arc::new(guard))
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.0
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
