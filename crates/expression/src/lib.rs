//! Expressions: XPath over the message with Synapse's variables and functions, JSONPath as `json-eval(…)`, and Synapse
//! expressions as `${…}`.
//!
//! The context node is the SOAP envelope, as in Synapse; plain XML stands in the body of one that is never sent.
//! An expression that looks at the message is answered from the scan of its [`Query`] where the body is still on the
//! wire, and from the built body where there is one; both give the same.

mod ahead;
mod bindings;
mod compiler;
mod deferred;
mod environment;
mod error;
mod functions;
mod held;
mod host;
mod inline;
mod json;
mod need;
mod places;
mod plan;
mod questions;
pub mod ready;
mod result_type;
mod scan;
mod secrets;
mod seen;
mod source;
mod synapse;
mod text;
mod xpath;

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::property::{self, Scope, Slot};
use myelin_flow::recorder::Comparison;
use myelin_json::Path;
use myelin_xml::{Document, NodeId};
use myelin_xpath::{Atomic, Item, Value};

pub use bindings::Bindings;
pub use compiler::Compiler;
pub use deferred::DeferredExpression;
pub use host::MessageHost;
pub use inline::{InlinePart, InlineText};
pub use json::fixed_path;
pub use need::{Need, when_ready};
pub use places::{MessagePart, path_of_part};
pub use plan::{PlanBuilder, Query};
pub use ready::Immediate;
pub use result_type::ResultType;
pub use source::{Source, SourceScope};
pub use text::fragment_of;
pub use xpath::XPath;

use crate::deferred::{Evaluate, expression_of};
use crate::error::CompileError;
use crate::held::HeldJson;
use crate::json::JsonEval;
use crate::source::SourceValue;
use crate::synapse::Synapse;
use crate::xpath::XPathOrSource;

/// An expression, compiled.
#[derive(Debug)]
pub struct Expression {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// One variable or property and nothing else: what is not set has no text then.
    Source(Source),
    XPath(XPath),
    Json(JsonEval),
    /// JSON that a property holds.
    Held(Box<HeldJson>),
    Synapse(Box<Synapse>),
}

impl Evaluate for Expression {
    fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Option<Cow<'a, str>>> {
        Expression::text(self, exchange, context)
    }

    fn value<'a>(&self, exchange: &'a Exchange, context: &RequestContext<'_>) -> Outcome<Value<'a>> {
        Expression::value(self, exchange, context)
    }
}

impl From<Expression> for DeferredExpression {
    fn from(expression: Expression) -> DeferredExpression {
        DeferredExpression(Box::new(expression))
    }
}

/// The expression that a parameter of a running template holds, where it holds one.
fn deferred(exchange: &Exchange, slot: Slot) -> Option<&Expression> {
    (expression_of(exchange.argument(slot))? as &dyn Any).downcast_ref()
}

impl Expression {
    /// Compiles an expression and resolves the names in it.
    ///
    /// Errors: a [`Problem`] at the character where it is wrong, or needs what is not offered.
    pub fn compile(text: Text<'_>, wanted: ResultType, compiler: &mut Compiler) -> Result<Expression, Problem> {
        if looks_like_synapse(text.value.trim()) {
            let message = format!(
                "{0} is an XPath here, which finds elements of that name; the Synapse expression is ${{{0}}}",
                text.value.trim()
            );
            compiler.warning(text.problem(message));
        }
        Expression::build(text, wanted, compiler).map_err(|error| {
            let path = text.value.trim();
            let is_json_path = path.starts_with("$.") || path.starts_with("$[");
            let meant = is_json_path.then(|| format!("json-eval({path})"));
            error.problem(text).suggesting(meant.as_deref())
        })
    }

    /// Compiles a text in which Synapse expressions may stand anywhere; where it is nothing but one, its value has a type.
    ///
    /// Errors: as [`Expression::compile`].
    pub fn compile_text(text: Text<'_>, compiler: &mut Compiler) -> Result<Expression, Problem> {
        let synapse = Synapse::compile_text(text, compiler).map_err(|error| error.problem(text))?;
        Ok(Expression { kind: Kind::Synapse(Box::new(synapse)) })
    }

    /// Compiles the Synapse expression whose `${` stands at a byte of a text; gives the byte behind its closing brace, too.
    ///
    /// Errors: as [`Expression::compile`].
    pub fn compile_at(text: Text<'_>, at: usize, compiler: &mut Compiler) -> Result<(Expression, usize), Problem> {
        let (synapse, end) = Synapse::compile(text, at, compiler).map_err(|error| error.problem(text))?;
        Ok((Expression { kind: Kind::Synapse(Box::new(synapse)) }, end))
    }

