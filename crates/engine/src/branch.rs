//! Flows of one client's request that run beside each other.
//!
//! The first flow borrows what it needs and costs nothing; what runs beside it owns its surroundings, a [`BranchContext`].
//! The first answer that any of them gives is the client's. A client that goes away before it had one cancels them all;
//! once it has one, the others go on to their ends, which their deadlines bound.

mod meeting;
mod split;

use std::cell::{Cell, OnceCell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use myelin_message::{CorrelationId, Message};

pub(crate) use split::carry_on;

use crate::engine::{Arrival, Demand, EngineContext, EngineParts, FlowKind, TimeShare};
use crate::service::OwnedService;
use myelin_flow::branches::{BranchPermit, BranchPermits, CorrelationGroup, LIVE_COPIES, body_limit_bytes};
use myelin_flow::context::RequestContext;
use myelin_flow::context::{Counts, RunningBranches};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::observer::Watch;
use myelin_flow::position::{in_exchange, in_service};
use myelin_flow::transport::LocalFuture;

/// All copies that are made for a request, so many times.
const ALL_COPIES: usize = 256;

/// What a copy costs at least, however small its body is: its head, its properties, and what runs it.
const COPY_BYTES: usize = 1 << 10;

/// What the flows of one request stand on.
pub(crate) struct BranchContext {
    parts: EngineParts,
    watch: Watch,
    service: OwnedService,
    peer: Option<SocketAddr>,
    local: Option<SocketAddr>,
    came_by: &'static str,
    inbound: Option<Box<str>>,
    correlation: CorrelationId,
    permits: Rc<BranchPermits>,
    copied_bytes: Cell<usize>,
    /// How the flows are treated, as the first one is.
    demand: Demand,
    /// The processor time that they used, as far as it was measured.
    used: Cell<Duration>,
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
    branch_context: Weak<BranchContext>,
    counts: Rc<Counts>,
    /// The groups it belongs to.
    groups: Vec<Rc<CorrelationGroup>>,
    /// Whether the client neither waits for it nor takes it along when it goes.
    is_detached: bool,
    time: TimeShare,
    /// `None` when it has ended, or was cancelled.
    future: RefCell<Option<LocalFuture<'static, ()>>>,
    cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// Runs a task, and tells the branch context of its end however it ends.
struct Run(Rc<Task>);

impl BranchContext {
    /// What the flows beside the one with that context stand on.
    pub(crate) fn new(
        context: &RequestContext<'_>,
        service: OwnedService,
        parts: EngineParts,
        demand: Demand,
    ) -> Rc<BranchContext> {
        let Arrival { transport: came_by, peer, local, inbound, correlation } = context.arrival;
        let settings = &parts.bus.definitions.settings;
        let permits = BranchPermits::new(settings.branches, body_limit_bytes(settings).saturating_mul(LIVE_COPIES));
        Rc::new(BranchContext {
            watch: context.watch.beside(),
            parts,
            service,
            peer,
            local,
            came_by,
            inbound: inbound.map(Box::from),
            correlation: correlation.clone(),
            permits,
            copied_bytes: Cell::default(),
            demand,
            used: Cell::default(),
            state: RefCell::default(),
        })
    }

    /// What surrounds a flow on this branch context.
    fn context(self: &Rc<BranchContext>) -> EngineContext<'_> {
        self.context_watched_by(&self.watch)
    }

    /// The same for one branch, of which that one hears.
    pub(crate) fn context_watched_by<'a>(self: &'a Rc<BranchContext>, watch: &'a Watch) -> EngineContext<'a> {
        let BranchContext { came_by, peer, local, ref inbound, ref correlation, .. } = **self;
        let service = self.service.borrowed();
        let context = RequestContext {
            definitions: &self.parts.bus.definitions,
            transport: &*self.parts.transport,
            arrival: Arrival { transport: came_by, peer, local, inbound: inbound.as_deref(), correlation },
            service: service.identity(&self.parts.bus),
            counts: &self.parts.counts,
            branches: &**self,
            watch,
        };
        EngineContext { context, bus: &self.parts.bus, service, flow: FlowKind::Branch(self) }
    }

    /// Does something for the exchange and its service.
    fn in_position<T>(&self, work: impl FnOnce() -> T) -> T {
        let service = self.service.borrowed().identity(&self.parts.bus);
        in_exchange(&self.correlation, || in_service(service, work))
    }

    /// Begins a branch that belongs to these groups; the client does not wait for a detached one.
    fn spawn(
        self: &Rc<BranchContext>,
        groups: Vec<Rc<CorrelationGroup>>,
        is_detached: bool,
        future: LocalFuture<'static, ()>,
    ) {
        let task = Rc::new(Task {
            branch_context: Rc::downgrade(self),
            counts: Rc::clone(&self.parts.counts),
            groups,
            is_detached,
            time: TimeShare::new(&self.parts.scheduler, self.demand),
            future: RefCell::new(Some(future)),
            cancelled: Cell::default(),
            waker: RefCell::default(),
        });
        self.parts.counts.branches.set(self.parts.counts.branches.get() + 1);
        self.state.borrow_mut().live.push(Rc::clone(&task));
        self.parts.transport.spawn(Box::pin(Run(task)));
    }

    /// Waits for room for one more branch with a message of that size.
    async fn permit(&self, bytes: usize) -> BranchPermit {
        self.permits.take(bytes).await
    }

    /// Notes that a message was copied: the work that one request makes is bounded, however small its parts are.
    ///
    /// Errors: the bus's, where it is too much.
    fn count_copy(&self, (exchange, bytes): (Exchange, usize)) -> Outcome<(Exchange, usize)> {
        self.copied_bytes.set(self.copied_bytes.get().saturating_add(bytes.max(COPY_BYTES)));
        let limit = body_limit_bytes(&self.parts.bus.definitions.settings).saturating_mul(ALL_COPIES);
        if self.copied_bytes.get() > limit {
            let detail = format!("more than {limit} bytes were copied");
            return Err(Fault::bus("A message is split into parts that are too large together").with_detail(detail));
        }
        Ok((exchange, bytes))
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

    /// Waits for the first answer; where all branches that are not detached end without one, their first fault, if there
    /// was any.
    pub(crate) async fn answered(&self) -> Result<Option<Message>, Box<Fault>> {
        poll_fn(|context| {
            let mut state = self.state.borrow_mut();
            if let Some(answer) = state.answer.take() {
                return Poll::Ready(Ok(Some(answer)));
            }
            if state.has_only_detached() {
                return Poll::Ready(state.fault.take().map_or(Ok(None), Err));
            }
            state.waiting = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Whether a branch has answered; otherwise wakes this one when it has.
    fn has_answer(&self, waker: &Waker) -> bool {
        let mut state = self.state.borrow_mut();
        if state.answer.is_none() {
            state.waiting = Some(waker.clone());
        }
        state.answer.is_some()
    }

    /// Ends all branches where they are, except the detached ones.
    pub(crate) fn cancel(&self) {
        let live = std::mem::take(&mut self.state.borrow_mut().live);
        let (detached, others): (Vec<_>, Vec<_>) = live.into_iter().partition(|task| task.is_detached);
        self.state.borrow_mut().live = detached;
        others.iter().for_each(|task| task.cancel());
    }
}

impl RunningBranches for BranchContext {
    /// Ends the branches of a group, except the one that is running, which asks for it.
    fn cancel_group(&self, group: &Rc<CorrelationGroup>) {
        let is_other = |task: &Rc<Task>| task.groups.iter().any(|known| Rc::ptr_eq(known, group)) && !task.is_running();
        let others: Vec<_> = self.state.borrow().live.iter().filter(|task| is_other(task)).cloned().collect();
        others.iter().for_each(|task| task.cancel());
    }
}

/// The branch context of a first flow, which is made when another flow begins.
#[derive(Default)]
pub(crate) struct FirstBranchContext {
    made: OnceCell<Rc<BranchContext>>,
    demand: Cell<Demand>,
}

impl FirstBranchContext {
    /// The branch context, if there is one.
    pub(crate) fn get(&self) -> Option<&Rc<BranchContext>> {
        self.made.get()
    }

    /// The branch context; made now where there is none.
    pub(crate) fn get_or_init(&self, make: impl FnOnce(Demand) -> Rc<BranchContext>) -> &Rc<BranchContext> {
        self.made.get_or_init(|| make(self.demand.get()))
    }

    /// How flows beside the first are treated that are still to come.
    pub(crate) fn set_demand(&self, demand: Demand) {
        self.demand.set(demand);
    }

    /// The processor time that the flows beside the first have used, as far as it was measured.
    pub(crate) fn used(&self) -> Duration {
        self.get().map_or(Duration::ZERO, |branch_context| {
            let state = branch_context.state.borrow();
            branch_context.used.get() + state.live.iter().map(|task| task.time.used()).sum::<Duration>()
        })
    }
}

impl RunningBranches for FirstBranchContext {
    fn cancel_group(&self, group: &Rc<CorrelationGroup>) {
        if let Some(branch_context) = self.get() {
            branch_context.cancel_group(group);
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl State {
    /// Whether there is no branch for which the client waits.
    fn has_only_detached(&self) -> bool {
        self.live.iter().all(|task| task.is_detached)
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
        if task.time.poll_turn(context).is_pending() {
            *task.waker.borrow_mut() = Some(context.waker().clone());
            return Poll::Pending;
        }
        // A defect in one branch ends that branch: nothing of it is shared with the others.
        let mut poll = || task.time.run(|| catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))));
        let branch_context = task.branch_context.upgrade();
        let polled = match &branch_context {
            Some(branch_context) => branch_context.in_position(poll),
            None => poll(),
        };
        if let (Err(_), Some(branch_context)) = (&polled, branch_context) {
            let fault = Fault::bus("The bus failed while it served this request");
            branch_context.context().context.report(&fault);
            branch_context.fail(fault);
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
        let Some(branch_context) = self.0.branch_context.upgrade() else { return };
        branch_context.used.set(branch_context.used.get() + self.0.time.used());
        let mut state = branch_context.state.borrow_mut();
        state.live.retain(|task| !Rc::ptr_eq(task, &self.0));
        if state.has_only_detached() {
            wake(state.waiting.take());
        }
    }
}
