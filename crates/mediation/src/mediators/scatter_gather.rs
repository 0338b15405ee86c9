//! `<scatter-gather>`: several sequences run with copies of the message, and what they make becomes one message.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::aggregate::{Count, Kept, last_piece, merge};
use super::foreach::each;
use super::gathered::{self, Form};
use crate::branch::{Piece, Target, Together, gathered_limit_bytes};
use crate::config::{Element, Loader};
use crate::content::Need;
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::Slot;

pub(super) const SPEC: Spec = Spec { element: "scatter-gather", doc: DOC, build };

const DOC: &str = r#"
Runs each `sequence` inside with a copy of the message, beside each other, and goes on when they have come to their ends
with one message of what they made.

- `parallel-execution`: `false` runs them one after the other.
- `target` (required): where the result goes: `Body`, or `Variable`, whose name stands in `target-variable`; the message
  stays as it was then.
- `result-content-type`: `JSON`, an array of what was taken, or `XML`, an element named by `result-enclosing-element`.

`aggregation` says what is taken:

- `expression` (required): XPath or `json-eval`, asked of what each sequence made.
- `condition`: an expression; what it does not hold for is left out.
- `timeout` in milliseconds, `min-messages` and `max-messages`, numbers or expressions in braces: when the others are not
  waited for any more; they are ended then.

Where a sequence fails, the flow fails, unless enough of the others make something.
Properties that a sequence sets are its own. What was taken is in the order of the sequences.

    <scatter-gather target="Body" result-content-type="JSON">
        <aggregation expression="json-eval($.offer)" timeout="5000" min-messages="1"/>
        <sequence>
            <call>
                <endpoint key="quotes"/>
            </call>
        </sequence>
        <sequence>
            <enrich>
                <source type="inline">{"offer": 1}</source>
                <target type="body"/>
            </enrich>
        </sequence>
    </scatter-gather>
"#;

struct ScatterGather {
    targets: Arc<[Target]>,
    parallel: bool,
    expression: Expression,
    condition: Option<Expression>,
    timeout: Option<Duration>,
    min: Count,
    max: Count,
    form: Form,
    /// Where the result goes; without one it is the message.
    variable: Option<Slot>,
    need: Need,
    built: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let parallel = element.switch("parallel-execution", true)?;
    let target = element.required("target")?;
    let variable = match target.value.trim() {
        value if value.eq_ignore_ascii_case("body") => None,
        value if value.eq_ignore_ascii_case("variable") => Some(gathered::variable(element, loader)?),
        other => return Err(target.problem(format!("target {other:?} is neither Body nor Variable"))),
    };
    let form = Form::read(element)?;
    let mut aggregation = None;
    let mut targets = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if child.is("aggregation") && aggregation.is_none() {
            aggregation = Some(child);
        } else if child.is("sequence") {
            targets.push(Target::of_sequence(child, loader));
        } else {
            let message = format!("<scatter-gather> holds an aggregation and sequences, not {}", child.tag());
            return Err(child.problem(message));
        }
    }
    let Some(aggregation) = aggregation.filter(|_| !targets.is_empty()) else {
        return Err(element.problem("<scatter-gather> needs an aggregation and a sequence"));
    };
    let expression = Expression::compile(aggregation.required("expression")?, Wanted::Nodes, loader)?;
    let condition = match aggregation.attribute("condition") {
        Some(condition) => Some(Expression::compile(condition, Wanted::Boolean, loader)?),
        None => None,
    };
    let timeout = match aggregation.attribute("timeout").filter(|text| !text.value.trim().is_empty()) {
        Some(text) => match text.value.trim().parse::<u64>() {
            Ok(milliseconds) => Some(milliseconds).filter(|&it| it > 0).map(Duration::from_millis),
            Err(_) => return Err(text.problem("timeout is no number of milliseconds")),
        },
        None => None,
    };
    let min = Count::read(Some(aggregation), "min-messages", loader)?;
    let max = Count::read(Some(aggregation), "max-messages", loader)?;
    let (need, built) = (Need::read(), Need::built());
    let targets = targets.into();
    Ok(Box::new(ScatterGather {
        targets,
        parallel,
        expression,
        condition,
        timeout,
        min,
        max,
        form,
        variable,
        need,
        built,
    }))
}

impl ScatterGather {
    async fn run(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        self.need.bring(exchange, scene).await?;
        let (min, max) = (self.min.value(exchange, scene)?, self.max.value(exchange, scene)?);
        let mut original = exchange.branch()?;
        original.message.body.share();
        let limit = if self.parallel { scene.bus.settings.branches } else { 1 };
        let mut together = Together::new(self.targets.len(), limit, |number| {
            let copy = original.branch()?;
            Ok(Box::pin(each(&self.targets[number], &self.built, copy, scene)))
        });
        let mut sleep = self.timeout.map(|timeout| scene.transport.sleep(timeout));
        let mut taken: Vec<(usize, Piece)> = Vec::new();
        let mut fault = None;
        loop {
            let is_enough = |wanted: Option<usize>| wanted.is_some_and(|wanted| taken.len() >= wanted);
            if is_enough(min) || is_enough(max) {
                break;
            }
            let next = poll_fn(|context| match (together.poll_next(context), &mut sleep) {
                (Poll::Pending, Some(sleep)) => sleep.as_mut().poll(context).map(|()| Ok(None)),
                (next, _) => next,
            });
            let Some((number, outcome)) = next.await? else { break };
            match outcome {
                Ok((mut result, Flow::Next)) => {
                    let holds = match &self.condition {
                        Some(condition) => condition.boolean(&result, scene)?,
                        None => true,
                    };
                    if holds {
                        let brought = last_piece(Some(&self.expression), Kept::Root, &mut result, scene)?;
                        taken.push((number, self.form.of(brought)?));
                    }
                }
                Ok((_, Flow::Drop)) => {}
                Ok((result, flow)) => {
                    drop(together);
                    *exchange = *result;
                    return Ok(flow);
                }
                Err(failed) => {
                    fault.get_or_insert(failed);
                }
            }
        }
        drop(together);
        if let Some(fault) = fault
            && taken.len() < min.unwrap_or(self.targets.len())
        {
            return Err(fault);
        }
        if taken.is_empty() {
            return Err(Fault::bus("No sequence made anything that could be gathered in time"));
        }
        taken.sort_by_key(|(number, _)| *number);
        let pieces = taken.into_iter().map(|(_, piece)| piece).collect();
        let limit_bytes = gathered_limit_bytes(scene.bus);
        match self.variable {
            Some(variable) => self.form.keep(pieces, variable, limit_bytes, exchange)?,
            None => merge(pieces, Kept::Root, self.form.enclosing(), limit_bytes, exchange)?,
        }
        Ok(Flow::Next)
    }
}

impl Mediator for ScatterGather {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: self.variable.is_none(), ..Target::effect(&self.targets, self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, scene).await;
            (exchange, outcome)
        }))
    }
}
