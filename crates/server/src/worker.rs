//! One thread for long work beside each that serves: together all of them take what the machine has.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use myelin_engine::transport::{Overloaded, Work};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many pieces of work may go on beside the one whose turn it is, though nobody waits for them any more. Nothing can
/// end a piece of work from outside; one that does not look at the clock must not keep all others from theirs.
const LEFT_ALONE: usize = 3;

/// How much long work may wait for its turn, on each thread that serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOptions {
    /// How many pieces of work; beyond it 503.
    pub waiting: usize,
    /// How long; then 503.
    pub wait: Duration,
}

impl Default for WorkOptions {
    fn default() -> WorkOptions {
        WorkOptions { waiting: 256, wait: Duration::from_secs(10) }
    }
}

/// The thread beside one that serves.
pub(crate) struct Worker {
    options: WorkOptions,
    turn: Arc<Semaphore>,
    left_alone: Arc<Semaphore>,
    waiting: Cell<usize>,
}

/// One that waits for its turn; dropping it takes it out of the queue.
struct QueuePosition<'a>(&'a Cell<usize>);

/// What lets a piece of work run: it has it until it ends.
type Permit = Arc<Mutex<OwnedSemaphorePermit>>;

/// One that waits for its work to end; dropping it lets the next one have its turn, where not too many are left alone.
struct WorkGuard<'a> {
    permit: Permit,
    left_alone: &'a Arc<Semaphore>,
}

impl Worker {
    pub(crate) fn new(options: WorkOptions) -> Worker {
        let (turn, left_alone) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(LEFT_ALONE)));
        Worker { options, turn, left_alone, waiting: Cell::new(0) }
    }

    /// How many wait for their turn.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.get()
    }

    /// Does a piece of work when its turn has come.
    ///
    /// Errors: where too many wait already, or it waited too long; the work was not begun then.
    pub(crate) async fn run(&self, work: Work) -> Result<(), Overloaded> {
        let free = Arc::clone(&self.turn).try_acquire_owned();
        let permit = match free {
            Ok(permit) => permit,
            Err(_) => {
                let _position = self.position()?;
                let turn = Arc::clone(&self.turn).acquire_owned();
                // Nobody closes the semaphore.
                let Ok(Ok(permit)) = tokio::time::timeout(self.options.wait, turn).await else {
                    return Err(Overloaded::TooLong(self.options.wait));
                };
                permit
            }
        };
        let permit = Arc::new(Mutex::new(permit));
        let _guard = WorkGuard { permit: Arc::clone(&permit), left_alone: &self.left_alone };
        // The work itself holds the permit, as it goes on when nobody waits for it any more.
        let work = move || {
            let _permit = permit;
            work();
        };
        // Work that panics gives no result, which whoever waits for it sees.
        let _ = tokio::task::spawn_blocking(work).await;
        Ok(())
    }

    /// How long a piece of work may wait for its turn.
    pub(crate) fn wait(&self) -> Duration {
        self.options.wait
    }

    fn position(&self) -> Result<QueuePosition<'_>, Overloaded> {
        if self.waiting.get() >= self.options.waiting {
            return Err(Overloaded::TooMany(self.options.waiting));
        }
        self.waiting.set(self.waiting.get() + 1);
        Ok(QueuePosition(&self.waiting))
    }
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        // Work that has ended gives back either of the two.
        if let Ok(other) = Arc::clone(self.left_alone).try_acquire_owned() {
            *self.permit.lock().unwrap_or_else(PoisonError::into_inner) = other;
        }
    }
}

impl Drop for QueuePosition<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    #[test]
    fn what_finds_no_room_or_waits_too_long_is_refused_and_the_rest_is_done() {
        run(async {
            let worker = Worker::new(WorkOptions { waiting: 1, wait: Duration::from_millis(50) });
            let (end, ended) = mpsc::channel::<()>();
            let long = worker.run(Box::new(move || {
                let _ = ended.recv_timeout(Duration::from_secs(10));
            }));
            let mut long = pin!(long);
            let mut context = Context::from_waker(Waker::noop());
            assert!(long.as_mut().poll(&mut context).is_pending());
            let mut second = Box::pin(worker.run(Box::new(|| ())));
            assert!(second.as_mut().poll(&mut context).is_pending());
            assert_eq!(worker.run(Box::new(|| ())).await, Err(Overloaded::TooMany(1)));
            assert_eq!(second.await, Err(Overloaded::TooLong(Duration::from_millis(50))));
            let third = pin!(worker.run(Box::new(|| ())));
            let mut third = third;
            assert_eq!(third.as_mut().poll(&mut context), Poll::Pending);
            end.send(()).unwrap();
            assert_eq!(long.await, Ok(()));
            assert_eq!(third.await, Ok(()));
            assert_eq!(worker.waiting.get(), 0);
        });
    }

    #[test]
    fn work_that_nobody_waits_for_any_more_keeps_nobody_waiting_as_long_as_it_is_not_too_much() {
        run(async {
            let worker = Worker::new(WorkOptions { waiting: 1, wait: Duration::from_millis(50) });
            let mut ends = Vec::new();
            let mut begin_and_leave = || {
                let (end, ended) = mpsc::channel::<()>();
                let mut work = Box::pin(worker.run(Box::new(move || {
                    let _ = ended.recv_timeout(Duration::from_secs(10));
                })));
                ends.push(end);
                assert!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            };
            for _ in 0..LEFT_ALONE {
                begin_and_leave();
                assert_eq!(worker.run(Box::new(|| ())).await, Ok(()));
            }
            begin_and_leave();
            let refused = worker.run(Box::new(|| ())).await;
            assert_eq!(refused, Err(Overloaded::TooLong(Duration::from_millis(50))));
            drop(ends);
            let worker = Worker { options: WorkOptions::default(), ..worker };
            assert_eq!(worker.run(Box::new(|| ())).await, Ok(()));
        });
    }
}
