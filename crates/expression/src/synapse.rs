//! Synapse expressions, `${…}`: values of the message, of variables, headers and properties, with operators and functions.
//!
//! Compiled while the configuration is loaded, run on each message.
//! What is missing or of the wrong type makes the whole expression empty, which is said in the log, as in Synapse.

mod arithmetic;
mod evaluate;
mod failure;
mod function;
mod parse;
mod route;
mod text;
mod tree;
mod value;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use myelin_config::element::Text;
use myelin_content::Fragment;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::property::{self, Slot};
use myelin_flow::recorder::{Comparison, Operand};
use myelin_java_text::{date as datetime, decimal};
use myelin_json::Path;

use crate::compiler::Compiler;
use crate::error::CompileError;
use crate::places::MessagePart;
use crate::source::Source;
use crate::synapse::evaluate::Run;
use crate::synapse::failure::{Failure, Result};
use crate::synapse::parse::Parser;
use crate::synapse::tree::{Node, Route};
use crate::synapse::value::Value;
use crate::text::fragment_of;
use crate::xpath::{XPath, XPathOrSource};

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Synapse {
    text: String,
    node: Node,
}

impl Synapse {
    /// Whether a text is one expression and nothing else.
    pub(super) fn is_whole(text: &str) -> bool {
        text.trim_start().starts_with("${")
    }

    /// Compiles the expression whose `${` stands at a byte of a text; gives the byte behind its closing brace, too.
    ///
    /// Errors: the byte where it is wrong, and a sentence.
    pub(super) fn compile(
        text: Text<'_>,
        at: usize,
        compiler: &mut Compiler,
    ) -> std::result::Result<(Synapse, usize), CompileError> {
        let mut parser = Parser::new(text, at + 2, compiler);
        let node = parser.whole()?;
        let end = parser.at + 1;
        Ok((Synapse { text: text.value[at..end].to_owned(), node }, end))
    }

    /// Compiles a text in which expressions may stand anywhere.
    ///
    /// Errors: as [`Synapse::compile`].
    pub(super) fn compile_text(text: Text<'_>, compiler: &mut Compiler) -> std::result::Result<Synapse, CompileError> {
        let (mut parts, mut done) = (Vec::new(), 0);
        while let Some(start) = text.value[done..].find("${").map(|at| done + at) {
            let (synapse, end) = Synapse::compile(text, start, compiler)?;
            if start > done {
                parts.push(Node::Text(text.value[done..start].to_owned()));
            }
            if start == 0 && end == text.value.len() {
                return Ok(synapse);
            }
            parts.push(synapse.node);
            done = end;
        }
        parts.push(Node::Text(text.value[done..].to_owned()));
        Ok(Synapse { text: text.value.to_owned(), node: Node::Joined(parts) })
    }

    /// Whether it looks at the message's body.
    pub(super) fn looks_at_body(&self) -> bool {
        self.any(|node| match node {
            Node::Payload(_) => true,
            Node::XPath(kind) => matches!(&**kind, XPathOrSource::XPath(xpath) if xpath.looks_at_body()),
            _ => false,
        })
    }

    /// The fixed ways in it into the message's JSON; not that to all of it.
    pub(super) fn paths(&self) -> Vec<Arc<Path>> {
        let mut paths = Vec::new();
        self.node.walk(&mut |node| match node {
            Node::Payload(Some(route)) if route.holes.is_empty() => paths.push(Arc::clone(&route.path)),
            _ => {}
        });
        paths
    }

    /// Whether it looks at the message's body as JSON; the body alone is XML where it came as that.
    pub(super) fn looks_at_json(&self) -> bool {
        !matches!(self.node, Node::Payload(None)) && self.any(|node| matches!(node, Node::Payload(_)))
    }

    /// Whether it asks for parameters of a template.
    pub(super) fn asks_for_parameters(&self) -> bool {
        self.any(|node| match node {
            Node::Read(source, _) => source.is_parameter(),
            Node::XPath(kind) => match &**kind {
                XPathOrSource::Source(source) => source.is_parameter(),
                XPathOrSource::XPath(xpath) => xpath.bindings().ask_for_parameters(),
            },
            _ => false,
        })
    }

    /// The parts of WS-Addressing that it asks for.
    pub(super) fn addressed(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.node.walk(&mut |node| match node {
            Node::Read(source, _) => slots.extend(source.addressed()),
            Node::XPath(kind) => match &**kind {
                XPathOrSource::Source(source) => slots.extend(source.addressed()),
                XPathOrSource::XPath(xpath) => {
                    slots.extend(xpath.bindings().sources.iter().filter_map(Source::addressed));
                }
            },
            _ => {}
        });
        slots
    }

    /// The path into the message's JSON, if it is nothing else.
    pub(super) fn path(&self) -> Option<&Arc<Path>> {
        match &self.node {
            Node::Payload(route) => fixed(route.as_ref()),
            _ => None,
        }
    }

