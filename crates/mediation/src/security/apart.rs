//! Where cryptography runs: here while nobody else waits for this thread, apart from it otherwise.

use crate::apart::apart;
use crate::exchange::Scene;
use crate::fault::Outcome;

/// Does work with private keys, which takes about a millisecond.
///
/// While this thread has only one exchange under way, nobody gains by another thread, and the way there and back costs
/// more than it brings. With several, the others are served meanwhile.
/// Errors: as [`apart`].
pub(super) async fn run<T: Send + 'static>(scene: &Scene<'_>, work: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    if scene.is_busy() { apart(scene, work).await } else { Ok(work()) }
}
