//! `<conditionalRouter>`: each route whose condition holds gets the message, one after the other.

use std::sync::Arc;

use crate::conditions::Condition;
use crate::inner_sequence::InnerSequence;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::{Element, Text};
use myelin_config::problem::{Place, Problem};
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::position::StepPlace;
use myelin_flow::recorder::{Comparison, StepDecision};
use myelin_flow::sequence::{Block, Node};

pub(super) const SPEC: Spec =
    Spec::new("conditionalRouter", DOC, build).ends_if(|element| !continues(element).unwrap_or_default());

const DOC: &str = r#"
Looks at its routes one after the other, and runs the target of each whose condition holds.

- `continueAfter`: whether the mediators behind it run; `false` by default.
- `conditionalRoute`: one `condition` and one `target`.
  With `breakRoute` `true` (default) no route behind it is looked at once it has run.
- `target`: names a `sequence`, or holds one. What it sends is on its way; when it drops the message, the next route
  is looked at all the same, as in Synapse.

A condition is `and`, `or` or `not` around conditions, or one of these two, of which the text must be there:

- `equal`: the text is the `value`, whatever the case.
- `match`: the whole text matches `regex`.

The text is that of an HTTP header (`type="header"`, the default), of a query parameter (`param`) or of a property
(`property`) that `source` names; of the XPath in `source` (`soap`); or of `To` (`url`), of which `source` names a part:
`protocol`, `user`, `host`, `port`, `path`, `query` or `ref`.

    <conditionalRouter continueAfter="true">
        <conditionalRoute breakRoute="false">
            <condition>
                <match type="url" regex=".*/services/Quotes.*"/>
            </condition>
            <target sequence="audit"/>
        </conditionalRoute>
        <conditionalRoute>
            <condition>
                <and>
                    <equal source="X-Tenant" value="gold"/>
                    <not>
                        <equal type="param" source="dry" value="true"/>
                    </not>
                </and>
            </condition>
            <target>
                <sequence>
                    <property name="priority" value="high"/>
                </sequence>
            </target>
        </conditionalRoute>
    </conditionalRouter>
"#;

/// The routes from one of them on.
struct ConditionalRouter {
    routes: Arc<Routes>,
    start: usize,
}

struct Routes {
    routes: Vec<Route>,
    continues: bool,
    place: Place,
}

struct Route {
    condition: Condition,
    need: Need,
    target: InnerSequence,
    is_last: bool,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let continues = continues(element)?;
    element.attribute("description");
    let elements: Vec<&Element> = element.children.iter().filter(|child| !child.is("description")).collect();
    let routes = elements.iter().zip(1..).map(|(route, next)| read(route, &elements[next..], loader));
    let routes = routes.collect::<Result<Vec<Route>, Problem>>()?;
    if routes.is_empty() {
        return Err(element.problem("<conditionalRouter> holds no <conditionalRoute>"));
    }
    let routes = Arc::new(Routes { routes, continues, place: element.place.clone() });
    Ok(Box::new(ConditionalRouter { routes, start: 0 }))
}

/// Whether the mediators behind the router run.
fn continues(element: &Element) -> Result<bool, Problem> {
    switch(element.attribute("continueAfter"), false)
}

/// Reads a route; those `behind` it may send the message again.
fn read(element: &Element, behind: &[&Element], loader: &mut Loader) -> Result<Route, Problem> {
    if !element.is("conditionalRoute") {
        return Err(element.problem(format!("<conditionalRouter> holds <conditionalRoute>, not {}", element.tag())));
    }
    let is_last = switch(element.attribute("breakRoute"), true)?;
    if let Some(asynchronous) = element.attribute("asynchronous")
        && switch(Some(asynchronous), false)?
    {
        return Err(asynchronous.problem("a route that runs beside the flow is not offered: <clone> does that"));
    }
    let missing = |name: &str| element.problem(format!("<conditionalRoute> needs a <{name}>"));
    let condition = element.child("condition").ok_or_else(|| missing("condition"))?;
    let condition = Condition::inside(condition, loader)?;
    let target = element.child("target").ok_or_else(|| missing("target"))?;
    let behind = if is_last { &[] } else { behind };
    let target = loader.followed_by(behind, |loader| self::target(target, loader))?;
    Ok(Route { need: condition.add_to(Need::default()), condition, target, is_last })
}

fn target(element: &Element, loader: &mut Loader) -> Result<InnerSequence, Problem> {
    if let Some(key) = element.attribute("sequence") {
        return loader.sequence_id(key).map(InnerSequence::Named);
    }
    match element.children.as_slice() {
        [sequence] if sequence.is("sequence") => match sequence.attribute("key") {
            Some(key) => loader.sequence_id(key).map(InnerSequence::Named),
            None => Ok(InnerSequence::Inline(loader.block(sequence))),
        },
        _ => Err(element.problem("<target> of a route names a sequence or holds one; <send> in it has an endpoint")),
    }
}

