//! `<iterate>`: the flow goes on in the parts of the message beside each other.

use std::sync::Arc;

use super::parts::{Parts, Rest};
use super::setting::flag;
use crate::branch::{Branches, Marks, Split, Target};
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Mediator, Spec, Step};

pub(super) const SPEC: Spec = Spec { element: "iterate", doc: DOC, build };

const DOC: &str = r#"
Sends each part of the message through the `target`, all beside each other; the first answer is the client's.

- `expression` (required): the elements that are parts, or the array whose elements are.
- `preservePayload`: `true` keeps the rest of the message around each part, which stands at `attachPath` then: behind what
  is in that element already, or in the place of that JSON value.
  By default a part is a message of its own; one of SOAP keeps the header.
- `id`, `continueParent`, `sequential` and `target`: as in `clone`, with as many branches at once.

A message without such parts ends its flow, unless `continueParent` lets it go on.

    <iterate id="orders" expression="//o:order" xmlns:o="urn:orders">
        <target>
            <sequence>
                <send>
                    <endpoint key="quotes"/>
                </send>
            </sequence>
        </target>
    </iterate>

    <iterate expression="json-eval($.orders)" preservePayload="true" attachPath="json-eval($.order)">
        <target sequence="audit"/>
    </iterate>
"#;

struct Iterate {
    id: Option<Arc<str>>,
    marks: Marks,
    expression: Expression,
    rest: Rest,
    continues_parent: bool,
    sequential: bool,
    targets: Arc<[Target]>,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let id = element.attribute("id").map(|id| Arc::from(id.value));
    let expression = Expression::compile(element.required("expression")?, Wanted::Nodes, loader)?;
    let preserves = flag(element, "preservePayload")?;
    let text = element.required("expression")?;
    let rest = match element.attribute("attachPath") {
        Some(path) if !preserves => {
            return Err(path.problem("attachPath needs preservePayload=\"true\": without it a part stands alone"));
        }
        Some(path) => {
            let path = Expression::compile(path, Wanted::Nodes, loader)?;
            let differ = |one: &Expression, other: &Expression| one.json().is_some() && other.xpath().is_some();
            if differ(&expression, &path) || differ(&path, &expression) {
                return Err(text.problem("expression and attachPath are both XPath, or both json-eval"));
            }
            Rest::Kept(Some(path))
        }
        None if preserves => {
            loader.warning(element.problem("without attachPath a part goes behind the body of the envelope"));
            Rest::Kept(None)
        }
        None => Rest::Left,
    };
    if !expression.leads_into_message() {
        return Err(text.problem("this names no parts of the message: XPath does, or json-eval(…)"));
    }
    let continues_parent = flag(element, "continueParent")?;
    let sequential = flag(element, "sequential")?;
    let mut targets = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match child.is("target") && targets.is_empty() {
            true => targets.push(Target::read(child, loader)?),
            false => return Err(child.problem(format!("<iterate> holds one target, not {}", child.tag()))),
        }
    }
    if targets.is_empty() {
        return Err(element.problem("<iterate> needs a target"));
    }
    let marks = Marks::new(id.as_deref(), loader.names());
    let need = Need::built();
    let targets = targets.into();
    Ok(Box::new(Iterate { id, marks, expression, rest, continues_parent, sequential, targets, need }))
}

impl Iterate {
    fn split(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let parts = Parts::find(&self.expression, &self.rest, exchange, scene)?;
        let original = exchange.branch_with(myelin_message::Body::Empty);
        let parent = if self.continues_parent { Some(Box::new(exchange.branch()?)) } else { None };
        let count = parts.count();
        let make = move |number| {
            let (body, bytes) = parts.part(number)?;
            Ok((original.branch_with(body), bytes))
        };
        let branches = Branches::of(exchange, scene, (self.id.as_ref(), self.marks), count, make)?;
        let (sequential, targets) = (self.sequential, Arc::clone(&self.targets));
        exchange.split =
            Some(Box::new(Split { branches, sequential, targets, parent, comes_back: true, behind: Vec::new() }));
        Ok(Flow::Split)
    }
}

impl Mediator for Iterate {
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
