//! `<switch>`: the first case whose pattern matches runs.

use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::{matched, told};
use myelin_config::element::Element;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::mediator::{Effect, Mediator, Step};
use myelin_flow::recorder::StepDecision;
use myelin_flow::sequence::Block;
use myelin_java_text::pattern::Pattern;

pub(super) const SPEC: Spec = Spec::new("switch", DOC, build);

const DOC: &str = r#"
Runs the first `case` whose `regex` matches the whole text of `source`, or `default` where none does.
What is not set matches no case.

    <switch source="$trp:routing">
        <case regex="xadmin;.*">
            <property name="target" value="admin"/>
        </case>
        <default>
            <drop/>
        </default>
    </switch>
"#;

struct Switch {
    source: Expression,
    /// The expression as it is written.
    text: Box<str>,
    need: Need,
    cases: Vec<(Pattern, InnerSequence)>,
    otherwise: InnerSequence,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let text = element.required("source")?;
    let source = Expression::compile(text, ResultType::Text, loader)?;
    let mut cases = Vec::new();
    let mut otherwise = None;
    let mut before: Vec<(&str, u32)> = Vec::new();
    for child in &element.children {
        if child.is("case") {
            let regex =
                child.attribute("regex").ok_or_else(|| child.lacks("<case>: attribute \"regex\" is missing"))?;
            let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
            let takes_it = |earlier: &&(&str, u32)| earlier.0 == regex.value || matches!(earlier.0, ".*" | "(.*)");
            if let Some((earlier, line)) = before.iter().find(takes_it) {
                let message = format!("this case never runs: {earlier:?} in line {line} takes what it matches");
                loader.warning(regex.problem(message));
            } else if never_matches(regex.value) {
                let message =
                    "this case never runs: ^ or $ stands inside the pattern, which has to match the whole text";
                loader.warning(regex.problem(message));
            }
            before.push((regex.value, child.place.line));
            cases.push((pattern, InnerSequence::Inline(loader.block(child))));
        } else if child.is("default") && otherwise.is_none() {
            child.attribute("description");
            otherwise = Some(InnerSequence::Inline(loader.block(child)));
        } else {
            return Err(child.problem(format!("<switch> holds cases and one default, not {}", child.tag())));
        }
    }
    let otherwise = otherwise.unwrap_or_else(|| InnerSequence::Inline(Block::default()));
    let need = Need::of([&source]);
    Ok(Box::new(Switch { source, text: text.value.into(), need, cases, otherwise }))
}

/// Whether a pattern asks for the start of a text behind its first character, or for the end before its last one; patterns
/// with alternatives or parts that may be missing are not looked into.
fn never_matches(regex: &str) -> bool {
    if regex.contains(['|', '?', '*', '{', '[', '\\', '(']) {
        return false;
    }
    let last = regex.len().saturating_sub(1);
    regex.char_indices().any(|(at, letter)| (letter == '^' && at > 0) || (letter == '$' && at < last))
}

impl Mediator for Switch {
    fn effect(&self) -> Effect<'_> {
        let start = Effect::reading(self.need.reads());
        let cases = self.cases.iter().map(|(pattern, branch)| (format!("case {}", pattern.label()), branch));
        let all = cases.chain([("default".to_owned(), &self.otherwise)]);
        all.fold(start, |effect, (label, branch)| effect.with(label, branch.steps()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| {
            let found = match self.source.text(exchange, context) {
                Ok(Some(text)) => self.cases.iter().position(|(pattern, _)| pattern.matches(&text)),
                Ok(None) => None,
                Err(fault) => return Step::Done(exchange, Err(fault)),
            };
            context.watch.decided(|| {
                let case = found.map_or("default".to_owned(), |at| format!("case {}", self.cases[at].0.label()));
                // The cases behind the one that matches were not asked.
                let asked = self.cases.iter().take(found.map_or(self.cases.len(), |at| at + 1));
                StepDecision::chose(case)
                    .by(&*self.text, told(&self.source, exchange, context))
                    .comparing(asked.map(|(pattern, _)| matched(&self.text, &self.source, pattern, exchange, context)))
            });
            found.map_or(&self.otherwise, |at| &self.cases[at].1).run(exchange, context)
        })
    }
}
