//! `<clone>`: the flow goes on in several copies of the message beside each other.

use std::sync::Arc;

use super::setting::flag;
use crate::branch::{Branches, Marks, Split, Target};
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Mediator, Spec, Step};

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
    id: Option<Arc<str>>,
    marks: Marks,
    continues_parent: bool,
    sequential: bool,
    targets: Arc<[Target]>,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let id = element.attribute("id").map(|id| Arc::from(id.value));
    let continues_parent = flag(element, "continueParent")?;
    let sequential = flag(element, "sequential")?;
    let mut targets = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match child.is("target") {
            true => targets.push(Target::read(child, loader)?),
            false => return Err(child.problem(format!("<clone> holds targets, not {}", child.tag()))),
        }
    }
    if targets.is_empty() {
        return Err(element.problem("<clone> needs a target"));
    }
    let marks = Marks::new(id.as_deref(), loader.names());
    let need = Need::read();
    Ok(Box::new(Clone { id, marks, continues_parent, sequential, targets: targets.into(), need }))
}

impl Clone {
    fn split(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let mut original = exchange.branch()?;
        let parent = if self.continues_parent { Some(Box::new(exchange.branch()?)) } else { None };
        let make = move |_| {
            original.branch().map(|copy| {
                let bytes = copy.message.body.length().unwrap_or_default();
                (copy, bytes as usize)
            })
        };
        let branches = Branches::of(exchange, scene, (self.id.as_ref(), self.marks), self.targets.len(), make)?;
        let (sequential, targets) = (self.sequential, Arc::clone(&self.targets));
        exchange.split =
            Some(Box::new(Split { branches, sequential, targets, parent, comes_back: true, behind: Vec::new() }));
        Ok(Flow::Split)
    }
}

impl Mediator for Clone {
    fn effect(&self) -> Effect<'_> {
        Target::effect(&self.targets, self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let outcome = self.split(exchange, scene);
            Step::Done(exchange, outcome)
        })
    }
}
