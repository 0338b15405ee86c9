//! The time of a thread, its tasks, and the work that it has done beside it.

use std::time::{Duration, Instant, SystemTime};

use rustix::time::{ClockId, clock_gettime};

use myelin_channel::{LocalFuture, Overloaded, Runtime, Work};

use crate::worker::{WorkOptions, Worker};

/// What one thread asks the machine for, sockets aside.
pub(crate) struct ThreadRuntime {
    worker: Worker,
}

/// How many threads serve where the settings say this: 0 is one per core.
pub(crate) fn thread_count(threads: usize) -> usize {
    if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads }
}

/// What the monotonic clock of the system shows. All threads go by it, for they share what they know of endpoints, and
/// so does the bus that follows after a reload.
pub(crate) fn monotonic() -> Duration {
    // Every system has that clock, and it counts from when the machine began.
    clock_gettime(ClockId::Monotonic).try_into().unwrap_or_default()
}

/// What the system's clock of the day shows, since 1970.
pub(crate) fn since_epoch() -> Duration {
    // Before 1970 it has a sign.
    clock_gettime(ClockId::Realtime).try_into().unwrap_or_default()
}

impl ThreadRuntime {
    pub(crate) fn new(work: WorkOptions) -> ThreadRuntime {
        ThreadRuntime { worker: Worker::new(work) }
    }

    /// How many pieces of long work wait for their turn.
    pub(crate) fn work_waiting(&self) -> usize {
        self.worker.waiting()
    }
}

impl Runtime for ThreadRuntime {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        monotonic()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn turn(&self) -> LocalFuture<'static, ()> {
        // Who only wakes itself goes on before the sockets are asked.
        Box::pin(tokio::task::yield_now())
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        tokio::task::spawn_local(task);
    }

    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        Box::pin(self.worker.run(work))
    }

    fn work_wait(&self) -> Duration {
        self.worker.wait()
    }

    fn processor_time(&self) -> Duration {
        // Every system has that clock; one that goes wrong makes exchanges look cheap, and no more.
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.try_into().unwrap_or_default()
    }

    fn deadline(&self, after: Duration) -> Box<dyn Fn() -> bool + Send> {
        let end = Instant::now() + after;
        Box::new(move || Instant::now() >= end)
    }
}
