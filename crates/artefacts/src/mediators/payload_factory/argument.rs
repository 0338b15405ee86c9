//! What fills a hole: an argument, which is a value or an expression.

use std::borrow::Cow;

use crate::loader::Loader;
use crate::mediators::payload_factory::value::Given;
use crate::values::ConfiguredValue;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// One argument.
pub(super) struct Argument {
    setting: ConfiguredValue,
    /// Whether JSON and XML in it is text.
    literal: bool,
}

impl Argument {
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Argument, Problem> {
        // WSO2's tools wrote them into a namespace of their own for years.
        if element.name != "arg" {
            return Err(element.misnamed(format!("<args> holds arg elements, not {}", element.tag()), &["arg"]));
        }
        element.attribute("deepCheck");
        let literal = element.switch("literal", false)?;
        let is_path = match element.attribute("evaluator").map(|evaluator| (evaluator.value.trim(), evaluator)) {
            None | Some(("xml" | "", _)) => false,
            Some(("json", _)) => true,
            Some((other, text)) => return Err(text.problem(format!("evaluator {other:?} is neither xml nor json"))),
        };
        let setting = match element.attribute("expression") {
            Some(path) if is_path && element.attribute("value").is_none() && !Expression::is_in(path.value) => {
                ConfiguredValue::Computed(Expression::compile_path(path, loader)?)
            }
            _ => ConfiguredValue::read_as(element, ResultType::Text, loader)?
                .ok_or_else(|| element.lacks("<arg> needs value or expression"))?,
        };
        Ok(Argument { setting, literal })
    }

    /// The expression, if it is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        self.setting.expression()
    }

    /// What it stands for; empty where there is nothing.
    ///
    /// Errors: as [`Expression::text`].
    pub(super) fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Cow<'a, str>> {
        self.setting.text(exchange, context).map(Option::unwrap_or_default)
    }

    /// A value of it, with what decides how it is written.
    pub(super) fn given<'a>(&self, text: &'a str) -> Given<'a> {
        let is_of_path = self.expression().is_some_and(Expression::is_path);
        Given { text, is_literal: self.literal, is_of_path }
    }
}
