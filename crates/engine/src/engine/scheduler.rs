//! Shares the time of a serving thread: exchanges of services that take much of it run one after the other, with a look
//! at the sockets between two, and those that would have to wait too long to begin are refused.
//!
//! The engine learns the cost of an exchange only when it is over, so it judges one by the mean of its service. Exchanges
//! of all other services run as soon as they can go on. `docs/decisions/0017-overload-of-serving-threads.md` says why it is so.

mod patience;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use myelin_flow::cost::ServiceCost;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::position::ServiceIdentity;
use myelin_flow::transport::Transport;
use myelin_message::Body;

use self::patience::Patience;

/// How much processor time exchanges of costly services take between two looks at the sockets, where all else takes no
/// more; the last of them may go beyond it.
const SLICE: Duration = Duration::from_micros(250);

/// No exchange takes longer to begin than so many times the pace: the requests of many clients may come all at once.
const OUTLIER: u32 = 4;

/// How long refusals are gathered before a line of the log tells of them.
const GATHERED: Duration = Duration::from_secs(1);

/// Of so many exchanges of services that are not costly one is measured.
const SAMPLED: u32 = 64;

/// What the exchanges of costly services on one thread wait for.
pub(crate) struct Scheduler {
    transport: Rc<dyn Transport>,
    /// Processor time that they used since the last look at the sockets.
    used: Cell<Duration>,
    /// How much they may use until the next one.
    slice: Cell<Duration>,
    /// Those that have begun, and can go on. They go before all others: what they hold is given back soonest so.
    begun: Queue,
    /// Those that have not begun.
    entering: Queue,
    /// Whether a task lets the next one run at each look at the sockets.
    is_driven: Cell<bool>,
    /// How much processor time the thread took from one beginning to the next lately, whatever it did.
    pace: Cell<Duration>,
    /// Its processor time when the last one began, or the queue of those that have not.
    last_entry: Cell<Duration>,
    patience: Patience,
    random: Cell<u32>,
    refused: Cell<u64>,
}

/// A request that may be refused instead of served.
pub(crate) struct Refusable<'a> {
    pub(crate) service: &'a ServiceIdentity,
    /// Its body, which knows whether the client has given up.
    pub(crate) body: &'a Body,
}

/// Those that wait, in the order in which they run.
type Queue = RefCell<VecDeque<Rc<Waiter>>>;

/// One that waits.
struct Waiter {
    /// Whether it may run, or has waited too long; `None` as long as it waits.
    verdict: Cell<Option<bool>>,
    waker: RefCell<Waker>,
    since: Duration,
}

/// What one exchange, or one flow beside the first of its request, takes of the thread's time.
pub(crate) struct TimeShare {
    scheduler: Rc<Scheduler>,
    /// Whether it runs only when it is its turn, and whether it is measured.
    demand: Cell<Demand>,
    /// Its place among those that wait.
    waiter: RefCell<Option<Rc<Waiter>>>,
    used: Cell<Duration>,
    /// The processor time of the thread when it began to run, while it runs.
    since: Cell<Duration>,
}

/// How the exchanges of a service are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Demand {
    /// It runs as soon as it can go on.
    #[default]
    Low,
    /// The same, and it is measured.
    Measured,
    /// It runs when it is its turn, and is measured.
    High,
}

impl Scheduler {
    pub(crate) fn new(transport: Rc<dyn Transport>) -> Rc<Scheduler> {
        Rc::new(Scheduler {
            transport,
            used: Cell::default(),
            slice: Cell::new(SLICE),
            begun: Queue::default(),
            entering: Queue::default(),
            is_driven: Cell::default(),
            pace: Cell::default(),
            last_entry: Cell::default(),
            patience: Patience::default(),
            random: Cell::new(1),
            refused: Cell::default(),
        })
    }

    /// How an exchange of a service with that cost is to be treated.
    fn demand(&self, cost: &ServiceCost, costly_from: Duration) -> Demand {
        // By chance and not by number: messages that come in a pattern must not be measured by it.
        let random = self.random.get().wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        self.random.set(random);
        match cost.mean() {
            Some(_) if cost.is_high(costly_from) => Demand::High,
            Some(_) if random >> (u32::BITS - SAMPLED.ilog2()) > 0 => Demand::Low,
            _ => Demand::Measured,
        }
    }

