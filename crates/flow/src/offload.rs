//! Work that holds the processor for long, done on a thread beside the one that serves.

use std::sync::{Arc, Mutex, PoisonError};

use crate::context::RequestContext;
use crate::fault::{Fault, Outcome};
use crate::position::Position;

/// Does work on another thread, while this one goes on serving.
///
/// Shape: what the work owns comes back only in its result; what it logs has the position of this thread.
/// Errors: the bus's: 503 where too much waits for such a thread already, 500 where a defect ended the work.
pub async fn offload<T: Send + 'static>(
    context: &RequestContext<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Outcome<T> {
    let slot = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&slot);
    let here = Position::here();
    let work = move || {
        let result = here.run(work);
        *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    };
    context.transport.work(Box::new(work)).await.map_err(|error| Fault::overloaded(error.to_string()))?;
    let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.ok_or_else(|| Fault::bus("The bus failed while it worked on the message"))
}
