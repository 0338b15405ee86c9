//! XPath over the message.

use std::borrow::Cow;
use std::sync::Arc;

use myelin_config::element::Text;
use myelin_content::Fragment;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::recorder::{Comparison, Operand};
use myelin_java_text::number;
use myelin_xml::NodeId;
use myelin_xpath::ast::Expr;
use myelin_xpath::{Atomic, Context, Error, Expression as Compiled, Item, Node, NodeRef, Returns, Side, Value};

use crate::ahead::{Answers, Precomputed, Question};
use crate::bindings::Bindings;
use crate::compiler::Compiler;
use crate::environment::XPathEnvironment;
use crate::error::CompileError;
use crate::host::MessageHost;
use crate::places::MessagePart;
use crate::plan::Query;
use crate::result_type::ResultType;
use crate::scan::{Answer, answer_of, seen_bytes};
use crate::seen::{SeenBody, SeenHost};
use crate::source::Source;
use crate::text::{self, fragment_of};

/// A compiled expression and what its variables and functions stand for.
#[derive(Debug)]
pub struct XPath {
    /// As it is written.
    text: Box<str>,
    pub(super) compiled: Arc<Compiled>,
    pub(super) bindings: Arc<Bindings>,
    looks_at_body: bool,
    wanted: ResultType,
    query: Option<Query>,
}

/// What a text of XPath was compiled to.
#[derive(Debug)]
pub(crate) enum XPathOrSource {
    XPath(XPath),
    /// One variable or property and nothing else.
    Source(Source),
}

impl XPath {
    /// Compiles an expression; one that is a variable or property and nothing else becomes the source of that.
    ///
    /// Errors: where it is wrong.
    pub(super) fn compile(
        text: Text<'_>,
        wanted: ResultType,
        compiler: &mut Compiler,
    ) -> Result<XPathOrSource, CompileError> {
        let mut environment = XPathEnvironment::new(text, compiler);
        let compiled = Compiled::compile(text.value, &mut environment)?;
        let mut bindings = Bindings { sources: environment.sources, functions: environment.functions };
        let places = MessagePart::ALL.len() as u32;
        if let Expr::Variable(slot @ 4..) = *compiled.ast() {
            return Ok(XPathOrSource::Source(bindings.sources.swap_remove((slot - places) as usize)));
        }
        let looks_at_body = compiled.needs_context() || compiled.variables().iter().any(|&slot| slot < places);
        let (text, compiled, bindings) = (text.value.into(), compiled.into(), bindings.into());
        let mut xpath = XPath { text, compiled, bindings, looks_at_body, wanted, query: None };
        if looks_at_body && wanted != ResultType::Nodes {
            // What the host is asked may change between two mediators, so that such an expression shares no pass.
            let pure = xpath.is_pure();
            let wanted = match wanted {
                ResultType::Boolean => myelin_xpath::stream::Wanted::Boolean,
                _ if is_number(xpath.compiled.ast()) => myelin_xpath::stream::Wanted::Number,
                _ => myelin_xpath::stream::Wanted::Text,
            };
            let (_, plans) = compiler.for_expressions();
            xpath.query = Some(plans.add(&xpath.compiled, wanted, (!pure).then_some(&xpath.bindings)));
        }
        Ok(XPathOrSource::XPath(xpath))
    }

    pub(super) fn looks_at_body(&self) -> bool {
        self.looks_at_body
    }

    /// Whether it asks nothing but the message.
    fn is_pure(&self) -> bool {
        self.bindings.sources.is_empty() && self.bindings.functions.is_empty()
    }

    /// What may be asked before the mediator runs that asks.
    pub fn question(&self) -> Option<Question> {
        let is_any = self.looks_at_body && self.is_pure();
        is_any.then(|| Question { compiled: Arc::clone(&self.compiled), wanted: self.wanted })
    }

    pub(super) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The value as it outlives its evaluation: nodes of the message, or an atomic value.
    pub(super) fn value<'a>(&self, exchange: &'a Exchange, context: &RequestContext<'_>) -> Outcome<Value<'a>> {
        enum Kept {
            Nodes(Vec<Node>),
            Atomic(Atomic<'static>),
        }
        let kept = self.with_value(exchange, context, |value| match value {
            Value::Item(Item::Atomic(atomic)) => Kept::Atomic(atomic.into_owned()),
            // An expression that asks the message alone leads to no other document.
            other => Kept::Nodes(other.as_nodes().unwrap_or_default().into_iter().map(|node| node.node).collect()),
        })?;
        Ok(match kept {
            Kept::Atomic(atomic) => Value::Item(Item::Atomic(atomic)),
            Kept::Nodes(nodes) if nodes.is_empty() => Value::EMPTY,
            Kept::Nodes(nodes) => Value::nodes(exchange.tree()?.document(), nodes),
        })
    }

    pub(super) fn query(&self) -> Option<&Query> {
        self.query.as_ref()
    }

    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Cow<'a, str>> {
        if let Some(query) = &self.query
            && let Some(answer) = answer_of(exchange, query)
        {
            return Ok(match answer {
                Answer::Text(text) => Cow::Borrowed(text),
                Answer::Number(number) => Cow::Owned(number::java(number)),
                Answer::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
            });
        }
        let text = match self.found_ahead(exchange)? {
            Some(Precomputed::Text(text)) => text.as_deref().map(Cow::Borrowed),
            _ => {
                self.with_value(exchange, context, |value| text::of(value).map(|text| Cow::Owned(text.into_owned())))?
            }
        };
        let too_long = || {
            let detail = format!("its text is longer than {} bytes", text::LIMIT_BYTES);
            Fault::bus("An expression could not be evaluated").with_detail(detail)
        };
        text.ok_or_else(too_long)
    }