    /// Whether Synapse expressions stand in a text.
    pub fn is_in(text: &str) -> bool {
        text.contains("${")
    }

    /// Compiles a JSONPath, with or without `json-eval(…)` around it, to be asked for its text.
    ///
    /// Errors: as [`Expression::compile`].
    pub fn compile_path(text: Text<'_>, compiler: &mut Compiler) -> Result<Expression, Problem> {
        let kind = JsonEval::inside(text.value).map_err(CompileError::from).and_then(|range| {
            Expression::build_path(text, range.unwrap_or(0..text.value.len()), ResultType::Text, compiler)
        });
        let kind = kind.map_err(|error| {
            let problem = error.problem(text);
            match looks_like_xpath(text.value.trim()) {
                true => Problem {
                    message: format!("{}; it looks like an XPath, and a JSONPath is read here", problem.message),
                    ..problem
                },
                false => problem,
            }
        });
        Ok(Expression { kind: kind? })
    }

    fn build_path(
        text: Text<'_>,
        range: Range<usize>,
        wanted: ResultType,
        compiler: &mut Compiler,
    ) -> Result<Kind, CompileError> {
        match HeldJson::is_in(text.value, range.clone()) {
            true => HeldJson::compile(text, range, compiler).map(|held| Kind::Held(Box::new(held))),
            false => Ok(Kind::Json(JsonEval::compile(text.value, range, wanted, compiler.for_expressions().1)?)),
        }
    }

    fn build(text: Text<'_>, wanted: ResultType, compiler: &mut Compiler) -> Result<Expression, CompileError> {
        if Synapse::is_whole(text.value) {
            let start = text.value.len() - text.value.trim_start().len();
            let (synapse, end) = Synapse::compile(text, start, compiler)?;
            return match text.value[end..].trim() {
                "" => Ok(Expression { kind: Kind::Synapse(Box::new(synapse)) }),
                _ => Err(CompileError::new(end, "nothing may stand behind an expression")),
            };
        }
        let kind = match JsonEval::inside(text.value)? {
            Some(range) => Expression::build_path(text, range, wanted, compiler)?,
            None => match XPath::compile(text, wanted, compiler)? {
                XPathOrSource::XPath(xpath) => Kind::XPath(xpath),
                XPathOrSource::Source(source) => Kind::Source(source),
            },
        };
        Ok(Expression { kind })
    }

    /// Whether it looks at the message's body.
    pub fn looks_at_body(&self) -> bool {
        match &self.kind {
            Kind::Source(_) | Kind::Held(_) => false,
            Kind::XPath(xpath) => xpath.looks_at_body(),
            Kind::Json(_) => true,
            Kind::Synapse(synapse) => synapse.looks_at_body(),
        }
    }

    /// Whether it asks for more than the message: properties, headers, functions of Synapse.
    pub fn asks_beyond_the_message(&self) -> bool {
        match &self.kind {
            Kind::Source(_) | Kind::Held(_) | Kind::Synapse(_) => true,
            Kind::XPath(xpath) => !xpath.bindings().sources.is_empty() || !xpath.bindings().functions.is_empty(),
            Kind::Json(_) => false,
        }
    }

    /// Whether it asks for parameters of a template, which may be expressions over the message.
    pub fn asks_for_parameters(&self) -> bool {
        match &self.kind {
            Kind::Source(source) => source.is_parameter(),
            Kind::XPath(xpath) => xpath.bindings().ask_for_parameters(),
            Kind::Held(held) => held.source().is_parameter(),
            Kind::Json(_) => false,
            Kind::Synapse(synapse) => synapse.asks_for_parameters(),
        }
    }

    /// The expression that a parameter of the running template holds, where this is one that does; else itself.
    pub fn resolved<'a>(&'a self, exchange: &'a Exchange) -> &'a Expression {
        if let Kind::Source(Source::Parameter(slot)) = self.kind
            && let Some(expression) = deferred(exchange, slot)
        {
            return expression;
        }
        self
    }

    /// The value of an expression that asks the message alone.
    ///
    /// Errors: as [`Expression::text`].
    fn value<'a>(&self, exchange: &'a Exchange, context: &RequestContext<'_>) -> Outcome<Value<'a>> {
        let text = match &self.kind {
            Kind::XPath(xpath) => return xpath.value(exchange, context),
            Kind::Source(source) => source.read(exchange, context).text().map(Cow::into_owned),
            Kind::Json(json) => Some(json.text(exchange)?.into_owned()),
            Kind::Held(held) => Some(held.text(exchange, context)?.into_owned()),
            Kind::Synapse(synapse) => Some(synapse.text(exchange, context)?.into_owned()),
        };
        Ok(text.map_or(Value::EMPTY, |text| Value::Item(Item::Atomic(Atomic::from(text)))))
    }

