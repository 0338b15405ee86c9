//! Messages that sources bring: from folders, triggers and, later, brokers.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use crate::engine::record::ExchangeRecord;
use crate::engine::{Caller, Engine, SourceService};
use crate::service::Service;
use myelin_artefacts::inbound::{Receiving, ReceivingService};
use myelin_channel::{Delivery, Ending, Runtime};
use myelin_flow::branches::BranchPermits;
use myelin_flow::identity;
use myelin_flow::position::{wait_in_exchange, wait_in_service};
use myelin_message::{Arrival, CorrelationId};

/// So many messages of one source are under way at once; the next one waits.
const LIMIT: usize = 100;

/// Takes what a source brings into an engine, until it brings no more, or until this is dropped.
///
/// Shape: what was taken goes on when this is dropped. Of all engines of a bus one receives from a source.
pub async fn receive(receiving: Arc<Receiving>, engine: Rc<Engine>) {
    let transport = Rc::clone(&engine.parts.transport);
    let mut receiver = receiving.source.open(Rc::clone(&transport) as Rc<dyn Runtime>);
    let permits = BranchPermits::new(LIMIT, usize::MAX);
    loop {
        receiving.state.on().await;
        let Some(delivery) = receiver.next().await else { break };
        if receiving.state.is_off() {
            // What is dropped unheard stays where it was.
            drop(delivery);
            continue;
        }
        let permit = permits.take(0).await;
        let (receiving, engine) = (Arc::clone(&receiving), Rc::clone(&engine));
        transport.spawn(Box::pin(async move {
            engine.serve_delivery(&receiving, delivery).await;
            drop(permit);
        }));
    }
}

impl Engine {
    /// Serves a message that a source brought, and tells the source how that ended.
    async fn serve_delivery(&self, receiving: &Receiving, delivery: Delivery) {
        let branches = &self.parts.counts.branches;
        branches.set(branches.get() + 1);
        let Delivery { message, arrival, acknowledge } = delivery;
        let correlation = CorrelationId::from(identity::uuid());
        let inbound = receiving.inbound();
        let arrival = Arrival { inbound, correlation: &correlation, ..arrival };
        let service = match &receiving.receiver {
            ReceivingService::Inbound(inbound) => Some(Service::InboundSource(inbound)),
            ReceivingService::Proxy(name) => self.parts.bus.proxies.get(&**name).map(Service::Proxy),
        };
        let record = ExchangeRecord::default();
        let ending = match service {
            Some(service) => {
                let known = SourceService { service, properties: receiving.properties.clone() };
                let answer = self.answer(message, arrival, Caller::Source(&record), Some(known)).await;
                match record.fault.take() {
                    _ if record.rolled_back.get() => Ending::RolledBack,
                    Some((code, message)) => Ending::Faulted { code, message },
                    None if record.answered.get() => Ending::Answered(answer),
                    None => Ending::Accepted,
                }
            }
            None => {
                tracing::error!("{receiving}: its proxy is not offered");
                let message = "the proxy is not offered".to_owned();
                Ending::Faulted { code: "0".to_owned(), message }
            }
        };
        let acknowledged = pin!(acknowledge(ending));
        match service {
            Some(service) => {
                let acknowledged = pin!(wait_in_service(service.identity(&self.parts.bus), acknowledged));
                wait_in_exchange(&correlation, acknowledged).await;
            }
            None => wait_in_exchange(&correlation, acknowledged).await,
        }
        branches.set(branches.get() - 1);
    }
}
