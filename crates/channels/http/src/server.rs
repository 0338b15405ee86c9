//! Serves clients on one thread: accepts, reads heads, hands requests to a [`Service`], writes its answers.
//!
//! One task per connection does all of it, on the thread whose listener accepted the connection.

use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::listener::{Listener, ListenerCommand, OpenListener};
use crate::options::ServerOptions;
use crate::service::Service;
use crate::state::{ConnectionCount, ServerState};
use crate::{buffer, timer};

/// Tells listeners and connections of all threads to stop.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<Stage>>);

/// How far stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    /// What is under way may finish.
    Draining,
    /// It may not any more.
    AtOnce,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop(Arc::new(watch::Sender::new(Stage::Serving)))
    }
}

impl Stop {
    /// Stops accepting, closes idle connections, and lets requests under way finish.
    pub fn stop(&self) {
        self.reach(Stage::Draining);
    }

    /// Stops, and does not wait for requests under way any longer.
    pub fn stop_at_once(&self) {
        self.reach(Stage::AtOnce);
    }

    fn reach(&self, stage: Stage) {
        self.0.send_modify(|reached| *reached = stage.max(*reached));
    }

    /// Waits until somebody asked to stop.
    pub async fn asked(&self) {
        self.reached(Stage::Draining).await;
    }

    /// Waits until somebody asked to stop at once.
    pub async fn asked_at_once(&self) {
        self.reached(Stage::AtOnce).await;
    }

    /// Whether somebody asked to stop.
    pub fn is_asked(&self) -> bool {
        *self.0.borrow() >= Stage::Draining
    }

    /// Whether somebody asked to stop at once.
    pub fn is_at_once(&self) -> bool {
        *self.0.borrow() == Stage::AtOnce
    }

    async fn reached(&self, stage: Stage) {
        let mut seen = self.0.subscribe();
        // The sender lives in self, so waiting cannot fail.
        let _ = seen.wait_for(|reached| *reached >= stage).await;
    }
}

/// Serves on one thread until `stop` is asked for and the requests under way are through, or the drain time is over;
/// returns how many connections were in use then, and are cut.
///
/// Runs inside a `LocalSet` of a current-thread runtime; `commands` open, change and close listeners meanwhile.
/// Errors: a listener that tokio cannot take over.
pub async fn serve(
    listeners: Vec<Listener>,
    service: Rc<dyn Service>,
    options: ServerOptions,
    count: ConnectionCount,
    stop: Stop,
    mut commands: UnboundedReceiver<ListenerCommand>,
) -> io::Result<usize> {
    tokio::task::spawn_local(timer::run());
    buffer::set_budget(options.memory_bytes);
    let drain = options.drain;
    let state = ServerState::new(service, options);
    let open = |listener| OpenListener::open(listener, &state, &count);
    let mut listeners = listeners.into_iter().map(open).collect::<io::Result<Vec<_>>>()?;
    let mut stopped = pin!(stop.asked());
    loop {
        let command = tokio::select! {
            () = &mut stopped => break,
            command = commands.recv() => command,
        };
        match command {
            Some(ListenerCommand::Open(listener)) => match open(listener) {
                Ok(listener) => listeners.push(listener),
                Err(error) => tracing::error!(%error, "cannot listen"),
            },
            Some(ListenerCommand::Close(port)) => listeners.retain(|listener| listener.port != port),
            Some(ListenerCommand::Change { port, tls, inbound }) => {
                for listener in listeners.iter().filter(|listener| listener.port == port) {
                    listener.change(tls.clone(), inbound.clone());
                }
            }
            // There will be no command any more.
            None => {
                stopped.await;
                break;
            }
        }
    }
    state.stopping.set(true);
    drop(listeners);
    timer::wake_all();
    let drained = timeout(drain, state.emptied());
    tokio::select! {
        drained = drained => if drained.is_ok() { return Ok(0) },
        () = stop.asked_at_once() => {}
    }
    let cut = state.connections();
    if cut > 0 {
        let reason = if stop.is_at_once() { "it is to stop at once" } else { "the drain time is over" };
        tracing::warn!(connections = cut, "{reason}: closing the connections that are still in use");
    }
    Ok(cut)
}
