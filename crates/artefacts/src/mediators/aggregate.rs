//! `<aggregate>`: what was split goes on as one message, and so do messages of requests that belong together.

mod requests;

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use myelin_xpath::{Atomic, Item, Value};

use crate::aggregation::{ConfiguredCount, MergeMode, OpenGroups, extract, extract_last, merge};
use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::branches::{
    Aggregation, Contribution, CorrelationGroup, GroupMember, MessageCount, gathered_limit_bytes,
};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Branching, Effect, Flow, Mediator, Step};
use myelin_flow::property::{self, Scope, Slot};
use myelin_flow::recorder::StepDecision;

pub(super) const SPEC: Spec = Spec::new("aggregate", DOC, build);

const DOC: &str = r#"
Gathers what `clone` or `iterate` split: messages wait here until there are enough, and go on as one.
A message that was not split passes, unless there is `correlateOn`: then it meets the messages of other requests.

- `id`: gathers the branches of the `clone` or `iterate` with that `id`; without it, those of the nearest one around.
- `correlateOn`: an `expression`; a message for which it is false passes, one for which it finds nothing is a fault.
  Of messages that were not split, those with the same value make a group, whatever requests and connections they come by.
- `completeCondition`: `timeout` in seconds from the split on; in it `messageCount` with `min` and `max`,
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
If no branch has come when the time is over, that is a fault, which the client gets as 504; this needs an `aggregate` that
every branch reaches, and not one inside of a `filter`, which waits for its first branch.
The aggregated message has the properties and the header of the first that came; the parts are in the order of the branches.

The clients of a group get 202 at once, as their messages wait for others. When `min` or `max` is reached, or the time from
the first message on is over, the aggregated message goes on in a flow of its own, whose answer nobody gets: send it to a
backend. Without a `timeout` a group waits for 10 minutes. A group holds no more than the copies of one request may take;
10,000 groups of a mediator wait at once, and a message for another one gets 503. Groups are kept in memory: they outlive a
reload, and not the process.

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

    <aggregate>
        <correlateOn expression="//order/customer"/>
        <completeCondition timeout="60">
            <messageCount min="-1" max="10"/>
        </completeCondition>
        <onComplete expression="//order" enclosingElementProperty="all">
            <send>
                <endpoint>
                    <address uri="http://backend.test/orders"/>
                </endpoint>
            </send>
        </onComplete>
    </aggregate>
"#;

struct Aggregate {
    id: Option<String>,
    correlation: Option<Correlation>,
    timeout: Option<Duration>,
    min: ConfiguredCount,
    max: ConfiguredCount,
    expression: Option<Expression>,
    completion: Arc<Completion>,
    need: Need,
}

/// `correlateOn`.
struct Correlation {
    expression: Expression,
    /// The messages of requests that were not split.
    groups: Arc<OpenGroups>,
}

/// What becomes of the messages that were gathered.
struct Completion {
    mode: MergeMode,
    enclosing: Option<Slot>,
    on_complete: Option<InnerSequence>,
}

