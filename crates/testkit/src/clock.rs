//! Time that passes only when everybody waits for it: what takes an hour is tested in an instant, the same each time.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use myelin_engine::transport::LocalFuture;

/// Whoever polls longer than this without time passing turns in a circle.
const ROUNDS: usize = 1_000_000;

/// A clock of its own, and what runs by it.
#[derive(Clone, Default)]
pub struct Clock {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    now: Cell<Duration>,
    /// When somebody wants to be woken.
    due: RefCell<Vec<(Duration, Waker)>>,
    spawned: RefCell<Vec<LocalFuture<'static, ()>>>,
}

/// Says that somebody may go on.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Clock {
    /// How much time has passed since it was made.
    pub fn now(&self) -> Duration {
        self.inner.now.get()
    }

    /// Ready when that much time has passed.
    pub fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(Sleep { inner: Rc::clone(&self.inner), until: self.now() + time })
    }

    /// Runs a future beside the one that [`Clock::run`] is given.
    pub fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.inner.spawned.borrow_mut().push(task);
    }

    /// How many of the spawned futures are not at their ends.
    pub fn spawned(&self) -> usize {
        self.inner.spawned.borrow().len()
    }

    /// Runs a future to its end; `None` where it waits for what never comes.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&flag));
        let mut context = Context::from_waker(&waker);
        for _ in 0..ROUNDS {
            flag.0.store(false, Ordering::Relaxed);
            if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                return Some(value);
            }
            self.poll_spawned(&mut context);
            if !flag.0.load(Ordering::Relaxed) && !self.pass() {
                return None;
            }
        }
        None
    }

    /// Runs what was spawned to its end; `false` where some of it waits for what never comes.
    pub fn run_spawned(&self) -> bool {
        // Whoever ends asks for another round.
        let all = std::future::poll_fn(|_| if self.spawned() == 0 { Poll::Ready(()) } else { Poll::Pending });
        self.run(all).is_some()
    }

    fn poll_spawned(&self, context: &mut Context<'_>) {
        let mut pending = Vec::new();
        // What these spawn is polled in the same round: nobody else would wake for it.
        while !self.inner.spawned.borrow().is_empty() {
            for mut task in self.inner.spawned.take() {
                match task.as_mut().poll(context) {
                    Poll::Pending => pending.push(task),
                    Poll::Ready(()) => context.waker().wake_by_ref(),
                }
            }
        }
        self.inner.spawned.replace(pending);
    }

    /// Lets time pass until somebody is due; `false` where nobody ever is.
    fn pass(&self) -> bool {
        let Some(next) = self.inner.due.borrow().iter().map(|(due, _)| *due).min() else { return false };
        self.inner.now.set(next.max(self.now()));
        let due = |entry: &mut (Duration, Waker)| entry.0 <= next;
        let woken: Vec<_> = self.inner.due.borrow_mut().extract_if(.., due).collect();
        woken.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }
}

struct Sleep {
    inner: Rc<Inner>,
    until: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.inner.now.get() >= self.until {
            return Poll::Ready(());
        }
        let mut due = self.inner.due.borrow_mut();
        if !due.iter().any(|(until, waker)| *until == self.until && waker.will_wake(context.waker())) {
            due.push((self.until, context.waker().clone()));
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_when_all_wait() {
        let clock = Clock::default();
        let seen = Rc::new(RefCell::new(Vec::new()));
        for hours in [2, 1] {
            let (clock_, seen) = (clock.clone(), Rc::clone(&seen));
            clock.spawn(Box::pin(async move {
                clock_.sleep(Duration::from_secs(hours * 3600)).await;
                seen.borrow_mut().push(hours);
            }));
        }
        assert_eq!(clock.run(clock.sleep(Duration::from_secs(5400))), Some(()));
        assert_eq!((clock.now().as_secs(), seen.borrow().clone()), (5400, vec![1]));
        assert!(clock.run_spawned());
        assert_eq!((clock.now().as_secs(), seen.borrow().clone()), (7200, vec![1, 2]));
    }

    #[test]
    fn who_waits_for_nothing_is_given_up() {
        assert_eq!(Clock::default().run(std::future::pending::<()>()), None);
    }
}