    /// The parts of WS-Addressing that it asks for, which may stand in the message's header.
    pub fn addressed(&self) -> Vec<Slot> {
        let of = |sources: &[Source]| sources.iter().filter_map(Source::addressed).collect();
        match &self.kind {
            Kind::Source(source) => of(std::slice::from_ref(source)),
            Kind::Held(held) => of(std::slice::from_ref(held.source())),
            Kind::XPath(xpath) => of(&xpath.bindings().sources),
            Kind::Json(_) => Vec::new(),
            Kind::Synapse(synapse) => synapse.addressed(),
        }
    }

    /// What answers it from the bytes on the wire, where that can be.
    pub fn query(&self) -> Option<&Query> {
        match &self.kind {
            Kind::Source(_) | Kind::Held(_) | Kind::Synapse(_) => None,
            Kind::XPath(xpath) => xpath.query(),
            Kind::Json(json) => json.query(),
        }
    }

    /// The path into the message's JSON, if it is nothing else: `json-eval(…)` or `${payload…}`.
    pub fn json(&self) -> Option<&Arc<Path>> {
        match &self.kind {
            Kind::Json(json) => Some(json.path()),
            Kind::Synapse(synapse) => synapse.path(),
            _ => None,
        }
    }

    /// Whether it is a JSONPath, into the message or into what a property holds.
    pub fn is_path(&self) -> bool {
        matches!(self.kind, Kind::Held(_)) || self.json().is_some()
    }

    /// The fixed ways in it into the message's JSON; not that to all of it.
    pub fn paths(&self) -> Vec<Arc<Path>> {
        match &self.kind {
            Kind::Json(json) => json.part().into_iter().cloned().collect(),
            Kind::Synapse(synapse) => synapse.paths(),
            Kind::Source(_) | Kind::XPath(_) | Kind::Held(_) => Vec::new(),
        }
    }

    /// Whether it looks at the message's body as JSON.
    pub fn looks_at_json(&self) -> bool {
        match &self.kind {
            Kind::Json(_) => true,
            Kind::Synapse(synapse) => synapse.looks_at_json(),
            _ => false,
        }
    }

    /// The XPath of it, if it is any; that of `${xpath(…)}`, too.
    pub fn xpath(&self) -> Option<&XPath> {
        match &self.kind {
            Kind::XPath(xpath) => Some(xpath),
            Kind::Synapse(synapse) => synapse.xpath(),
            _ => None,
        }
    }

