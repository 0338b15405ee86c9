//! Paths: which steps can be followed from events.

use super::super::names::NameFilter;
use super::super::plan::Owner;
use super::condition::name_filter;
use super::{Compiler, NotStreamable, StartAt, refuse};
use crate::ast::{Axis, AxisStep, Expr, NameTest, NodeTest, Predicate, PredicateKind, Step};

/// How many anchors may stand within each other: one that stands for itself has no end.
const ANCHORS: usize = 8;

/// A step that can be followed.
#[derive(Debug)]
pub(super) struct Draft<'e> {
    /// Whether at any depth.
    pub(super) descends: bool,
    pub(super) kinds: Kinds,
    pub(super) names: NameFilter,
    pub(super) checks: Vec<DraftCheck<'e>>,
}

/// The kinds of nodes that a step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) element: bool,
    pub(super) attribute: bool,
    pub(super) text: bool,
    pub(super) comment: bool,
    pub(super) instruction: bool,
}

#[derive(Debug)]
pub(super) enum DraftCheck<'e> {
    Position { last: u64, before: bool, whole: bool },
    Condition(&'e Expr),
}

impl Kinds {
    const NONE: Kinds = Kinds { element: false, attribute: false, text: false, comment: false, instruction: false };
    const ELEMENT: Kinds = Kinds { element: true, ..Kinds::NONE };
    const ATTRIBUTE: Kinds = Kinds { attribute: true, ..Kinds::NONE };
    const ALL_CHILDREN: Kinds = Kinds { element: true, attribute: false, text: true, comment: true, instruction: true };

    fn are_named(self) -> bool {
        matches!(self, Kinds::ELEMENT | Kinds::ATTRIBUTE)
    }
}

impl Draft<'_> {
    fn new(descends: bool, kinds: Kinds, names: NameFilter) -> Self {
        Draft { descends, kinds, names, checks: Vec::new() }
    }
}

impl<'e> Compiler<'e, '_> {
    /// The steps of a path, from the document or from the node that a predicate is about.
    pub(super) fn steps(&mut self, expr: &'e Expr, owner: Owner) -> Result<Vec<Draft<'e>>, NotStreamable> {
        let inside = matches!(owner, Owner::Gate(_));
        match expr {
            Expr::Context if !inside && self.start == StartAt::Root => {
                Ok(vec![Draft::new(false, Kinds::ELEMENT, NameFilter::Any)])
            }
            Expr::Context => Ok(Vec::new()),
            Expr::Root | Expr::Variable(_) if inside => refuse("a predicate looks at another part of the document"),
            Expr::Root => Ok(Vec::new()),
            Expr::Variable(slot) => match (self.anchors)(*slot) {
                Some(anchor) if self.anchored < ANCHORS => {
                    self.anchored += 1;
                    let steps = self.steps(anchor.ast(), owner);
                    self.anchored -= 1;
                    steps
                }
                Some(_) => refuse("a variable stands for a path with too many variables in it"),
                None => refuse("the nodes of a variable"),
            },
            Expr::Path(path) => {
                let mut steps = self.steps(&path.start, owner)?;
                let mut descends = false;
                for step in &path.steps {
                    match step {
                        Step::Axis(step) => follow(&mut steps, step, &mut descends)?,
                        Step::Expr(_) => return refuse("a step that is a function or in parentheses"),
                    }
                }
                if descends { refuse("a path that ends in `//.`") } else { Ok(steps) }
            }
            Expr::Filter(inside_filter, predicates) => {
                let mut steps = self.steps(inside_filter, owner)?;
                let Some(last) = steps.last_mut() else { return refuse("a predicate on `.` or `/`") };
                for predicate in predicates {
                    if inside && predicate.kind != PredicateKind::Condition {
                        return refuse("a position in parentheses within a predicate");
                    }
                    check(last, predicate, true)?;
                }
                Ok(steps)
            }
            Expr::Union(_) => refuse("the nodes of several paths in document order"),
            _ => refuse("nodes that no path leads to"),
        }
    }
}