/// What becomes of a message that arrives.
enum Arrival {
    /// It is none of these.
    Passes,
    /// It is with the others.
    Gathered,
    /// It is the first, and waits for the others.
    Waits(Rc<CorrelationGroup>, Rc<Aggregation>),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let id = element.attribute("id").map(|id| id.value.to_owned());
    let mut parts = [("correlateOn", None), ("completeCondition", None), ("onComplete", None)];
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match parts.iter_mut().find(|(name, part)| child.is(name) && part.is_none()) {
            Some((_, part)) => *part = Some(child),
            None => {
                let names = ["correlateOn", "completeCondition", "onComplete"];
                return Err(child.misnamed(format!("<aggregate> does not hold {} here", child.tag()), &names));
            }
        }
    }
    let [(_, correlate_on), (_, condition), (_, on_complete)] = parts;
    let timeout = condition.map(timeout).transpose()?.flatten();
    let correlation = match correlate_on {
        Some(correlate_on) => {
            if timeout.is_none() {
                let minutes = requests::LONGEST_WAIT.as_secs() / 60;
                let message =
                    format!("<correlateOn> without a timeout: messages of requests wait for {minutes} minutes");
                loader.warning(correlate_on.problem(message));
            }
            let expression = Expression::compile(correlate_on.required("expression")?, ResultType::Nodes, loader)?;
            let definition = format!("{}\n{}", element.place, element.source());
            let groups = loader.inherit("aggregate", definition, |_: &OpenGroups| true, OpenGroups::default);
            Some(Correlation { expression, groups })
        }
        None => None,
    };
    let count = condition.and_then(|condition| condition.child("messageCount"));
    let min = ConfiguredCount::read(count, "min", loader)?;
    let max = ConfiguredCount::read(count, "max", loader)?;
    let Some(on_complete) = on_complete else {
        return Err(element.problem("<aggregate> needs <onComplete>, which says what becomes of the messages"));
    };
    let expression = match on_complete.attribute("expression") {
        Some(text) => Some(Expression::compile(text, ResultType::Nodes, loader)?),
        None => None,
    };
    let mode = match on_complete.attribute("aggregateElementType").map(|kind| (kind.value, kind)) {
        None | Some(("root" | "", _)) => MergeMode::Root,
        Some(("child", _)) => MergeMode::Child,
        Some((other, text)) => {
            return Err(text.problem(format!("aggregateElementType {other:?} is neither root nor child")));
        }
    };
    let enclosing = on_complete.attribute("enclosingElementProperty").map(|name| loader.names().slot(name.value));
    let has_mediators = on_complete.children.iter().any(|child| !child.is("description") && !child.is("comment"));
    let on_complete = match on_complete.attribute("sequence") {
        Some(key) => Some(InnerSequence::Named(loader.sequence_id(key)?)),
        None if has_mediators => Some(InnerSequence::Inline(loader.block(on_complete))),
        None => None,
    };
    let need = Need::built();
    let completion = Arc::new(Completion { mode, enclosing, on_complete });
    Ok(Box::new(Aggregate { id, correlation, timeout, min, max, expression, completion, need }))
}

fn timeout(condition: &Element) -> Result<Option<Duration>, Problem> {
    let Some(text) = condition.attribute("timeout").filter(|text| !text.value.trim().is_empty()) else {
        return Ok(None);
    };
    let seconds: i64 = text.value.trim().parse().map_err(|_| text.problem("timeout is no number of seconds"))?;
    Ok(u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs))
}

impl Aggregate {
    /// Which of the groups of a message is gathered here: the nearest that has not met yet.
    fn member<'a>(&self, exchange: &'a mut Exchange) -> Option<&'a mut GroupMember> {
        let mut all = exchange.members.iter_mut().rev();
        match &self.id {
            Some(id) => all.find(|member| member.group.is_of(id)),
            None => all.find(|member| member.is_coming()),
        }
    }

    /// A message arrives.
    fn arrive(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Arrival> {
        let Some(member) = self.member(exchange) else { return Ok(Arrival::Passes) };
        if !member.is_coming() {
            // As in Synapse, what was gathered once is not gathered again.
            return Ok(Arrival::Gathered);
        }
        let (group, number) = (Rc::clone(&member.group), member.number);
        if let Some(correlation) = &self.correlation
            && !correlates(&correlation.expression, exchange, context)?
        {
            return Ok(Arrival::Passes);
        }
        let expression = self.expression.as_ref();
        let place = std::ptr::from_ref(self).addr();
        let (aggregation, brought, is_first) = match group.aggregation(place) {
            // Nobody looks at its message any more, unless it is too much and somebody handles that.
            Some(aggregation) if aggregation.has_room(exchange.built_bytes()) => {
                (aggregation, extract_last(expression, self.completion.mode, exchange, context)?, false)
            }
            Some(aggregation) => (aggregation, extract(expression, self.completion.mode, exchange, context)?, false),
            None => {
                let brought = extract(expression, self.completion.mode, exchange, context)?;
                let wanted = self.wanted(exchange, context)?;
                let limit_bytes = gathered_limit_bytes(&context.definitions.settings);
                let aggregation = Rc::new(Aggregation::new(wanted, limit_bytes));
                group.begin_aggregation(place, &aggregation);
                (aggregation, brought, true)
            }
        };
        aggregation.add(number, brought)?;
        // It has its place among the others: the room it had is for those that come.
        if let Some(member) = self.member(exchange) {
            member.arrive();
        }
        exchange.permits = (None, None);
        group.wake();
        Ok(if is_first { Arrival::Waits(group, aggregation) } else { Arrival::Gathered })
    }

    /// How many messages are enough.
    fn wanted(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<MessageCount> {
        Ok(MessageCount { min: self.min.value(exchange, context)?, max: self.max.value(exchange, context)? })
    }

    /// Waits for the others; what all have brought.
    async fn gather(
        &self,
        group: Rc<CorrelationGroup>,
        aggregation: Rc<Aggregation>,
        context: &RequestContext<'_>,
    ) -> Outcome<Vec<Contribution>> {
        let since_split = context.transport.monotonic().saturating_sub(group.split_at());
        let mut sleep = self.timeout.map(|timeout| context.transport.sleep(timeout.saturating_sub(since_split)));
        let is_timeout = poll_fn(|cx| {
            if aggregation.is_enough(&group) {
                return Poll::Ready(false);
            }
            if let Some(sleep) = &mut sleep
                && sleep.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(true);
            }
            group.wait(cx.waker());
            Poll::Pending
        })
        .await;
        let is_too_little = !is_timeout && aggregation.is_too_little();
        let pieces = aggregation.complete();
        context.watch.decided(|| {
            let reason = if is_timeout {
                "the time of its completeCondition is over"
            } else if is_too_little {
                "no more messages can come, and these are fewer than wanted"
            } else {
                "enough messages are there, or no more can come"
            };
            StepDecision::chose(format!("{} messages aggregated", pieces.len())).because(reason)
        });
        context.branches.cancel_group(&group);
        if is_too_little {
            let none = || Fault::bus("Fewer messages came than are to be aggregated");
            return Err(group.take_fault().unwrap_or_else(none));
        }
        Ok(pieces)
    }
}

