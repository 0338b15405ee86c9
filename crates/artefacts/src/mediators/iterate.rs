//! `<iterate>`: the flow goes on in the parts of the message beside each other.

use crate::branch_targets::{BranchTargetList, splitter};
use crate::loader::Loader;
use crate::message_parts::{MessageParts, Remainder};
use crate::spec::{Built, Spec};
use crate::splitting::Splitter;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Branching, Effect, Flow, Mediator, Step};

pub(super) const SPEC: Spec = Spec::new("iterate", DOC, build).sends();

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
    splitter: Splitter<BranchTargetList>,
    expression: Expression,
    rest: Remainder,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let text = element.required("expression")?;
    let expression = Expression::compile(text, ResultType::Nodes, loader)?;
    if !expression.leads_into_message() {
        return Err(text.problem("this names no parts of the message: XPath does, or json-eval(…)"));
    }
    let rest = rest(element, &expression, loader)?;
    let splitter = splitter(element, loader)?;
    if splitter.targets.count() > 1 {
        return Err(element.problem("<iterate> holds one target"));
    }
    Ok(Box::new(Iterate { splitter, expression, rest, need: Need::built() }))
}

/// What becomes of the rest of the message.
fn rest(element: &Element, expression: &Expression, loader: &mut Loader) -> Result<Remainder, Problem> {
    let preserves = element.switch("preservePayload", false)?;
    let Some(text) = element.attribute("attachPath") else {
        if preserves {
            loader.warning(element.problem("without attachPath a part goes behind the body of the envelope"));
        }
        return Ok(if preserves { Remainder::Kept(None) } else { Remainder::Dropped });
    };
    if !preserves {
        return Err(text.problem("attachPath needs preservePayload=\"true\": without it a part stands alone"));
    }
    let path = Expression::compile(text, ResultType::Nodes, loader)?;
    let differ = |one: &Expression, other: &Expression| one.json().is_some() && other.xpath().is_some();
    if differ(expression, &path) || differ(&path, expression) {
        return Err(text.problem("expression and attachPath are both XPath, or both json-eval"));
    }
    Ok(Remainder::Kept(Some(path)))
}

impl Iterate {
    fn split(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let parts = MessageParts::find(&self.expression, &self.rest, exchange, context)?;
        self.splitter.split(exchange, context, parts.count(), parts.into_copies_of(exchange))
    }
}

impl Mediator for Iterate {
    fn effect(&self) -> Effect<'_> {
        Effect { branching: Some(Branching::Splits), ..self.splitter.targets.effect(self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let outcome = self.split(exchange, context);
            Step::Done(exchange, outcome)
        })
    }
}
