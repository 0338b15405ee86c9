//! Joins mediation to transport: requests go into the engine, and what it sends goes out through the client.

use std::borrow::Cow;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use myelin_mediation::transport::{
    LocalFuture, Method, Outgoing, Overloaded, SendError, SendErrorKind, Transport, Work,
};
use myelin_mediation::{Arrival, Engine};
use myelin_message::{HeaderId, Message};
use myelin_transport::{Client, ErrorKind, Manner, Record, Request, Service};

use crate::access_log::Lines;
use crate::correlation;
use crate::local;
use crate::server::{Buses, Swap};
use crate::worker::{WorkOptions, Worker};

/// The engine's way out.
pub(crate) struct Wires {
    client: Rc<Client>,
    worker: Worker,
    /// Who serves what is sent to `local://`.
    own: RefCell<Weak<Bus>>,
    local: local::Count,
}

/// When the clock of [`Transport::monotonic`] began. All threads go by the same one, for they share what they know of
/// endpoints, and so does the bus that follows after a reload.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Wires {
    pub(crate) fn new(client: Rc<Client>, work: WorkOptions) -> Wires {
        Wires { client, worker: Worker::new(work), own: RefCell::default(), local: local::Count::default() }
    }

    /// Says who serves what is sent to `local://`.
    pub(crate) fn serve_own(&self, bus: &Rc<Bus>) {
        self.own.replace(Rc::downgrade(bus));
    }
}

impl Transport for Wires {
    fn send<'a>(&'a self, request: Outgoing) -> LocalFuture<'a, Result<Message, SendError>> {
        if request.uri.scheme_str() == Some("local") {
            let own = self.own.borrow().upgrade().map(|bus| bus.engine());
            return match own {
                Some(engine) => Box::pin(local::send(request, engine, &self.local)),
                // Only while the thread ends.
                None => Box::pin(std::future::ready(Err(SendError {
                    kind: SendErrorKind::ConnectFailed,
                    message: "the bus stops".to_owned(),
                }))),
            };
        }
        let Outgoing { method, uri, head, body, timeout, host, manner } = request;
        let manner = Manner { close: manner.close, http10: manner.http10, absolute: manner.absolute };
        let method = match method {
            Method::AsCame => None,
            Method::Named(name) => Some(name),
        };
        Box::pin(async move {
            let sent = self.client.send(Request { method, uri, head, body, timeout, host, manner }).await;
            sent.map_err(|error| SendError { kind: kind(&error.kind), message: error.to_string() })
        })
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        START.elapsed()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn turn(&self) -> LocalFuture<'static, ()> {
        // Who only wakes itself goes on before the sockets are asked.
        Box::pin(tokio::task::yield_now())
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        tokio::task::spawn_local(task);
    }

    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        Box::pin(self.worker.run(work))
    }

    fn deadline(&self, after: Duration) -> Box<dyn Fn() -> bool + Send> {
        let end = Instant::now() + after;
        Box::new(move || Instant::now() >= end)
    }
}

fn kind(kind: &ErrorKind) -> SendErrorKind {
    match kind {
        ErrorKind::ConnectTimeout => SendErrorKind::ConnectTimeout,
        ErrorKind::ResponseTimeout => SendErrorKind::ResponseTimeout,
        ErrorKind::Closed => SendErrorKind::Closed,
        ErrorKind::Protocol => SendErrorKind::Protocol,
        ErrorKind::Sending => SendErrorKind::Sending,
        ErrorKind::Request(body) => SendErrorKind::Request(*body),
        ErrorKind::Overloaded => SendErrorKind::Overloaded,
        // An address nobody can send to is as good as one where nobody listens.
        _ => SendErrorKind::ConnectFailed,
    }
}

/// One thread's engine as the listeners see it.
pub(crate) struct Bus {
    /// What new requests are served by; those under way hold on to theirs, and with it to the bus that it serves.
    engine: RefCell<Rc<Engine>>,
    /// Whether there is another bus to serve.
    buses: RefCell<Buses>,
    /// Requests without a correlation id get one.
    correlate: bool,
    access_log: Option<Rc<Lines>>,
}

impl Bus {
    pub(crate) fn new(swap: &Swap, wires: Rc<dyn Transport>, correlate: bool, access_log: Option<Rc<Lines>>) -> Bus {
        let mut buses = swap.subscribe();
        let engine = Engine::new(Arc::clone(&buses.borrow_and_update()), wires);
        Bus { engine: RefCell::new(Rc::new(engine)), buses: RefCell::new(buses), correlate, access_log }
    }

    /// The engine of the bus that serves now.
    pub(crate) fn engine(&self) -> Rc<Engine> {
        let mut buses = self.buses.borrow_mut();
        // A bus whose swap is gone serves on.
        if buses.has_changed().unwrap_or(false) {
            let bus = Arc::clone(&buses.borrow_and_update());
            let renewed = self.engine.borrow().renewed(bus);
            self.engine.replace(Rc::new(renewed));
        }
        Rc::clone(&self.engine.borrow())
    }

    /// Requests without an answer, and flows beside their first one.
    pub(crate) fn under_way(&self) -> (usize, usize) {
        let engine = self.engine();
        (engine.counts().exchanges.get(), engine.counts().branches.get())
    }

    /// Lets go of a bus that was replaced though no request comes; ends with the thread.
    pub(crate) async fn keep_up(self: Rc<Bus>, swap: Swap) {
        let mut buses = swap.subscribe();
        while buses.changed().await.is_ok() {
            self.engine();
        }
    }
}

impl Service for Bus {
    fn serve<'a>(
        &'a self,
        mut request: Message,
        arrival: myelin_transport::Arrival,
    ) -> Pin<Box<dyn Future<Output = Message> + 'a>> {
        Box::pin(async move {
            let came = request.head.known(HeaderId::ActivityId);
            let came = came.map(|value| String::from_utf8_lossy(value).into_owned());
            let id = match came {
                Some(id) => Cow::Owned(id),
                None if self.correlate => {
                    let id = correlation::fresh();
                    // A UUID is always a value a header can hold.
                    let _ = request.head.append(correlation::HEADER, id.as_bytes());
                    Cow::Owned(id)
                }
                None => Cow::Borrowed(""),
            };
            let myelin_transport::Arrival { peer, local, secure, inbound } = arrival;
            let mut answer =
                self.engine().serve(request, Arrival { peer, local, secure, inbound, correlation: &id }).await;
            if self.correlate && answer.head.known(HeaderId::ActivityId).is_none() {
                // What came in a header can leave in one.
                let _ = answer.head.append(correlation::HEADER, id.as_bytes());
            }
            answer
        })
    }

    fn records(&self) -> bool {
        self.access_log.is_some()
    }

    fn finished(&self, record: &Record) {
        if let Some(lines) = &self.access_log {
            lines.add(record);
        }
    }
}
