//! `<switch>`: the first case whose pattern matches runs.

use super::filter::Branch;
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::effect::Effect;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::mediator::{Built, Mediator, Spec, Step};
use crate::pattern::Pattern;
use crate::sequence::Block;

pub(super) const SPEC: Spec = Spec { element: "switch", doc: DOC, build };

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
    need: Need,
    cases: Vec<(Pattern, Branch)>,
    otherwise: Branch,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let source = Expression::compile(element.required("source")?, Wanted::Text, loader)?;
    let mut cases = Vec::new();
    let mut otherwise = None;
    for child in &element.children {
        if child.is("case") {
            let regex =
                child.attribute("regex").ok_or_else(|| child.problem("<case>: attribute \"regex\" is missing"))?;
            let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
            cases.push((pattern, Branch::Inline(loader.block(child))));
        } else if child.is("default") && otherwise.is_none() {
            child.attribute("description");
            otherwise = Some(Branch::Inline(loader.block(child)));
        } else {
            return Err(child.problem(format!("<switch> holds cases and one default, not {}", child.tag())));
        }
    }
    let otherwise = otherwise.unwrap_or_else(|| Branch::Inline(Block::default()));
    let need = Need::of([&source]);
    Ok(Box::new(Switch { source, need, cases, otherwise }))
}

impl Mediator for Switch {
    fn effect(&self) -> Effect<'_> {
        let start = Effect::reading(self.need.reads());
        let cases = self.cases.iter().map(|(pattern, branch)| (format!("case {}", pattern.label()), branch));
        let all = cases.chain([("default".to_owned(), &self.otherwise)]);
        all.fold(start, |effect, (label, branch)| effect.with(label, branch.steps()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| {
            let found = match self.source.text(exchange, scene) {
                Ok(Some(text)) => self.cases.iter().find(|(pattern, _)| pattern.matches(&text)),
                Ok(None) => None,
                Err(fault) => return Step::Done(exchange, Err(fault)),
            };
            found.map_or(&self.otherwise, |(_, branch)| branch).run(exchange, scene)
        })
    }
}
