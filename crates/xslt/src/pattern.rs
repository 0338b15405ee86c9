//! Patterns: which nodes a template, a key, a number or a group is for (XSLT 1.0 §5.2, 3.0 §5.5).
//!
//! A pattern is written like an expression and compiled from one; it is matched from its last step backwards.

use myelin_xpath::ast::{Axis, AxisStep, Expr, NameTest, NodeTest, Path, Predicate, PredicateKind, Step};
use myelin_xpath::{Environment, Expression, SyntaxError, Version};

/// One alternative of a pattern: those joined by `|` are patterns of their own.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The last step of the path comes first; empty for `/`, `key(…)` and the like alone.
    pub(crate) steps: Box<[PatternStep]>,
    /// Where the first step of the path hangs, and how.
    pub(crate) anchor: Anchor,
    /// What it is worth where no priority is written (§5.5).
    pub(crate) priority: f64,
}

/// A step of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct PatternStep {
    pub(crate) test: NodeTest,
    pub(crate) attribute: bool,
    pub(crate) predicates: Box<[PatternPredicate]>,
    /// How the step before it, which is the next in the list, or the anchor is reached.
    pub(crate) link: Link,
}

#[derive(Clone, Debug)]
pub(crate) struct PatternPredicate {
    pub(crate) expression: Expression,
    /// Whether it asks for the position among the siblings that the step takes.
    pub(crate) positional: bool,
}

/// From a step to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// `/`
    Parent,
    /// `//`
    Ancestor,
    /// `descendant-or-self::`, `self::`: the node itself or an ancestor, or only the node itself.
    SelfOrAncestor,
    Same,
}

/// What stands in front of the first step.
#[derive(Clone, Debug)]
pub(crate) enum Anchor {
    /// Nothing: any node will do.
    Anywhere,
    /// `/`: the document node.
    Root,
    /// `id(…)`, `key(…)`, `$x`, `doc(…)`: one of these nodes.
    Nodes(Box<Expression>),
    /// `.`, perhaps with predicates: any item for which they hold.
    Item(Box<[PatternPredicate]>),
    /// What steps cannot say, such as `(a | b)[1]` or `a except b`: a node that this gives, run at the node itself or at
    /// one above it (XSLT 3.0 §5.5.3).
    Selected(Box<Expression>),
}

/// By what a pattern is found in a table: the last thing it asks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Document,
    /// By the number of the name.
    ElementNamed(u32),
    AttributeNamed(u32),
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
    /// Any child: no attribute, and not the document node.
    Child,
    /// Whatever it is.
    Any,
}

/// Compiles a pattern into its alternatives.
///
/// Errors: what is no expression, or an expression that is no pattern; places count within `text`.
pub(crate) fn parse(text: &str, environment: &mut dyn Environment) -> Result<Vec<Pattern>, SyntaxError> {
    let expression = Expression::compile(text, environment)?;
    let mut found = Vec::new();
    alternatives(expression.ast(), expression.version(), &mut found).map_err(|what| SyntaxError {
        offset: 0,
        message: format!("{what} cannot stand in a pattern"),
        code: "XTSE0340",
    })?;
    Ok(found)
}

fn alternatives(expr: &Expr, version: Version, found: &mut Vec<Pattern>) -> Result<(), &'static str> {
    match expr {
        Expr::Union(operands) => operands.iter().try_for_each(|operand| alternatives(operand, version, found)),
        other => match spread(other) {
            Some(all) => all.iter().try_for_each(|one| {
                found.push(pattern(one, version)?);
                Ok(())
            }),
            None => {
                found.push(pattern(other, version)?);
                Ok(())
            }
        },
    }
}

/// A pattern may be written as so many at most; beyond that it is run as an expression.
const MOST_SPREAD: usize = 64;

/// A path with alternatives inside it as alternatives of paths: `(a|b)[p]/c` is `a[p]/c|b[p]/c` where `p` does not ask for
/// positions. `None`: there are none inside it, or it cannot be taken apart.
fn spread(expr: &Expr) -> Option<Vec<Expr>> {
    let is_plain = match expr {
        Expr::Path(path) => {
            let steps = path.steps.iter().all(|step| matches!(step, Step::Axis(_)));
            steps && !matches!(path.start, Expr::Union(_) | Expr::Path(_) | Expr::Filter(..))
        }
        Expr::Filter(inside, _) => !matches!(**inside, Expr::Union(_) | Expr::Path(_) | Expr::Filter(..)),
        _ => true,
    };
    if is_plain { None } else { taken_apart(expr) }
}

