//! Where cryptography runs: here while nobody else waits for this thread, apart from it otherwise.

use myelin_flow::context::RequestContext;
use myelin_flow::fault::Outcome;
use myelin_flow::offload::offload;

/// Does work with private keys, which takes about a millisecond.
///
/// While this thread has only one exchange under way, nobody gains by another thread, and the way there and back costs
/// more than it brings. With several, the others are served meanwhile.
/// Errors: as [`offload`].
pub(super) async fn run<T: Send + 'static>(
    context: &RequestContext<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Outcome<T> {
    if context.is_busy() { offload(context, work).await } else { Ok(work()) }
}
