//! Connections to backends, kept per thread and address; the one used last is used next.
//!
//! Newest first lets the surplus of a busy hour grow old and go, and picks the connection least likely to be stale.
//! Where all are in use, requests wait and are served in the order they came; who comes later waits behind them, even if
//! a connection is just free.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::Uri;
use myelin_message::SendError;
use tokio::time::Instant;

use crate::address::Origin;
use crate::options::ClientOptions;
use crate::timer::Tick;

/// A connection that can be kept unused.
pub(crate) trait Pooled {
    /// Whether it still stands: nothing may come before it is asked something.
    fn is_quiet(&self) -> bool;
}

/// All of one thread's backend connections, by address.
pub(crate) struct Pool<C> {
    plain: RefCell<Hosts<C>>,
    tls: RefCell<Hosts<C>>,
    /// The one asked for last, which is mostly the one that is asked for next.
    last: RefCell<Option<Rc<HostPool<C>>>>,
}

type Hosts<C> = HashMap<String, Rc<HostPool<C>>>;

/// The connections to all backends, of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUsage {
    /// Connections that serve a request or its answer.
    pub used: usize,
    /// Connections that are kept for the next request.
    pub idle: usize,
    /// Requests that wait for a connection.
    pub waiting: usize,
}

/// The connections to one scheme, host and port.
pub(crate) struct HostPool<C> {
    pub(crate) origin: Origin,
    /// Oldest use first.
    idle: RefCell<VecDeque<IdleConnection<C>>>,
    open: Cell<usize>,
    queue: RefCell<Queue>,
}

/// Requests that wait for a connection.
#[derive(Default)]
struct Queue {
    /// In the order they came, which is that of their numbers.
    waiting: VecDeque<(u64, Waker)>,
    next: u64,
    /// When the current turnover began: since then each connection has changed hands once at most.
    turnover_began: Option<Instant>,
    /// How many connections changed hands since.
    turned_over: usize,
    /// How long it took last until as many connections changed hands as there are, while there was a queue.
    turnover: Option<Duration>,
}

/// A request's position in the queue; it leaves it when dropped, also when the wait is given up.
struct Position<'a, C: Pooled> {
    host: &'a Rc<HostPool<C>>,
    number: u64,
}

/// A connection that waits for its next request.
pub(crate) struct IdleConnection<C> {
    pub(crate) connection: Rc<C>,
    pub(crate) since: Tick,
}

/// The right to have one connection open, given back when dropped.
pub(crate) struct Permit<C> {
    host: Rc<HostPool<C>>,
    born: Tick,
    life: Duration,
}

/// What the pool of a host has for a request.
pub(crate) enum Checkout<C> {
    Reused(IdleConnection<C>),
    /// A connection may be opened.
    Open(Permit<C>),
    /// Too many wait already.
    Full,
    /// At the rate at which connections come free, its turn would come too late.
    Late,
}

impl<C> Default for Pool<C> {
    fn default() -> Pool<C> {
        Pool { plain: RefCell::default(), tls: RefCell::default(), last: RefCell::default() }
    }
}

impl<C: Pooled> Pool<C> {
    /// The connections to the host of an address.
    ///
    /// Errors: an address that HTTP cannot be sent to.
    pub(crate) fn host(&self, uri: &Uri) -> Result<Rc<HostPool<C>>, SendError> {
        if let Some(last) = &*self.last.borrow()
            && last.origin.is_of(uri)
        {
            return Ok(Rc::clone(last));
        }
        let origin = Origin::of(uri)?;
        let map = if origin.tls { &self.tls } else { &self.plain };
        let known = map.borrow().get(origin.authority()).cloned();
        let host = known.unwrap_or_else(|| {
            let authority = origin.authority().to_owned();
            let host =
                Rc::new(HostPool { origin, idle: RefCell::default(), open: Cell::new(0), queue: RefCell::default() });
            map.borrow_mut().insert(authority, Rc::clone(&host));
            host
        });
        self.last.replace(Some(Rc::clone(&host)));
        Ok(host)
    }

