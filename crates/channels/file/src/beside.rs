//! File work runs beside the thread that serves: a disk may be slow, and a folder of the network may never answer.

use std::io;
use std::time::Duration;

use myelin_channel::{Runtime, within};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// How long a file system may take for one step.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// So many steps are under way at once. Those of a file system that hangs count until they end, however long ago
/// everybody gave up on them: they must not take all the threads there are.
static STEPS: Semaphore = Semaphore::const_new(128);

/// Does a piece of file work on another thread; on this one where there is no tokio, as in tests of engines.
///
/// Errors: the work's own; `TimedOut` where it takes longer than `patience`: it goes on then, and its result is dropped.
pub(crate) async fn beside<T: Send + 'static>(
    runtime: &dyn Runtime,
    patience: Duration,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    if Handle::try_current().is_err() {
        return work();
    }
    let step = async {
        // Nobody closes the semaphore.
        let permit = STEPS.acquire().await;
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await
    };
    match within(runtime, patience, step).await {
        Some(Ok(result)) => result,
        Some(Err(error)) if error.is_cancelled() => Err(io::Error::other("the bus stops")),
        Some(Err(_)) => Err(io::Error::other("the work on it ended half-way, which is a bug of the bus")),
        None => Err(too_slow(patience)),
    }
}

/// What is said where a file system does not answer.
pub(crate) fn too_slow(patience: Duration) -> io::Error {
    let message = format!("the file system has not answered for {} s", patience.as_secs());
    io::Error::new(io::ErrorKind::TimedOut, message)
}
