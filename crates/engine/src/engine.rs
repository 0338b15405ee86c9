//! Takes one request at a time through a bus, and always gives an answer.

mod context;
pub(crate) mod flow;
mod incoming_reply;
mod receive;
mod record;
mod redirect;
mod scheduler;

pub(crate) use context::{EngineContext, EngineParts, FlowKind};
pub use receive::receive;
use scheduler::Refusable;
pub(crate) use scheduler::{Demand, Scheduler, TimeShare};

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pub use myelin_message::Arrival;
use myelin_message::{Body, Message, StatusCode};

use crate::branch::FirstBranchContext;
use crate::bus::Bus;
use crate::dispatch::{Route, dispatch};
use crate::engine::record::ExchangeRecord;
use crate::service::Service;
use myelin_artefacts::apis::{self, Passed};
use myelin_artefacts::proxies;
use myelin_flow::answer;
use myelin_flow::context::{Counts, RequestContext};
use myelin_flow::counters::ServiceCounters;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::Fault;
use myelin_flow::observer::{Observer, Watch};
use myelin_flow::position::{ServiceIdentity, in_exchange, wait_in_service};
use myelin_flow::property::{Properties, Scope, slot};
use myelin_flow::recorder::{ExchangeStart, Recorder, RecorderSource, Recorders};
use myelin_flow::transport::Transport;

/// Serves requests on one thread.
pub struct Engine {
    parts: EngineParts,
}

/// An exchange counts as under way as long as this lives.
struct UnderWay<'a>(&'a Counts);

impl<'a> UnderWay<'a> {
    fn begin(counts: &'a Counts) -> UnderWay<'a> {
        counts.exchanges.set(counts.exchanges.get() + 1);
        UnderWay(counts)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.exchanges.set(self.0.exchanges.get() - 1);
    }
}

/// Tells who observes exchanges how this one ended: with an answer, or without one where it is dropped before.
struct Observed<'a> {
    parts: &'a EngineParts,
    watch: Watch,
    /// What is counted of the service, as soon as that is known.
    service: Cell<&'a ServiceCounters>,
    /// When it began, as long as it has not ended; `None` where nobody listens.
    began: Cell<Option<Duration>>,
}

impl<'a> Observed<'a> {
    fn begin(parts: &'a EngineParts) -> Observed<'a> {
        let watch = Watch::new(parts.observer.clone());
        let began = Cell::new(watch.begin(&*parts.transport));
        Observed { parts, watch, service: Cell::new(&parts.bus.unserved), began }
    }

    /// Asks whether this exchange is recorded, as soon as it is known what serves it.
    fn record(&self, service: &ServiceIdentity, exchange: &mut Exchange, arrival: &Arrival<'_>) {
        let EngineParts { bus, transport, recorder_sources, .. } = self.parts;
        let mut start = ExchangeStart {
            service,
            arrival,
            request: &mut exchange.message,
            definitions: &bus.definitions,
            transport,
        };
        let recorders = recorder_sources.iter().filter_map(|source| source.record(&mut start)).collect();
        if let Some(recorder) = Recorders::join(recorders) {
            self.watch.record(recorder);
            if self.began.get().is_none() {
                self.began.set(self.watch.begin(&**transport));
            }
        }
    }

    fn answered(&self, answer: &mut Message) {
        if let Some(recorder) = self.watch.recorder() {
            recorder.answers(answer);
        }
        self.watch.end(self.began.take(), &*self.parts.transport, self.service.get(), Some(answer.status));
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        self.watch.end(self.began.take(), &*self.parts.transport, self.service.get(), None);
    }
}

/// Cancels what runs beside a flow, when nobody waits for it any more.
struct Waiting<'a>(Option<&'a FirstBranchContext>);

impl Waiting<'_> {
    /// There is an answer: what runs beside may go on without the client.
    fn over(mut self) {
        self.0 = None;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(branch_context) = self.0.and_then(FirstBranchContext::get) {
            branch_context.cancel();
        }
    }
}

/// Who wants an exchange.
#[derive(Clone, Copy)]
enum Caller<'a> {
    /// A client.
    Client,
    /// A flow of the same bus, which runs this one within itself.
    Flow,
    /// A source; where it is noted how the exchange ends.
    Source(&'a ExchangeRecord),
}

