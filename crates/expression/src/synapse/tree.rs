//! What a Synapse expression is compiled to.

use std::sync::Arc;

use myelin_flow::property::Slot;
use myelin_java_text::pattern::Finder;
use myelin_json::Path;

use crate::source::Source;
use crate::synapse::arithmetic::Operator;
use crate::synapse::datetime::Pattern;
use crate::synapse::function::Function;
use crate::xpath::XPathOrSource;

/// One part of an expression. How deep parts are nested is bounded by the parser.
#[derive(Debug)]
pub(super) enum Node {
    Null,
    Boolean(bool),
    /// A number as it was written.
    Number(String),
    Text(String),
    Array(Vec<Node>),
    /// A header, property or parameter, which is a number if it looks like one; with its name.
    Read(Source, String),
    /// A resource of the registry, or a property of it; with its key.
    Resource(Source, String),
    /// The same with a key that is worked out, and the name of a property if it is one of the resource.
    ResourceOf(Box<Node>, Option<String>),
    /// `xpath("…")`
    XPath(Box<XPathOrSource>),
    /// A variable, and where in it.
    Variable(Slot, String, Option<Route>),
    /// The message's body, and where in it.
    Payload(Option<Route>),
    /// Where in what another part gives.
    Inside(Box<Node>, Route),
    /// `a == b`
    Comparison(Box<Comparison>),
    /// `a + b - c`, from the left.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    /// `a and b or c`, from the right.
    Logic(Vec<(Node, Junction)>, Box<Node>),
    /// `a ? b : c ? d : e`
    Choice(Vec<(Node, Node)>, Box<Node>),
    Negative(Box<Node>),
    Call(Function, Vec<Node>),
    /// `split(text, pattern)`
    Split(Box<Node>, Box<Prepared<Finder>>),
    /// `formatDateTime(date, from, to)`
    Date(Box<Date>),
    /// Texts and expressions one behind the other; what gives nothing is left out.
    Joined(Vec<Node>),
}

/// A comparison, with its sides as they are written.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) left: Node,
    pub(super) operator: Operator,
    pub(super) symbol: &'static str,
    pub(super) right: Node,
    pub(super) written: [Box<str>; 2],
}

/// A way into JSON, with what is filled into it.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) path: Arc<Path>,
    pub(super) holes: Vec<Node>,
}

/// Something that is compiled of a text: while loading where the text is known then.
#[derive(Debug)]
pub(super) enum Prepared<T> {
    Fixed(T),
    Open(Node),
}

/// A date or time that is written in another way.
#[derive(Debug)]
pub(super) struct Date {
    pub(super) date: Node,
    /// How it is written before; without this it is a number of milliseconds since 1970.
    pub(super) from: Option<Prepared<Pattern>>,
    pub(super) to: Prepared<Pattern>,
}

impl<T> Prepared<T> {
    fn node(&self) -> Option<&Node> {
        match self {
            Prepared::Fixed(_) => None,
            Prepared::Open(node) => Some(node),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Junction {
    And,
    Or,
}

impl Node {
    /// The comparisons that make it true or false, in the order written.
    pub(super) fn comparisons<'a>(&'a self, found: &mut Vec<&'a Comparison>) {
        match self {
            Node::Comparison(comparison) => found.push(comparison),
            Node::Logic(parts, last) => {
                parts.iter().for_each(|(node, _)| node.comparisons(found));
                last.comparisons(found);
            }
            Node::Call(Function::Not, parts) => parts.iter().for_each(|part| part.comparisons(found)),
            _ => {}
        }
    }

    /// Shows `look` this part and all in it.
    pub(super) fn walk<'a>(&'a self, look: &mut impl FnMut(&'a Node)) {
        look(self);
        let mut inside =
            |route: &'a Option<Route>| route.iter().flat_map(|route| &route.holes).for_each(|node| node.walk(look));
        match self {
            Node::Null | Node::Boolean(_) | Node::Number(_) | Node::Text(_) | Node::Read(..) => {}
            Node::Resource(..) | Node::XPath(_) => {}
            Node::Array(parts) | Node::Call(_, parts) | Node::Joined(parts) => {
                parts.iter().for_each(|part| part.walk(look));
            }
            Node::Variable(_, _, route) | Node::Payload(route) => inside(route),
            Node::Inside(node, route) => {
                node.walk(look);
                route.holes.iter().for_each(|node| node.walk(look));
            }
            Node::Comparison(comparison) => {
                comparison.left.walk(look);
                comparison.right.walk(look);
            }
            Node::Chain(first, rest) => {
                first.walk(look);
                rest.iter().for_each(|(_, node)| node.walk(look));
            }
            Node::Logic(parts, last) => {
                parts.iter().for_each(|(node, _)| node.walk(look));
                last.walk(look);
            }
            Node::Choice(cases, otherwise) => {
                cases.iter().flat_map(|(condition, then)| [condition, then]).for_each(|node| node.walk(look));
                otherwise.walk(look);
            }
            Node::Negative(node) | Node::ResourceOf(node, _) => node.walk(look),
            Node::Split(text, pattern) => {
                text.walk(look);
                pattern.node().into_iter().for_each(|node| node.walk(look));
            }
            Node::Date(date) => {
                date.date.walk(look);
                let patterns = date.from.iter().chain([&date.to]).filter_map(Prepared::node);
                patterns.for_each(|node| node.walk(look));
            }
        }
    }
}