/// Adds a step; `descends`: whether a `//` stands before it.
fn follow<'e>(steps: &mut Vec<Draft<'e>>, step: &'e AxisStep, descends: &mut bool) -> Result<(), NotStreamable> {
    if steps.last().is_some_and(|last| last.kinds == Kinds::ATTRIBUTE) {
        return refuse("a step behind an attribute");
    }
    let below = std::mem::take(descends);
    let mut draft = match step.axis {
        Axis::Child | Axis::Descendant => {
            let (kinds, names) = child_test(&step.test)?;
            Draft::new(below || step.axis == Axis::Descendant, kinds, names)
        }
        Axis::Attribute => {
            let names = match &step.test {
                NodeTest::Any => NameFilter::Any,
                NodeTest::Name(test) | NodeTest::Attribute(test) => name_filter_of(test),
                _ => return refuse("an attribute axis without attributes"),
            };
            Draft::new(below, Kinds::ATTRIBUTE, names)
        }
        Axis::DescendantOrSelf if step.test == NodeTest::Any && step.predicates.is_empty() => {
            *descends = true;
            return Ok(());
        }
        Axis::DescendantOrSelf => return refuse("the axis descendant-or-self with a name"),
        Axis::Self_ if below => return refuse("`.` behind `//`"),
        Axis::Self_ if step.test == NodeTest::Any && step.predicates.is_empty() => return Ok(()),
        Axis::Self_ => return here(steps.last_mut(), step),
        Axis::Namespace => return refuse("the namespace axis"),
        Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf => return refuse("a path that leads upwards"),
        Axis::Following | Axis::FollowingSibling | Axis::Preceding | Axis::PrecedingSibling => {
            return refuse("a path that leads sideways");
        }
    };
    for predicate in &step.predicates {
        if step.axis == Axis::Descendant && predicate.kind != PredicateKind::Condition {
            return refuse("a position on the descendant axis");
        }
        check(&mut draft, predicate, false)?;
    }
    steps.push(draft);
    Ok(())
}

/// `self::x[…]`: more conditions on the step before.
fn here<'e>(last: Option<&mut Draft<'e>>, step: &'e AxisStep) -> Result<(), NotStreamable> {
    let (Some(last), NodeTest::Any | NodeTest::Name(_) | NodeTest::Element(_)) = (last, &step.test) else {
        return refuse("the self axis at the start of a path");
    };
    if let NodeTest::Name(test) | NodeTest::Element(test) = &step.test {
        let counted = last.checks.iter().any(|check| matches!(check, DraftCheck::Position { .. }));
        if last.kinds != Kinds::ELEMENT || counted {
            return refuse("a name behind a position or behind node()");
        }
        let names = std::mem::replace(&mut last.names, NameFilter::Any);
        last.names = names.and(name_filter_of(test));
    }
    for predicate in &step.predicates {
        if predicate.kind != PredicateKind::Condition {
            return refuse("a position on the self axis");
        }
        check(last, predicate, false)?;
    }
    Ok(())
}

/// Adds a predicate to a step; `whole`: whether it is one of a path in parentheses.
fn check<'e>(draft: &mut Draft<'e>, predicate: &'e Predicate, whole: bool) -> Result<(), NotStreamable> {
    let position = |last, before| DraftCheck::Position { last, before, whole };
    draft.checks.push(match predicate.kind {
        PredicateKind::At(_) | PredicateKind::UpTo(_) if draft.kinds == Kinds::ATTRIBUTE && !whole => {
            return refuse("a position among attributes");
        }
        PredicateKind::At(at) => position(at, false),
        PredicateKind::UpTo(last) => position(last, true),
        PredicateKind::Last => return refuse("last() is known only at the end"),
        PredicateKind::Positional | PredicateKind::Sized => {
            return refuse("a predicate that calculates with positions");
        }
        PredicateKind::Condition => match name_filter(&predicate.expr, draft.kinds == Kinds::ELEMENT) {
            Some(filter) if draft.checks.is_empty() && draft.kinds.are_named() => {
                let names = std::mem::replace(&mut draft.names, NameFilter::Any);
                draft.names = names.and(filter);
                return Ok(());
            }
            _ if draft.kinds == Kinds::ELEMENT => DraftCheck::Condition(&predicate.expr),
            _ => return refuse("a condition on nodes that are no elements"),
        },
    });
    Ok(())
}

fn child_test(test: &NodeTest) -> Result<(Kinds, NameFilter), NotStreamable> {
    Ok(match test {
        NodeTest::Any => (Kinds::ALL_CHILDREN, NameFilter::Any),
        NodeTest::Name(test) | NodeTest::Element(test) => (Kinds::ELEMENT, name_filter_of(test)),
        NodeTest::Text => (Kinds { text: true, ..Kinds::NONE }, NameFilter::Any),
        NodeTest::Comment => (Kinds { comment: true, ..Kinds::NONE }, NameFilter::Any),
        NodeTest::Instruction(None) => (Kinds { instruction: true, ..Kinds::NONE }, NameFilter::Any),
        NodeTest::Instruction(Some(_)) => return refuse("instructions by their target"),
        NodeTest::Attribute(_) | NodeTest::Document(_) | NodeTest::Namespace => {
            return refuse("a child axis with nodes that are no children");
        }
    })
}

/// The names that a test takes.
pub(super) fn name_filter_of(test: &NameTest) -> NameFilter {
    match test {
        NameTest::Any => NameFilter::Any,
        NameTest::InNamespace(namespace) => NameFilter::Namespace(namespace.clone()),
        NameTest::Local(local) => NameFilter::Local(local.clone()),
        NameTest::Name { namespace, local, .. } => {
            NameFilter::And(vec![NameFilter::Local(local.clone()), NameFilter::Namespace(namespace.clone())])
        }
    }
}