/// A service that does not hang on the request: that of a source.
struct SourceService<'a> {
    service: Service<'a>,
    /// The properties that the exchange starts with.
    properties: Properties,
}

impl Engine {
    /// An engine for one thread; engines on other threads share the bus.
    pub fn new(bus: Arc<Bus>, transport: Rc<dyn Transport>) -> Engine {
        let scheduler = Scheduler::new(Rc::clone(&transport));
        let (counts, recorder_sources) = (Rc::default(), Rc::default());
        Engine { parts: EngineParts { bus, transport, counts, scheduler, observer: None, recorder_sources } }
    }

    /// The same, of whose exchanges somebody hears.
    pub fn observed_by(&self, observer: Rc<dyn Observer>) -> Engine {
        Engine { parts: EngineParts { observer: Some(observer), ..self.parts.clone() } }
    }

    /// The same, whose exchanges are recorded by these, each as it decides.
    pub fn recorded_by(&self, recorder_sources: Rc<[Rc<dyn RecorderSource>]>) -> Engine {
        Engine { parts: EngineParts { recorder_sources, ..self.parts.clone() } }
    }

    /// The engine of the bus that takes this one's place on the same thread; both count together what is under way.
    pub fn renewed(&self, bus: Arc<Bus>) -> Engine {
        Engine { parts: EngineParts { bus, ..self.parts.clone() } }
    }

    /// The bus this engine serves.
    pub fn bus(&self) -> &Arc<Bus> {
        &self.parts.bus
    }

    /// What is under way on its thread.
    pub fn counts(&self) -> &Counts {
        &self.parts.counts
    }