    /// How much processor time a request would have to wait for to begin, as far as can be foreseen.
    fn expected_wait(&self) -> Duration {
        let waiting = self.entering.borrow().len();
        if waiting == 0 {
            return Duration::ZERO;
        }
        let since = self.transport.processor_time().saturating_sub(self.last_entry.get());
        since + self.pace.get().saturating_mul(u32::try_from(waiting).unwrap_or(u32::MAX))
    }

    /// Ready when it is the turn of whoever waits in that queue; false where it waited too long.
    fn poll_turn(
        self: &Rc<Self>,
        queue: &Queue,
        waiter: &RefCell<Option<Rc<Waiter>>>,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        let mut waiter = waiter.borrow_mut();
        if let Some(waiting) = &*waiter {
            let Some(verdict) = waiting.verdict.get() else {
                waiting.waker.borrow_mut().clone_from(cx.waker());
                return Poll::Pending;
            };
            *waiter = None;
            return Poll::Ready(verdict);
        }
        let is_first = self.begun.borrow().is_empty() && queue.borrow().is_empty();
        if is_first && self.used.get() < self.slice.get() {
            return Poll::Ready(true);
        }
        let waiting = Rc::new(Waiter {
            verdict: Cell::new(None),
            waker: RefCell::new(cx.waker().clone()),
            since: self.transport.monotonic(),
        });
        queue.borrow_mut().push_back(Rc::clone(&waiting));
        *waiter = Some(waiting);
        self.drive();
        Poll::Pending
    }

    /// Notes processor time that was used in a turn; while there is some left, the next one has its turn.
    fn spend(self: &Rc<Self>, used: Duration) {
        self.used.set(self.used.get() + used);
        if self.used.get() < self.slice.get() {
            self.let_next_run();
        } else {
            self.drive();
        }
    }

    /// From the next look at the sockets on there is time again, and whoever waits has its turn.
    fn drive(self: &Rc<Self>) {
        if self.is_driven.replace(true) {
            return;
        }
        let this = Rc::clone(self);
        let mut last_look = self.transport.processor_time();
        self.transport.spawn(Box::pin(async move {
            loop {
                this.transport.turn().await;
                let look = this.transport.processor_time();
                let others = look.saturating_sub(last_look).saturating_sub(this.used.take());
                // Clients that ask again as soon as they are refused must not keep those that wait from being served.
                this.slice.set(others.max(SLICE));
                last_look = look;
                this.refuse_late();
                if !this.let_next_run() {
                    break;
                }
            }
            this.slice.set(SLICE);
            this.is_driven.set(false);
        }));
    }

    /// Lets the next one run; says whether there was one.
    fn let_next_run(&self) -> bool {
        let begun = self.begun.borrow_mut().pop_front();
        let next = begun.or_else(|| {
            let entering = self.entering.borrow_mut().pop_front()?;
            let now = self.transport.processor_time();
            let took = now.saturating_sub(self.last_entry.replace(now)).min(self.pace.get() * OUTLIER);
            self.pace.set(self.pace.get() * 15 / 16 + took / 16);
            Some(entering)
        });
        next.is_some_and(|next| {
            next.decide(true);
            true
        })
    }

    /// How long a request may wait to begin.
    fn longest_wait(&self, now: Duration) -> Duration {
        self.patience.longest_wait(self.transport.work_wait(), now)
    }

    /// Refuses those that have waited to begin for longer than they may.
    fn refuse_late(&self) {
        let mut entering = self.entering.borrow_mut();
        if entering.is_empty() {
            return;
        }
        let now = self.transport.monotonic();
        let wait = self.longest_wait(now);
        while let Some(late) = entering.pop_front_if(|first| now.saturating_sub(first.since) >= wait) {
            late.decide(false);
        }
    }

    /// The fault of a request that is refused; within a second the log tells how many there were.
    fn refused(self: &Rc<Self>, service: &ServiceIdentity, wait: Duration) -> Box<Fault> {
        self.refused.set(self.refused.get() + 1);
        if self.refused.get() == 1 {
            let (this, last) = (Rc::clone(self), service.to_string());
            self.transport.spawn(Box::pin(async move {
                this.transport.sleep(GATHERED).await;
                let count = this.refused.take();
                tracing::warn!(
                    "{count} requests were refused: they would have waited too long for processor time, \
                     which {last} and others take much of"
                );
            }));
        }
        Fault::overloaded(format!("the request would have waited for processor time for {} ms", wait.as_millis()))
    }
}

