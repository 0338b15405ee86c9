//! `<aggregate>`: what was split goes on as one message.

mod merge;

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use myelin_xpath::{Atomic, Item, Value};

pub(super) use self::merge::{Kept, last_piece, merge, merged_json, piece};
use super::filter::Branch;
use super::setting::worked_out;
use crate::branch::{Family, Group, Kin, Wanted as Enough};
use crate::config::{Element, Loader, Problem};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::{self, Scope, Slot};

pub(super) const SPEC: Spec = Spec { element: "aggregate", doc: DOC, build };

const DOC: &str = r#"
Gathers what `clone` or `iterate` split: messages wait here until there are enough, and go on as one.
A message that was not split passes.

- `id`: gathers the branches of the `clone` or `iterate` with that `id`; without it, those of the nearest one around.
- `correlateOn`: an `expression`; a message for which it is false passes, one for which it finds nothing is a fault.
- `completeCondition`: `timeout` in seconds from the first message on; in it `messageCount` with `min` and `max`,
  numbers or expressions in braces, where `-1` stands for none.
- `onComplete`: `expression` says what is taken of each message (default: the first element of the body, or the JSON);
  the mediators inside, or the named `sequence`, run with the aggregated message, which then goes on behind `aggregate`.
  Without either the flow ends.
  `enclosingElementProperty`: the property that holds the element to put around all, or names the member that holds JSON.
  `aggregateElementType`: `child` takes what is in the elements found, or the members of the JSON objects found;
  `root` (default) takes them as they are, JSON as the elements of an array.

It is complete when `min` or `max` is reached, when all branches are there, when the time is over, and as soon as no more
branches can come: with what is there, or where that is less than `min`, with the fault of a branch.
Branches that are not there by then are ended.
The aggregated message has the properties and the header of the first that came; the parts are in the order of the branches.

    <aggregate id="offers">
        <completeCondition timeout="5">
            <messageCount min="2" max="-1"/>
        </completeCondition>
        <onComplete expression="//o:offer" xmlns:o="urn:offers">
            <send/>
        </onComplete>
    </aggregate>

    <property name="all">
        <offers xmlns=""/>
    </property>
    <aggregate>
        <onComplete expression="json-eval($.offer)" enclosingElementProperty="all" sequence="audit"/>
    </aggregate>
"#;

struct Aggregate {
    id: Option<String>,
    correlation: Option<Expression>,
    timeout: Option<Duration>,
    min: Count,
    max: Count,
    expression: Option<Expression>,
    kept: Kept,
    enclosing: Option<Slot>,
    on_complete: Option<Branch>,
    need: Need,
}

/// A number of messages.
pub(super) enum Count {
    Any,
    Fixed(usize),
    Computed(Expression),
}

/// What becomes of a message that arrives.
enum Arrival {
    /// It is none of these.
    Passes,
    /// It is with the others.
    Gathered,
    /// It is the first, and waits for the others.
    Waits(Rc<Family>, Rc<Group>),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let id = element.attribute("id").map(|id| id.value.to_owned());
    let mut parts = [("correlateOn", None), ("completeCondition", None), ("onComplete", None)];
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match parts.iter_mut().find(|(name, part)| child.is(name) && part.is_none()) {
            Some((_, part)) => *part = Some(child),
            None => return Err(child.problem(format!("<aggregate> does not hold {} here", child.tag()))),
        }
    }
    let [(_, correlate_on), (_, condition), (_, on_complete)] = parts;
    let correlation = match correlate_on {
        Some(correlate_on) => {
            let message = "<correlateOn> chooses among the branches of one request; it gathers nothing over several";
            loader.warning(correlate_on.problem(message));
            Some(Expression::compile(correlate_on.required("expression")?, Wanted::Nodes, loader)?)
        }
        None => None,
    };
    let timeout = condition.map(timeout).transpose()?.flatten();
    let count = condition.and_then(|condition| condition.child("messageCount"));
    let min = Count::read(count, "min", loader)?;
    let max = Count::read(count, "max", loader)?;
    let Some(on_complete) = on_complete else {
        return Err(element.problem("<aggregate> needs <onComplete>, which says what becomes of the messages"));
    };
    let expression = match on_complete.attribute("expression") {
        Some(text) => Some(Expression::compile(text, Wanted::Nodes, loader)?),
        None => None,
    };
    let kept = match on_complete.attribute("aggregateElementType").map(|kind| (kind.value, kind)) {
        None | Some(("root" | "", _)) => Kept::Root,
        Some(("child", _)) => Kept::Child,
        Some((other, text)) => {
            return Err(text.problem(format!("aggregateElementType {other:?} is neither root nor child")));
        }
    };
    let enclosing = on_complete.attribute("enclosingElementProperty").map(|name| loader.names().slot(name.value));
    let has_mediators = on_complete.children.iter().any(|child| !child.is("description") && !child.is("comment"));
    let on_complete = match on_complete.attribute("sequence") {
        Some(key) => Some(Branch::Named(loader.sequence_id(key)?)),
        None if has_mediators => Some(Branch::Inline(loader.block(on_complete))),
        None => None,
    };
    let need = Need::built();
    Ok(Box::new(Aggregate { id, correlation, timeout, min, max, expression, kept, enclosing, on_complete, need }))
}

