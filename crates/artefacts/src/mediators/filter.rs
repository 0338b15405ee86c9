//! `<filter>`: what is inside runs if a condition holds.

use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::{matched, told};
use myelin_config::element::Element;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Mediator, Step};
use myelin_flow::recorder::StepDecision;
use myelin_flow::sequence::Block;
use myelin_java_text::pattern::Pattern;

pub(super) const SPEC: Spec = Spec::new("filter", DOC, build);

const DOC: &str = r#"
Runs one of two branches.

- `source` and `regex`: the text of the expression must match the whole regular expression; what is not set never does.
- or `xpath`: the expression must be true.

An expression over the body reads only as far as the decision needs, and the very bytes that came are passed on.

The mediators stand directly inside, or in `then` and `else`; each of these may name a `sequence` instead.

    <filter source="get-property('transport', 'routing')" regex=".*server1.*">
        <then>
            <property name="target" value="server1"/>
        </then>
        <else sequence="audit"/>
    </filter>

    <filter xpath="//*[local-name() = 'symbol'] = 'IBM'">
        <property name="target" value="server2"/>
    </filter>

    <filter xpath="$url:symbol = 'IBM' or $trp:X-Symbol = 'IBM'">
        <log level="simple"/>
    </filter>
"#;

struct Filter {
    condition: Condition,
    /// The expression as it is written: `xpath`, or `source`.
    text: Box<str>,
    need: Need,
    then: InnerSequence,
    otherwise: InnerSequence,
}

enum Condition {
    Matches(Expression, Pattern),
    Holds(Expression),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let condition = match (element.attribute("xpath"), element.attribute("source"), element.attribute("regex")) {
        (Some(xpath), None, None) => Condition::Holds(Expression::compile(xpath, ResultType::Boolean, loader)?),
        (None, Some(source), Some(regex)) => {
            let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
            Condition::Matches(Expression::compile(source, ResultType::Text, loader)?, pattern)
        }
        _ => return Err(element.lacks("<filter> needs xpath, or source and regex")),
    };
    let text = element.attribute("xpath").or(element.attribute("source")).map_or("", |text| text.value).into();
    let (then, otherwise) = (element.child("then"), element.child("else"));
    let branches = if then.is_some() || otherwise.is_some() {
        for child in element.children.iter().filter(|child| !child.is("then") && !child.is("else")) {
            loader.problem(child.problem(format!("{} stands beside <then> and <else>", child.tag())));
        }
        (InnerSequence::read(then, loader)?, InnerSequence::read(otherwise, loader)?)
    } else {
        (InnerSequence::Inline(loader.block(element)), InnerSequence::Inline(Block::default()))
    };
    let is_empty = |branch: Option<&Element>| {
        branch.is_none_or(|branch| branch.attribute("sequence").is_none() && branch.children.is_empty())
    };
    let has_nothing = match (then, otherwise) {
        (None, None) => element.children.iter().all(|child| child.is("description")),
        (then, otherwise) => is_empty(then) && is_empty(otherwise),
    };
    if has_nothing {
        loader.warning(element.problem("<filter> has no effect: nothing stands in its branches"));
    }
    let (Condition::Holds(expression) | Condition::Matches(expression, _)) = &condition;
    let need = Need::of([expression]);
    Ok(Box::new(Filter { condition, text, need, then: branches.0, otherwise: branches.1 }))
}

impl Mediator for Filter {
    fn effect(&self) -> Effect<'_> {
        let effect = Effect::reading(self.need.reads()).with("then", self.then.steps());
        effect.with("else", self.otherwise.steps())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| match self.condition.holds(exchange, context) {
            Ok(holds) => {
                context.watch.decided(|| self.decision(holds, exchange, context));
                if holds { &self.then } else { &self.otherwise }.run(exchange, context)
            }
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}

impl Filter {
    fn decision(&self, holds: bool, exchange: &Exchange, context: &RequestContext<'_>) -> StepDecision {
        let decision = StepDecision::chose(if holds { "then" } else { "else" });
        match &self.condition {
            Condition::Holds(expression) => {
                decision.by(&*self.text, holds.to_string()).comparing(expression.comparisons(holds, exchange, context))
            }
            Condition::Matches(source, pattern) => decision
                .by(format!("{} matches {}", self.text, pattern.label()), told(source, exchange, context))
                .comparing([matched(&self.text, source, pattern, exchange, context)]),
        }
    }
}

impl Condition {
    fn holds(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        match self {
            Condition::Holds(expression) => expression.boolean(exchange, context),
            Condition::Matches(source, pattern) => {
                Ok(source.text(exchange, context)?.is_some_and(|text| pattern.matches(&text)))
            }
        }
    }
}
