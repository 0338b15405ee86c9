//! `<clone>`: the flow goes on in several copies of the message beside each other.

use crate::branch_targets::{BranchTarget, BranchTargetList, splitter, splitter_beside};
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::splitting::Splitter;
use myelin_config::element::Element;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::mediator::{Branching, Effect, Mediator, Step};
use myelin_flow::sequence::Sequence;

pub(super) const SPEC: Spec = Spec::new("clone", DOC, build).sends();

const DOC: &str = r#"
Sends a copy of the message through each `target`, all beside each other; the first answer is the client's.

- `id`: what an `aggregate` names that gathers these copies and no others.
- `continueParent`: `true` lets the message itself go on behind `clone`; by default only copies do.
- `sequential`: `true` begins a copy when the one before it has come to its end.

A `target` runs a `sequence` (inside, or named), or goes to an `endpoint` (inside, or named) whose response runs through
the out sequence; `to` and `soapAction` address the copy.
Where a target has called a backend with `call` and ends, its copy goes on with the mediators behind `clone`.
Default properties: `messageSequence` (with an `id`: `messageSequence.ID`) says which copy it is, as `0/2`.

At most 64 copies of one request run at once; the others wait.
Copies that nobody waits for any more are ended: when the client has gone before it had an answer, and when an
`aggregate` is complete without them.

    <clone id="offers">
        <target>
            <endpoint key="quotes"/>
        </target>
        <target sequence="audit"/>
    </clone>

    <clone continueParent="true" sequential="true">
        <target soapAction="urn:getQuote" to="http://localhost:9000/services/SimpleStockQuoteService">
            <sequence>
                <call/>
                <log level="simple"/>
            </sequence>
        </target>
    </clone>
"#;

struct Clone {
    splitter: Splitter<BranchTargetList>,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    Ok(Box::new(Clone { splitter: splitter(element, loader)?, need: Need::read() }))
}

/// A mediator that runs a sequence with a copy of the message, beside the flow that goes on.
pub(super) fn beside(sequence: Sequence, loader: &mut Loader) -> Box<dyn Mediator> {
    let splitter = splitter_beside(BranchTarget::running(sequence), false, loader);
    Box::new(Clone { splitter, need: Need::read() })
}

impl Mediator for Clone {
    fn effect(&self) -> Effect<'_> {
        Effect { branching: Some(Branching::Splits), ..self.splitter.targets.effect(self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let outcome = self.splitter.split_copies(exchange, context, self.splitter.targets.count());
            Step::Done(exchange, outcome)
        })
    }
}
