//! Where cryptography runs: here while nobody else waits for this thread, apart from it otherwise.

use std::sync::{Arc, Mutex, PoisonError};

use crate::exchange::Scene;
use crate::fault::{Fault, Outcome};

/// Does work with private keys, which takes about a millisecond.
///
/// While this thread has only one exchange under way, nobody gains by another thread, and the way there and back costs
/// more than it brings. With several, the others are served meanwhile.
/// Errors: ours, where a defect ended the work.
pub(super) async fn run<T: Send + 'static>(scene: &Scene<'_>, work: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    if !scene.is_busy() {
        return Ok(work());
    }
    let slot = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&slot);
    let work = move || {
        let result = work();
        *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    };
    scene.transport.work(Box::new(work)).await;
    let result = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.ok_or_else(|| Fault::bus("The bus failed while it worked on the security of a message"))
}
