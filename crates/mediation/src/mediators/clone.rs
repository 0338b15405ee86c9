//! `<clone>`: the flow goes on in several copies of the message beside each other.

use crate::branch::{Splitter, Target};
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::mediator::{Built, Mediator, Spec, Step};
use crate::sequence::Sequence;

pub(super) const SPEC: Spec = Spec { element: "clone", doc: DOC, build };

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
    splitter: Splitter,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    Ok(Box::new(Clone { splitter: Splitter::read(element, loader)?, need: Need::read() }))
}

/// A mediator that runs a sequence with a copy of the message, beside the flow that goes on.
pub(crate) fn beside(sequence: Sequence, loader: &mut Loader) -> Box<dyn Mediator> {
    let splitter = Splitter::beside(Target::running(sequence), false, loader);
    Box::new(Clone { splitter, need: Need::read() })
}

impl Mediator for Clone {
    fn effect(&self) -> Effect<'_> {
        Target::effect(self.splitter.targets(), self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let outcome = self.splitter.split_copies(exchange, scene);
            Step::Done(exchange, outcome)
        })
    }
}
