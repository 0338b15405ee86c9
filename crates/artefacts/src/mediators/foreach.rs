//! `<foreach>`: a sequence runs for each element of the message, and its results take their places.

mod parallel;
mod variable_collection;

use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::message_parts::BodyCollection;
use crate::spec::{Built, Spec};
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::{Fragment, Tree};
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::{Scope, Slot, Value};
use myelin_flow::yielding::Yielding;

pub(super) const SPEC: Spec = Spec::new("foreach", DOC, build);

const DOC: &str = r#"
Runs a sequence for each element of the message; what the sequence makes of it takes its place.

With `expression`, one after the other in the same flow, for sequences that call nobody:

- `expression` (required): the elements, or as `json-eval` the array whose elements are gone through.
- `sequence`: the name of the sequence, which may stand inside instead.
- `id`: comes before the names of the properties, as `ID_FOREACH_COUNTER`.
- `continueLoopOnFailure`: `true` goes on with the next element where one fails, which stays as it was.

`FOREACH_COUNTER` says how many elements have been through, `FOREACH_ORIGINAL_MESSAGE` holds the message as it came.
A `drop` in the sequence ends the loop; elements behind it stay as they are.

With `collection`, beside each other in copies of the flow, which may `call`; properties that they set are theirs:

- `collection` (required): as `expression`; also `${vars.x…}` and `${xpath('…', 'x')}` for what a variable holds: an array,
  or pieces of XML.
- `parallel-execution`: `false` runs them one after the other; by default 64 run at once.
- `counter-variable`: the variable that holds the number of each, from 0 on, where they run one after the other.
- `update-original`: `false` leaves message and variable as they were, and puts all results into the variable that
  `target-variable` names: `result-content-type="JSON"` makes an array of them, `XML` an element with the name in
  `result-enclosing-element`.
- `continue-without-aggregation`: `true` goes on at once, and nobody waits for what the copies make.

    <foreach expression="//o:order" xmlns:o="urn:orders" id="orders">
        <sequence>
            <enrich>
                <source type="inline"><paid xmlns="urn:orders"/></source>
                <target action="child" xpath="//o:order" xmlns:o="urn:orders"/>
            </enrich>
        </sequence>
    </foreach>

    <foreach collection="json-eval($.orders)" parallel-execution="true">
        <sequence>
            <call>
                <endpoint key="quotes"/>
            </call>
        </sequence>
    </foreach>

    <foreach collection="${vars.order.lines}" parallel-execution="false" counter-variable="number"
             update-original="false" target-variable="offers" result-content-type="JSON">
        <sequence>
            <call>
                <endpoint key="quotes"/>
            </call>
        </sequence>
    </foreach>
"#;

/// One after the other, in the same flow.
struct Loop {
    expression: Expression,
    sequence: InnerSequence,
    counter: Slot,
    original: Slot,
    continues: bool,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    match element.attribute("collection").filter(|text| !text.value.trim().is_empty()) {
        Some(collection) => parallel::build(element, collection, loader),
        None => one_by_one(element, loader),
    }
}

fn one_by_one(element: &Element, loader: &mut Loader) -> Built {
    let expression = found_by(element.required("expression")?, loader)?;
    let continues = element.switch("continueLoopOnFailure", false)?;
    let sequence = match (element.attribute("sequence"), element.child("sequence")) {
        (Some(key), _) => InnerSequence::Named(loader.sequence_id(key)?),
        (None, Some(sequence)) => {
            let sends = |child: &&Element| ["call", "callout", "send"].iter().any(|name| child.is(name));
            if let Some(child) = sequence.children.iter().find(sends) {
                let message =
                    format!("{} cannot stand in <foreach expression>: <foreach collection> can call", child.tag());
                return Err(child.problem(message));
            }
            InnerSequence::Inline(loader.block(sequence))
        }
        (None, None) => return Err(element.problem("<foreach> needs a sequence")),
    };
    let prefix = element.attribute("id").map(|id| format!("{}_", id.value)).unwrap_or_default();
    let counter = loader.names().slot(&format!("{prefix}FOREACH_COUNTER"));
    let original = loader.names().slot(&format!("{prefix}FOREACH_ORIGINAL_MESSAGE"));
    let need = Need::built();
    Ok(Box::new(Loop { expression, sequence, counter, original, continues, need }))
}