fn timeout(condition: &Element) -> Result<Option<Duration>, Problem> {
    let Some(text) = condition.attribute("timeout").filter(|text| !text.value.trim().is_empty()) else {
        return Ok(None);
    };
    let seconds: i64 = text.value.trim().parse().map_err(|_| text.problem("timeout is no number of seconds"))?;
    Ok(u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs))
}

impl Count {
    pub(super) fn read(element: Option<&Element>, name: &str, loader: &mut Loader) -> Result<Count, Problem> {
        let Some(text) = element.and_then(|element| element.attribute(name)) else { return Ok(Count::Any) };
        if let Some(expression) = worked_out(text, loader)? {
            return Ok(Count::Computed(expression));
        }
        match Count::number(text.value) {
            Some(count) => Ok(count.map_or(Count::Any, Count::Fixed)),
            None => Err(text.problem(format!("{name} is neither a number nor an expression in braces"))),
        }
    }

    /// What a text says; as in Synapse nothing and less stand for any number.
    fn number(text: &str) -> Option<Option<usize>> {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(Some(number as usize).filter(|&number| number > 0))
    }

    pub(super) fn value(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<usize>> {
        match self {
            Count::Any => Ok(None),
            Count::Fixed(number) => Ok(Some(*number)),
            Count::Computed(expression) => {
                let text = expression.text(exchange, scene)?.unwrap_or_default();
                Count::number(&text).ok_or_else(|| {
                    Fault::bus("The number of messages to be aggregated is none").with_detail(format!("it is {text:?}"))
                })
            }
        }
    }
}

impl Aggregate {
    /// Which of the families of a message is gathered here: the nearest that has not met yet.
    fn kin<'a>(&self, exchange: &'a mut Exchange) -> Option<&'a mut Kin> {
        let mut all = exchange.kin.iter_mut().rev();
        match &self.id {
            Some(id) => all.find(|kin| kin.family.is_of(id)),
            None => all.find(|kin| kin.is_coming()),
        }
    }

    /// A message arrives.
    fn arrive(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Arrival> {
        let Some(kin) = self.kin(exchange) else { return Ok(Arrival::Passes) };
        if !kin.is_coming() {
            // As in Synapse, what was gathered once is not gathered again.
            return Ok(Arrival::Gathered);
        }
        let (family, number) = (Rc::clone(&kin.family), kin.number);
        if let Some(correlation) = &self.correlation
            && !correlates(correlation, exchange, scene)?
        {
            return Ok(Arrival::Passes);
        }
        let expression = self.expression.as_ref();
        let place = std::ptr::from_ref(self).addr();
        let (group, brought, is_first) = match family.group(place) {
            // Nobody looks at its message any more, unless it is too much and somebody handles that.
            Some(group) if group.has_room(exchange.built_bytes()) => {
                (group, last_piece(expression, self.kept, exchange, scene)?, false)
            }
            Some(group) => (group, piece(expression, self.kept, exchange, scene)?, false),
            None => {
                let brought = piece(expression, self.kept, exchange, scene)?;
                let enough = Enough { min: self.min.value(exchange, scene)?, max: self.max.value(exchange, scene)? };
                let group = Rc::new(Group::new(enough, scene.stage().gathered_limit_bytes()));
                family.begin_group(place, &group);
                (group, brought, true)
            }
        };
        group.add(number, brought)?;
        // It has its place among the others: the room it had is for those that come.
        if let Some(kin) = self.kin(exchange) {
            kin.arrive();
        }
        exchange.room = (None, None);
        family.wake();
        Ok(if is_first { Arrival::Waits(family, group) } else { Arrival::Gathered })
    }

    /// Waits for the others and makes one message of all.
    async fn gather(
        &self,
        family: Rc<Family>,
        group: Rc<Group>,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<()> {
        let mut sleep = self.timeout.map(|timeout| scene.transport.sleep(timeout));
        let is_timeout = poll_fn(|context| {
            if group.is_enough(&family) {
                return Poll::Ready(false);
            }
            if let Some(sleep) = &mut sleep
                && sleep.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(true);
            }
            family.wait(context.waker());
            Poll::Pending
        })
        .await;
        let is_too_little = !is_timeout && group.is_too_little();
        let pieces = group.complete();
        scene.stage().cancel_family(&family);
        if is_too_little {
            let none = || Fault::bus("Fewer messages came than are to be aggregated");
            return Err(family.take_fault().unwrap_or_else(none));
        }
        let enclosing = match self.enclosing.map(|slot| exchange.properties.get(Scope::Default, slot)) {
            None => None,
            Some(Some(property::Value::Xml(fragment))) => Some(fragment.clone()),
            Some(_) => {
                let message = "The property that is to hold the element around aggregated messages holds none";
                return Err(Fault::bus(message));
            }
        };
        merge(pieces, self.kept, enclosing.as_ref(), scene.stage().gathered_limit_bytes(), exchange)
    }
}