fn taken_apart(expr: &Expr) -> Option<Vec<Expr>> {
    let found = match expr {
        Expr::Union(operands) => {
            let all: Option<Vec<_>> = operands.iter().map(taken_apart).collect();
            all?.into_iter().flatten().collect()
        }
        Expr::Filter(inside, predicates) if !matches!(**inside, Expr::Context) => {
            let asks = |predicate: &Predicate| predicate.kind != PredicateKind::Condition;
            if predicates.iter().any(asks) {
                return None;
            }
            let mut all = taken_apart(inside)?;
            for one in &mut all {
                let Expr::Path(path) = one else { return None };
                let Some(Step::Axis(last)) = path.steps.last_mut() else { return None };
                last.predicates.extend(predicates.iter().cloned());
            }
            all
        }
        Expr::Path(path) => {
            let mut all = match &path.start {
                inside @ (Expr::Union(_) | Expr::Path(_) | Expr::Filter(..)) => taken_apart(inside)?,
                start => vec![Expr::Path(Box::new(Path { start: start.clone(), steps: Vec::new() }))],
            };
            for step in &path.steps {
                let inside = match step {
                    Step::Axis(_) => None,
                    Step::Expr(inside) => Some(taken_apart(inside)?),
                };
                let mut longer = Vec::new();
                for one in &all {
                    let Expr::Path(one) = one else { return None };
                    let with = |steps: &[Step]| {
                        let mut one = one.clone();
                        one.steps.extend_from_slice(steps);
                        Expr::Path(one)
                    };
                    let Some(inside) = &inside else {
                        longer.push(with(std::slice::from_ref(step)));
                        continue;
                    };
                    for other in inside {
                        let Expr::Path(other) = other else { return None };
                        if !matches!(other.start, Expr::Context) {
                            return None;
                        }
                        longer.push(with(&other.steps));
                    }
                }
                all = longer;
                if all.len() > MOST_SPREAD {
                    return None;
                }
            }
            all
        }
        _ => return None,
    };
    (found.len() <= MOST_SPREAD).then_some(found)
}

/// Whether an expression is a pattern that can be run as one: steps down the tree, from places that can be found without
/// the node.
fn is_pattern(expr: &Expr) -> bool {
    match expr {
        Expr::Union(operands) => operands.iter().all(is_pattern),
        Expr::Intersect(sides) | Expr::Except(sides) => sides.iter().all(is_pattern),
        Expr::Filter(inside, _) => !matches!(**inside, Expr::Context) && is_pattern(inside),
        Expr::Path(path) => {
            let start = matches!(path.start, Expr::Context | Expr::Root) || is_pattern(&path.start);
            let down = |step: &Step| match step {
                Step::Axis(step) => matches!(
                    step.axis,
                    Axis::Child
                        | Axis::Attribute
                        | Axis::Descendant
                        | Axis::DescendantOrSelf
                        | Axis::Self_
                        | Axis::Namespace
                ),
                Step::Expr(inside) => !is_rooted(inside) && is_pattern(inside),
            };
            start && path.steps.iter().all(down)
        }
        other => is_rooted(other),
    }
}

/// Whether an operand finds its nodes without any of the context but its document.
fn is_rooted(expr: &Expr) -> bool {
    match expr {
        Expr::HostCall(..) | Expr::Variable(_) => true,
        Expr::Call(function, _) => matches!(function.name, "id" | "element-with-id" | "root" | "doc"),
        _ => false,
    }
}

fn pattern(expr: &Expr, version: Version) -> Result<Pattern, &'static str> {
    let alone = |anchor, priority| Pattern { steps: Box::default(), anchor, priority };
    Ok(match expr {
        Expr::Root => alone(Anchor::Root, if version == Version::V1 { 0.5 } else { -0.5 }),
        Expr::Context if version != Version::V1 => alone(Anchor::Item(Box::default()), -1.0),
        Expr::Filter(inside, predicates) if version != Version::V1 && matches!(**inside, Expr::Context) => {
            let all = predicates.iter().map(|predicate| part(&predicate.expr, predicate.kind, version)).collect();
            alone(Anchor::Item(all), 1.0)
        }
        Expr::Path(path) => match path_pattern(path, version) {
            Ok(pattern) => pattern,
            Err(_) if version != Version::V1 && is_pattern(expr) => selected(expr, version),
            Err(what) => return Err(what),
        },
        other => match anchor(other, version) {
            Ok(anchor) => alone(anchor, 0.5),
            Err(_) if version != Version::V1 && is_pattern(expr) => selected(expr, version),
            Err(what) => return Err(what),
        },
    })
}

fn selected(expr: &Expr, version: Version) -> Pattern {
    let expression = Box::new(Expression::from_ast(expr.clone(), version));
    Pattern { steps: Box::default(), anchor: Anchor::Selected(expression), priority: 0.5 }
}

/// What may stand in front of the steps.
fn anchor(expr: &Expr, version: Version) -> Result<Anchor, &'static str> {
    let nodes = |expr: &Expr| Anchor::Nodes(Box::new(Expression::from_ast(expr.clone(), version)));
    match expr {
        Expr::Context => Ok(Anchor::Anywhere),
        Expr::Root => Ok(Anchor::Root),
        Expr::HostCall(..) | Expr::Variable(_) => Ok(nodes(expr)),
        Expr::Call(function, _) if matches!(function.name, "id" | "element-with-id" | "root" | "doc") => {
            Ok(nodes(expr))
        }
        _ => Err("an operand other than steps, `/`, id() and key()"),
    }
}