    /// How many connections serve a request, and how many requests wait for one.
    pub(crate) fn usage(&self) -> PoolUsage {
        let mut usage = PoolUsage::default();
        for map in [&self.plain, &self.tls] {
            for host in map.borrow().values() {
                let idle = host.idle.borrow().len();
                usage.used += host.open.get() - idle;
                usage.idle += idle;
                usage.waiting += host.waiting();
            }
        }
        usage
    }

    /// Closes connections that are too old or that their backend has closed, and forgets unused addresses.
    pub(crate) fn sweep(&self, options: &ClientOptions) {
        self.last.take();
        for map in [&self.plain, &self.tls] {
            let hosts: Vec<Rc<HostPool<C>>> = map.borrow().values().cloned().collect();
            for host in &hosts {
                host.sweep(options.keep_alive);
            }
            drop(hosts);
            map.borrow_mut().retain(|_, host| host.open.get() > 0 || Rc::strong_count(host) > 1);
        }
    }
}

impl<C: Pooled> HostPool<C> {
    /// The connection used last, if it still stands and nobody waits for one.
    pub(crate) fn reuse(&self) -> Option<IdleConnection<C>> {
        if self.waiting() > 0 { None } else { self.idle_connection() }
    }

    fn idle_connection(&self) -> Option<IdleConnection<C>> {
        loop {
            let idle = self.idle.borrow_mut().pop_back()?;
            if idle.connection.is_quiet() {
                return Some(idle);
            }
        }
    }

    /// A connection or the right to open one; waits behind all who wait already while all are in use.
    ///
    /// `deadline` is when the request has to begin: the caller waits no longer, and where the turn of the request would
    /// come later it is refused at once.
    pub(crate) async fn take(self: &Rc<Self>, options: &ClientOptions, deadline: Instant) -> Checkout<C> {
        if self.waiting() == 0
            && let Some(checkout) = self.available(options)
        {
            return checkout;
        }
        if self.waiting() >= options.waiting {
            return Checkout::Full;
        }
        if self.wait().is_some_and(|wait| Instant::now() + wait > deadline) {
            return Checkout::Late;
        }
        let position = Position::last(self);
        poll_fn(|cx| position.poll(options, cx)).await
    }

    /// The right to open a connection, if there is room for one and nobody waits for it.
    pub(crate) fn open(self: &Rc<Self>, options: &ClientOptions) -> Option<Permit<C>> {
        if self.waiting() > 0 { None } else { self.permit(options) }
    }

    fn permit(self: &Rc<Self>, options: &ClientOptions) -> Option<Permit<C>> {
        if self.open.get() >= options.connections {
            return None;
        }
        self.open.set(self.open.get() + 1);
        Some(Permit { host: Rc::clone(self), born: Tick::now(), life: options.life })
    }

    fn available(self: &Rc<Self>, options: &ClientOptions) -> Option<Checkout<C>> {
        if let Some(idle) = self.idle_connection() {
            return Some(Checkout::Reused(idle));
        }
        self.permit(options).map(Checkout::Open)
    }

    /// How long whoever comes now would wait, where that can be told: a whole turnover was seen since the queue began.
    fn wait(&self) -> Option<Duration> {
        let queue = self.queue.borrow();
        // A turnover that takes longer than the last is at least as long as it has taken so far.
        let turnover = queue.turnover?.max(queue.turnover_began?.elapsed());
        let turnovers = (queue.waiting.len() + 1) as f64 / self.open.get().max(1) as f64;
        Some(turnover.mul_f64(turnovers))
    }

    fn sweep(&self, keep_alive: Duration) {
        // Taken out first: dropping a connection gives back its permit, which looks at this pool again.
        let mut idle = std::mem::take(&mut *self.idle.borrow_mut());
        idle.retain(|idle| Tick::since(idle.since) < keep_alive && idle.connection.is_quiet());
        let mut now = self.idle.borrow_mut();
        idle.extend(now.drain(..));
        *now = idle;
    }
}

