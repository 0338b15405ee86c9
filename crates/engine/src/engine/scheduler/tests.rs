use std::future::Future;
use std::pin::{Pin, pin};
use std::time::SystemTime;

use myelin_channel::{LocalFuture, Runtime, Sender, Sent};
use myelin_flow::cost::HIGH;
use myelin_message::{Outgoing, SendError};
use myelin_testkit::scripted::ScriptedBody;

use super::*;

/// Time passes, on the clock and on the processor, when a test says so.
#[derive(Default)]
struct Machine {
    now: Cell<Duration>,
    used: Cell<Duration>,
    spawned: RefCell<Vec<LocalFuture<'static, ()>>>,
    /// Whether clients have given up.
    gave_up: Rc<Cell<bool>>,
}

impl Machine {
    fn body(&self) -> Body {
        ScriptedBody::sent_by(Rc::clone(&self.gave_up))
    }

    /// Works for so long.
    fn work(&self, time: Duration) {
        self.used.set(self.used.get() + time);
        self.now.set(self.now.get() + time);
    }

    /// Looks at the sockets: all who wait for that go on.
    fn look(&self) {
        let mut cx = Context::from_waker(Waker::noop());
        let mut tasks = self.spawned.take();
        tasks.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
        self.spawned.borrow_mut().extend(tasks);
    }
}

impl Sender for Machine {
    fn send<'a>(&'a self, _: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        Box::pin(std::future::pending())
    }
}

impl Runtime for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        self.now.get()
    }

    fn sleep(&self, _: Duration) -> LocalFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    fn spawn(&self, mut task: LocalFuture<'static, ()>) {
        // It begins at once, so that what follows is its first look.
        if task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            self.spawned.borrow_mut().push(task);
        }
    }

    fn work_wait(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn processor_time(&self) -> Duration {
        self.used.get()
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);

fn scheduler() -> (Rc<Machine>, Rc<Scheduler>) {
    let machine = Rc::<Machine>::default();
    let scheduler = Scheduler::new(Rc::clone(&machine) as Rc<dyn Transport>);
    (machine, scheduler)
}

fn cost(mean: Duration) -> ServiceCost {
    let cost = ServiceCost::default();
    (0..10).for_each(|_| cost.add(mean));
    cost
}

/// An exchange that works for a millisecond, waits once, and works for as long again.
fn exchange<'a>(
    scheduler: &Rc<Scheduler>,
    cost: &'a ServiceCost,
    machine: &'a Machine,
) -> Pin<Box<dyn Future<Output = Outcome<()>> + 'a>> {
    let time = TimeShare::new(scheduler, Demand::Low);
    let body = async |time: &TimeShare| {
        let service = ServiceIdentity::new("proxy", "P", None);
        time.begin(cost, HIGH, Some(Refusable { service: &service, body: &machine.body() })).await?;
        machine.work(MILLISECOND);
        let mut has_waited = false;
        poll_fn(|_| if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
        machine.work(MILLISECOND);
        time.end(cost, Duration::ZERO);
        Ok(())
    };
    Box::pin(async move {
        let mut body = pin!(body(&time));
        poll_fn(|cx| {
            std::task::ready!(time.poll_turn(cx));
            time.run(|| body.as_mut().poll(cx))
        })
        .await
    })
}

/// Polls all that are left, and says how many work got done.
fn poll_all<'a>(
    exchanges: &mut Vec<Pin<Box<dyn Future<Output = Outcome<()>> + 'a>>>,
    machine: &Machine,
) -> (Duration, Vec<Outcome<()>>) {
    let before = machine.used.get();
    let mut ended = Vec::new();
    exchanges.retain_mut(|exchange| match exchange.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => {
            ended.push(outcome);
            false
        }
        Poll::Pending => true,
    });
    (machine.used.get() - before, ended)
}

#[test]
fn of_costly_exchanges_one_runs_between_two_looks_at_the_sockets_and_all_others_at_once() {
    let (machine, scheduler) = scheduler();
    let (high, low) = (cost(2 * MILLISECOND), cost(MILLISECOND / 100));
    let mut cheap: Vec<_> = (0..5).map(|_| exchange(&scheduler, &low, &machine)).collect();
    assert_eq!(poll_all(&mut cheap, &machine).0, 5 * MILLISECOND);
    let mut costly: Vec<_> = (0..5).map(|_| exchange(&scheduler, &high, &machine)).collect();
    let mut ended = 0;
    for turn in 0..10_usize {
        let (worked, outcomes) = poll_all(&mut costly, &machine);
        assert_eq!(worked, MILLISECOND, "turn {turn}");
        // Those that have begun go on before others begin.
        ended += outcomes.len();
        assert_eq!((outcomes.iter().all(Result::is_ok), ended), (true, turn.div_ceil(2)), "turn {turn}");
        assert_eq!(poll_all(&mut costly, &machine).0, Duration::ZERO);
        machine.look();
    }
    assert_eq!(poll_all(&mut cheap, &machine).0, 5 * MILLISECOND);
    // Nothing goes on where nobody waits.
    machine.look();
    assert_eq!((machine.spawned.borrow().len(), scheduler.is_driven.get()), (0, false));
    assert_eq!(high.mean(), Some(2 * MILLISECOND));
}

