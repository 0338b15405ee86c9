//! The switches of a service, a sequence or an endpoint, which an operator sets: whether it takes messages, and whether
//! its messages are traced.
//!
//! It goes on over reloads, as long as something of that kind and name is there, and ends with the process.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// What an operator has switched.
#[derive(Debug, Default)]
pub struct ServiceState {
    off: AtomicBool,
    /// Whether its definition says that its messages are to be traced.
    defined_traced: AtomicBool,
    /// What an operator said of that: [`TRACED`] or [`UNTRACED`], and 0 where nobody said anything.
    traced: AtomicU8,
    /// Whether a run was asked for that has not begun.
    triggered: AtomicBool,
    waiting: Mutex<Waiting>,
}

const TRACED: u8 = 1;
const UNTRACED: u8 = 2;

#[derive(Debug, Default)]
struct Waiting {
    /// Who waits until it is switched on, or until a run is asked for.
    wakers: Vec<Waker>,
    /// How many of them would begin a run.
    runners: usize,
}

/// One that would begin a run when somebody asks for it, until dropped.
#[derive(Debug)]
pub struct Runner<'a>(&'a ServiceState);

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting();
        waiting.runners = waiting.runners.saturating_sub(1);
    }
}

impl ServiceState {
    /// Whether it is off: an operator switched it off, or its definition begins so.
    #[inline]
    pub fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }

    /// Whether its messages are to be traced: as an operator said, or else its definition.
    pub fn is_traced(&self) -> bool {
        match self.traced.load(Ordering::Relaxed) {
            TRACED => true,
            UNTRACED => false,
            _ => self.defined_traced.load(Ordering::Relaxed),
        }
    }

    /// Says whether its definition wants its messages traced: `trace="enable"`.
    pub fn define_traced(&self, is_traced: bool) {
        self.defined_traced.store(is_traced, Ordering::Relaxed);
    }

    /// Switches it on or off.
    pub fn switch(&self, on: bool) {
        self.off.store(!on, Ordering::SeqCst);
        self.wake();
    }

    /// Says whether its messages are to be traced.
    pub fn trace(&self, on: bool) {
        self.traced.store(if on { TRACED } else { UNTRACED }, Ordering::Relaxed);
    }

    /// Asks for a run at once; says whether anybody will begin it.
    pub fn trigger(&self) -> bool {
        if self.waiting().runners == 0 {
            return false;
        }
        self.triggered.store(true, Ordering::SeqCst);
        self.wake();
        true
    }

    /// Waits until it is on.
    pub async fn on(&self) {
        poll_fn(|cx| {
            if !self.is_off() {
                return Poll::Ready(());
            }
            self.wait(cx.waker());
            // It may have been switched on in between.
            if self.off.load(Ordering::SeqCst) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Waits until a run is asked for; each is taken once.
    pub async fn triggered(&self) {
        poll_fn(|cx| {
            if self.triggered.swap(false, Ordering::SeqCst) {
                return Poll::Ready(());
            }
            self.wait(cx.waker());
            if self.triggered.swap(false, Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Says that a run will begin when somebody asks for it.
    pub fn runner(&self) -> Runner<'_> {
        self.waiting().runners += 1;
        Runner(self)
    }

    fn wait(&self, waker: &Waker) {
        let wakers = &mut self.waiting().wakers;
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    fn wake(&self) {
        let wakers = std::mem::take(&mut self.waiting().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Wake};

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn who_waits_is_woken_when_it_is_switched_on() {
        let state = ServiceState::default();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        assert!(pin!(state.on()).poll(&mut cx).is_ready());
        state.switch(false);
        let mut waiting = pin!(state.on());
        assert!(waiting.as_mut().poll(&mut cx).is_pending() && waiting.as_mut().poll(&mut cx).is_pending());
        assert_eq!(state.waiting().wakers.len(), 1);
        state.switch(true);
        assert!(woken.0.load(Ordering::SeqCst) && waiting.as_mut().poll(&mut cx).is_ready());
    }

    #[test]
    fn what_an_operator_says_of_tracing_goes_before_the_definition() {
        let state = ServiceState::default();
        for defined in [true, false] {
            state.define_traced(defined);
            assert_eq!(state.is_traced(), defined);
        }
        for (defined, on) in [(true, false), (false, true)] {
            state.define_traced(defined);
            state.trace(on);
            assert_eq!(state.is_traced(), on);
        }
    }

    #[test]
    fn a_run_is_begun_once_and_only_where_somebody_would() {
        let state = ServiceState::default();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(!state.trigger());
        let runner = state.runner();
        assert!(state.trigger());
        assert!(pin!(state.triggered()).poll(&mut cx).is_ready());
        assert!(pin!(state.triggered()).poll(&mut cx).is_pending());
        drop(runner);
        assert!(!state.trigger());
    }
}
