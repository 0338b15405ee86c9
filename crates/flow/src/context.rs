//! What surrounds an exchange while it runs.

use std::cell::Cell;
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use myelin_json::Rules;
use myelin_message::Arrival;
use myelin_xpath::Moment;

use crate::branches::CorrelationGroup;
use crate::definitions::Definitions;
use crate::fault::Fault;
use crate::observer::Watch;
use crate::position::ServiceIdentity;
use crate::transport::Transport;

/// What stays the same while an exchange runs.
pub struct RequestContext<'a> {
    /// What the configuration defines.
    pub definitions: &'a Definitions,
    /// The way out, and the clock.
    pub transport: &'a dyn Transport,
    /// How the request came.
    pub arrival: Arrival<'a>,
    /// What serves it.
    pub service: &'a ServiceIdentity,
    /// What is under way on this thread.
    pub counts: &'a Counts,
    /// The flows beside this one.
    pub branches: &'a dyn RunningBranches,
    /// What is told of it to who observes exchanges.
    pub watch: &'a Watch,
}

/// The flows of a request that run beside each other.
pub trait RunningBranches {
    /// Ends the branches of a group, except the one that is running, which asks for it.
    fn cancel_group(&self, group: &Rc<CorrelationGroup>);
}

/// What is under way on one thread.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests that have no answer yet.
    pub exchanges: Cell<usize>,
    /// Flows beside the first one of their request, with an answer or without.
    pub branches: Cell<usize>,
    /// Answers on their way to an address that their client said.
    pub redirected: Cell<usize>,
}

impl RequestContext<'_> {
    /// Tells the log, and who observes exchanges, of a fault that has come all its way.
    pub fn report(&self, fault: &Fault) {
        fault.log(&self.arrival);
        self.watch.fault(fault);
    }

    /// Whether this thread has other exchanges under way, which would wait for long work done here.
    pub fn is_busy(&self) -> bool {
        self.counts.exchanges.get() > 1
    }

    /// The time, as expressions are told it.
    pub fn moment(&self) -> Option<Moment> {
        let since = self.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i128::try_from(since.as_nanos()).ok().map(|nanos| Moment::at(nanos, Some(0)))
    }

    /// How paths into JSON are followed on this bus.
    pub fn json_rules(&self) -> Rules {
        Rules { duplicates: self.definitions.settings.json_duplicate_keys, ..Rules::default() }
    }
}