    pub(super) fn boolean(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        if let Some(query) = &self.query
            && let Some(Answer::Boolean(answer)) = answer_of(exchange, query)
        {
            return Ok(answer);
        }
        if let Some(Precomputed::Condition(holds)) = self.found_ahead(exchange)? {
            return Ok(*holds);
        }
        self.run(exchange, context, |compiled, at| compiled.condition(at))
    }

    pub(super) fn fragment(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Fragment>> {
        self.with_value(exchange, context, |value| {
            value.as_nodes().unwrap_or_default().into_iter().find_map(fragment_of)
        })
    }

    /// What it compared as a condition that came out as `holds`, as
    /// [`Expression::comparisons`](crate::Expression::comparisons) says.
    pub(super) fn comparisons(
        &self,
        holds: bool,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Vec<Comparison> {
        let parts = self.compiled.comparisons();
        if parts.is_empty() {
            return Vec::new();
        }
        let shown_bytes = self.query.as_ref().map_or(0, |query| seen_bytes(exchange, query));
        let seen = match self.looks_at_body {
            true => SeenBody::of(exchange, context, shown_bytes),
            false => Some(SeenBody::empty()),
        };
        let Some(seen) = seen else { return Vec::new() };
        let tree = seen.tree();
        let host = SeenHost { message: MessageHost { bindings: &self.bindings, exchange, context }, tree };
        let mut at = Context::new(&host).at(NodeRef::new(tree.document(), tree.envelope().element));
        at.now = context.moment();
        // The part of the body that has arrived may be shorter than what the condition read.
        if !matches!(self.compiled.condition(&at), Ok(again) if again == holds) {
            return Vec::new();
        }
        let version = self.compiled.version();
        let told = parts.into_iter().map(|part| {
            let [left, right] = [Side::Left, Side::Right].map(|side| {
                let values = part.value(side, &at).unwrap_or(Value::EMPTY).into_items();
                Operand::new(part.side(side, &self.text), values.map(|item| item.into_text(version)))
            });
            Comparison { left, operator: part.operator(&self.text).to_owned(), right, holds: part.holds(&at).ok() }
        });
        told.collect()
    }

    /// The nodes of the message's own tree that it leads to.
    ///
    /// Errors: the bus's, where the body is not built as XML.
    pub fn nodes(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Vec<NodeId>> {
        let document = exchange.tree()?.document();
        self.with_value(exchange, context, |value| {
            let nodes = value.as_nodes().unwrap_or_default();
            let own = nodes.into_iter().filter(|node| std::ptr::eq(node.document, document));
            own.filter_map(|node| node.node.tree()).collect()
        })
    }

    /// Evaluates and hands the value on, which borrows from more than a caller would want to name.
    pub fn with_value<T>(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
        then: impl FnOnce(Value<'_>) -> T,
    ) -> Outcome<T> {
        if let Some(found) = self.found_ahead(exchange)?
            && let Some(value) = found.value(exchange.tree()?)
        {
            return Ok(then(value));
        }
        self.run(exchange, context, |compiled, at| compiled.evaluate(at).map(then))
    }

    /// What was found before the mediator that asks began.
    fn found_ahead<'a>(&self, exchange: &'a Exchange) -> Outcome<Option<&'a Precomputed>> {
        if !self.looks_at_body {
            return Ok(None);
        }
        Answers::find(exchange.tree()?, &self.compiled).transpose().map_err(fault)
    }

    /// Runs the expression in the context of the message.
    fn run<T>(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
        run: impl for<'r> FnOnce(&'r Compiled, &Context<'r>) -> Result<T, Error>,
    ) -> Outcome<T> {
        let host = MessageHost { bindings: &self.bindings, exchange, context };
        let mut at = Context::new(&host);
        at.now = context.moment();
        if self.looks_at_body {
            let tree = exchange.tree()?;
            at = at.at(NodeRef::new(tree.document(), tree.envelope().element));
        }
        run(&self.compiled, &at).map_err(|error| fault(&error))
    }
}

/// Whether it gives a number whatever the message is.
fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Integer(_) | Expr::Decimal(_) | Expr::Arithmetic(..) | Expr::Negate(_) => true,
        Expr::Call(function, _) => function.returns == Returns::Number,
        _ => false,
    }
}

/// An expression that failed on a message.
fn fault(error: &Error) -> Box<Fault> {
    Fault::bus("An expression could not be evaluated").with_detail(error.to_string())
}
