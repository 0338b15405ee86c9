//! Short ways: to a condition, a text or a single item, without looking at more than it takes.

use std::borrow::Cow;

use crate::arithmetic;
use crate::ast::{Binding, Expr};
use crate::environment::Version;
use crate::error::Error;
use crate::function::{Body, Call, Function};
use crate::run::{Focus, Run, Stop, finish};
use crate::value::{Atomic, Item, Value};

impl<'a> Run<'_, 'a> {
    /// The value as a condition, without looking further than needed.
    ///
    /// Source: XPath 1.0 §4.3, XPath 3.1 §2.4.3.
    pub(crate) fn condition(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<bool, Error> {
        match expr {
            Expr::Or(operands) => {
                for operand in operands {
                    if self.condition(operand, focus)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::And(operands) => {
                for operand in operands {
                    if !self.condition(operand, focus)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::General(comparison, sides, _) => self.general(*comparison, sides, focus),
            Expr::Some(binding, body) => self.quantified(binding, body, focus, true),
            Expr::Every(binding, body) => Ok(!self.quantified(binding, body, focus, false)?),
            Expr::InstanceOf(inside, wanted) => self.instance(&self.value(inside, focus)?, wanted),
            Expr::Castable(inside, target, optional) => self.castable(inside, *target, *optional, focus),
            Expr::Variable(slot) => match self.variable_text(*slot)? {
                Some(text) => Ok(!text.is_empty()),
                None => self.condition_of(&self.value(expr, focus)?),
            },
            Expr::Call(function, arguments) => {
                let call = Call::new(self, focus, arguments);
                match function.body {
                    Body::Condition(run) => run(&call),
                    Body::Text(run) | Body::Address(run) => Ok(!run(&call)?.is_empty()),
                    Body::Count(run) => Ok(run(&call)? != 0),
                    Body::Value(run) => self.condition_of(&run(&call)?),
                }
            }
            Expr::Path(_) | Expr::Union(_) => {
                let mut found = None;
                finish(self.any(expr, focus, &mut |item| {
                    found = Some(item);
                    Err(Stop::Enough)
                }))?;
                match found {
                    Some(Item::Node(_)) => Ok(true),
                    None => Ok(false),
                    // The last step gave an atomic value, and there may be more of them.
                    Some(Item::Atomic(_) | Item::Function(_)) => self.condition_of(&self.value(expr, focus)?),
                }
            }
            other => self.condition_of(&self.value(other, focus)?),
        }
    }

    /// A value as a condition.
    pub(crate) fn condition_of(&self, value: &Value<'a>) -> Result<bool, Error> {
        if self.version == Version::V1 {
            return Ok(value.boolean());
        }
        let refused = |what: String| Err(Error::value("FORG0006", format!("{what} is neither true nor false")));
        match (value.get(0), value.len()) {
            (None, _) => Ok(false),
            (Some(Item::Node(_)), _) => Ok(true),
            (Some(Item::Function(_)), _) => refused("a function".to_owned()),
            (Some(Item::Atomic(atomic)), 1) => match atomic.condition() {
                Some(condition) => Ok(condition),
                None => refused(format!("a value of type {}", atomic.atomic_type())),
            },
            _ => refused("a sequence of several values".to_owned()),
        }
    }

    /// The value as a text, by the rules of `string()`; of several items the first in version 1.
    #[inline]
    pub(crate) fn text(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Cow<'a, str>, Error> {
        match expr {
            Expr::Text(text) => Ok(Cow::Borrowed(text)),
            Expr::Variable(slot) => match self.variable_text(*slot)? {
                Some(text) => Ok(Cow::Borrowed(text)),
                None => self.text_of_items(expr, focus),
            },
            Expr::Call(Function { body: Body::Text(run) | Body::Address(run), .. }, arguments) => {
                run(&Call::new(self, focus, arguments))
            }
            _ => self.text_of_items(expr, focus),
        }
    }

    /// The same of what may give nodes or several items.
    fn text_of_items(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Cow<'a, str>, Error> {
        let text = match self.one(expr, focus)? {
            Some(item) => self.item_text(item)?,
            None => Cow::Borrowed(""),
        };
        if let Cow::Owned(text) = &text {
            self.build(text.len())?;
        }
        Ok(text)
    }

    /// The text of a variable that holds nothing else, paid for as any variable.
    #[inline]
    pub(super) fn variable_text(&self, slot: u32) -> Result<Option<&'a str>, Error> {
        let text = self.context.host.variable_text(slot);
        if text.is_some() {
            self.step(1)?;
        }
        Ok(text)
    }

    /// The value as a number of version 1: NaN where there is none.
    #[inline]
    pub(crate) fn number(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<f64, Error> {
        match expr {
            Expr::Number(number) => Ok(*number),
            Expr::Call(Function { body: Body::Count(run), .. }, arguments) => {
                run(&Call::new(self, focus, arguments)).map(|count| count as f64)
            }
            Expr::Arithmetic(operator, sides) if sides.iter().all(Expr::is_number) => {
                let (left, right) = (self.number(&sides[0], focus)?, self.number(&sides[1], focus)?);
                arithmetic::doubles(*operator, left, right).map(|number| number.number())
            }
            _ => self.number_of_items(expr, focus),
        }
    }

    /// The same of what may give nodes or several items.
    fn number_of_items(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<f64, Error> {
        Ok(self.operand(expr, focus)?.map_or(f64::NAN, |number| number.number()))
    }

    /// The only item; in version 1 the first of several.
    pub(crate) fn one(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Option<Item<'a>>, Error> {
        if self.version == Version::V1 {
            return match expr.gives_items() {
                true => self.first(expr, focus),
                false => Ok(self.value(expr, focus)?.first()),
            };
        }
        let value = self.value(expr, focus)?;
        if value.len() > 1 {
            return Err(Error::value("XPTY0004", format!("one value is wanted here, and there are {}", value.len())));
        }
        Ok(value.first())
    }

    /// The only item as an atomic value.
    pub(crate) fn operand(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Option<Atomic<'a>>, Error> {
        match expr {
            Expr::Number(number) => Ok(Some(Atomic::from(*number))),
            Expr::Integer(number) => Ok(Some(Atomic::from(*number))),
            Expr::Text(text) => Ok(Some(Atomic::from(text.as_str()))),
            Expr::Arithmetic(..) => self.calculation(expr, focus),
            Expr::Call(Function { body: Body::Text(run), .. }, arguments) => {
                run(&Call::new(self, focus, arguments)).map(|text| Some(Atomic::from(text)))
            }
            Expr::Call(Function { body: Body::Count(run), .. }, arguments) => {
                let call = Call::new(self, focus, arguments);
                run(&call).map(|count| Some(call.whole(count)))
            }
            _ => self.operand_of_items(expr, focus),
        }
    }

    /// The same of what may give nodes or several items.
    fn operand_of_items(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Option<Atomic<'a>>, Error> {
        match self.one(expr, focus)? {
            Some(Item::Atomic(atomic)) => Ok(Some(atomic)),
            Some(array @ Item::Function(_)) => self.only_atomic(&Value::Item(array)),
            Some(item) => self.atomize(item).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the condition comes out as `wanted` for some item.
    fn quantified(
        &self,
        binding: &'a Binding,
        body: &'a Expr,
        focus: &Focus<'_, 'a>,
        wanted: bool,
    ) -> Result<bool, Error> {
        let mut found = false;
        finish(self.each(&binding.value, focus, &mut |item| {
            self.step(1)?;
            let value = [Value::Item(item)];
            found = self.condition(body, &focus.binding(&focus.frame(binding.local, &value)))? == wanted;
            if found { Err(Stop::Enough) } else { Ok(()) }
        }))?;
        Ok(found)
    }
}
