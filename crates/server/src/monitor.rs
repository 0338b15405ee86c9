//! Runs the monitors of the bus that serves, on one thread for all.

use std::rc::Rc;
use std::sync::Arc;

use anyhow::anyhow;
use myelin_engine::transport::Transport;
use myelin_engine::{Bus, Monitor};
use tokio::task::JoinSet;

use crate::swap::Swap;

/// Runs them until the thread ends; those of a bus that takes the place of another take theirs.
pub(crate) async fn keep_up(swap: Swap, transport: Rc<dyn Transport>) {
    let mut buses = swap.subscribe();
    let mut running = JoinSet::new();
    loop {
        let bus = Arc::clone(&buses.borrow_and_update());
        let monitors = bus.monitors().unwrap_or_else(|problems| {
            problems.iter().for_each(|problem| tracing::error!("nothing is monitored: {problem}"));
            Vec::new()
        });
        // The bus is not to outlive its last request.
        drop(bus);
        let mut followers = JoinSet::new();
        for monitor in monitors {
            followers.spawn_local(Monitor::run(monitor, Rc::clone(&transport)));
        }
        // Dropping them ends them; what they found goes on, as those that follow are there.
        drop(std::mem::replace(&mut running, followers));
        if buses.changed().await.is_err() {
            break;
        }
    }
}

/// Whether all that a bus is to monitor can be.
///
/// Errors: the settings'.
pub(crate) fn can_monitor(bus: &Bus) -> anyhow::Result<()> {
    bus.monitors().map(drop).map_err(|problems| anyhow!("[[myelin.monitors]]: {}", problems.join("; ")))
}