impl<C> Pool<C> {
    /// Closes all connections that nobody uses, for the process needs what they take.
    pub(crate) fn close_idle(&self) {
        for map in [&self.plain, &self.tls] {
            let hosts: Vec<Rc<HostPool<C>>> = map.borrow().values().cloned().collect();
            hosts.iter().for_each(|host| host.close_idle());
        }
    }
}

impl<C> Drop for Pool<C> {
    fn drop(&mut self) {
        // A connection and the pool of its host hold each other.
        self.close_idle();
    }
}

impl<C> HostPool<C> {
    /// Closes all connections that nobody uses.
    fn close_idle(&self) {
        // Taken out first: dropping a connection gives back its permit, which looks at this pool again.
        let idle = std::mem::take(&mut *self.idle.borrow_mut());
        drop(idle);
    }

    fn waiting(&self) -> usize {
        self.queue.borrow().waiting.len()
    }

    /// Lets the first who waits see what has come free.
    fn wake_first(&self) {
        let waker = self.queue.borrow().waiting.front().map(|(_, waker)| waker.clone());
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<'a, C: Pooled> Position<'a, C> {
    fn last(host: &'a Rc<HostPool<C>>) -> Position<'a, C> {
        let queue = &mut *host.queue.borrow_mut();
        if queue.waiting.is_empty() {
            (queue.turnover_began, queue.turned_over, queue.turnover) = (Some(Instant::now()), 0, None);
        }
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back((number, Waker::noop().clone()));
        Position { host, number }
    }

    fn poll(&self, options: &ClientOptions, cx: &mut Context<'_>) -> Poll<Checkout<C>> {
        let is_first = self.host.queue.borrow().waiting.front().is_some_and(|(number, _)| *number == self.number);
        if is_first && let Some(checkout) = self.host.available(options) {
            let queue = &mut *self.host.queue.borrow_mut();
            queue.turned_over += 1;
            if queue.turned_over >= self.host.open.get() {
                queue.turnover = queue.turnover_began.map(|began| began.elapsed());
                (queue.turnover_began, queue.turned_over) = (Some(Instant::now()), 0);
            }
            return Poll::Ready(checkout);
        }
        let queue = &mut *self.host.queue.borrow_mut();
        if let Ok(index) = queue.waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            queue.waiting[index].1.clone_from(cx.waker());
        }
        Poll::Pending
    }
}

impl<C: Pooled> Drop for Position<'_, C> {
    fn drop(&mut self) {
        let queue = &mut *self.host.queue.borrow_mut();
        if let Ok(index) = queue.waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            queue.waiting.remove(index);
        }
        // There may be more than what this one took, or left.
        if let Some((_, waker)) = queue.waiting.front() {
            waker.wake_by_ref();
        }
    }
}

impl<C> Permit<C> {
    /// Keeps a connection for the next request, or closes it when it has lived long enough.
    pub(crate) fn give_back(&self, connection: Rc<C>) {
        if Tick::since(self.born) < self.life {
            self.host.idle.borrow_mut().push_back(IdleConnection { connection, since: Tick::now() });
            self.host.wake_first();
        }
    }
}

