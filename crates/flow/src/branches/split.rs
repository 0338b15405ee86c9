//! What a mediator leaves behind whose flow goes on in branches.

use std::rc::Rc;
use std::sync::Arc;

use crate::branches::correlation_group::{CorrelationGroup, GroupMember};
use crate::context::RequestContext;
use crate::exchange::Exchange;
use crate::extensions::Extension;
use crate::fault::Outcome;
use crate::ids::SequenceId;
use crate::mediator::Flow;
use crate::property::{Names, Scope, Slot, Value};
use crate::sequence::Continuation;
use crate::transport::LocalFuture;

/// What a mediator leaves in its exchange for who begins the branches: it stands among the extensions of the exchange.
pub struct Split {
    /// Makes their messages.
    pub branches: BranchMessages,
    /// Whether each branch begins when the one before it has ended, and not at once.
    pub sequential: bool,
    /// Whether a branch that has called a backend goes on behind the mediator.
    pub comes_back: bool,
    /// Whether nobody waits for the branches: the client gets its answer from others, or 202, and what it does then does
    /// not concern them.
    pub is_detached: bool,
    /// What each branch does.
    pub targets: Arc<dyn BranchTargets>,
    /// How a branch whose target is an endpoint goes on with its response.
    pub response: BranchResponse,
    /// The flow that goes on besides as if nothing had been.
    pub parent: Option<Box<Exchange>>,
    /// What is left of the sequences around the mediator, from the inside out.
    pub behind: Vec<Continuation>,
}

impl Extension for Split {}

impl Split {
    /// Leaves it in an exchange.
    pub fn leave(self, exchange: &mut Exchange) {
        exchange.extensions.put(self);
    }

    /// What was left in an exchange.
    pub fn of(exchange: &mut Exchange) -> Option<&mut Split> {
        exchange.extensions.get_mut()
    }

    /// Takes out what was left in an exchange.
    pub fn take(exchange: &mut Exchange) -> Option<Box<Split>> {
        exchange.extensions.take()
    }
}

/// What the branches of one mediator do.
pub trait BranchTargets {
    /// Runs the target with that number, or the last one, for a message; what it sends is decided then, and carried out
    /// by whoever carries on.
    fn run<'a>(
        &'a self,
        number: usize,
        response: BranchResponse,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> LocalFuture<'a, Outcome<Flow>>;
}

/// How a branch whose target is an endpoint goes on with its response.
#[derive(Clone, Copy, Debug, Default)]
pub struct BranchResponse {
    /// The sequence for it, where that is not the service's own.
    pub receive: Option<SequenceId>,
    /// Whether it takes the place of the message, and the flow goes on.
    pub calls: bool,
}

/// How a flow goes on that called an endpoint: with the response, or, for a list of recipients, in branches that go on
/// with theirs.
pub fn called(exchange: &mut Exchange) -> Flow {
    let Some(split) = Split::of(exchange) else { return Flow::Next };
    split.comes_back = true;
    split.response.calls = true;
    Flow::Split
}

/// Makes the messages of branches.
pub struct BranchMessages {
    /// The aggregation that they belong to.
    pub group: Rc<CorrelationGroup>,
    /// The properties that tell them apart; `None` where nothing is to.
    pub marks: Option<BranchProperties>,
    /// What the properties say of all of them: the identifier of the message that they were made of.
    pub correlation: Arc<str>,
    /// Makes the message with a number, and says about how many bytes it takes.
    pub make: Box<dyn FnMut(usize) -> Outcome<(Exchange, usize)>>,
}

impl BranchMessages {
    /// Makes the message of one branch; about how many bytes it takes.
    pub fn make(&mut self, kin: GroupMember) -> Outcome<(Exchange, usize)> {
        let (mut exchange, bytes) = (self.make)(kin.number)?;
        if let Some(marks) = &self.marks {
            let sequence = format!("{}/{}", kin.number, self.group.total());
            let text = |text: &str| Some(Value::Text(text.into()));
            exchange.properties.put(Scope::Default, marks.sequence, text(&sequence));
            exchange.properties.put(Scope::Default, marks.correlation, text(&self.correlation));
        }
        exchange.members.push(kin);
        Ok((exchange, bytes))
    }
}

/// The properties by which configurations tell branches apart; compare Synapse's `EIPConstants`.
#[derive(Clone, Copy, Debug)]
pub struct BranchProperties {
    /// `messageSequence`: which of how many, as `0/3`.
    sequence: Slot,
    /// `aggregateCorelation`: the identifier of the message that they were made of.
    correlation: Slot,
}

impl BranchProperties {
    /// Those of a mediator with that `id`.
    pub fn new(id: Option<&str>, names: &mut Names) -> BranchProperties {
        let mut slot = |name: &str| match id {
            Some(id) => names.slot(&format!("{name}.{id}")),
            None => names.slot(name),
        };
        BranchProperties { sequence: slot("messageSequence"), correlation: slot("aggregateCorelation") }
    }
}
