//! Runs an expression over the tree.
//!
//! Two ways lead through each expression: [`Run::value`] gives its value, [`Run::each`] hands out its items one by one
//! and stops when the taker has had enough. Whatever gives many items has `each`, and its value is what that collects.

mod axes;
mod collect;
mod compare;
mod filter;
mod functions;
mod many;
mod path;
mod predicates;
mod short;
mod text;
mod types;

use std::borrow::Cow;

use crate::ast::{Binding, Expr};
use crate::context::{Context, Meter, SharedContext, Start};
use crate::environment::Version;
use crate::error::Error;
use crate::function::{Body, Call, Function};
use crate::run::{Flow, Focus, Run, Stop, finish};
use crate::types::AtomicType;
use crate::value::{Atomic, Decimal, Item, NodeRef, Value};
use crate::{arithmetic, value};
use collect::Collector;

/// Runs a whole expression.
pub(crate) fn evaluate<'a>(root: &'a Expr, version: Version, context: &Context<'a>) -> Result<Value<'a>, Error> {
    let (shared, start) = context.parts();
    evaluate_from(root, version, &shared, start)
}

/// Runs a whole expression as a condition.
pub(crate) fn condition<'a>(root: &'a Expr, version: Version, context: &Context<'a>) -> Result<bool, Error> {
    let (shared, start) = context.parts();
    condition_from(root, version, &shared, start)
}

/// Runs a whole expression as a text.
pub(crate) fn text<'a>(root: &'a Expr, version: Version, context: &Context<'a>) -> Result<Cow<'a, str>, Error> {
    let (shared, start) = context.parts();
    text_from(root, version, &shared, start)
}

/// The same as [`evaluate`] for whoever evaluates many expressions with much in common.
#[inline]
pub(crate) fn evaluate_from<'a>(
    root: &'a Expr,
    version: Version,
    context: &SharedContext<'a>,
    start: Start<'_, 'a>,
) -> Result<Value<'a>, Error> {
    metered(root, version, context, start, |run, focus| match root {
        // Texts need none of the many ways of a value.
        Expr::Call(Function { body: Body::Text(text), .. }, arguments) => {
            text(&Call::new(run, focus, arguments)).map(Value::from)
        }
        _ => run.value(root, focus),
    })
}

/// The same as [`condition`] for whoever evaluates many expressions with much in common.
#[inline]
pub(crate) fn condition_from<'a>(
    root: &'a Expr,
    version: Version,
    context: &SharedContext<'a>,
    start: Start<'_, 'a>,
) -> Result<bool, Error> {
    metered(root, version, context, start, |run, focus| run.condition(root, focus))
}

/// The same as [`text`] for whoever evaluates many expressions with much in common.
#[inline]
pub(crate) fn text_from<'a>(
    root: &'a Expr,
    version: Version,
    context: &SharedContext<'a>,
    start: Start<'_, 'a>,
) -> Result<Cow<'a, str>, Error> {
    metered(root, version, context, start, |run, focus| run.text(root, focus))
}

/// Runs something, and counts what it uses.
#[inline]
fn metered<'a, T>(
    root: &'a Expr,
    version: Version,
    context: &SharedContext<'a>,
    start: Start<'_, 'a>,
    evaluate: impl FnOnce(&Run<'_, 'a>, &Focus<'_, 'a>) -> T,
) -> T {
    let alone = Meter::default();
    let current = start.current.or(start.item);
    let run = Run::new(root, version, context, current, context.meter.unwrap_or(&alone));
    evaluate(&run, &Focus { item: start.item, position: start.position, size: start.size, locals: None })
}

