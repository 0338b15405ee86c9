//! `<iterate>`: the flow goes on in the parts of the message beside each other.

use super::parts::{Parts, Rest};
use crate::branch::{Splitter, Target};
use crate::config::{Element, Loader, Problem};
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
    splitter: Splitter,
    expression: Expression,
    rest: Rest,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let text = element.required("expression")?;
    let expression = Expression::compile(text, Wanted::Nodes, loader)?;
    if !expression.leads_into_message() {
        return Err(text.problem("this names no parts of the message: XPath does, or json-eval(…)"));
    }
    let rest = rest(element, &expression, loader)?;
    let splitter = Splitter::read(element, loader)?;
    if splitter.targets().len() > 1 {
        return Err(element.problem("<iterate> holds one target"));
    }
    Ok(Box::new(Iterate { splitter, expression, rest, need: Need::built() }))
}

/// What becomes of the rest of the message.
fn rest(element: &Element, expression: &Expression, loader: &mut Loader) -> Result<Rest, Problem> {
    let preserves = element.switch("preservePayload", false)?;
    let Some(text) = element.attribute("attachPath") else {
        if preserves {
            loader.warning(element.problem("without attachPath a part goes behind the body of the envelope"));
        }
        return Ok(if preserves { Rest::Kept(None) } else { Rest::Left });
    };
    if !preserves {
        return Err(text.problem("attachPath needs preservePayload=\"true\": without it a part stands alone"));
    }
    let path = Expression::compile(text, Wanted::Nodes, loader)?;
    let differ = |one: &Expression, other: &Expression| one.json().is_some() && other.xpath().is_some();
    if differ(expression, &path) || differ(&path, expression) {
        return Err(text.problem("expression and attachPath are both XPath, or both json-eval"));
    }
    Ok(Rest::Kept(Some(path)))
}

impl Iterate {
    fn split(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let parts = Parts::find(&self.expression, &self.rest, exchange, scene)?;
        self.splitter.split(exchange, scene, parts.count(), parts.into_copies_of(exchange))
    }
}

impl Mediator for Iterate {
    fn effect(&self) -> Effect<'_> {
        Target::effect(self.splitter.targets(), self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let outcome = self.split(exchange, scene);
            Step::Done(exchange, outcome)
        })
    }
}
