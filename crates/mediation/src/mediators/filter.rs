//! `<filter>`: what is inside runs if a condition holds.

use crate::config::{Element, Loader, Problem};
use crate::content::{Need, when_ready};
use crate::effect::{Effect, Steps};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::pattern::Pattern;
use crate::sequence::{Block, SequenceId};

pub(super) const SPEC: Spec = Spec { element: "filter", doc: DOC, build };

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
    need: Need,
    then: Branch,
    otherwise: Branch,
}

enum Condition {
    Matches(Expression, Pattern),
    Holds(Expression),
}

/// What runs: mediators that stand here, or a named sequence.
pub(super) enum Branch {
    Inline(Block),
    Named(SequenceId),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let condition = match (element.attribute("xpath"), element.attribute("source"), element.attribute("regex")) {
        (Some(xpath), None, None) => Condition::Holds(Expression::compile(xpath, Wanted::Boolean, loader)?),
        (None, Some(source), Some(regex)) => {
            let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
            Condition::Matches(Expression::compile(source, Wanted::Text, loader)?, pattern)
        }
        _ => return Err(element.problem("<filter> needs xpath, or source and regex")),
    };
    let (then, otherwise) = (element.child("then"), element.child("else"));
    let branches = if then.is_some() || otherwise.is_some() {
        for child in element.children.iter().filter(|child| !child.is("then") && !child.is("else")) {
            loader.problem(child.problem(format!("{} stands beside <then> and <else>", child.tag())));
        }
        (branch(then, loader)?, branch(otherwise, loader)?)
    } else {
        (Branch::Inline(loader.block(element)), Branch::Inline(Block::default()))
    };
    let (Condition::Holds(expression) | Condition::Matches(expression, _)) = &condition;
    let need = Need::of([expression]);
    Ok(Box::new(Filter { condition, need, then: branches.0, otherwise: branches.1 }))
}

/// Reads a branch; one that is not there does nothing.
pub(super) fn branch(element: Option<&Element>, loader: &mut Loader) -> Result<Branch, Problem> {
    let Some(element) = element else { return Ok(Branch::Inline(Block::default())) };
    match element.attribute("sequence") {
        Some(key) => loader.sequence_id(key).map(Branch::Named),
        None => Ok(Branch::Inline(loader.block(element))),
    }
}

impl Branch {
    /// What it does.
    pub(super) fn steps(&self) -> Steps<'_> {
        match self {
            Branch::Inline(block) => Steps::Block(block),
            Branch::Named(id) => Steps::Named(*id),
        }
    }

    /// Runs the branch.
    pub(super) fn run<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        match self {
            Branch::Inline(block) if block.nodes().is_empty() => Step::Done(exchange, Ok(Flow::Next)),
            Branch::Inline(block) => block.run(exchange, scene),
            Branch::Named(id) => match scene.bus.sequence(*id) {
                Some(sequence) => sequence.run(exchange, scene),
                None => Step::Done(exchange, Err(engine::missing())),
            },
        }
    }
}

impl Mediator for Filter {
    fn effect(&self) -> Effect<'_> {
        let effect = Effect::reading(self.need.reads()).with("then", self.then.steps());
        effect.with("else", self.otherwise.steps())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| match self.condition.holds(exchange, scene) {
            Ok(true) => self.then.run(exchange, scene),
            Ok(false) => self.otherwise.run(exchange, scene),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}

impl Condition {
    fn holds(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<bool> {
        match self {
            Condition::Holds(expression) => expression.boolean(exchange, scene),
            Condition::Matches(source, pattern) => {
                Ok(source.text(exchange, scene)?.is_some_and(|text| pattern.matches(&text)))
            }
        }
    }
}
