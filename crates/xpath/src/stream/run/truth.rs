//! How conditions stand while only a part of the document is known.

use super::super::plan::{Condition, Kind, Operand, Owner, Term};
use super::collect::str_of;
use super::state::{Accumulator, Run, Scalar, Scene};
use crate::ast::Comparison;
use crate::compare;
use crate::value::Atomic;

/// How a condition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    True,
    False,
    /// More must be read.
    Open,
    /// The tree must be asked; it may well say why.
    NeedsTree,
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Truth {
        if truth { Truth::True } else { Truth::False }
    }
}

impl Run {
    /// How a condition stands; `ended`: whether what its predicate belongs to has ended.
    pub(super) fn truth(&self, scene: Scene<'_>, condition: &Condition, ended: bool) -> Truth {
        match condition {
            Condition::Known(truth) => Truth::from(*truth),
            Condition::Exists(index) => self.exists(scene, *index, ended),
            Condition::Compare(index) => self.compared(scene, *index, ended),
            Condition::Count(index, comparison, number) => {
                let count = self.certain(scene, *index).count as f64;
                if self.is_complete(scene, *index, ended) {
                    return Truth::from(holds(*comparison, count, *number));
                }
                // There will be this many, or more.
                match comparison {
                    Comparison::Greater | Comparison::NotEqual if count > *number => Truth::True,
                    Comparison::GreaterOrEqual if count >= *number => Truth::True,
                    Comparison::Equal | Comparison::LessOrEqual if count > *number => Truth::False,
                    Comparison::Less if count >= *number => Truth::False,
                    _ => Truth::Open,
                }
            }
            Condition::Not(condition) => match self.truth(scene, condition, ended) {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                other => other,
            },
            Condition::And(conditions) => self.decisive(scene, conditions, ended, Truth::False, Truth::True),
            Condition::Or(conditions) => self.decisive(scene, conditions, ended, Truth::True, Truth::False),
            Condition::If(parts) => match self.truth(scene, &parts[0], ended) {
                Truth::True => self.truth(scene, &parts[1], ended),
                Truth::False => self.truth(scene, &parts[2], ended),
                other => other,
            },
            Condition::Term(term) if !self.is_known(scene, term, ended) => Truth::Open,
            Condition::Term(term) => self.boolean(scene, term).map_or(Truth::NeedsTree, Truth::from),
        }
    }

    /// `decisive` if one of the conditions is that, `otherwise` if all are the contrary.
    fn decisive(
        &self,
        scene: Scene<'_>,
        conditions: &[Condition],
        ended: bool,
        decisive: Truth,
        otherwise: Truth,
    ) -> Truth {
        let mut all = otherwise;
        for condition in conditions {
            match self.truth(scene, condition, ended) {
                truth if truth == decisive => return decisive,
                Truth::NeedsTree => all = Truth::NeedsTree,
                Truth::Open if all == otherwise => all = Truth::Open,
                _ => {}
            }
        }
        all
    }

    fn exists(&self, scene: Scene<'_>, index: usize, ended: bool) -> Truth {
        if self.certain(scene, index).count > 0 {
            Truth::True
        } else if self.is_complete(scene, index, ended) {
            Truth::False
        } else {
            Truth::Open
        }
    }

    fn compared(&self, scene: Scene<'_>, index: usize, ended: bool) -> Truth {
        if let Kind::Compare(comparison, operand) = &scene.plan.collectors[index].kind
            && let Some(operand) = self.as_boolean(operand)
        {
            // Nodes are compared with true or false as "there are some" (XPath 1.0 §3.4).
            return match self.exists(scene, index, ended) {
                Truth::Open => Truth::Open,
                exists => Truth::from(compare::booleans(*comparison, exists == Truth::True, operand)),
            };
        }
        if self.certain(scene, index).hit {
            Truth::True
        } else if self.is_complete(scene, index, ended) {
            Truth::False
        } else {
            Truth::Open
        }
    }

    /// What a collector has found for certain.
    pub(super) fn certain(&self, scene: Scene<'_>, index: usize) -> &Accumulator {
        &self.accumulators[scene.plan.collectors[index].accumulators]
    }

    fn is_complete(&self, scene: Scene<'_>, index: usize, ended: bool) -> bool {
        match scene.plan.collectors[index].owner {
            Owner::Query(_) => self.collecting[index].complete,
            Owner::Gate(_) => ended,
        }
    }

    /// Whether a term has its final value.
    pub(super) fn is_known(&self, scene: Scene<'_>, term: &Term, ended: bool) -> bool {
        term.collectors.iter().all(|&index| {
            let found = self.certain(scene, index);
            let early = match scene.plan.collectors[index].kind {
                Kind::Exists => found.count > 0,
                Kind::First(_) => found.ready,
                Kind::Count | Kind::Compare(..) | Kind::Texts => false,
            };
            early || self.is_complete(scene, index, ended)
        })
    }

    /// Whether a node's value compares true; `None`: what it is compared with is not known here.
    pub(super) fn compares(&self, comparison: Comparison, value: &[u8], operand: &Operand) -> Option<bool> {
        // Whether texts are the same needs no more than their bytes.
        if let Operand::Text(text) = operand
            && matches!(comparison, Comparison::Equal | Comparison::NotEqual)
        {
            return Some((value == text.as_bytes()) == (comparison == Comparison::Equal));
        }
        let value = str_of(value);
        match operand {
            Operand::Text(text) => Some(holds(comparison, value, text.as_str())),
            Operand::Number(number) => Some(holds(comparison, value, *number)),
            Operand::Boolean(_) => None,
            Operand::Host(index) => match self.constants[*index].value {
                Scalar::Text => Some(holds(comparison, value, self.constants[*index].text.as_str())),
                Scalar::Number(number) => Some(holds(comparison, value, number)),
                Scalar::Boolean(_) | Scalar::Unusable => None,
            },
        }
    }

    /// What nodes are compared with, where that is true or false.
    pub(super) fn as_boolean(&self, operand: &Operand) -> Option<bool> {
        match operand {
            Operand::Boolean(truth) => Some(*truth),
            Operand::Host(index) => match self.constants[*index].value {
                Scalar::Boolean(truth) => Some(truth),
                _ => None,
            },
            Operand::Text(_) | Operand::Number(_) => None,
        }
    }
}

/// Whether two values compare true (XPath 1.0 §3.4).
fn holds<'v>(comparison: Comparison, left: impl Into<Atomic<'v>>, right: impl Into<Atomic<'v>>) -> bool {
    compare::simple(comparison, &left.into(), &right.into())
}
