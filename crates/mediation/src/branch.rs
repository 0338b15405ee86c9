//! Flows of one client's request that run beside each other.
//!
//! The first flow borrows what it needs and costs nothing; what runs beside it owns its surroundings, a [`Stage`].
//! The first answer that any of them gives is the client's. A client that goes away before it had one cancels them all;
//! once it has one, the others go on to their ends, which their deadlines bound.

#![allow(dead_code, reason = "the mediators that begin branches come next")]

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use myelin_message::Message;

use crate::bus::Bus;
use crate::engine::{Arrival, Counts};
use crate::exchange::{Ground, Scene};
use crate::fault::Fault;
use crate::service::OwnedService;
use crate::transport::{LocalFuture, Transport};

/// What the flows of one request stand on.
pub(crate) struct Stage {
    bus: Arc<Bus>,
    transport: Rc<dyn Transport>,
    counts: Rc<Counts>,
    service: OwnedService,
    peer: SocketAddr,
    local: SocketAddr,
    secure: bool,
    correlation: String,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// The first answer that a branch gave.
    answer: Option<Message>,
    /// The first fault that no branch answered.
    fault: Option<Box<Fault>>,
    /// The branches that are not at their ends.
    live: Vec<Rc<Task>>,
    /// Who waits for an answer.
    waiting: Option<Waker>,
}

/// One branch.
struct Task {
    stage: Weak<Stage>,
    /// `None` when it has ended, or was cancelled.
    future: RefCell<Option<LocalFuture<'static, ()>>>,
    cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// A branch that was begun: dropping it cancels the branch.
pub(crate) struct Handle(Option<Rc<Task>>);

/// Runs a task, and tells the stage of its end however it ends.
struct Run(Rc<Task>);

impl Stage {
    /// What the flows beside the one with that scene stand on.
    pub(crate) fn new(scene: &Scene<'_>, bus: Arc<Bus>, transport: Rc<dyn Transport>, counts: Rc<Counts>) -> Rc<Stage> {
        let Arrival { peer, local, secure, correlation } = scene.arrival;
        Rc::new(Stage {
            bus,
            transport,
            counts,
            service: scene.service.to_owned(),
            peer,
            local,
            secure,
            correlation: correlation.to_owned(),
            state: RefCell::default(),
        })
    }

    /// The surroundings of a flow on this stage.
    pub(crate) fn scene<'a>(self: &'a Rc<Stage>) -> Scene<'a> {
        let Stage { peer, local, secure, ref correlation, .. } = **self;
        Scene {
            bus: &self.bus,
            transport: &*self.transport,
            arrival: Arrival { peer, local, secure, correlation },
            service: self.service.borrowed(),
            counts: &self.counts,
            ground: Ground::Stage(self),
        }
    }

    /// Begins a branch.
    pub(crate) fn spawn(self: &Rc<Stage>, future: LocalFuture<'static, ()>) -> Handle {
        let task = Rc::new(Task {
            stage: Rc::downgrade(self),
            future: RefCell::new(Some(future)),
            cancelled: Cell::default(),
            waker: RefCell::default(),
        });
        self.counts.branches.set(self.counts.branches.get() + 1);
        self.state.borrow_mut().live.push(Rc::clone(&task));
        self.transport.spawn(Box::pin(Run(Rc::clone(&task))));
        Handle(Some(task))
    }

    /// A branch's answer: the client's, if it is the first. Says whether it was.
    pub(crate) fn answer(&self, answer: Message) -> bool {
        let mut state = self.state.borrow_mut();
        let is_first = state.answer.is_none();
        if is_first {
            state.answer = Some(answer);
            wake(state.waiting.take());
        }
        is_first
    }

    /// A branch ended with a fault that nobody answered: the client's answer, if no branch has a better one.
    pub(crate) fn fail(&self, fault: Box<Fault>) {
        self.state.borrow_mut().fault.get_or_insert(fault);
    }

    /// Waits for the first answer; where all branches end without one, their first fault, if there was any.
    pub(crate) async fn answered(&self) -> Result<Option<Message>, Box<Fault>> {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if let Some(answer) = state.answer.take() {
                return Poll::Ready(Ok(Some(answer)));
            }
            if state.live.is_empty() {
                return Poll::Ready(state.fault.take().map_or(Ok(None), Err));
            }
            state.waiting = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Ends all branches where they are.
    pub(crate) fn cancel(&self) {
        let live = std::mem::take(&mut self.state.borrow_mut().live);
        live.iter().for_each(|task| task.cancel());
    }

    /// How many branches are not at their ends.
    pub(crate) fn live(&self) -> usize {
        self.state.borrow().live.len()
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Task {
    fn cancel(self: &Rc<Task>) {
        self.cancelled.set(true);
        // Where it cancels itself it is being polled, and is dropped when that is over.
        let future = self.future.try_borrow_mut().ok().and_then(|mut future| future.take());
        drop(future);
        wake(self.waker.take());
    }
}

impl Handle {
    /// Lets the branch run to its end.
    pub(crate) fn detach(mut self) {
        self.0 = None;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.cancel();
        }
    }
}

impl Future for Run {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let task = &self.0;
        let mut future = task.future.borrow_mut();
        let Some(running) = &mut *future else { return Poll::Ready(()) };
        if running.as_mut().poll(context).is_ready() || task.cancelled.get() {
            *future = None;
            return Poll::Ready(());
        }
        *task.waker.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let Some(stage) = self.0.stage.upgrade() else { return };
        stage.counts.branches.set(stage.counts.branches.get() - 1);
        let mut state = stage.state.borrow_mut();
        state.live.retain(|task| !Rc::ptr_eq(task, &self.0));
        if state.live.is_empty() {
            wake(state.waiting.take());
        }
    }
}
