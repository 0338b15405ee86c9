//! What is known of an expression before it runs: steps that are one, and what a predicate asks for.

use crate::ast::{Axis, AxisStep, Callee, Comparison, Expr, NodeTest, PredicateKind, Step};
use crate::function::Returns;

/// Makes one step of `descendant-or-self::node()/child::x`, where no predicate counts positions.
///
/// `//x[1]` is the first `x` of each parent, not the first of all, so a predicate that counts keeps both steps.
pub(crate) fn fuse(steps: &mut Vec<Step>) {
    let mut fused: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps.drain(..) {
        if let Step::Axis(next) = &mut step
            && let Some(Step::Axis(before)) = fused.last()
            && is_descent(before)
            && matches!(next.axis, Axis::Child | Axis::Descendant)
            && next.predicates.iter().all(|predicate| predicate.kind == PredicateKind::Condition)
        {
            next.axis = Axis::Descendant;
            fused.pop();
        }
        fused.push(step);
    }
    *steps = fused;
}

fn is_descent(step: &AxisStep) -> bool {
    step.axis == Axis::DescendantOrSelf && step.test == NodeTest::Any && step.predicates.is_empty()
}

/// What a predicate asks for; `nodes`: whether it stands behind a step, so that its context is a node.
pub(crate) fn predicate_kind(expr: &Expr, nodes: bool) -> PredicateKind {
    let whole = |number: f64| ((1.0..1e15).contains(&number) && number.fract() == 0.0).then_some(number as u64);
    let literal = |expr: &Expr| match expr {
        Expr::Number(number) => Some(*number),
        Expr::Integer(number) => Some(*number as f64),
        _ => None,
    };
    if let Some(position) = literal(expr).and_then(whole) {
        return PredicateKind::At(position);
    }
    if is_call(expr, "last") {
        return PredicateKind::Last;
    }
    if let Expr::General(comparison, sides, _) = expr {
        let (comparison, other) = match &**sides {
            [left, right] if is_call(left, "position") => (Some(*comparison), right),
            [left, right] if is_call(right, "position") => (mirrored(*comparison), left),
            [left, _] => (None, left),
        };
        match (comparison, literal(other)) {
            (Some(Comparison::Equal), None) if is_call(other, "last") => return PredicateKind::Last,
            (Some(Comparison::Equal), Some(number)) if whole(number).is_some() => {
                return PredicateKind::At(number as u64);
            }
            (Some(Comparison::LessOrEqual), Some(number)) if whole(number).is_some() => {
                return PredicateKind::UpTo(number as u64);
            }
            (Some(Comparison::Less), Some(number)) if whole(number).is_some_and(|number| number > 1) => {
                return PredicateKind::UpTo(number as u64 - 1);
            }
            _ => {}
        }
    }
    match (asks(expr, "last"), asks(expr, "position") || may_be_number(expr, nodes)) {
        (true, _) => PredicateKind::Sized,
        (_, true) => PredicateKind::Positional,
        _ => PredicateKind::Condition,
    }
}

fn mirrored(comparison: Comparison) -> Option<Comparison> {
    match comparison {
        Comparison::Equal => Some(Comparison::Equal),
        Comparison::Greater => Some(Comparison::Less),
        Comparison::GreaterOrEqual => Some(Comparison::LessOrEqual),
        _ => None,
    }
}

fn is_call(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Call(function, _) if function.name == name)
}

/// Whether an expression calls `position()` or `last()` on the focus it is run with.
///
/// Inside its own predicates and behind a `/` or `!` there is another focus.
pub(crate) fn asks(expr: &Expr, name: &str) -> bool {
    let named = matches!(expr, Expr::Named(Callee::Library(function), _) if function.name == name);
    named || is_call(expr, name) || parts(expr).into_iter().any(|part| asks(part, name))
}

/// The parts of an expression that run with its own focus.
fn parts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Text(_)
        | Expr::Number(_)
        | Expr::Integer(_)
        | Expr::Decimal(_)
        | Expr::Pattern(_)
        | Expr::Variable(_)
        | Expr::Local(_)
        | Expr::Context
        | Expr::Current
        | Expr::Root
        | Expr::Inline(_)
        | Expr::Named(..) => Vec::new(),
        Expr::MapOf(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
        Expr::ArrayOf(inside) => vec![inside],
        Expr::Lookup(base, key) => std::iter::once(&**base).chain(key.as_deref()).collect(),
        Expr::Apply(function, arguments) => std::iter::once(&**function).chain(arguments.iter().flatten()).collect(),
        Expr::Path(path) => vec![&path.start],
        Expr::Filter(inside, _)
        | Expr::Negate(inside)
        | Expr::Plus(inside)
        | Expr::InstanceOf(inside, _)
        | Expr::Treat(inside, _)
        | Expr::Castable(inside, ..)
        | Expr::Cast(inside, ..) => vec![inside],
        Expr::Sequence(items)
        | Expr::Call(_, items)
        | Expr::HostCall(_, items)
        | Expr::Or(items)
        | Expr::And(items)
        | Expr::Union(items)
        | Expr::Members(items) => items.iter().collect(),
        Expr::Intersect(sides)
        | Expr::Except(sides)
        | Expr::General(_, sides, _)
        | Expr::Single(_, sides, _)
        | Expr::Nodes(_, sides)
        | Expr::Arithmetic(_, sides)
        | Expr::Range(sides) => sides.iter().collect(),
        Expr::If(branches) => branches.iter().collect(),
        Expr::For(binding, body)
        | Expr::Let(binding, body)
        | Expr::Some(binding, body)
        | Expr::Every(binding, body) => {
            vec![&binding.value, body]
        }
        Expr::Map(sides) => vec![&sides[0]],
    }
}

/// Whether the value may be a number, which a predicate compares with the position.
fn may_be_number(expr: &Expr, nodes: bool) -> bool {
    match expr {
        Expr::Text(_)
        | Expr::Root
        | Expr::Or(_)
        | Expr::And(_)
        | Expr::Union(_)
        | Expr::Intersect(_)
        | Expr::Except(_)
        | Expr::General(..)
        | Expr::Single(..)
        | Expr::Nodes(..)
        | Expr::Some(..)
        | Expr::Every(..)
        | Expr::InstanceOf(..)
        | Expr::Castable(..) => false,
        Expr::Context | Expr::Current => !nodes,
        Expr::Path(path) => !matches!(path.steps.last(), Some(Step::Axis(_))),
        Expr::Filter(inside, _) => may_be_number(inside, nodes),
        Expr::If(branches) => branches[1..].iter().any(|branch| may_be_number(branch, nodes)),
        Expr::Call(function, _) => matches!(function.returns, Returns::Number | Returns::Any),
        Expr::Sequence(items) => items.iter().any(|item| may_be_number(item, nodes)),
        _ => true,
    }
}

/// Whether an expression looks at the context it is run with; what hangs on a value of the host's does not.
pub(crate) fn needs_context(expr: &Expr) -> bool {
    // Which of the functions that are values look at the context is not asked.
    matches!(expr, Expr::Context | Expr::Current | Expr::Root | Expr::Named(..))
        || parts(expr).into_iter().any(needs_context)
}
