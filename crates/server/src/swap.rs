//! Which bus serves: another may take its place.

use std::sync::Arc;

use myelin_engine::Bus;
use tokio::sync::watch;

/// Puts another bus in the place of the one that serves.
#[derive(Clone)]
pub struct Swap(Arc<watch::Sender<Arc<Bus>>>);

/// How a thread hears of another bus.
pub(crate) type Buses = watch::Receiver<Arc<Bus>>;

impl Swap {
    pub(crate) fn new(bus: Arc<Bus>) -> Swap {
        Swap(Arc::new(watch::Sender::new(bus)))
    }

    /// The bus that serves new requests.
    pub fn bus(&self) -> Arc<Bus> {
        Arc::clone(&self.0.borrow())
    }

    pub(crate) fn subscribe(&self) -> Buses {
        self.0.subscribe()
    }

    /// Lets a bus serve all requests that come from now on; those under way finish on the bus that they came to, which
    /// lives as long as one of them.
    pub fn to(&self, bus: Arc<Bus>) {
        self.0.send_replace(bus);
    }
}