impl Completion {
    /// Makes one message of all, and goes on with it.
    ///
    /// Errors: the bus's, where that cannot be done, and those of what follows.
    async fn complete(
        &self,
        pieces: Vec<Contribution>,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Flow> {
        let enclosing = match self.enclosing.map(|slot| exchange.properties.get(Scope::Default, slot)) {
            None => None,
            Some(Some(property::Value::Xml(fragment))) => Some(fragment.clone()),
            Some(_) => {
                let message = "The property that is to hold the element around aggregated messages holds none";
                return Err(Fault::bus(message));
            }
        };
        let limit_bytes = gathered_limit_bytes(&context.definitions.settings);
        merge(pieces, self.mode, enclosing.as_ref(), limit_bytes, exchange)?;
        match &self.on_complete {
            Some(on_complete) => on_complete.run(exchange, context).finish().await.1,
            None => Ok(Flow::Drop),
        }
    }
}

/// Whether a message is one of those to be gathered.
fn correlates(expression: &Expression, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
    let nothing = || Fault::bus("The expression by which messages are to be aggregated finds nothing in one of them");
    match expression.xpath() {
        Some(xpath) => {
            let found = xpath.with_value(exchange, context, |value| match value.as_nodes() {
                Some(nodes) => (!nodes.is_empty()).then_some(true),
                None => Some(!matches!(value, Value::Item(Item::Atomic(Atomic::Boolean(false))))),
            })?;
            found.ok_or_else(nothing)
        }
        None => match expression.text(exchange, context)? {
            Some(text) => Ok(text != "false"),
            None => Err(nothing()),
        },
    }
}

impl Mediator for Aggregate {
    fn effect(&self) -> Effect<'_> {
        let gathers = Branching::Gathers { id: self.id.as_deref(), time: self.timeout };
        // What `correlateOn` lets pass does not meet others here.
        let branching = self.correlation.is_none().then_some(gathers);
        let effect = Effect { branching, ..Effect::changing(self.need.reads()) };
        match &self.completion.on_complete {
            Some(on_complete) => effect.with("complete", on_complete.steps()),
            None => effect,
        }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if self.member(exchange).is_none() {
            return match &self.correlation {
                Some(correlation) => when_ready(&self.need, exchange, context, move |exchange| {
                    let outcome = self.join(correlation, exchange, context);
                    Step::Done(exchange, outcome)
                }),
                None => Step::Done(exchange, Ok(Flow::Next)),
            };
        }
        when_ready(&self.need, exchange, context, move |exchange| match self.arrive(exchange, context) {
            Ok(Arrival::Passes) => Step::Done(exchange, Ok(Flow::Next)),
            Ok(Arrival::Gathered) => Step::Done(exchange, Ok(Flow::Drop)),
            Ok(Arrival::Waits(group, aggregation)) => Step::Wait(Box::pin(async move {
                let outcome = match self.gather(group, aggregation, context).await {
                    Ok(pieces) => self.completion.complete(pieces, exchange, context).await,
                    Err(fault) => Err(fault),
                };
                (exchange, outcome)
            })),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}
