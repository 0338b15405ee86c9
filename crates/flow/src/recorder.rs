//! What hears of each step of one exchange: message traces and spans are made of it.
//!
//! A [`RecorderSource`] gives back a [`Recorder`] for the exchanges that it wants to follow, and nothing for all others,
//! which cost nothing then.

use std::rc::Rc;

use myelin_channel::Sent;
use myelin_config::problem::Place;
use myelin_message::{Arrival, Body, Message, Outgoing, SendError, StatusCode};

use crate::context::RequestContext;
use crate::counters::ExchangeEnd;
use crate::definitions::{Definitions, Node, Sequence};
use crate::exchange::{Direction, Exchange};
use crate::fault::{Fault, Outcome};
use crate::mediator::Flow;
use crate::position::{ServiceIdentity, StepPlace};
use crate::transport::{LocalFuture, Transport};

/// An exchange whose service is known, before anything of it has run.
pub struct ExchangeStart<'a> {
    /// What serves it; of an API, the API itself, because its resource is not chosen yet.
    pub service: &'a ServiceIdentity,
    /// How the request came, with its correlation identifier.
    pub arrival: &'a Arrival<'a>,
    /// The request. A recorder may look at its body, but must not read it.
    pub request: &'a mut Message,
    /// What the configuration defines.
    pub definitions: &'a Definitions,
    /// The clock.
    pub transport: &'a Rc<dyn Transport>,
}

/// Decides for each exchange of a thread whether it is recorded.
pub trait RecorderSource {
    /// Returns the recorder for an exchange whose service is known, or `None` if this source does not record it.
    fn record(&self, start: &mut ExchangeStart<'_>) -> Option<Rc<dyn Recorder>>;
}

/// The endpoint that a request goes to.
#[derive(Clone, Copy, Debug)]
pub struct CalledEndpoint<'a> {
    /// Its name; empty where it has none.
    pub name: &'a str,
    /// Where it is defined; `None` where the message itself says where it goes.
    pub place: Option<&'a Place>,
    /// Whether each exchange that goes to it is to be traced: `trace="enable"`.
    pub is_traced: bool,
}

/// Hears of what one flow of an exchange does.
///
/// The first flow of an exchange has a recorder, and [`Recorder::branch`] makes one for each flow beside it, so a
/// recorder never hears of two flows at once: steps nest, and requests to endpoints come one after the other.
/// All is told on the thread that serves the exchange, so a recorder must be quick, and must not block.
pub trait Recorder {
    /// Whether it hears of steps; a flow that is recorded by nobody who does runs as fast as one that is not recorded.
    fn hears_of_steps(&self) -> bool {
        true
    }

    /// Mediation begins; for an API, its resource is chosen, and what a guard decrypts is decrypted.
    ///
    /// Shape: a future where the recorder has to wait for something, such as a body; the exchange waits with it.
    fn begins<'a>(&'a self, _: &'a mut Exchange, _: &'a RequestContext<'a>) -> Option<LocalFuture<'a, ()>> {
        None
    }