/// Whether a message is one of those to be gathered.
fn correlates(expression: &Expression, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<bool> {
    let nothing = || Fault::bus("The expression by which messages are to be aggregated finds nothing in one of them");
    match expression.xpath() {
        Some(xpath) => {
            let found = xpath.with_value(exchange, scene, |value| match value.as_nodes() {
                Some(nodes) => (!nodes.is_empty()).then_some(true),
                None => Some(!matches!(value, Value::Item(Item::Atomic(Atomic::Boolean(false))))),
            })?;
            found.ok_or_else(nothing)
        }
        None => match expression.text(exchange, scene)? {
            Some(text) => Ok(text != "false"),
            None => Err(nothing()),
        },
    }
}

impl Mediator for Aggregate {
    fn effect(&self) -> Effect<'_> {
        let effect = Effect::changing(self.need.reads());
        match &self.on_complete {
            Some(on_complete) => effect.with("complete", on_complete.steps()),
            None => effect,
        }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        if self.kin(exchange).is_none() {
            return Step::Done(exchange, Ok(Flow::Next));
        }
        when_ready(&self.need, exchange, scene, move |exchange| match self.arrive(exchange, scene) {
            Ok(Arrival::Passes) => Step::Done(exchange, Ok(Flow::Next)),
            Ok(Arrival::Gathered) => Step::Done(exchange, Ok(Flow::Drop)),
            Ok(Arrival::Waits(family, group)) => Step::Wait(Box::pin(async move {
                match (self.gather(family, group, exchange, scene).await, &self.on_complete) {
                    (Ok(()), Some(on_complete)) => on_complete.run(exchange, scene).finish().await,
                    (Ok(()), None) => (exchange, Ok(Flow::Drop)),
                    (Err(fault), _) => (exchange, Err(fault)),
                }
            })),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}
