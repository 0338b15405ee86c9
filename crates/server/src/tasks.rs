//! Runs the tasks of the bus that serves, on one thread for all.

use std::rc::Rc;
use std::sync::Arc;

use myelin_mediation::Task;
use myelin_transport::Stop;
use tokio::task::JoinSet;

use crate::glue;
use crate::server::Swap;

/// Runs them until the bus stops; those of a bus that takes the place of another take theirs.
pub(crate) async fn keep_up(service: Rc<glue::Bus>, swap: Swap, stop: Stop) {
    let mut buses = swap.subscribe();
    let mut running = JoinSet::new();
    loop {
        buses.mark_unchanged();
        let engine = service.engine();
        let mut followers = JoinSet::new();
        for task in engine.bus().tasks() {
            followers.spawn_local(Task::run(Arc::clone(task), Rc::clone(&engine)));
        }
        drop(engine);
        // Dropping them ends them; a run that has begun goes on.
        drop(std::mem::replace(&mut running, followers));
        tokio::select! {
            changed = buses.changed() => if changed.is_err() { break },
            () = stop.asked() => break,
        }
    }
}
