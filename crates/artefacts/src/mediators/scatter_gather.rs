//! `<scatter-gather>`: several sequences run with copies of the message, and what they make becomes one message.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::aggregation::{ConfiguredCount, MergeMode, extract_last, merge};
use crate::aggregation::{ResultFormat, target_variable};
use crate::branch_targets::BranchTarget;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::branches::{Contribution, JoinSet, gathered_limit_bytes};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::Slot;

pub(super) const SPEC: Spec = Spec::new("scatter-gather", DOC, build);

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

Where a sequence fails, or is not there in time, the message is made of what the others brought. The flow fails where none
brought anything, or fewer than `min-messages` before the time was over.
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
    targets: Arc<[BranchTarget]>,
    parallel: bool,
    expression: Expression,
    condition: Option<Expression>,
    timeout: Option<Duration>,
    min: ConfiguredCount,
    max: ConfiguredCount,
    form: ResultFormat,
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
        value if value.eq_ignore_ascii_case("variable") => Some(target_variable(element, loader)?),
        other => return Err(target.problem(format!("target {other:?} is neither Body nor Variable"))),
    };
    let form = ResultFormat::read(element)?;
    let mut aggregation = None;
    let mut targets = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if child.is("aggregation") && aggregation.is_none() {
            aggregation = Some(child);
        } else if child.is("sequence") {
            targets.push(BranchTarget::of_sequence(child, loader));
        } else {
            let message = format!("<scatter-gather> holds an aggregation and sequences, not {}", child.tag());
            return Err(child.problem(message));
        }
    }
    let Some(aggregation) = aggregation.filter(|_| !targets.is_empty()) else {
        return Err(element.problem("<scatter-gather> needs an aggregation and a sequence"));
    };
    let expression = Expression::compile(aggregation.required("expression")?, ResultType::Nodes, loader)?;
    let condition = match aggregation.attribute("condition") {
        Some(condition) => Some(Expression::compile(condition, ResultType::Boolean, loader)?),
        None => None,
    };
    let timeout = match aggregation.attribute("timeout").filter(|text| !text.value.trim().is_empty()) {
        Some(text) => match text.value.trim().parse::<u64>() {
            Ok(milliseconds) => Some(milliseconds).filter(|&it| it > 0).map(Duration::from_millis),
            Err(_) => return Err(text.problem("timeout is no number of milliseconds")),
        },
        None => None,
    };
    let min = ConfiguredCount::read(Some(aggregation), "min-messages", loader)?;
    let max = ConfiguredCount::read(Some(aggregation), "max-messages", loader)?;
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
    async fn run(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        self.need.fulfil(exchange, context).await?;
        let (min, max) = (self.min.value(exchange, context)?, self.max.value(exchange, context)?);
        let mut original = exchange.branch()?;
        original.message.body.share();
        let limit = if self.parallel { context.definitions.settings.branches } else { 1 };
        let mut together = JoinSet::new(self.targets.len(), limit, |number| {
            let copy = original.branch()?;
            Ok(Box::pin(self.targets[number].run_to_end(number, &self.built, copy, context)))
        });
        let mut sleep = self.timeout.map(|timeout| context.transport.sleep(timeout));
        let mut taken: Vec<(usize, Contribution)> = Vec::new();
        let (mut fault, mut is_timeout) = (None, false);
        loop {
            let is_enough = |wanted: Option<usize>| wanted.is_some_and(|wanted| taken.len() >= wanted);
            if is_enough(min) || is_enough(max) {
                break;
            }
            let next = poll_fn(|cx| match (together.poll_next(cx), &mut sleep) {
                (Poll::Pending, Some(sleep)) => sleep.as_mut().poll(cx).map(|()| {
                    is_timeout = true;
                    Ok(None)
                }),
                (next, _) => next,
            });
            let Some((number, outcome)) = next.await? else { break };
            match outcome {
                Ok((mut result, Flow::Next)) => {
                    let holds = match &self.condition {
                        Some(condition) => condition.boolean(&result, context)?,
                        None => true,
                    };
                    if holds {
                        let brought = extract_last(Some(&self.expression), MergeMode::Root, &mut result, context)?;
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
        let least = if is_timeout { 1 } else { min.unwrap_or(1).clamp(1, self.targets.len()) };
        match fault {
            Some(fault) if taken.len() < least => return Err(fault),
            Some(fault) => tracing::warn!(taken = taken.len(), "a sequence of scatter-gather failed: {fault}"),
            None if taken.is_empty() => {
                return Err(Fault::bus("No sequence made anything that could be gathered in time"));
            }
            None => {}
        }
        taken.sort_by_key(|(number, _)| *number);
        let pieces = taken.into_iter().map(|(_, piece)| piece).collect();
        let limit_bytes = gathered_limit_bytes(&context.definitions.settings);
        match self.variable {
            Some(variable) => self.form.keep(pieces, variable, limit_bytes, exchange)?,
            None => merge(pieces, MergeMode::Root, self.form.enclosing(), limit_bytes, exchange)?,
        }
        Ok(Flow::Next)
    }
}

impl Mediator for ScatterGather {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: self.variable.is_none(), ..BranchTarget::effect(&self.targets, self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.run(exchange, context).await;
            (exchange, outcome)
        }))
    }
}
