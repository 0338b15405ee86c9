//! Flows of one client's request that run beside each other.
//!
//! The first flow borrows what it needs and costs nothing; what runs beside it owns its surroundings, a [`Stage`].
//! The first answer that any of them gives is the client's. A client that goes away before it had one cancels them all;
//! once it has one, the others go on to their ends, which their deadlines bound.

mod family;
mod group;
mod slots;
mod split;
mod target;
mod together;

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use myelin_message::Message;

pub(crate) use self::family::{Family, Kin};
pub(crate) use self::group::{Group, Piece, Wanted, too_large};
pub(crate) use self::slots::Slot as Room;
pub(crate) use self::split::{Marks, Split, Splitter, called, carry_on};
pub(crate) use self::target::Target;
pub(crate) use self::together::Together;

use self::slots::Slots;
use crate::bus::Bus;
use crate::engine::{self, Arrival, Counts};
use crate::exchange::{Exchange, Ground, Scene};
use crate::fault::{Fault, Outcome};
use crate::service::OwnedService;
use crate::transport::{LocalFuture, Transport};

/// The live copies of a request may take so many times the memory of the largest body that a mediator may read.
const LIVE_COPIES: usize = 4;

/// All copies that are made for a request, so many times.
const ALL_COPIES: usize = 256;

/// What a copy costs at least, however small its body is: its head, its properties, and what runs it.
const COPY_BYTES: usize = 1 << 10;

/// What the flows of one request stand on.
pub(crate) struct Stage {
    bus: Arc<Bus>,
    transport: Rc<dyn Transport>,
    counts: Rc<Counts>,
    service: OwnedService,
    peer: SocketAddr,
    local: SocketAddr,
    secure: bool,
    inbound: Option<u16>,
    correlation: String,
    slots: Rc<Slots>,
    copied_bytes: Cell<usize>,
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
    counts: Rc<Counts>,
    /// The families it belongs to.
    families: Vec<Rc<Family>>,
    /// `None` when it has ended, or was cancelled.
    future: RefCell<Option<LocalFuture<'static, ()>>>,
    cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// Runs a task, and tells the stage of its end however it ends.
struct Run(Rc<Task>);

impl Stage {
    /// What the flows beside the one with that scene stand on.
    pub(crate) fn new(scene: &Scene<'_>, bus: Arc<Bus>, transport: Rc<dyn Transport>, counts: Rc<Counts>) -> Rc<Stage> {
        let Arrival { peer, local, secure, inbound, correlation } = scene.arrival;
        let body_limit = body_limit_bytes(&bus);
        let slots = Slots::new(bus.settings.branches, body_limit.saturating_mul(LIVE_COPIES));
        Rc::new(Stage {
            bus,
            transport,
            counts,
            service: scene.service.to_owned(),
            peer,
            local,
            secure,
            inbound,
            correlation: correlation.to_owned(),
            slots,
            copied_bytes: Cell::default(),
            state: RefCell::default(),
        })
    }

    /// The surroundings of a flow on this stage.
    pub(crate) fn scene<'a>(self: &'a Rc<Stage>) -> Scene<'a> {
        let Stage { peer, local, secure, inbound, ref correlation, .. } = **self;
        Scene {
            bus: &self.bus,
            transport: &*self.transport,
            arrival: Arrival { peer, local, secure, inbound, correlation },
            service: self.service.borrowed(),
            counts: &self.counts,
            ground: Ground::Stage(self),
        }
    }

    /// Begins a branch that belongs to these families.
    fn spawn(self: &Rc<Stage>, families: Vec<Rc<Family>>, future: LocalFuture<'static, ()>) {
        let task = Rc::new(Task {
            stage: Rc::downgrade(self),
            counts: Rc::clone(&self.counts),
            families,
            future: RefCell::new(Some(future)),
            cancelled: Cell::default(),
            waker: RefCell::default(),
        });
        self.counts.branches.set(self.counts.branches.get() + 1);
        self.state.borrow_mut().live.push(Rc::clone(&task));
        self.transport.spawn(Box::pin(Run(task)));
    }

    /// Waits for room for one more branch with a message of that size.
    async fn room(&self, bytes: usize) -> Room {
        self.slots.take(bytes).await
    }

    /// Notes that a message was copied: the work that one request makes is bounded, however small its parts are.
    ///
    /// Errors: the bus's, where it is too much.
    fn count_copy(&self, (exchange, bytes): (Exchange, usize)) -> Outcome<(Exchange, usize)> {
        self.copied_bytes.set(self.copied_bytes.get().saturating_add(bytes.max(COPY_BYTES)));
        let limit = body_limit_bytes(&self.bus).saturating_mul(ALL_COPIES);
        if self.copied_bytes.get() > limit {
            let detail = format!("more than {limit} bytes were copied");
            return Err(Fault::bus("A message is split into parts that are too large together").with_detail(detail));
        }
        Ok((exchange, bytes))
    }

    /// How much memory what branches bring together may take.
    pub(crate) fn gathered_limit_bytes(&self) -> usize {
        gathered_limit_bytes(&self.bus)
    }

    /// A branch's answer: the client's, if it is the first.
    fn answer(&self, answer: Message) {
        let mut state = self.state.borrow_mut();
        state.answer.get_or_insert(answer);
        wake(state.waiting.take());
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

    /// Ends the branches of a family, except the one that is running, which asks for it.
    pub(crate) fn cancel_family(&self, family: &Rc<Family>) {
        let is_other =
            |task: &Rc<Task>| task.families.iter().any(|known| Rc::ptr_eq(known, family)) && !task.is_running();
        let others: Vec<_> = self.state.borrow().live.iter().filter(|task| is_other(task)).cloned().collect();
        others.iter().for_each(|task| task.cancel());
    }
}

/// How much memory what the flows of one request make together may take.
pub(crate) fn gathered_limit_bytes(bus: &Bus) -> usize {
    body_limit_bytes(bus).saturating_mul(LIVE_COPIES)
}

fn body_limit_bytes(bus: &Bus) -> usize {
    usize::try_from(bus.settings.body_limit_bytes).unwrap_or(usize::MAX)
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Task {
    fn is_running(&self) -> bool {
        self.future.try_borrow_mut().is_err()
    }

    fn cancel(self: &Rc<Task>) {
        self.cancelled.set(true);
        // Where it cancels itself it is being polled, and is dropped when that is over.
        let future = self.future.try_borrow_mut().ok().and_then(|mut future| future.take());
        drop(future);
        wake(self.waker.take());
    }
}

impl Future for Run {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let task = &self.0;
        let mut future = task.future.borrow_mut();
        let Some(running) = &mut *future else { return Poll::Ready(()) };
        // A defect in one branch ends that branch: nothing of it is shared with the others.
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context)));
        if let (Err(_), Some(stage)) = (&polled, task.stage.upgrade()) {
            let fault = Fault::bus("The bus failed while it served this request");
            engine::log(&fault, &stage.scene().arrival);
            stage.fail(fault);
        }
        if !matches!(polled, Ok(Poll::Pending)) || task.cancelled.get() {
            let ended = future.take();
            drop(future);
            drop(ended);
            return Poll::Ready(());
        }
        *task.waker.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let branches = &self.0.counts.branches;
        branches.set(branches.get() - 1);
        let Some(stage) = self.0.stage.upgrade() else { return };
        let mut state = stage.state.borrow_mut();
        state.live.retain(|task| !Rc::ptr_eq(task, &self.0));
        if state.live.is_empty() {
            wake(state.waiting.take());
        }
    }
}