    /// A message has come, from the client or from the endpoint that was sent a request last, and its body may still be
    /// on the wire.
    ///
    /// Shape: as [`Recorder::begins`]. A recorder may look at the body, but must not read it.
    fn came<'a>(&'a self, _: Direction, _: &'a mut Body, _: &'a dyn Transport) -> Option<LocalFuture<'a, ()>> {
        None
    }

    /// The flow enters a sequence.
    fn sequence_begins(&self, _: &Sequence, _: &mut Exchange, _: &RequestContext<'_>) {}

    /// The flow leaves the sequence that it entered last.
    fn sequence_ends(&self, _: &Sequence, _: &Outcome<Flow>) {}

    /// A step begins.
    fn step_begins(&self, _: &Node, _: &mut Exchange, _: &RequestContext<'_>) {}

    /// The step that began last has ended.
    fn step_ends(&self, _: &StepPlace, _: &mut Exchange, _: &RequestContext<'_>, _: &Outcome<Flow>) {}

    /// The step that began last, or what runs outside of any step, has decided something.
    fn decided(&self, _: &StepDecision) {}

    /// A request is about to be sent to an endpoint; a recorder may add header lines.
    fn sends(&self, _: CalledEndpoint<'_>, _: &mut Outgoing) {}

    /// The endpoint that was sent a request last has answered, or has failed.
    fn sent(&self, _: Result<&mut Sent, &SendError>) {}

    /// A fault has come all its way to the service.
    fn faulted(&self, _: &Fault) {}

    /// A sequence begins that handles a fault.
    fn handles(&self, _: &Fault, _: &Sequence) {}

    /// A flow begins beside this one; the recorder of that flow, which is dropped when the flow has ended or is cancelled.
    fn branch(&self, _: BranchStart) -> Option<Rc<dyn Recorder>> {
        None
    }

    /// The flow has ended. A branch that is cancelled does not say so.
    fn flow_ends(&self, _: Result<Option<StatusCode>, &Fault>) {}

    /// An answer leaves for the client, or for whoever sent the message.
    fn answers(&self, _: &mut Message) {}

    /// The exchange has ended: its answer is there, or nobody waits for one any more. Branches may still run.
    fn ends(&self, _: &ExchangeEnd) {}
}

/// A flow that begins beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchStart {
    /// Which of its siblings it is, from 0 on; `None` for the flow that goes on besides as if nothing had been.
    pub number: Option<usize>,
    /// Whether the client neither waits for it nor takes it along when it goes.
    pub is_detached: bool,
}

/// Why a flow went on as it did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepDecision {
    /// The expression, pattern or rule that was asked.
    pub expression: Option<String>,
    /// The value that it had.
    pub value: Option<String>,
    /// What was chosen: a branch, a member, a result.
    pub chosen: String,
    /// The reason, where expression and value do not say it.
    pub reason: Option<String>,
    /// What was not chosen, each with the reason.
    pub rejected: Vec<(String, String)>,
    /// What was compared for it, in the order written.
    pub compared: Vec<Comparison>,
}

/// Two values that were compared for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The side before the operator.
    pub left: Operand,
    /// The operator as the configuration has it, or `matches` for a regular expression.
    pub operator: String,
    /// The side behind the operator.
    pub right: Operand,
    /// Whether it was true; `None` where the values cannot be compared.
    pub holds: Option<bool>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// As the configuration has it.
    pub expression: String,
    /// The first values that it had; none where it led to nothing.
    pub values: Vec<String>,
    /// How many values more it had.
    pub more: usize,
}

/// So many comparisons of a decision are told.
const COMPARISONS: usize = 16;

/// So many values of an operand are told.
const OPERAND_VALUES: usize = 8;

/// Longer values are cut off.
const OPERAND_BYTES: usize = 2 << 10;

impl Operand {
    /// One with these values, as many and as much of them as is told.
    pub fn new<V: AsRef<str>>(expression: &str, values: impl IntoIterator<Item = V>) -> Operand {
        let mut operand = Operand { expression: beginning(expression), ..Operand::default() };
        for value in values {
            match operand.values.len() {
                OPERAND_VALUES.. => operand.more += 1,
                _ => operand.values.push(beginning(value.as_ref())),
            }
        }
        operand
    }

    /// A value of the configuration, which stands for itself.
    pub fn fixed(value: &str) -> Operand {
        Operand::new(value, [value])
    }
}

fn beginning(text: &str) -> String {
    let end = (0..=OPERAND_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].to_owned()
}

impl StepDecision {
    /// That something was chosen.
    pub fn chose(chosen: impl Into<String>) -> StepDecision {
        StepDecision { chosen: chosen.into(), ..StepDecision::default() }
    }

    /// The same with the expression that was asked, and its value.
    pub fn by(mut self, expression: impl Into<String>, value: impl Into<String>) -> StepDecision {
        self.expression = Some(expression.into());
        self.value = Some(value.into());
        self
    }

    /// The same with what was compared, as much of it as is told.
    pub fn comparing(mut self, compared: impl IntoIterator<Item = Comparison>) -> StepDecision {
        let room = COMPARISONS.saturating_sub(self.compared.len());
        self.compared.extend(compared.into_iter().take(room));
        self
    }

