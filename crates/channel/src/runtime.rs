//! What the bus asks of the program around it: the time, and to run work beside.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Work for another thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// Tells the time and runs what goes on beside; in tests, a clock that passes when all wait.
pub trait Runtime {
    /// The time of day.
    fn now(&self) -> SystemTime;

    /// A clock that never jumps: how long something took, and when something is due.
    fn monotonic(&self) -> Duration;

    /// Ready when that much time has passed.
    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()>;

    /// Runs a future beside the others of this thread, to its end.
    fn spawn(&self, task: LocalFuture<'static, ()>);

    /// Ready when all others on this thread who can go on, and who heard from their sockets meanwhile, have had a turn.
    fn turn(&self) -> LocalFuture<'static, ()> {
        let mut had_theirs = false;
        Box::pin(poll_fn(move |context| {
            if std::mem::replace(&mut had_theirs, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    /// Does work that holds the processor for long; the future is ready when it is done.
    ///
    /// Shape: on another thread, of which there is a bounded number, so that this one goes on serving; without them,
    /// at once on this one. Work that panics ends like any other.
    /// Errors: [`Overloaded`]; the work was not begun then.
    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        work();
        Box::pin(std::future::ready(Ok(())))
    }

    /// How long work may wait for its turn; without threads for it, as long as it takes.
    fn work_wait(&self) -> Duration {
        Duration::MAX
    }

    /// How long this thread has been on a processor; always the same where nobody can tell.
    fn processor_time(&self) -> Duration {
        Duration::ZERO
    }

    /// What tells, on any thread, whether that much time has passed from now on; without a clock, that it never has.
    fn deadline(&self, _after: Duration) -> Box<dyn Fn() -> bool + Send> {
        Box::new(|| false)
    }
}

/// What a future gives, where it does within that time.
pub async fn within<T, R: Runtime + ?Sized>(runtime: &R, time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut late = runtime.sleep(time);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => late.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Why work was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overloaded {
    /// So many pieces of work wait already.
    TooMany(usize),
    /// It has waited that long for its turn.
    TooLong(Duration),
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overloaded::TooMany(waiting) => write!(f, "{waiting} pieces of long work wait for their turn already"),
            Overloaded::TooLong(wait) => write!(f, "long work had to wait for its turn for {} ms", wait.as_millis()),
        }
    }
}

impl std::error::Error for Overloaded {}
