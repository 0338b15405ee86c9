//! `deep-equal()`.

use myelin_xml::{Document, Kind, NodeId};

use crate::collation::Collation;
use crate::compare;
use crate::error::Error;
use crate::function::Call;
use crate::value::{Array, FunctionItem, Item, Map, NodeRef, Value};

/// The call, and how texts are compared.
type How<'c, 'r, 'a> = (&'c Call<'r, 'a>, &'c Collation);

pub(super) fn deep_equal<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let collation = call.collation(2)?;
    values((call, &collation), &call.value(0)?, &call.value(1)?).map(Value::from)
}

/// Item by item; the recursion is as deep as maps and arrays stand within each other.
fn values(how: How<'_, '_, '_>, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Error> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.items().zip(right.items()) {
        how.0.run.step(1)?;
        let equal = match (&left, &right) {
            (Item::Node(left), Item::Node(right)) => nodes(how, *left, *right)?,
            (Item::Atomic(left), Item::Atomic(right)) => compare::same_by(left, right, how.0.run.context.now, how.1),
            (Item::Function(FunctionItem::Map(left)), Item::Function(FunctionItem::Map(right))) => {
                maps(how, left, right)?
            }
            (Item::Function(FunctionItem::Array(left)), Item::Function(FunctionItem::Array(right))) => {
                arrays(how, left, right)?
            }
            (Item::Function(FunctionItem::Closure(_)), _) | (_, Item::Function(FunctionItem::Closure(_))) => {
                return Err(Error::value("FOTY0015", "functions cannot be compared"));
            }
            _ => false,
        };
        if !equal {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps(how: How<'_, '_, '_>, left: &Map<'_>, right: &Map<'_>) -> Result<bool, Error> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (key, value) in left.entries() {
        match right.get(key) {
            Some(other) if values(how, value, other)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn arrays(how: How<'_, '_, '_>, left: &Array<'_>, right: &Array<'_>) -> Result<bool, Error> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (member, other) in left.members().zip(right.members()) {
        if !values(how, member, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn nodes(how: How<'_, '_, '_>, left: NodeRef<'_>, right: NodeRef<'_>) -> Result<bool, Error> {
    let (Some(one), Some(other)) = (left.node.tree(), right.node.tree()) else {
        return Ok(left.namespace() == right.namespace());
    };
    let mut lefts = shape(left.document, one);
    let mut rights = shape(right.document, other);
    loop {
        how.0.run.step(1)?;
        match (lefts.next(), rights.next()) {
            (None, None) => return Ok(true),
            (Some((depth, one)), Some((other_depth, other))) => {
                if depth != other_depth || !alike((left.document, one), (right.document, other), how.1) {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
}

/// A subtree in document order with the depth of each node; comments and instructions below the top do not count.
fn shape(document: &Document, top: NodeId) -> impl Iterator<Item = (usize, NodeId)> {
    let mut at = Some((0, top));
    let walk = std::iter::from_fn(move || {
        let (depth, node) = at?;
        at = match document.first_child(node) {
            Some(child) => Some((depth + 1, child)),
            None => {
                let mut up = (depth, node);
                loop {
                    if up.1 == top {
                        break None;
                    }
                    if let Some(next) = document.next_sibling(up.1) {
                        break Some((up.0, next));
                    }
                    match document.parent(up.1) {
                        Some(parent) => up = (up.0 - 1, parent),
                        None => break None,
                    }
                }
            }
        };
        Some((depth, node))
    });
    walk.filter(move |(depth, node)| *depth == 0 || !matches!(document.kind(*node), Kind::Comment | Kind::Instruction))
}

/// Whether two nodes are alike without what is below them.
fn alike((left, one): (&Document, NodeId), (right, other): (&Document, NodeId), collation: &Collation) -> bool {
    let equal = |one: &str, other: &str| collation.compare(one, other).is_eq();
    let (name, other_name) = (left.qname(one), right.qname(other));
    let named_alike = name.namespace == other_name.namespace && name.local == other_name.local;
    if left.kind(one) != right.kind(other) || !named_alike {
        return false;
    }
    if left.kind(one) != Kind::Element {
        return match left.kind(one) {
            // What instructions and comments say is compared as it is.
            Kind::Text | Kind::Attribute => equal(&left.value(one), &right.value(other)),
            _ => left.value(one) == right.value(other),
        };
    }
    left.attributes(one).count() == right.attributes(other).count()
        && left.attributes(one).all(|attribute| {
            let name = left.qname(attribute);
            right
                .attribute(other, name.namespace, name.local)
                .is_some_and(|value| equal(&value, &left.value(attribute)))
        })
}
