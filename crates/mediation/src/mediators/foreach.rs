//! `<foreach>`: a sequence runs for each element of the message, and its results take their places.

mod held;
mod parallel;

pub(super) use self::parallel::each;

use super::collection::Collection;
use super::filter::Branch;
use crate::config::{Element, Loader, Problem, Text};
use crate::content::{Fragment, Need, Tree};
use crate::effect::Effect;
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::{Scope, Slot, Value};
use crate::turns::Turns;

pub(super) const SPEC: Spec = Spec { element: "foreach", doc: DOC, build };

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
    sequence: Branch,
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
        (Some(key), _) => Branch::Named(loader.sequence_id(key)?),
        (None, Some(sequence)) => {
            let sends = |child: &&Element| ["call", "callout", "send"].iter().any(|name| child.is(name));
            if let Some(child) = sequence.children.iter().find(sends) {
                let message =
                    format!("{} cannot stand in <foreach expression>: <foreach collection> can call", child.tag());
                return Err(child.problem(message));
            }
            Branch::Inline(loader.block(sequence))
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
    let expression = Expression::compile(text, Wanted::Nodes, loader)?;
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
        scene: &'a Scene<'a>,
    ) -> (&'a mut Exchange, Outcome<Flow>) {
        let mut collection = match self.begin(exchange, scene).await {
            Ok(Some(collection)) => collection,
            Ok(None) => return (exchange, Ok(Flow::Next)),
            Err(fault) => return (exchange, Err(fault)),
        };
        // What runs inside is not the last of its flow: the message goes on behind it.
        exchange.last = false;
        let mut turns = Turns::new(scene.transport);
        for number in 0..collection.count() {
            turns.pass().await;
            match collection.body(number) {
                Ok(body) => exchange.set_body(body),
                Err(fault) => return (exchange, Err(fault)),
            }
            let (back, outcome) = self.sequence.run(exchange, scene).finish().await;
            exchange = back;
            let outcome = match outcome {
                Ok(flow @ (Flow::Next | Flow::Drop)) => {
                    self.put(&mut collection, number, exchange, scene).await.map(|()| flow)
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
                Err(fault) if self.continues => engine::log(&fault, &scene.arrival),
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
    async fn begin(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Option<Collection>> {
        self.need.bring(exchange, scene).await?;
        let original = match exchange.message.body.built::<Tree>() {
            Some(tree) => Value::Xml(Fragment::copy(tree.document(), tree.envelope().element)),
            None => Value::Text(exchange.json()?.map(|json| json.text().into()).unwrap_or_default()),
        };
        let collection = Collection::take(&self.expression, exchange, scene)?;
        exchange.properties.check_room(&original)?;
        exchange.properties.put(Scope::Default, self.original, Some(original));
        exchange.properties.put(Scope::Default, self.counter, Some(Value::Integer(0)));
        Ok(collection)
    }

    async fn put(
        &self,
        collection: &mut Collection,
        number: usize,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<()> {
        if exchange.decision.take().is_some() {
            return Err(Fault::bus("What foreach runs one after the other cannot send"));
        }
        self.need.bring(exchange, scene).await?;
        collection.put(number, exchange)
    }
}

impl Mediator for Loop {
    fn effect(&self) -> Effect<'_> {
        Effect::changing(self.need.reads()).with("each", self.sequence.steps())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(self.run(exchange, scene)))
    }
}