#[test]
fn who_would_have_to_wait_too_long_is_refused_at_once_and_the_rest_is_served() {
    let (machine, scheduler) = scheduler();
    let high = cost(10 * MILLISECOND);
    let mut costly: Vec<_> = (0..30).map(|_| exchange(&scheduler, &high, &machine)).collect();
    // One runs, and eleven may wait for a tenth of a second together.
    let (worked, refused) = poll_all(&mut costly, &machine);
    assert_eq!((worked, costly.len(), refused.len()), (MILLISECOND, 12, 18));
    assert!(
        refused.iter().all(|outcome| outcome.as_ref().is_err_and(|fault| fault.status == 503 && fault.code == 303000))
    );
    assert_eq!(scheduler.refused.get(), 18);
    let mut served = 0;
    for _ in 0..50 {
        machine.look();
        served += poll_all(&mut costly, &machine).1.into_iter().filter(Result::is_ok).count();
    }
    assert_eq!((served, costly.len()), (12, 0));
}

#[test]
fn who_has_waited_too_long_is_refused() {
    let (machine, scheduler) = scheduler();
    let high = cost(10 * MILLISECOND);
    let mut costly: Vec<_> = (0..3).map(|_| exchange(&scheduler, &high, &machine)).collect();
    poll_all(&mut costly, &machine);
    machine.work(100 * MILLISECOND);
    machine.look();
    let (_, outcomes) = poll_all(&mut costly, &machine);
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 2);
}

#[test]
fn a_request_whose_client_has_given_up_is_not_served_and_those_behind_it_wait_for_less() {
    let (machine, scheduler) = scheduler();
    let high = cost(10 * MILLISECOND);
    let mut costly: Vec<_> = (0..10).map(|_| exchange(&scheduler, &high, &machine)).collect();
    assert_eq!(poll_all(&mut costly, &machine).0, MILLISECOND);
    machine.gave_up.set(true);
    machine.work(80 * MILLISECOND);
    let mut ended = Vec::new();
    for _ in 0..30 {
        machine.look();
        ended.extend(poll_all(&mut costly, &machine).1);
    }
    assert_eq!((ended.iter().filter(|outcome| outcome.is_err()).count(), ended.len()), (9, 10));
    assert_eq!(machine.used.get(), 82 * MILLISECOND, "only the one that had begun goes on");
    assert_eq!(scheduler.longest_wait(machine.now.get()), 100 * MILLISECOND);
    // Those that come then give up, too.
    let mut costly: Vec<_> = (0..10).map(|_| exchange(&scheduler, &high, &machine)).collect();
    machine.gave_up.set(false);
    poll_all(&mut costly, &machine);
    machine.gave_up.set(true);
    machine.work(80 * MILLISECOND);
    for _ in 0..30 {
        machine.look();
        poll_all(&mut costly, &machine);
    }
    let longest = scheduler.longest_wait(machine.now.get());
    assert!((39 * MILLISECOND..45 * MILLISECOND).contains(&longest), "{longest:?}");
}

#[test]
fn who_goes_away_keeps_no_place() {
    let (machine, scheduler) = scheduler();
    let high = cost(MILLISECOND);
    let mut costly: Vec<_> = (0..3).map(|_| exchange(&scheduler, &high, &machine)).collect();
    poll_all(&mut costly, &machine);
    drop(costly.remove(1));
    assert_eq!(scheduler.entering.borrow().len(), 1);
    drop(costly.remove(0));
    machine.look();
    assert_eq!(poll_all(&mut costly, &machine).0, MILLISECOND);
}

#[test]
fn exchanges_of_a_cheap_service_are_measured_now_and_then() {
    let (_, scheduler) = scheduler();
    assert_eq!(scheduler.demand(&ServiceCost::default(), HIGH), Demand::Measured);
    let low = cost(MILLISECOND / 100);
    let measured = (0..64_000).filter(|_| scheduler.demand(&low, HIGH) == Demand::Measured).count();
    assert!((800..1_200).contains(&measured), "{measured}");
}