impl Waiter {
    fn decide(&self, verdict: bool) {
        self.verdict.set(Some(verdict));
        self.waker.borrow().wake_by_ref();
    }
}

impl TimeShare {
    /// Of an exchange that has not begun, with a low demand; or of a flow beside the first, with the demand of that.
    pub(crate) fn new(scheduler: &Rc<Scheduler>, demand: Demand) -> TimeShare {
        TimeShare {
            scheduler: Rc::clone(scheduler),
            demand: Cell::new(demand),
            waiter: RefCell::default(),
            used: Cell::default(),
            since: Cell::default(),
        }
    }

    /// Ready when it is its turn, or it needs none.
    pub(crate) fn poll_turn(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.demand.get() {
            Demand::High => self.scheduler.poll_turn(&self.scheduler.begun, &self.waiter, cx).map(drop),
            Demand::Low | Demand::Measured => Poll::Ready(()),
        }
    }

    /// Lets it run, and measures it where it is to be.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        if self.demand.get() != Demand::Low {
            self.since.set(self.scheduler.transport.processor_time());
        }
        let result = run();
        // It may have begun in the meantime.
        if self.demand.get() != Demand::Low {
            let used = self.running();
            self.used.set(self.used.get() + used);
            if self.demand.get() == Demand::High {
                self.scheduler.spend(used);
            }
        }
        result
    }

    /// Begins, within [`TimeShare::run`], and says how it is treated from then on: it takes turns where the mean of its
    /// service is not below `costly_from`.
    ///
    /// Errors: 303000, answered with 503, where a request that may be refused would have to wait too long, or its client
    /// has given up meanwhile.
    pub(crate) async fn begin(
        &self,
        cost: &ServiceCost,
        costly_from: Duration,
        refusable: Option<Refusable<'_>>,
    ) -> Outcome<Demand> {
        let demand = self.scheduler.demand(cost, costly_from);
        if demand == Demand::High {
            Box::pin(self.enter(cost, refusable)).await?;
        }
        if demand != Demand::Low {
            self.demand.set(demand);
            self.since.set(self.scheduler.transport.processor_time());
        }
        Ok(demand)
    }

    /// Ends, within [`TimeShare::run`]; `beside` is what the flows beside the first used.
    pub(crate) fn end(&self, cost: &ServiceCost, beside: Duration) {
        if self.demand.get() != Demand::Low {
            cost.add(self.used.get() + self.running() + beside);
        }
    }

    /// The processor time that it has used, as far as it was measured.
    pub(crate) fn used(&self) -> Duration {
        self.used.get()
    }

    /// The processor time that it has used since it last began to run.
    fn running(&self) -> Duration {
        self.scheduler.transport.processor_time().saturating_sub(self.since.get())
    }

    async fn enter(&self, cost: &ServiceCost, refusable: Option<Refusable<'_>>) -> Outcome<()> {
        let scheduler = &self.scheduler;
        let Some(Refusable { service, body }) = refusable else {
            // A source has no better place for its message than this one.
            poll_fn(|cx| scheduler.poll_turn(&scheduler.begun, &self.waiter, cx)).await;
            return Ok(());
        };
        let since = scheduler.transport.monotonic();
        let wait = scheduler.expected_wait();
        if wait > scheduler.longest_wait(since) {
            return Err(scheduler.refused(service, wait));
        }
        if scheduler.entering.borrow().is_empty() {
            scheduler.pace.set(cost.mean().unwrap_or_default());
            scheduler.last_entry.set(scheduler.transport.processor_time());
        }
        let is_its_turn = poll_fn(|cx| scheduler.poll_turn(&scheduler.entering, &self.waiter, cx)).await;
        let now = scheduler.transport.monotonic();
        let waited = now.saturating_sub(since);
        let gave_up = body.sender_has_closed();
        scheduler.patience.note(since, gave_up, now);
        (is_its_turn && !gave_up).then_some(()).ok_or_else(|| scheduler.refused(service, waited))
    }
}

impl Drop for TimeShare {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            for queue in [&self.scheduler.begun, &self.scheduler.entering] {
                queue.borrow_mut().retain(|waiting| !Rc::ptr_eq(waiting, &waiter));
            }
        }
    }
}

#[cfg(test)]
mod tests;
