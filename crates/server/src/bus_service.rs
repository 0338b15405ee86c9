//! The bus as the listeners of one thread see it: a service that answers requests.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use myelin_channel::LocalFuture;
use myelin_engine::position::in_exchange;
use myelin_engine::recorder::RecorderSource;
use myelin_engine::transport::Transport;
use myelin_engine::{Engine, identity};
use myelin_http::{Record, Recorded, Service, wire_log};
use myelin_message::{Arrival, CorrelationId, HeaderId, Message};

use crate::access_log::Lines;
use crate::correlation;
use crate::exchange_observer::ExchangeObserver;
use crate::swap::{Buses, Swap};

/// One thread's engine as the listeners see it.
pub(crate) struct BusService {
    /// What new requests are served by; those under way hold on to theirs, and with it to the bus that it serves.
    engine: RefCell<Rc<Engine>>,
    /// Whether there is another bus to serve.
    buses: RefCell<Buses>,
    /// Requests without a correlation id get one.
    correlates: Arc<AtomicBool>,
    access_log: Option<Rc<Lines>>,
    /// Hears of the engine's exchanges; `None` where nobody wants to know.
    observer: Option<Rc<ExchangeObserver>>,
}

/// What is kept of a request whose bytes are counted and which nobody writes a line of.
static NUMBERS: Recorded = Recorded { lines: false, request_headers: Vec::new(), response_headers: Vec::new() };

impl BusService {
    pub(crate) fn new(
        swap: &Swap,
        transport: Rc<dyn Transport>,
        correlates: Arc<AtomicBool>,
        access_log: Option<Rc<Lines>>,
    ) -> BusService {
        let mut buses = swap.subscribe();
        let engine = Engine::new(Arc::clone(&buses.borrow_and_update()), transport);
        BusService {
            engine: RefCell::new(Rc::new(engine)),
            buses: RefCell::new(buses),
            correlates,
            access_log,
            observer: None,
        }
    }

    /// The same, of whose exchanges somebody hears, if anybody does.
    pub(crate) fn observed_by(self, observer: Option<Rc<ExchangeObserver>>) -> BusService {
        if let Some(observer) = observer.clone() {
            let engine = self.engine.replace_with(|engine| Rc::new(engine.observed_by(observer)));
            drop(engine);
        }
        BusService { observer, ..self }
    }

    /// The same, whose exchanges are recorded by these, each as it decides.
    pub(crate) fn recorded_by(self, recorder_sources: Rc<[Rc<dyn RecorderSource>]>) -> BusService {
        let engine = self.engine.replace_with(|engine| Rc::new(engine.recorded_by(recorder_sources)));
        drop(engine);
        self
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

    #[cold]
    fn show_request(&self, id: &CorrelationId, arrival: &Arrival<'_>, request: &Message) {
        in_exchange(id, || wire_log::request_from(&peer(arrival), request));
    }

    #[cold]
    fn show_answer(&self, id: &CorrelationId, arrival: &Arrival<'_>, answer: &Message) {
        in_exchange(id, || wire_log::answer_to(&peer(arrival), answer));
    }

    /// Lets go of a bus that was replaced though no request comes; ends with the thread.
    pub(crate) async fn keep_up(self: Rc<BusService>, swap: Swap) {
        let mut buses = swap.subscribe();
        while buses.changed().await.is_ok() {
            self.engine();
        }
    }
}

/// How the wire log names a client.
fn peer(arrival: &Arrival<'_>) -> String {
    arrival.peer.map_or_else(|| arrival.transport.to_owned(), |peer| peer.to_string())
}

impl Service for BusService {
    fn serve<'a>(&'a self, mut request: Message, arrival: Arrival<'a>) -> LocalFuture<'a, Message> {
        Box::pin(async move {
            let correlates = self.correlates.load(Ordering::Relaxed);
            let id = match CorrelationId::of(&request.head) {
                Some(id) => id,
                None if correlates => {
                    let id = CorrelationId::from(identity::uuid());
                    correlation::add(&mut request.head, &id);
                    id
                }
                None => CorrelationId::on_demand(identity::new),
            };
            if wire_log::shows_heads() {
                self.show_request(&id, &arrival, &request);
            }
            let engine = self.engine();
            // Pinned where it is made: waiting for the future itself would move it once more.
            let serving = pin!(engine.serve(request, Arrival { correlation: &id, ..arrival }));
            let mut answer = serving.await;
            if correlates && answer.head.known(HeaderId::ActivityId).is_none() {
                correlation::add(&mut answer.head, &id);
            }
            if let (Some(observer), Some(trace)) = (&self.observer, id.trace()) {
                observer.belongs_to(trace);
            }
            if wire_log::shows_heads() {
                self.show_answer(&id, &arrival, &answer);
            }
            answer
        })
    }

    fn recorded(&self) -> Option<&Recorded> {
        match &self.access_log {
            Some(lines) => Some(lines.recorded()),
            None => self.observer.as_ref().map(|_| &NUMBERS),
        }
    }

    fn answered(&self, record: &mut Record) {
        if let Some(observer) = &self.observer {
            observer.note(record);
        }
    }

    fn finished(&self, record: &Record) {
        if let Some(lines) = &self.access_log {
            lines.add(record);
        }
        if let Some(observer) = &self.observer {
            observer.finished(record);
        }
    }
}
