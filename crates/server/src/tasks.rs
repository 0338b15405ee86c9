//! Lets the sources of the bus that serves run, on one thread for all: tasks, folders.

use std::rc::Rc;
use std::sync::Arc;

use myelin_engine::receive;
use myelin_http::Stop;
use tokio::task::JoinSet;

use crate::bus_service::BusService;
use crate::swap::Swap;

/// Lets them run until the bus stops; those of a bus that takes the place of another take theirs.
pub(crate) async fn keep_up(service: Rc<BusService>, swap: Swap, stop: Stop) {
    let mut buses = swap.subscribe();
    let mut running = JoinSet::new();
    loop {
        buses.mark_unchanged();
        let engine = service.engine();
        // Two at once would look into the same folders. Dropping them ends them; what they have taken goes on.
        drop(std::mem::take(&mut running));
        for receiving in engine.bus().receivings() {
            running.spawn_local(receive(Arc::clone(receiving), Rc::clone(&engine)));
        }
        drop(engine);
        tokio::select! {
            changed = buses.changed() => if changed.is_err() { break },
            () = stop.asked() => break,
        }
    }
}
