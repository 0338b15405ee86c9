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
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Stops accepting, closes idle connections, and lets requests under way finish.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Waits until somebody asked to stop.
    pub async fn asked(&self) {
        let mut seen = self.0.subscribe();
        // The sender lives in self, so waiting cannot fail.
        let _ = seen.wait_for(|stopped| *stopped).await;
    }
}

/// Serves on one thread until `stop` is asked for and the requests under way are through, or the drain time is over.
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
) -> io::Result<()> {
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
    if timeout(drain, state.emptied()).await.is_err() {
        tracing::warn!(
            connections = state.connections(),
            "the drain time is over: closing the connections that are still in use"
        );
    }
    Ok(())
}
