//! `<recipientlist>`: every member gets a copy of the message, all beside each other.
//!
//! Source: Synapse's `RecipientListEndpoint`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::endpoints::deliver::{Delivered, is_ready};
use crate::endpoints::pending::send_branch;
use crate::endpoints::state::Rules;
use crate::endpoints::{Endpoint, EndpointRef, Health, NONE_READY, Target, Timeout, absolute};
use crate::splitting::Splitter;
use myelin_config::problem::Place;
use myelin_expression::Expression;
use myelin_expression::Need;
use myelin_flow::branches::{BranchProperties, BranchResponse, BranchTargets};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::transport::LocalFuture;

/// No message goes to more recipients that an expression names.
const RECIPIENT_LIMIT: usize = 1000;

/// Several endpoints that all get each message.
pub struct Recipients {
    pub(super) list: List,
    pub(super) marks: BranchProperties,
}

/// Who the recipients are.
pub(super) enum List {
    Members(Box<[EndpointRef]>),
    /// The addresses that an expression gives, with commas between them.
    Computed {
        expression: Expression,
        need: Need,
        pool: Arc<Pool>,
    },
}

/// The endpoints of addresses that came up while serving, so that what is known of them is kept for the next message.
pub(super) struct Pool {
    place: Place,
    rules: Rules,
    limit: usize,
    /// The one that was used last stands last.
    known: Mutex<VecDeque<(String, Arc<Endpoint>)>>,
}

/// The recipients of one message.
struct ReadyRecipients(Vec<EndpointRef>);

impl BranchTargets for ReadyRecipients {
    fn run<'a>(
        &'a self,
        number: usize,
        response: BranchResponse,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> LocalFuture<'a, Outcome<Flow>> {
        Box::pin(async move {
            match self.0.get(number) {
                Some(endpoint) => send_branch(endpoint, response, exchange, context).await,
                None => Ok(Flow::Drop),
            }
        })
    }
}

impl Recipients {
    /// Makes a copy of the current message for each recipient that is ready; their flows go on by themselves.
    ///
    /// Errors: 303000 where none is ready, or of whoever sent a body that cannot be read.
    pub(super) async fn deliver(
        &self,
        depth: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        endpoint: &Endpoint,
    ) -> Delivered {
        let computed;
        let members: &[EndpointRef] = match &self.list {
            List::Members(members) => members,
            List::Computed { expression, need, pool } => {
                need.fulfil(exchange, context).await?;
                computed = pool.members(&expression.text(exchange, context)?.unwrap_or_default(), context)?;
                &computed
            }
        };
        let is_ready = |member: &&EndpointRef| {
            member
                .find(context.definitions)
                .is_some_and(|found| is_ready(found, context.definitions, context.transport, depth + 1))
        };
        let ready: Vec<EndpointRef> = members.iter().filter(is_ready).cloned().collect();
        if ready.is_empty() {
            return Err(Fault::not_ready(NONE_READY, format!("no recipient of {endpoint} is ready")));
        }
        Need::read().fulfil(exchange, context).await?;
        let count = ready.len();
        Splitter::to(ReadyRecipients(ready), self.marks).split_copies(exchange, context, count)?;
        Ok(None)
    }

    /// Those that stand in the configuration.
    pub(super) fn members(&self) -> &[EndpointRef] {
        match &self.list {
            List::Members(members) => members,
            List::Computed { .. } => &[],
        }
    }
}

impl Pool {
    pub(super) fn new(place: Place, rules: Rules, limit: usize) -> Pool {
        Pool { place, rules, limit, known: Mutex::default() }
    }

    /// The endpoints of some addresses.
    ///
    /// Errors: the bus's, where there are too many, or one is none.
    fn members(&self, addresses: &str, context: &RequestContext<'_>) -> Outcome<Vec<EndpointRef>> {
        let addresses = addresses.split(',').map(str::trim).filter(|address| !address.is_empty());
        let members = addresses.take(RECIPIENT_LIMIT + 1).map(|address| self.member(address, context));
        let members = members.collect::<Outcome<Vec<_>>>()?;
        if members.len() > RECIPIENT_LIMIT {
            return Err(Fault::bus(format!("A message is to go to more than {RECIPIENT_LIMIT} recipients")));
        }
        Ok(members)
    }

    fn member(&self, address: &str, context: &RequestContext<'_>) -> Outcome<EndpointRef> {
        // Whatever was half-way done, all that stands in it is right.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().position(|(known, _)| known == address).and_then(|at| known.remove(at));
        let (address, endpoint) = match found {
            Some(found) => found,
            None => (address.to_owned(), Arc::new(self.endpoint(address, context)?)),
        };
        if known.len() >= self.limit.max(1) {
            known.pop_front();
        }
        known.push_back((address, Arc::clone(&endpoint)));
        Ok(EndpointRef::Inline(endpoint))
    }

    fn endpoint(&self, address: &str, context: &RequestContext<'_>) -> Outcome<Endpoint> {
        let uri = absolute(address)
            .map_err(|message| Fault::bus("The address of a recipient is not valid").with_detail(message))?;
        Ok(Endpoint {
            name: address.into(),
            place: self.place.clone(),
            target: Target::Address { uri, text: address.to_owned() },
            health: Arc::new(Health::new(self.rules.clone())),
            properties: None,
            timeout: Timeout::Fixed(context.definitions.settings.endpoints.timeout),
            discard: false,
            on_error: None,
            surroundings: None,
        })
    }
}