fn path_pattern(path: &Path, version: Version) -> Result<Pattern, &'static str> {
    let anchor = anchor(&path.start, version)?;
    // How the step that comes next hangs on what came before it.
    let mut above = None;
    let mut steps = Vec::with_capacity(path.steps.len());
    for step in &path.steps {
        let Step::Axis(step) = step else { return Err("a function call as a step") };
        let anywhere = step.axis == Axis::DescendantOrSelf && step.test == NodeTest::Any && step.predicates.is_empty();
        if anywhere {
            above = Some(Link::Ancestor);
            continue;
        }
        let attribute = step.axis == Axis::Attribute;
        let own = match step.axis {
            Axis::Child | Axis::Attribute => Link::Parent,
            Axis::Descendant => Link::Ancestor,
            Axis::DescendantOrSelf if version != Version::V1 => Link::SelfOrAncestor,
            Axis::Self_ if version != Version::V1 => Link::Same,
            _ => return Err("an axis other than child and attribute"),
        };
        let link = if above.take().is_some() { Link::Ancestor } else { own };
        let predicates = step.predicates.iter().map(|one| part(&one.expr, one.kind, version)).collect();
        steps.push(PatternStep { test: step.test.clone(), attribute, predicates, link });
    }
    if above.is_some() {
        return Err("`//` at the end");
    }
    let priority = match path.steps.as_slice() {
        [Step::Axis(only)] if matches!(anchor, Anchor::Anywhere) => priority(only),
        _ => 0.5,
    };
    steps.reverse();
    Ok(Pattern { steps: steps.into(), anchor, priority })
}

fn part(expr: &Expr, kind: PredicateKind, version: Version) -> PatternPredicate {
    let positional = kind != PredicateKind::Condition;
    PatternPredicate { expression: Expression::from_ast(expr.clone(), version), positional }
}

/// What a pattern of one step is worth (XSLT 1.0 §5.5, 2.0 §6.4).
fn priority(step: &AxisStep) -> f64 {
    if !step.predicates.is_empty() {
        return 0.5;
    }
    let named = |name: &NameTest| match name {
        NameTest::Name { .. } => 0.0,
        NameTest::Any => -0.5,
        NameTest::InNamespace(_) | NameTest::Local(_) => -0.25,
    };
    match &step.test {
        NodeTest::Name(name) | NodeTest::Element(name) | NodeTest::Attribute(name) => named(name),
        NodeTest::Document(Some(name)) => named(name),
        NodeTest::Instruction(Some(_)) => 0.0,
        _ => -0.5,
    }
}

impl Pattern {
    /// By what it is found.
    pub(crate) fn class(&self) -> Class {
        let Some(step) = self.steps.first() else {
            return match self.anchor {
                Anchor::Root => Class::Document,
                _ => Class::Any,
            };
        };
        if step.link == Link::SelfOrAncestor || step.link == Link::Same {
            return Class::Any;
        }
        let named = |name: &NameTest, attribute: bool| match (name, attribute) {
            (NameTest::Name { index, .. }, false) => Class::ElementNamed(*index),
            (NameTest::Name { index, .. }, true) => Class::AttributeNamed(*index),
            (_, false) => Class::Element,
            (_, true) => Class::Attribute,
        };
        match (&step.test, step.attribute) {
            (NodeTest::Any, true) => Class::Attribute,
            (NodeTest::Any, false) => Class::Child,
            (NodeTest::Name(name), attribute) => named(name, attribute),
            (NodeTest::Element(name), _) => named(name, false),
            (NodeTest::Attribute(name), _) => named(name, true),
            (NodeTest::Text, _) => Class::Text,
            (NodeTest::Comment, _) => Class::Comment,
            (NodeTest::Instruction(_), _) => Class::Instruction,
            (NodeTest::Document(_), _) => Class::Document,
            (NodeTest::Namespace, _) => Class::Any,
        }
    }

    /// Whether its class says all there is to say: whatever is found by it matches.
    pub(crate) fn is_only_its_class(&self) -> bool {
        let exact = |test: &NodeTest| match test {
            NodeTest::Name(name) | NodeTest::Element(name) | NodeTest::Attribute(name) => {
                matches!(name, NameTest::Any | NameTest::Name { .. })
            }
            NodeTest::Instruction(target) => target.is_none(),
            NodeTest::Document(name) => name.is_none(),
            NodeTest::Any | NodeTest::Text | NodeTest::Comment => true,
            NodeTest::Namespace => false,
        };
        match (&*self.steps, &self.anchor) {
            ([], Anchor::Root) => true,
            ([only], Anchor::Anywhere) => only.link == Link::Parent && only.predicates.is_empty() && exact(&only.test),
            _ => false,
        }
    }
}