    /// What surrounds a first flow.
    pub(crate) fn context<'a>(
        &'a self,
        service: Service<'a>,
        arrival: Arrival<'a>,
        (branch_context, watch): (&'a FirstBranchContext, &'a Watch),
    ) -> EngineContext<'a> {
        let context = RequestContext {
            definitions: &self.parts.bus.definitions,
            transport: &*self.parts.transport,
            arrival,
            service: service.identity(&self.parts.bus),
            counts: &self.parts.counts,
            branches: branch_context,
            watch,
        };
        EngineContext { context, bus: &self.parts.bus, service, flow: FlowKind::First(&self.parts, branch_context) }
    }

    /// Serves one request.
    ///
    /// Shape: the answer's head may still hold a backend's framing and hop-by-hop lines, which the transport drops;
    /// a body that nobody read is still on the backend's wire.
    /// Errors: none; whatever goes wrong is an answer with a status from 400 on, and one line in the log.
    pub fn serve<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> impl Future<Output = Message> + 'a {
        self.answer(request, arrival, Caller::Client, None)
    }

    /// Serves what a flow of this bus sends to a service of it.
    ///
    /// It needs no turn of its own: who sent it has one, and would wait for itself.
    /// Shape and errors: as [`Engine::serve`].
    pub fn serve_own<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> impl Future<Output = Message> + 'a {
        self.answer(request, arrival, Caller::Flow, None)
    }

    /// `known` is the service, where the caller knows it: no path names it then.
    fn answer<'a>(
        &'a self,
        request: Message,
        arrival: Arrival<'a>,
        caller: Caller<'a>,
        known: Option<SourceService<'a>>,
    ) -> impl Future<Output = Message> + 'a {
        // It stays where it is once it is served, and all that follows borrows it.
        let mut exchange = Exchange::new(request);
        async move {
            let _under_way = UnderWay::begin(&self.parts.counts);
            let format = exchange.format;
            let time = TimeShare::new(&self.parts.scheduler, Demand::Low);
            let observed = Observed::begin(&self.parts);
            let mut mediation = pin!(self.mediate(&mut exchange, &arrival, (caller, &time), known, &observed));
            let mut poll = |cx: &mut Context<'_>| match catch_unwind(AssertUnwindSafe(|| mediation.as_mut().poll(cx))) {
                Ok(poll) => poll,
                // A defect in one exchange ends that exchange: nothing of it is shared with the others.
                Err(_) => {
                    let fault = Fault::bus("The bus failed while it served this request");
                    fault.log(&arrival);
                    observed.watch.fault(&fault);
                    Poll::Ready(answer::from_fault(&fault, format))
                }
            };
            let mut answer = poll_fn(|cx| {
                ready!(time.poll_turn(cx));
                in_exchange(arrival.correlation, || time.run(|| poll(cx)))
            })
            .await;
            observed.answered(&mut answer);
            answer
        }
    }

    /// `time` is what it runs by.
    async fn mediate<'a>(
        &'a self,
        exchange: &mut Exchange,
        arrival: &Arrival<'_>,
        (caller, time): (Caller<'_>, &TimeShare),
        known: Option<SourceService<'a>>,
        observed: &Observed<'a>,
    ) -> Message {
        let (bus, transport) = (&*self.parts.bus, &*self.parts.transport);
        let mut passed = Passed::default();
        let mut properties = Properties::default();
        let (service, postfix_start) = if let Some(SourceService { service, properties: brought }) = known {
            properties = brought;
            observed.record(service.identity(bus), exchange, arrival);
            (service, usize::MAX)
        } else {
            let route = dispatch(bus, &exchange.message.head, arrival);
            if !self.parts.recorder_sources.is_empty()
                && let Some(identity) = route.identity(bus)
            {
                observed.record(identity, exchange, arrival);
            }
            match route {
                Route::Proxy(proxy, postfix_start) => (Service::Proxy(proxy), postfix_start),
                Route::Main(postfix_start) => (Service::Main, postfix_start),
                Route::InboundSource(source, postfix_start) => {
                    properties = source.properties();
                    (Service::InboundSource(source), postfix_start)
                }
                Route::Api(api, extent) => {
                    let entered = {
                        let request = &mut exchange.message;
                        let entering = apis::enter(api, extent, request, &bus.apis, transport, &mut passed, arrival);
                        wait_in_service(&api.identity, pin!(entering)).await
                    };
                    observed.watch.decided(|| apis::decision(api, extent, &exchange.message, arrival));
                    match entered {
                        Ok((entry, brought)) => {
                            properties = brought;
                            (Service::of_api(api, entry), extent.address_end)
                        }
                        Err(answer) => return passed.finish(*answer),
                    }
                }
                Route::Description(proxy, question_start) => {
                    let (request, definitions) = (&exchange.message, &bus.definitions);
                    let answer = proxies::answer(proxy, question_start, request, definitions, transport, arrival);
                    return wait_in_service(&proxy.identity, Box::pin(answer)).await;
                }
                Route::Reply => {
                    let nothing = Message::answer(StatusCode::OK, Body::Empty);
                    let request = std::mem::replace(&mut exchange.message, nothing);
                    return Box::pin(incoming_reply::receive(request, &bus.definitions)).await;
                }
                Route::LeftOut(left_out) => return left_out.answer(&exchange.message, arrival, transport.monotonic()),
                Route::SwitchedOff => {
                    return answer::plain(StatusCode::SERVICE_UNAVAILABLE, "This service is switched off");
                }
                Route::Nowhere => return answer::plain(StatusCode::NOT_FOUND, "Nothing is offered at this path"),
            }
        };
        if let Some(types) = &bus.definitions.settings.content_types {
            exchange.set_content_types(types);
        }
        exchange.properties = properties;
        exchange.postfix_start = postfix_start;
        exchange.guarded = service.fault(bus).is_some();
        observed.service.set(service.counters(bus));
        let serving = pin!(self.serve_for(service, exchange, arrival, (caller, time), (&passed, &observed.watch)));
        wait_in_service(service.identity(bus), serving).await
    }

    /// Serves the request of an exchange that has just begun.
    async fn serve_for(
        &self,
        service: Service<'_>,
        exchange: &mut Exchange,
        arrival: &Arrival<'_>,
        (caller, time): (Caller<'_>, &TimeShare),
        (passed, watch): (&Passed, &Watch),
    ) -> Message {
        let (bus, transport) = (&*self.parts.bus, &*self.parts.transport);
        let record = match caller {
            Caller::Client | Caller::Flow => None,
            Caller::Source(record) => Some(record),
        };
        let is_client = matches!(caller, Caller::Client);
        let branch_context = FirstBranchContext::default();
        let waiting = Waiting(Some(&branch_context));
        let engine = self.context(service, *arrival, (&branch_context, watch));
        // Whoever has to wait for its turn holds nothing but its connection.
        let turn = match bus.definitions.settings.priorities.as_ref().filter(|_| is_client) {
            None => Ok(None),
            Some(priorities) => {
                let turn = priorities.admit(&engine.context.service.name, &exchange.message.head, transport);
                Box::pin(turn).await.map(Some)
            }
        };
        let _turn = match turn {
            Ok(turn) => turn,
            Err(fault) => return passed.finish(answer::from_fault(&flow::told(fault, &engine), exchange.format)),
        };
        // A request of a flow of this bus runs in that flow's turn, and no source loses its message.
        let cost = service.cost(bus).filter(|_| !matches!(caller, Caller::Flow));
        if let Some(cost) = cost {
            let refusable = Refusable { service: service.identity(bus), body: &exchange.message.body };
            match time.begin(cost, bus.definitions.settings.costly_from, is_client.then_some(refusable)).await {
                Ok(demand) => branch_context.set_demand(demand),
                Err(fault) => return passed.finish(answer::from_fault(&fault, exchange.format)),
            }
        }
        // As in Synapse, where Rampart stands before mediation, no sequence hears of what is refused here.
        let admitted = match service.security() {
            None => None,
            Some(security) => match Box::pin(security.admit(exchange, &engine.context)).await {
                Ok(admitted) => Some(admitted),
                Err(fault) => return answer::from_fault(&flow::told(fault, &engine), exchange.format),
            },
        };
        if let Some(recorder) = watch.recorder() {
            Box::pin(begin_recording(recorder, exchange, &engine)).await;
        }
        let chosen = match service.description() {
            Some(description) => Box::pin(proxies::find_operation(description, exchange, &engine.context)).await,
            None => Ok(()),
        };
        let outcome = match chosen {
            Ok(()) => pin!(flow::converse(exchange, &engine, service.incoming(bus), true)).await,
            Err(fault) => Ok(Some(answer::from_fault(&flow::told(fault, &engine), exchange.format))),
        };
        let answer = match outcome {
            Ok(None) if branch_context.get().is_some() => {
                Box::pin(flow::answered_beside(&engine, exchange.format, record)).await
            }
            Ok(answer) => {
                if let Some(record) = record {
                    record.answered.set(answer.is_some());
                }
                answer.unwrap_or_else(answer::accepted)
            }
            // Faults are rare: on the heap they do not make every exchange larger.
            Err(fault) => {
                match Box::pin(flow::recover(exchange, &engine, fault)).await {
                    Ok(answer) => {
                        if let Some(record) = record {
                            record.answered.set(true);
                        }
                        answer
                    }
                    // A handler goes on in branches, whose answers come before the fault.
                    Err(fault) if branch_context.get().is_some() => {
                        engine.branch_context().fail(fault);
                        Box::pin(flow::answered_beside(&engine, exchange.format, record)).await
                    }
                    Err(fault) => {
                        if let Some(record) = record {
                            record.fail(&fault);
                        }
                        answer::from_fault(&fault, exchange.format)
                    }
                }
            }
        };
        if let Some(record) = record {
            let is_set = |scope| exchange.properties.is_true(scope, slot::SET_ROLLBACK_ONLY);
            record.rolled_back.set(is_set(Scope::Default) || is_set(Scope::Axis2));
        }
        waiting.over();
        let answer = passed.finish(if exchange.accepted { answer::accepted() } else { answer });
        let answer = match admitted {
            Some(admitted) => Box::pin(admitted.secure(answer, exchange.format, &engine.context)).await,
            None => answer,
        };
        let answer = match exchange.reply_addresses.take() {
            Some(addresses) => Box::pin(redirect::redirect(answer, &addresses, &self.parts, &engine)).await,
            None => answer,
        };
        if let Some(cost) = cost {
            time.end(cost, branch_context.used());
        }
        answer
    }
}

/// Lets a recorder wait for what it has to know of a request before anything is done with it.
async fn begin_recording(recorder: &dyn Recorder, exchange: &mut Exchange, engine: &EngineContext<'_>) {
    if let Some(future) = recorder.came(Direction::Request, &mut exchange.message.body, engine.context.transport) {
        future.await;
    }
    if let Some(future) = recorder.begins(exchange, &engine.context) {
        future.await;
    }
}