impl<C> Drop for Permit<C> {
    fn drop(&mut self) {
        self.host.open.set(self.host.open.get() - 1);
        self.host.wake_first();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that is given back where it came from.
    struct Fake(Permit<Fake>);

    impl Pooled for Fake {
        fn is_quiet(&self) -> bool {
            true
        }
    }

    fn options(connections: usize) -> ClientOptions {
        ClientOptions { connections, ..ClientOptions::default() }
    }

    fn connection(checkout: Checkout<Fake>) -> Rc<Fake> {
        match checkout {
            Checkout::Reused(idle) => idle.connection,
            Checkout::Open(permit) => Rc::new(Fake(permit)),
            Checkout::Full | Checkout::Late => panic!("refused"),
        }
    }

    fn give_back(connection: &Rc<Fake>) {
        connection.0.give_back(Rc::clone(connection));
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_longer_is_served_first_though_a_newcomer_finds_a_free_connection() {
        let (pool, options) = (Pool::default(), options(1));
        let host = pool.host(&Uri::from_static("http://a")).unwrap();
        let held = connection(host.take(&options, soon()).await);
        let order = RefCell::new(Vec::new());
        let waiting = |number| {
            let (host, options, order) = (&host, &options, &order);
            async move {
                let taken = connection(host.take(options, soon()).await);
                order.borrow_mut().push(number);
                tokio::time::sleep(Duration::from_millis(10)).await;
                give_back(&taken);
            }
        };
        let newcomers = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(host.waiting(), 3);
            give_back(&held);
            // The connection is free, and nobody who waits has run yet.
            assert!(host.reuse().is_none() && host.open(&options).is_none());
            waiting(4).await;
        };
        tokio::join!(waiting(1), waiting(2), waiting(3), newcomers);
        assert_eq!(*order.borrow(), [1, 2, 3, 4]);
        let PoolUsage { used, waiting, .. } = pool.usage();
        assert_eq!((host.waiting(), used, waiting), (0, 0, 0));
        assert!(host.reuse().is_some());
    }

    #[test]
    fn a_pool_that_goes_closes_what_nobody_uses() {
        let pool = Pool::default();
        let permit = pool.host(&Uri::from_static("http://a")).unwrap().open(&options(1)).unwrap();
        let unused = Rc::new(Fake(permit));
        give_back(&unused);
        let left = Rc::downgrade(&unused);
        drop(unused);
        assert!(left.upgrade().is_some());
        drop(pool);
        assert!(left.upgrade().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_takes_nothing_along() {
        let (pool, options) = (Pool::default(), options(1));
        let host = pool.host(&Uri::from_static("http://a")).unwrap();
        let held = connection(host.take(&options, soon()).await);
        let gives_up = tokio::time::timeout(Duration::from_millis(5), host.take(&options, soon()));
        let stays = tokio::time::timeout(Duration::from_secs(1), host.take(&options, soon()));
        let gives_back = async {
            tokio::time::sleep(Duration::from_millis(7)).await;
            give_back(&held);
        };
        let (gave_up, stayed, ()) = tokio::join!(gives_up, stays, gives_back);
        assert!(gave_up.is_err() && matches!(stayed, Ok(Checkout::Reused(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_turn_would_come_too_late_is_refused_at_once() {
        let (pool, options) = (Pool::default(), options(2));
        let host = pool.host(&Uri::from_static("http://a")).unwrap();
        let work = async || {
            let taken = connection(host.take(&options, Instant::now() + Duration::from_secs(60)).await);
            tokio::time::sleep(Duration::from_secs(2)).await;
            give_back(&taken);
        };
        let later = async {
            let by = |seconds| Instant::now() + Duration::from_secs(seconds);
            tokio::time::sleep(Duration::from_secs(1)).await;
            // Nothing is known yet of how long the backend takes.
            assert!(tokio::time::timeout(Duration::from_millis(1), host.take(&options, by(0))).await.is_err());
            // Two connections, two seconds each, and four who wait: the next one begins in five seconds.
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert_eq!(host.waiting(), 4);
            let asked = Instant::now();
            assert!(matches!(host.take(&options, by(4)).await, Checkout::Late));
            assert_eq!(asked.elapsed(), Duration::ZERO);
            assert!(matches!(host.take(&options, by(6)).await, Checkout::Reused(_)));
            assert_eq!(asked.elapsed().as_secs_f64().round(), 5.0);
        };
        tokio::join!(work(), work(), work(), work(), work(), work(), work(), work(), later);
    }
}
