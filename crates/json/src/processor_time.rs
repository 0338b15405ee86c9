//! How long a thread was on a processor.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The time that this thread was on a processor so far: other work of the machine does not lengthen it.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
