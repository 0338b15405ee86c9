//! Room in the memory of all messages, for what a message is about to become.

use std::time::Duration;

use myelin_message::budget::{Reservation, Turn, limit_bytes};

use crate::context::RequestContext;
use crate::fault::{Fault, Outcome};

/// How often those who wait for memory look.
const LOOK: Duration = Duration::from_millis(5);

/// Grows a reservation to `bytes`; waits for its turn and for room, at most as long as the settings say.
///
/// Errors: the bus's: 503 where too many wait, none came free in time, or it is more than all messages may have.
pub async fn reserve(reservation: &mut Reservation, bytes: usize, context: &RequestContext<'_>) -> Outcome<()> {
    if reservation.try_grow(bytes) {
        return Ok(());
    }
    let limit = limit_bytes();
    if bytes > limit {
        return Err(Fault::overloaded(format!(
            "a message needs {bytes} bytes of memory, and [myelin.memory] bytes allows {limit} for all together"
        )));
    }
    let turn = Turn::take(reservation).ok_or_else(|| Fault::overloaded("too many messages wait for memory"))?;
    let wait = context.definitions.settings.memory_wait;
    let until = context.transport.monotonic() + wait;
    while !turn.try_grow(reservation, bytes) {
        if context.transport.monotonic() >= until {
            return Err(Fault::overloaded(format!("no memory came free for a message within {} ms", wait.as_millis())));
        }
        context.transport.sleep(LOOK).await;
    }
    Ok(())
}
