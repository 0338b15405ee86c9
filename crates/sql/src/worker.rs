//! The thread on which all waiting for databases is done.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread that begins with the first task and ends with the last who could give it one.
#[derive(Default)]
pub(crate) struct Worker(Mutex<Option<Running>>);

struct Running {
    handle: Handle,
    /// Closed, it ends the thread.
    _end: oneshot::Sender<()>,
}

impl Worker {
    /// Runs a task on the thread.
    ///
    /// Errors: a sentence where there is no thread to be had.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), String> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = match &*running {
            Some(running) => &running.handle,
            None => &running.insert(start().map_err(|error| format!("no thread for databases: {error}"))?).handle,
        };
        handle.spawn(task);
        Ok(())
    }
}

fn start() -> std::io::Result<Running> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (end, ended) = oneshot::channel();
    std::thread::Builder::new().name("bus-sql".to_owned()).spawn(move || {
        // It gives an error when the sender is gone, which is what it waits for.
        let _ = runtime.block_on(ended);
    })?;
    Ok(Running { handle, _end: end })
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
