//! Conditions on an address, the HTTP headers and the properties of a message, as elements: `and`, `or`, `not`,
//! `equal`, `match`.
//!
//! Source: Synapse's `org.apache.synapse.commons.evaluators`.

use std::borrow::Cow;

use crate::loader::Loader;
use crate::uri_parts::{UriPart, parameter};
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType, Source, SourceScope};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_java_text::pattern::Pattern;

/// A condition.
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// The same text, whatever the case, as in Synapse.
    Equal(Subject, String),
    Match(Subject, Pattern),
}

/// What a condition is about.
pub(crate) enum Subject {
    Source(Source),
    /// A parameter of the query of the address.
    Parameter(String),
    /// The address, or a part of it.
    Address(Option<UriPart>),
    Expression(Expression),
}

impl Condition {
    /// Reads the one condition that stands in an element.
    pub(crate) fn inside(parent: &Element, loader: &mut Loader) -> Result<Condition, Problem> {
        match Condition::all_inside(parent, loader)? {
            mut one if one.len() == 1 => Ok(one.remove(0)),
            _ => Err(parent.problem(format!("{} holds one condition: and, or, not, equal or match", parent.tag()))),
        }
    }

    fn all_inside(parent: &Element, loader: &mut Loader) -> Result<Vec<Condition>, Problem> {
        parent.children.iter().map(|child| Condition::read(child, loader)).collect()
    }

    fn read(element: &Element, loader: &mut Loader) -> Result<Condition, Problem> {
        // Synapse looks at the local name alone.
        Ok(match element.name.as_str() {
            "and" => Condition::All(Condition::several(element, loader)?),
            "or" => Condition::Any(Condition::several(element, loader)?),
            "not" => Condition::Not(Box::new(Condition::inside(element, loader)?)),
            "equal" => {
                let value = element.attribute("value").map(|value| value.value.to_owned());
                let value = value.ok_or_else(|| element.lacks("<equal>: attribute \"value\" is missing"))?;
                Condition::Equal(Subject::read(element, loader)?, value)
            }
            "match" => {
                let regex = element.required("regex")?;
                let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
                Condition::Match(Subject::read(element, loader)?, pattern)
            }
            _ => {
                let tag = element.tag();
                let message = format!("{tag} is no condition: and, or, not, equal and match are");
                return Err(element.misnamed(message, &["and", "or", "not", "equal", "match"]));
            }
        })
    }

    fn several(element: &Element, loader: &mut Loader) -> Result<Vec<Condition>, Problem> {
        element.attribute("description");
        match Condition::all_inside(element, loader)? {
            none if none.is_empty() => Err(element.problem(format!("{} holds no condition", element.tag()))),
            several => Ok(several),
        }
    }

    /// The same need, and what this condition looks at.
    pub(crate) fn add_to(&self, need: Need) -> Need {
        match self {
            Condition::All(several) | Condition::Any(several) => {
                several.iter().fold(need, |need, evaluator| evaluator.add_to(need))
            }
            Condition::Not(inner) => inner.add_to(need),
            Condition::Equal(Subject::Expression(expression), _)
            | Condition::Match(Subject::Expression(expression), _) => need.and(expression),
            Condition::Equal(..) | Condition::Match(..) => need,
        }
    }

    /// Whether it holds for a message and an address; what is not there is equal to nothing and matches nothing.
    ///
    /// Errors: as [`Expression::text`].
    pub(crate) fn holds(
        &self,
        address: Option<&str>,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<bool> {
        match self {
            Condition::All(several) => {
                for evaluator in several {
                    if !evaluator.holds(address, exchange, context)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Any(several) => {
                for evaluator in several {
                    if evaluator.holds(address, exchange, context)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Condition::Not(inner) => inner.holds(address, exchange, context).map(|holds| !holds),
            Condition::Equal(subject, value) => {
                let text = subject.text(address, exchange, context)?;
                Ok(text.is_some_and(|text| text.to_lowercase() == value.to_lowercase()))
            }
            Condition::Match(subject, pattern) => {
                Ok(subject.text(address, exchange, context)?.is_some_and(|text| pattern.matches(&text)))
            }
        }
    }
}

impl Subject {
    fn read(element: &Element, loader: &mut Loader) -> Result<Subject, Problem> {
        let kind = element.attribute("type").map_or("header", |kind| kind.value);
        let source = if kind == "url" { element.attribute("source") } else { Some(element.required("source")?) };
        Ok(match (kind, source) {
            ("header", Some(name)) => {
                Subject::Source(Source::property(SourceScope::Transport, name.value, loader.names()))
            }
            ("param", Some(name)) => Subject::Parameter(name.value.to_owned()),
            ("property", Some(name)) => {
                Subject::Source(Source::property(SourceScope::Default, name.value, loader.names()))
            }
            ("soap", Some(path)) => Subject::Expression(Expression::compile(path, ResultType::Text, loader)?),
            ("url", None) => Subject::Address(None),
            ("url", Some(part)) => Subject::Address(Some(UriPart::named(part)?)),
            (other, _) => {
                let message = format!("type {other:?} is unknown: header, param, url, property and soap are known");
                return Err(element.problem(message));
            }
        })
    }

    fn text<'a>(
        &'a self,
        address: Option<&'a str>,
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        match self {
            Subject::Source(source) => Ok(source.read(exchange, context).text()),
            Subject::Expression(expression) => expression.text(exchange, context),
            Subject::Address(None) => Ok(address.map(Cow::Borrowed)),
            Subject::Address(Some(part)) => Ok(address.and_then(|address| part.of(address)).map(Cow::Owned)),
            Subject::Parameter(name) => Ok(address.and_then(|address| parameter(address, name)).map(Cow::Owned)),
        }
    }
}