/// A switch as Axis2 reads one, which must be one or the other.
fn switch(text: Option<Text<'_>>, default: bool) -> Result<bool, Problem> {
    let Some(text) = text else { return Ok(default) };
    match text.value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(text.problem(format!("{:?} is neither true nor false", text.value))),
    }
}

impl Mediator for ConditionalRouter {
    fn effect(&self) -> Effect<'_> {
        let routes = &self.routes.routes;
        let start = Effect::reading(routes.iter().map(|route| route.need.reads()).max().unwrap_or_default());
        routes
            .iter()
            .zip(1..)
            .fold(start, |effect, (route, number)| effect.with(format!("route {number}"), route.target.steps()))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(self.run(exchange, context)))
    }
}

impl ConditionalRouter {
    async fn run<'a>(
        &'a self,
        mut exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> (&'a mut Exchange, Outcome<Flow>) {
        for (index, route) in self.routes.routes.iter().enumerate().skip(self.start) {
            match route.applies(exchange, context).await {
                Ok(true) => context.watch.decided(|| {
                    let (chosen, place) = (format!("route {}", index + 1), &self.routes.place);
                    StepDecision::chose(chosen)
                        .because(format!("its condition holds, of those at {place}"))
                        .comparing(route.compared(exchange, context))
                }),
                Ok(false) => {
                    context.watch.decided(|| {
                        StepDecision::chose("the next route")
                            .but_not(format!("route {}", index + 1), "its condition does not hold")
                            .comparing(route.compared(exchange, context))
                    });
                    continue;
                }
                Err(fault) => return (exchange, Err(fault)),
            }
            let (back, outcome) = route.target.run(exchange, context).finish().await;
            exchange = back;
            match outcome {
                // Synapse never asks how a route ended.
                Ok(Flow::Next | Flow::Drop) if route.is_last => break,
                Ok(Flow::Next | Flow::Drop) => {}
                Ok(Flow::Split) => {
                    self.behind(index).follow_split(exchange);
                    return (exchange, Ok(Flow::Split));
                }
                other => return (exchange, other),
            }
        }
        (exchange, Ok(if self.routes.continues { Flow::Next } else { Flow::Drop }))
    }

    /// What comes behind a route: the others, unless it is the last, and what follows from them.
    fn behind(&self, index: usize) -> Block {
        let Routes { routes, place, .. } = &*self.routes;
        let start = if routes[index].is_last { routes.len() } else { index + 1 };
        let mediator = Box::new(ConditionalRouter { routes: Arc::clone(&self.routes), start });
        let step = StepPlace { element: SPEC.element, place: place.clone() };
        vec![Node { step, expression: None, mediator }].into()
    }
}

impl Route {
    fn compared(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Vec<Comparison> {
        self.condition.comparisons(exchange.to().as_deref(), exchange, context)
    }

    async fn applies(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        self.need.fulfil(exchange, context).await?;
        self.condition.holds(exchange.to().as_deref(), exchange, context)
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    fn refused(inside: &str, part: &str) {
        check(&format!("<conditionalRouter>{inside}</conditionalRouter>"), part);
    }

    #[test]
    fn a_route_is_a_condition_and_a_target() {
        let target = "<target><sequence><drop/></sequence></target>";
        let route = |inside: &str| format!("<conditionalRoute>{inside}</conditionalRoute>");
        let condition = |inside: &str| route(&format!("<condition>{inside}</condition>{target}"));
        refused(&condition("<equal type='url' value='/'/>"), "");
        refused(&condition("<match type='url' source='path' regex='/.*'/>"), "");
        refused(&condition("<equal type='soap' source='//a' value='1'/>"), "");
        refused("", "holds no <conditionalRoute>");
        refused("<route/>", "not <route>");
        refused(&route(target), "needs a <condition>");
        refused(&route("<condition><equal type='url' value=''/></condition>"), "needs a <target>");
        refused(&condition(""), "holds one condition");
        refused(&condition("<and/>"), "holds no condition");
        refused(&condition("<exist/>"), "is no condition");
        refused(&condition("<equal value='1'/>"), "\"source\" is missing");
        refused(&condition("<equal source='a'/>"), "\"value\" is missing");
        refused(&condition("<match source='a' regex='('/>"), "regular expression");
        refused(&condition("<equal type='url' source='all' value='1'/>"), "no part of an address");
        refused(&condition("<equal type='cookie' source='a' value='1'/>"), "is unknown");
        let asynchronous = format!("<conditionalRoute asynchronous='true'><condition/>{target}</conditionalRoute>");
        refused(&asynchronous, "<clone> does that");
    }
}