    /// The same with a reason.
    pub fn because(mut self, reason: impl Into<String>) -> StepDecision {
        self.reason = Some(reason.into());
        self
    }

    /// The same with something that was not chosen.
    pub fn but_not(mut self, other: impl Into<String>, reason: impl Into<String>) -> StepDecision {
        self.rejected.push((other.into(), reason.into()));
        self
    }
}

/// Several recorders of the same flow, which hear of the same.
pub struct Recorders(Vec<Rc<dyn Recorder>>);

impl Recorders {
    /// One recorder for all of these; `None` where there is none.
    pub fn join(mut recorders: Vec<Rc<dyn Recorder>>) -> Option<Rc<dyn Recorder>> {
        match recorders.len() {
            0 | 1 => recorders.pop(),
            _ => Some(Rc::new(Recorders(recorders))),
        }
    }

    fn each(&self, mut tell: impl FnMut(&dyn Recorder)) {
        self.0.iter().for_each(|recorder| tell(&**recorder));
    }
}

impl Recorder for Recorders {
    fn hears_of_steps(&self) -> bool {
        self.0.iter().any(|recorder| recorder.hears_of_steps())
    }

    fn begins<'a>(
        &'a self,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Option<LocalFuture<'a, ()>> {
        Some(Box::pin(async move {
            for recorder in &self.0 {
                if let Some(future) = recorder.begins(exchange, context) {
                    future.await;
                }
            }
        }))
    }

    fn came<'a>(
        &'a self,
        direction: Direction,
        body: &'a mut Body,
        transport: &'a dyn Transport,
    ) -> Option<LocalFuture<'a, ()>> {
        Some(Box::pin(async move {
            for recorder in &self.0 {
                if let Some(future) = recorder.came(direction, body, transport) {
                    future.await;
                }
            }
        }))
    }

    fn sequence_begins(&self, sequence: &Sequence, exchange: &mut Exchange, context: &RequestContext<'_>) {
        self.each(|recorder| recorder.sequence_begins(sequence, exchange, context));
    }

    fn sequence_ends(&self, sequence: &Sequence, outcome: &Outcome<Flow>) {
        self.each(|recorder| recorder.sequence_ends(sequence, outcome));
    }

    fn step_begins(&self, node: &Node, exchange: &mut Exchange, context: &RequestContext<'_>) {
        self.each(|recorder| recorder.step_begins(node, exchange, context));
    }

    fn step_ends(
        &self,
        step: &StepPlace,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        outcome: &Outcome<Flow>,
    ) {
        self.each(|recorder| recorder.step_ends(step, exchange, context, outcome));
    }

    fn decided(&self, decision: &StepDecision) {
        self.each(|recorder| recorder.decided(decision));
    }

    fn sends(&self, endpoint: CalledEndpoint<'_>, outgoing: &mut Outgoing) {
        self.each(|recorder| recorder.sends(endpoint, outgoing));
    }

    fn sent(&self, result: Result<&mut Sent, &SendError>) {
        match result {
            Ok(sent) => self.each(|recorder| recorder.sent(Ok(&mut *sent))),
            Err(error) => self.each(|recorder| recorder.sent(Err(error))),
        }
    }

    fn faulted(&self, fault: &Fault) {
        self.each(|recorder| recorder.faulted(fault));
    }

    fn handles(&self, fault: &Fault, handler: &Sequence) {
        self.each(|recorder| recorder.handles(fault, handler));
    }

    fn branch(&self, start: BranchStart) -> Option<Rc<dyn Recorder>> {
        Recorders::join(self.0.iter().filter_map(|recorder| recorder.branch(start)).collect())
    }

    fn flow_ends(&self, result: Result<Option<StatusCode>, &Fault>) {
        self.each(|recorder| recorder.flow_ends(result));
    }

    fn answers(&self, answer: &mut Message) {
        self.each(|recorder| recorder.answers(answer));
    }

    fn ends(&self, end: &ExchangeEnd) {
        self.each(|recorder| recorder.ends(end));
    }
}
