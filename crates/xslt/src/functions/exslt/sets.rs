//! EXSLT's sets: in time by the number of nodes, not by its square.

use std::collections::HashSet;

use myelin_xpath::{Error, Item, Node, NodeRef, Value};

use super::SETS;
use crate::functions::function::Body;
use crate::functions::{Call, Function};

const fn function(name: &'static str, count: u8, run: Body) -> Function {
    Function { namespace: SETS, name, least: count, most: count, run }
}

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("difference", 2, |call| only(call, false)),
    function("intersection", 2, |call| only(call, true)),
    function("has-same-node", 2, has_same_node),
    function("distinct", 1, distinct),
    function("leading", 2, |call| beside(call, |nodes, at| &nodes[..at])),
    function("trailing", 2, |call| beside(call, |nodes, at| &nodes[at + 1..])),
];

/// Tells a node from all others.
pub(super) fn identity(node: &NodeRef<'_>) -> (usize, Node) {
    (std::ptr::from_ref(node.document).addr(), node.node)
}

fn set(nodes: &[NodeRef<'_>]) -> HashSet<(usize, Node)> {
    nodes.iter().map(identity).collect()
}

fn value<'a>(nodes: impl Iterator<Item = NodeRef<'a>>) -> Value<'a> {
    Value::from_items(nodes.map(Item::Node).collect())
}

/// Both arguments as nodes in document order.
fn pair<'a>(call: &Call<'_, 'a>) -> Result<(Vec<NodeRef<'a>>, Vec<NodeRef<'a>>), Error> {
    call.machine.step((call.value(0).len() + call.value(1).len()) as u64)?;
    Ok((call.ordered_nodes(0)?, call.ordered_nodes(1)?))
}

/// The nodes of the first argument that are in the second too, or that are not.
fn only<'a>(call: &Call<'_, 'a>, wanted: bool) -> Result<Value<'a>, Error> {
    let (nodes, others) = pair(call)?;
    let others = set(&others);
    Ok(value(nodes.into_iter().filter(|node| others.contains(&identity(node)) == wanted)))
}

fn has_same_node<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (nodes, others) = pair(call)?;
    let others = set(&others);
    Ok(Value::from(nodes.iter().any(|node| others.contains(&identity(node)))))
}

/// Of the nodes with the same text the first.
fn distinct<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let nodes = call.ordered_nodes(0)?;
    call.machine.step(nodes.len() as u64)?;
    let mut seen = HashSet::new();
    Ok(value(nodes.into_iter().filter(|node| seen.insert(node.string_value()))))
}

/// The nodes of the first argument before or behind the first node of the second; none where that one is not among
/// them, all where the second argument is empty.
fn beside<'a>(
    call: &Call<'_, 'a>,
    side: for<'n> fn(&'n [NodeRef<'a>], usize) -> &'n [NodeRef<'a>],
) -> Result<Value<'a>, Error> {
    let (nodes, others) = pair(call)?;
    let Some(first) = others.first() else { return Ok(value(nodes.into_iter())) };
    Ok(match nodes.iter().position(|node| node == first) {
        Some(at) => value(side(&nodes, at).iter().copied()),
        None => Value::EMPTY,
    })
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::check_in;

    #[test]
    fn sets_are_compared_by_what_nodes_they_have() {
        let xml = "<x><a/><b/><c/><d/><e/></x>";
        let check = |expression: &str, expected: &str| check_in(xml, expression, expected);
        check("count(set:difference(/x/*, /x/b | /x/c))", "3");
        check("name(set:intersection(/x/*, /x/d))", "d");
        check("set:has-same-node(/x/*, //e)", "true");
        check("set:has-same-node(/x/a, //e)", "false");
        check("count(set:leading(/x/*, /x/c | /x/e))", "2");
        check("count(set:leading(/x/*, /none))", "5");
        check("count(set:leading(/x/*, /x))", "0");
        check("count(set:trailing(/x/*, /x/d))", "1");
        check_in("<x><a>1</a><a>2</a><a>1</a></x>", "count(set:distinct(//a))", "2");
    }
}