impl<'a> Run<'_, 'a> {
    /// The value of an expression.
    pub(crate) fn value(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Value<'a>, Error> {
        match expr {
            Expr::Text(text) => Ok(Value::from(text.as_str())),
            Expr::Number(number) => Ok(Value::from(*number)),
            Expr::Integer(number) => Ok(Value::from(*number)),
            Expr::Decimal(digits) => decimal(digits),
            Expr::Pattern(pattern) => Ok(Value::from(pattern.source())),
            Expr::Variable(slot) => self.read(self.context.host.variable(*slot)?),
            Expr::Local(local) => self.read(focus.local(*local).ok_or(Error::NoContext)?.clone()),
            Expr::Context => focus.item.cloned().map(Value::Item).ok_or(Error::NoContext),
            Expr::Current => self.current.cloned().map(Value::Item).ok_or(Error::NoContext),
            Expr::Root => self.document(focus).map(Value::from),
            Expr::Call(function, arguments) => Call::new(self, focus, arguments).value_of(function),
            Expr::HostCall(slot, arguments) => self.host_call(*slot, arguments, focus),
            Expr::Or(_)
            | Expr::And(_)
            | Expr::General(..)
            | Expr::Some(..)
            | Expr::Every(..)
            | Expr::InstanceOf(..)
            | Expr::Castable(..) => self.condition(expr, focus).map(Value::from),
            Expr::Single(comparison, sides, _) => self.single(*comparison, sides, focus),
            Expr::Nodes(comparison, sides) => self.node_comparison(*comparison, sides, focus),
            Expr::Arithmetic(..) => self.calculation(expr, focus).map(optional),
            Expr::Negate(inside) => {
                let operand = self.operand(inside, focus)?;
                arithmetic::negate(operand, self.version).map(optional)
            }
            Expr::Plus(inside) => {
                let operand = self.operand(inside, focus)?;
                arithmetic::plus(operand, self.version).map(optional)
            }
            Expr::If(branches) => {
                let [condition, then, otherwise] = &**branches;
                self.value(if self.condition(condition, focus)? { then } else { otherwise }, focus)
            }
            Expr::Let(binding, body) => self.bound(binding, focus, |focus| self.value(body, focus)),
            Expr::Treat(inside, wanted) => self.treat(inside, wanted, focus),
            Expr::Cast(inside, target, optional) => self.cast(inside, *target, *optional, focus),
            Expr::MapOf(_) | Expr::Members(_) | Expr::ArrayOf(_) | Expr::Inline(_) | Expr::Named(..) => {
                self.constructed(expr, focus)
            }
            Expr::Apply(function, arguments) => self.applied(function, arguments, focus),
            Expr::Union(operands) => self.union(operands, focus),
            Expr::Intersect(sides) => self.common(sides, focus, true),
            Expr::Except(sides) => self.common(sides, focus, false),
            Expr::Path(_)
            | Expr::Sequence(_)
            | Expr::Range(_)
            | Expr::For(..)
            | Expr::Map(_)
            | Expr::Filter(..)
            | Expr::Lookup(..) => {
                let mut collector = Collector::new(self);
                finish(self.each(expr, focus, &mut |item| Ok(collector.push(item)?)))?;
                Ok(collector.finish())
            }
        }
    }

    /// `/`: in later versions there must be a document at the top (XPath 3.1 §3.3).
    fn document(&self, focus: &Focus<'_, 'a>) -> Result<NodeRef<'a>, Error> {
        let root = focus.node()?.root();
        match root.kind() {
            Some(myelin_xml::Kind::Document) => Ok(root),
            _ if self.version == Version::V1 => Ok(root),
            _ => Err(Error::value("XPDY0050", "`/` leads to a document, and this node is in none")),
        }
    }

    /// What a variable gave, paid for: its lists are shared, a text that was made is copied.
    fn read(&self, value: Value<'a>) -> Result<Value<'a>, Error> {
        if let Value::Item(Item::Atomic(Atomic::Text(Cow::Owned(text), _))) = &value {
            self.step(text.len() as u64 / text::BYTES_A_STEP)?;
        }
        self.step(1)?;
        Ok(value)
    }

    /// The items of an expression, one by one, in order.
    pub(crate) fn each(&self, expr: &'a Expr, focus: &Focus<'_, 'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        match expr {
            Expr::Path(path) => self.path(path, focus, path::Order::Document, sink),
            Expr::Sequence(items) => items.iter().try_for_each(|item| self.each(item, focus, sink)),
            Expr::Range(sides) => self.range(sides, focus, sink),
            Expr::For(binding, body) => self.each(&binding.value, focus, &mut |item| {
                self.step(1)?;
                let value = [Value::Item(item)];
                self.each(body, &focus.binding(&focus.frame(binding.local, &value)), sink)
            }),
            Expr::Let(binding, body) => self.bound(binding, focus, |focus| self.each(body, focus, sink)),
            Expr::If(branches) => {
                let [condition, then, otherwise] = &**branches;
                self.each(if self.condition(condition, focus)? { then } else { otherwise }, focus, sink)
            }
            Expr::Map(sides) => self.map(sides, focus, sink),
            Expr::Filter(inside, predicates) => self.filter(inside, predicates, focus, sink),
            Expr::Lookup(base, key) => self.lookup(base, key.as_deref(), focus, sink),
            Expr::Local(local) => {
                let value = focus.local(*local).ok_or(Error::NoContext)?;
                for item in value.items() {
                    self.step(1)?;
                    sink(item)?;
                }
                Ok(())
            }
            other => match self.value(other, focus)? {
                Value::Item(item) => {
                    self.step(1)?;
                    sink(item)
                }
                many => many.into_items().try_for_each(|item| {
                    self.step(1)?;
                    sink(item)
                }),
            },
        }
    }

    /// The items in any order and perhaps some of them twice, for whoever only looks for one.
    pub(crate) fn any(&self, expr: &'a Expr, focus: &Focus<'_, 'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        match expr {
            Expr::Path(path) => self.path(path, focus, path::Order::Any, sink),
            Expr::Union(operands) => operands.iter().try_for_each(|operand| {
                self.any(operand, focus, &mut |item| match item {
                    Item::Node(_) => sink(item),
                    Item::Atomic(_) | Item::Function(_) => Err(filter::no_node("|").into()),
                })
            }),
            other => self.each(other, focus, sink),
        }
    }

    /// The first item in order, if there is one.
    pub(crate) fn first(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Option<Item<'a>>, Error> {
        let mut first = None;
        finish(self.each(expr, focus, &mut |item| {
            first = Some(item);
            Err(Stop::Enough)
        }))?;
        Ok(first)
    }

    /// `a + b - c …`, from the innermost left side on: a chain is no recursion.
    pub(crate) fn calculation(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Option<Atomic<'a>>, Error> {
        // Most have one operator, for which no list is made.
        let mut chain = Vec::new();
        let mut left = expr;
        let mut last = None;
        while let Expr::Arithmetic(operator, sides) = left {
            chain.extend(last.replace((*operator, &sides[1])));
            left = &sides[0];
        }
        let mut result = self.operand(left, focus)?;
        for (operator, right) in last.into_iter().chain(chain.into_iter().rev()) {
            result = arithmetic::calculate(operator, result, self.operand(right, focus)?, self.version)?;
        }
        Ok(result)
    }

    /// What comes of something that sees a variable more.
    fn bound<T, E: From<Error>>(
        &self,
        binding: &'a Binding,
        focus: &Focus<'_, 'a>,
        inside: impl FnOnce(&Focus<'_, 'a>) -> Result<T, E>,
    ) -> Result<T, E> {
        let value = [self.value(&binding.value, focus)?.shared()];
        inside(&focus.binding(&focus.frame(binding.local, &value)))
    }

    fn range(&self, sides: &'a [Expr; 2], focus: &Focus<'_, 'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        let (Some(from), Some(to)) = (self.operand(&sides[0], focus)?, self.operand(&sides[1], focus)?) else {
            return Ok(());
        };
        if matches!(from, Atomic::Large(..)) || matches!(to, Atomic::Large(..)) {
            return self.large_range(&from, &to, sink);
        }
        let (from, to) = (value::whole(&from, self.version)?, value::whole(&to, self.version)?);
        for number in from..=to {
            self.step(1)?;
            sink(Item::Atomic(match self.version {
                Version::V1 => Atomic::from(number as f64),
                _ => Atomic::from(number),
            }))?;
        }
        Ok(())
    }

    /// A range of which one end does not fit into 64 bits.
    fn large_range(&self, from: &Atomic<'a>, to: &Atomic<'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        let end = |atomic: &Atomic<'a>| match atomic {
            Atomic::Large(number, _) => Ok(**number),
            other => value::whole(other, self.version).map(Decimal::from),
        };
        let (mut number, to) = (end(from)?, end(to)?);
        while number <= to {
            self.step(1)?;
            sink(Item::Atomic(Atomic::whole(number, AtomicType::Integer)))?;
            match number.plus(Decimal::from(1)) {
                Some(next) => number = next,
                None => break,
            }
        }
        Ok(())
    }

    fn map(&self, sides: &'a [Expr; 2], focus: &Focus<'_, 'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        let left = self.value(&sides[0], focus)?;
        let size = left.len() as u64;
        for (index, item) in left.into_items().enumerate() {
            self.step(1)?;
            self.each(&sides[1], &focus.on(&item, index as u64 + 1, size), sink)?;
        }
        Ok(())
    }

    fn host_call(&self, slot: u32, arguments: &'a [Expr], focus: &Focus<'_, 'a>) -> Result<Value<'a>, Error> {
        let item = focus.item;
        match arguments {
            [] => self.context.host.call(slot, &[], item),
            [one] => self.context.host.call(slot, &[self.value(one, focus)?], item),
            [one, two] => self.context.host.call(slot, &[self.value(one, focus)?, self.value(two, focus)?], item),
            many => {
                let values: Result<Vec<_>, _> = many.iter().map(|argument| self.value(argument, focus)).collect();
                self.context.host.call(slot, &values?, item)
            }
        }
    }
}

/// A sequence of one value or none.
fn optional(atomic: Option<Atomic<'_>>) -> Value<'_> {
    atomic.map_or(Value::EMPTY, Value::from)
}

fn decimal(digits: &str) -> Result<Value<'static>, Error> {
    match Decimal::parse(digits) {
        Some(decimal) => Ok(Value::from(decimal)),
        None => Err(Error::value("FOAR0002", format!("{digits} has too many digits"))),
    }
}