    /// The path into the JSON of a variable, if it is nothing else.
    pub(super) fn variable_path(&self) -> Option<&Arc<Path>> {
        match &self.node {
            Node::Variable(_, _, route) => fixed(route.as_ref()),
            _ => None,
        }
    }

    /// The variable, if it is nothing else than a fixed path into one.
    pub(super) fn variable(&self) -> Option<Slot> {
        match &self.node {
            Node::Variable(slot, ..) if self.variable_path().is_some() => Some(*slot),
            _ => None,
        }
    }

    /// The XPath, if it is nothing else.
    pub(super) fn xpath(&self) -> Option<&XPath> {
        match &self.node {
            Node::XPath(kind) => match &**kind {
                XPathOrSource::XPath(xpath) => Some(xpath),
                XPathOrSource::Source(_) => None,
            },
            _ => None,
        }
    }

    /// What it compared as a condition, as [`Expression::comparisons`](crate::Expression::comparisons) says.
    pub(super) fn comparisons(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Vec<Comparison> {
        let mut found = Vec::new();
        self.node.comparisons(&mut found);
        let run = Run { exchange, context };
        found
            .into_iter()
            .map(|part| {
                let side = |node, written: &str| {
                    // Why there is no value, the log says.
                    let value = run.value(node).ok();
                    Operand::new(written, value.iter().filter_map(Value::text))
                };
                let compared = |left, right| arithmetic::apply(&left, part.operator, &right);
                let value = run.value(&part.left).and_then(|left| compared(left, run.value(&part.right)?));
                let holds = match value {
                    Ok(Value::Boolean(boolean)) => Some(boolean),
                    _ => None,
                };
                let [left, right] = &part.written;
                Comparison {
                    left: side(&part.left, left),
                    operator: part.symbol.to_owned(),
                    right: side(&part.right, right),
                    holds,
                }
            })
            .collect()
    }

    fn any(&self, mut accept: impl FnMut(&Node) -> bool) -> bool {
        let mut found = false;
        self.node.walk(&mut |node| found |= accept(node));
        found
    }

    /// The value as text; empty where there is none.
    ///
    /// Errors: faults of whoever made a message that the expression cannot be asked of.
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Cow<'a, str>> {
        if let Some(body) = self.whole_body(exchange)? {
            return Ok(Cow::Owned(body.text()));
        }
        let value = self.settled(Run { exchange, context }.value(&self.node))?;
        Ok(value.and_then(Value::into_text).unwrap_or_default())
    }

    /// The value with its type; `None` where there is none.
    ///
    /// Errors: as [`Synapse::text`].
    pub(super) fn typed(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<property::Value>> {
        if let Some(body) = self.whole_body(exchange)? {
            return Ok(Some(property::Value::Xml(body)));
        }
        if let Node::XPath(kind) = &self.node
            && let Some(fragments) = nodes_of(kind, exchange, context)?
        {
            return Ok(Value::Xml(fragments.into()).into_property());
        }
        let value = self.settled(Run { exchange, context }.value(&self.node))?;
        Ok(value.and_then(Value::into_property))
    }

    /// The value, or none where that was only missing.
    fn settled<'a>(&self, value: Result<Value<'a>>) -> Outcome<Option<Value<'a>>> {
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Failure::Fault(fault)) => Err(fault),
            Err(Failure::Nothing(why)) => {
                tracing::warn!(target: "myelin::expression", "{} gives nothing: {why}", self.text);
                Ok(None)
            }
        }
    }

    /// The body of a message that is XML, where the expression is `${payload}` alone, as Synapse has it.
    fn whole_body(&self, exchange: &Exchange) -> Outcome<Option<Fragment>> {
        if !matches!(self.node, Node::Payload(None)) || !exchange.content.format.is_xml() {
            return Ok(None);
        }
        let tree = exchange.tree()?;
        let body = MessagePart::Body.find(tree).filter(|_| !tree.is_empty());
        Ok(body.map(|body| Fragment::copy(tree.document(), body)))
    }
}

/// The path that a way is, or that to all where there is none; `None` for one that is worked out.
fn fixed(route: Option<&Route>) -> Option<&Arc<Path>> {
    static WHOLE: LazyLock<Arc<Path>> = LazyLock::new(|| Arc::new(Path::compile("$").expect("this path is sound")));
    match route {
        None => Some(&WHOLE),
        Some(route) => route.holes.is_empty().then_some(&route.path),
    }
}

/// The elements that an XPath leads to; `None` where it leads to something else.
fn nodes_of(kind: &XPathOrSource, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Vec<Fragment>>> {
    let XPathOrSource::XPath(xpath) = kind else { return Ok(None) };
    xpath.with_value(exchange, context, |value| {
        let nodes = value.as_nodes().unwrap_or_default();
        let fragments = Fragment::all(nodes.into_iter().filter_map(fragment_of).map(Outcome::Ok))?;
        Ok((!fragments.is_empty()).then_some(fragments))
    })?
}
