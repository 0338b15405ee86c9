//! What an operator orders the process to do, on its way to the thread that heeds signals.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use myelin_manage::{Leaving, Refusal};
use tokio::sync::mpsc;

use crate::origin::Origin;

/// How many orders may wait.
const ORDERS: usize = 16;

/// How long whoever ordered a reload waits for its outcome.
const RELOADED: Duration = Duration::from_secs(120);

/// What is ordered.
#[derive(Debug)]
pub(crate) enum Order {
    /// To load the configuration anew, for a reason; the outcome goes there: a sentence where it was refused.
    Reload(String, SyncSender<Result<(), String>>),
    /// To leave.
    Leave(Leaving),
}

/// How orders are given.
#[derive(Clone)]
pub(crate) struct Control(Arc<Shared>);

struct Shared {
    sender: mpsc::Sender<Order>,
    receiver: Mutex<Option<mpsc::Receiver<Order>>>,
    /// Where the configuration comes from, once somebody keeps it up.
    origin: OnceLock<Origin>,
    /// One change of files at a time.
    changing: Mutex<()>,
}

impl Default for Control {
    fn default() -> Control {
        let (sender, receiver) = mpsc::channel(ORDERS);
        let receiver = Mutex::new(Some(receiver));
        Control(Arc::new(Shared { sender, receiver, origin: OnceLock::new(), changing: Mutex::default() }))
    }
}

impl Control {
    /// Takes what hears the orders, for whoever keeps the configuration of that origin up; `None` the second time.
    pub(crate) fn heed(&self, origin: Origin) -> Option<mpsc::Receiver<Order>> {
        // Only the first one keeps it up.
        let _ = self.0.origin.set(origin);
        self.0.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Where the configuration comes from.
    ///
    /// Errors: nobody keeps it up.
    pub(crate) fn origin(&self) -> Result<&Origin, Refusal> {
        let nobody = || Refusal::Unable("This process does not load its configuration anew".to_owned());
        self.0.origin.get().ok_or_else(nobody)
    }

    /// Keeps others from changing files meanwhile.
    pub(crate) fn change(&self) -> MutexGuard<'_, ()> {
        self.0.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the configuration anew and waits for the outcome.
    ///
    /// Errors: a sentence, where the new configuration is refused, or it takes too long.
    pub(crate) fn reload(&self, reason: &str) -> Result<(), String> {
        let (outcome, outcomes) = sync_channel(1);
        self.order(Order::Reload(reason.to_owned(), outcome))?;
        outcomes.recv_timeout(RELOADED).unwrap_or_else(|_| Err("The reload did not end in time".to_owned()))
    }

    /// Leaves.
    ///
    /// Errors: nobody heeds orders any more.
    pub(crate) fn leave(&self, leaving: Leaving) -> Result<(), Refusal> {
        self.order(Order::Leave(leaving)).map_err(Refusal::Unable)
    }

    fn order(&self, order: Order) -> Result<(), String> {
        self.0.sender.try_send(order).map_err(|_| "The process stops already, or has too many orders".to_owned())
    }
}