/// The expression that finds what is gone through in the message.
fn found_by(text: Text<'_>, loader: &mut Loader) -> Result<Expression, Problem> {
    let expression = Expression::compile(text, ResultType::Nodes, loader)?;
    if expression.variable().is_some() {
        return Err(text.problem("<foreach expression> goes through the message; <foreach collection> takes variables"));
    }
    in_message(expression, text)
}

/// An expression that can lead into the message.
fn in_message(expression: Expression, text: Text<'_>) -> Result<Expression, Problem> {
    match expression.leads_into_message() {
        true => Ok(expression),
        false => Err(text.problem("this names no elements of the message: XPath does, json-eval(…), or ${payload…} without values of elsewhere in it")),
    }
}

impl Loop {
    async fn run<'a>(
        &'a self,
        mut exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> (&'a mut Exchange, Outcome<Flow>) {
        let mut collection = match self.begin(exchange, context).await {
            Ok(Some(collection)) => collection,
            Ok(None) => return (exchange, Ok(Flow::Next)),
            Err(fault) => return (exchange, Err(fault)),
        };
        // What runs inside is not the last of its flow: the message goes on behind it.
        exchange.last = false;
        let mut turns = Yielding::new(context.transport);
        for number in 0..collection.count() {
            turns.pass().await;
            match collection.body(number) {
                Ok(body) => exchange.set_body(body),
                Err(fault) => return (exchange, Err(fault)),
            }
            let (back, outcome) = self.sequence.run(exchange, context).finish().await;
            exchange = back;
            let outcome = match outcome {
                Ok(flow @ (Flow::Next | Flow::Drop)) => {
                    self.put(&mut collection, number, exchange, context).await.map(|()| flow)
                }
                Ok(Flow::Split) => Err(Fault::bus("What foreach runs one after the other cannot go on in branches")),
                // The answer is the element as it is now.
                Ok(flow) => return (exchange, Ok(flow)),
                Err(fault) => Err(fault),
            };
            let count = Value::Integer(number as i64 + 1);
            exchange.properties.put(Scope::Default, self.counter, Some(count));
            match outcome {
                Ok(Flow::Drop) => break,
                Ok(_) => {}
                Err(fault) if self.continues => context.report(&fault),
                Err(fault) => {
                    exchange.set_body(collection.into_body());
                    return (exchange, Err(fault));
                }
            }
        }
        exchange.set_body(collection.into_body());
        (exchange, Ok(Flow::Next))
    }

    /// Takes out what is gone through, and leaves the message as it came in a property.
    async fn begin(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Option<BodyCollection>> {
        self.need.fulfil(exchange, context).await?;
        let original = match exchange.message.body.built::<Tree>() {
            Some(tree) => Value::Xml(Fragment::copy(tree.document(), tree.envelope().element)),
            None => Value::Text(exchange.json()?.map(|json| json.text().into()).unwrap_or_default()),
        };
        let collection = BodyCollection::take(&self.expression, exchange, context)?;
        exchange.properties.check_room(&original)?;
        exchange.properties.put(Scope::Default, self.original, Some(original));
        exchange.properties.put(Scope::Default, self.counter, Some(Value::Integer(0)));
        Ok(collection)
    }

    async fn put(
        &self,
        collection: &mut BodyCollection,
        number: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        if exchange.decision.take().is_some() {
            return Err(Fault::bus("What foreach runs one after the other cannot send"));
        }
        self.need.fulfil(exchange, context).await?;
        collection.put(number, exchange)
    }
}

impl Mediator for Loop {
    fn effect(&self) -> Effect<'_> {
        Effect::changing(self.need.reads()).with("each", self.sequence.steps())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(self.run(exchange, context)))
    }
}