    /// The value as Synapse stores and prints it: numbers in Java's manner, `None` for what is not set.
    ///
    /// Errors: faults of whoever made a message that the expression cannot be asked of.
    pub fn text<'a>(
        &'a self,
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        match &self.kind {
            Kind::Source(source) => Ok(source.read(exchange, context).text()),
            Kind::XPath(xpath) => xpath.text(exchange, context).map(Some),
            Kind::Json(json) => json.text(exchange).map(Some),
            Kind::Held(held) => held.text(exchange, context).map(Some),
            Kind::Synapse(synapse) => synapse.text(exchange, context).map(Some),
        }
    }

    /// The value with the type that a Synapse expression gives it; of any other expression its text.
    ///
    /// Errors: as [`Expression::text`].
    pub fn typed(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<property::Value>> {
        match &self.kind {
            Kind::Synapse(synapse) => synapse.typed(exchange, context),
            _ => Ok(self.text(exchange, context)?.map(|text| property::Value::Text(text.as_ref().into()))),
        }
    }

    /// The value as a condition.
    ///
    /// Errors: as [`Expression::text`].
    pub fn boolean(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<bool> {
        match &self.resolved(exchange).kind {
            Kind::Source(source) => Ok(source.read(exchange, context).boolean()),
            Kind::XPath(xpath) => xpath.boolean(exchange, context),
            Kind::Json(json) => json.boolean(exchange),
            Kind::Held(held) => Ok(held.text(exchange, context)?.eq_ignore_ascii_case("true")),
            Kind::Synapse(synapse) => Ok(synapse.text(exchange, context)?.eq_ignore_ascii_case("true")),
        }
    }

    /// What it compared as a condition that came out as `holds`, for a trace of the exchange.
    ///
    /// Shape: the comparisons that `and`, `or` and `not` join, each with the values of its sides as they are now. A body
    /// on the wire is looked at as far as it has come; there are none where that does not give the same decision.
    pub fn comparisons(&self, holds: bool, exchange: &Exchange, context: &RequestContext<'_>) -> Vec<Comparison> {
        match &self.resolved(exchange).kind {
            Kind::XPath(xpath) => xpath.comparisons(holds, exchange, context),
            Kind::Synapse(synapse) => synapse.comparisons(exchange, context),
            Kind::Source(_) | Kind::Json(_) | Kind::Held(_) => Vec::new(),
        }
    }

    /// The first element or document that it leads to, as a tree of its own; `None` where it leads to none.
    ///
    /// Errors: as [`Expression::text`].
    pub fn fragment(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Fragment>> {
        match &self.resolved(exchange).kind {
            Kind::Source(_) => Ok(self.fragments(exchange, context).first().cloned()),
            Kind::XPath(xpath) => xpath.fragment(exchange, context),
            Kind::Json(_) | Kind::Held(_) => Ok(None),
            Kind::Synapse(synapse) => Ok(match synapse.typed(exchange, context)? {
                Some(property::Value::Xml(fragment)) => Some(fragment),
                Some(property::Value::List(fragments)) => fragments.first().cloned(),
                _ => None,
            }),
        }
    }

    /// The first node that it leads to, with the address of its document: the message's, or one that a property holds.
    ///
    /// Errors: as [`Expression::text`].
    pub fn first_node(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<(*const Document, NodeId)>> {
        match self.resolved(exchange).xpath() {
            Some(xpath) => xpath.with_value(exchange, context, |value| {
                let node = value.as_nodes()?.into_iter().next()?;
                Some((std::ptr::from_ref(node.document), node.node.tree()?))
            }),
            None => {
                let held = self.fragments(exchange, context).first();
                Ok(held.map(|fragment| (Arc::as_ptr(&fragment.document), fragment.node)))
            }
        }
    }

    /// What it stands for: itself, or where it is nothing but a template's parameter that is an expression, that one.
    pub fn meant<'a>(&'a self, exchange: &'a Exchange) -> &'a Expression {
        match &self.kind {
            Kind::Source(Source::Parameter(slot)) => deferred(exchange, *slot).unwrap_or(self),
            _ => self,
        }
    }

    /// The variable that it looks into, where it looks nowhere else: `${vars.x.items}`, or `${xpath('…', 'x')}`.
    pub fn variable(&self) -> Option<Slot> {
        let Kind::Synapse(synapse) = &self.kind else { return None };
        let of_path = || match synapse.xpath()?.bindings().sources.as_slice() {
            [Source::Property(Scope::Variable, slot)] => Some(*slot),
            _ => None,
        };
        synapse.variable().or_else(of_path)
    }

    /// The path into the JSON of a variable; all of it where none is said.
    pub fn variable_path(&self) -> Option<&Arc<Path>> {
        match &self.kind {
            Kind::Synapse(synapse) => synapse.variable_path(),
            _ => None,
        }
    }

    /// Whether it can lead to elements of the message, or to values of its JSON.
    pub fn leads_into_message(&self) -> bool {
        match &self.kind {
            Kind::Source(source) => source.is_parameter(),
            Kind::Held(_) => false,
            Kind::Synapse(_) => self.json().is_some() || self.xpath().is_some(),
            Kind::XPath(_) | Kind::Json(_) => true,
        }
    }

    /// The nodes that it leads to, each with the address of its document: the message's, or one that a variable holds.
    ///
    /// Errors: as [`Expression::text`].
    pub fn nodes_anywhere(
        &self,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Vec<(*const Document, NodeId)>> {
        let Some(xpath) = self.xpath() else { return Ok(Vec::new()) };
        xpath.with_value(exchange, context, |value| {
            let nodes = value.as_nodes().unwrap_or_default().into_iter();
            nodes.filter_map(|node| Some((std::ptr::from_ref(node.document), node.node.tree()?))).collect()
        })
    }

    /// The pieces of XML in the property that it names, where it is nothing but a property.
    pub fn fragments<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> &'a [Fragment] {
        let Kind::Source(source) = &self.kind else { return &[] };
        match source.read(exchange, context) {
            SourceValue::Xml(fragment) => std::slice::from_ref(fragment),
            SourceValue::List(list) => list,
            _ => &[],
        }
    }
}

/// Whether a text without `${…}` around it is a path of the Synapse expressions, such as `payload.order.id`.
fn looks_like_synapse(text: &str) -> bool {
    let roots = ["payload", "vars", "headers", "properties", "params", "configs"];
    let path = text.split_once('.').filter(|(root, _)| roots.contains(root)).map(|(_, path)| path);
    let is_path = |path: &str| path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.[]".contains(&byte));
    path.is_some_and(|path| !path.is_empty() && is_path(path))
}
/// Whether a text begins as an XPath does and no JSONPath.
fn looks_like_xpath(text: &str) -> bool {
    let begins = ["/", "$body", "$header", "$trp:", "$ctx:", "$axis2:", "$url:", "get-property("];
    begins.iter().any(|begin| text.starts_with(begin))
}
