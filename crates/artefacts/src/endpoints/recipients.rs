//! `<recipientlist>`: every member gets a copy of the message, all beside each other.
//!
//! Source: Synapse's `RecipientListEndpoint`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::endpoints::address::absolute;
use crate::endpoints::endpoint::{Endpoint, EndpointKind, EndpointRef, Endpoints};
use crate::endpoints::health::Health;
use crate::endpoints::state::Rules;
use crate::endpoints::timeout::Timeout;
use myelin_config::problem::Place;
use myelin_expression::Expression;
use myelin_expression::Need;
use myelin_flow::branches::BranchProperties;
use myelin_flow::context::RequestContext;
use myelin_flow::fault::{Fault, Outcome};

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

impl Recipients {
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
    pub(super) fn members(&self, addresses: &str, context: &RequestContext<'_>) -> Outcome<Vec<EndpointRef>> {
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
            kind: EndpointKind::Address { uri, text: address.to_owned() },
            health: Arc::new(Health::new(self.rules.clone())),
            properties: None,
            timeout: Timeout::Fixed(context.definitions.settings.endpoints.timeout),
            discard: false,
            on_error: None,
            policy: None,
            counters: Arc::clone(Endpoints::of(context.definitions).unnamed_counters()),
            is_traced: false,
        })
    }
}
