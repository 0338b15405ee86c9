//! Conditions on an address, the HTTP headers and the properties of a message, as elements: `and`, `or`, `not`,
//! `equal`, `match`.
//!
//! Source: Synapse's `org.apache.synapse.commons.evaluators`.

use std::borrow::Cow;

use super::address::{Part, parameter};
use crate::config::{Element, Loader, Problem};
use crate::content::Need;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Base, Expression, Source, Wanted};
use crate::fault::Outcome;
use crate::pattern::Pattern;

/// A condition.
pub(super) enum Evaluator {
    All(Vec<Evaluator>),
    Any(Vec<Evaluator>),
    Not(Box<Evaluator>),
    /// The same text, whatever the case, as in Synapse.
    Equal(Subject, String),
    Match(Subject, Pattern),
}

/// What a condition is about.
pub(super) enum Subject {
    Source(Source),
    /// A parameter of the query of the address.
    Parameter(String),
    /// The address, or a part of it.
    Address(Option<Part>),
    Expression(Expression),
}

impl Evaluator {
    /// Reads the one condition that stands in an element.
    pub(super) fn inside(parent: &Element, loader: &mut Loader) -> Result<Evaluator, Problem> {
        match Evaluator::all_inside(parent, loader)? {
            mut one if one.len() == 1 => Ok(one.remove(0)),
            _ => Err(parent.problem(format!("{} holds one condition: and, or, not, equal or match", parent.tag()))),
        }
    }

    fn all_inside(parent: &Element, loader: &mut Loader) -> Result<Vec<Evaluator>, Problem> {
        parent.children.iter().map(|child| Evaluator::read(child, loader)).collect()
    }

    fn read(element: &Element, loader: &mut Loader) -> Result<Evaluator, Problem> {
        // Synapse looks at the local name alone.
        Ok(match element.name.as_str() {
            "and" => Evaluator::All(Evaluator::several(element, loader)?),
            "or" => Evaluator::Any(Evaluator::several(element, loader)?),
            "not" => Evaluator::Not(Box::new(Evaluator::inside(element, loader)?)),
            "equal" => {
                let value = element.attribute("value").map(|value| value.value.to_owned());
                let value = value.ok_or_else(|| element.problem("<equal>: attribute \"value\" is missing"))?;
                Evaluator::Equal(Subject::read(element, loader)?, value)
            }
            "match" => {
                let regex = element.required("regex")?;
                let pattern = Pattern::compile(regex.value).map_err(|message| regex.problem(message))?;
                Evaluator::Match(Subject::read(element, loader)?, pattern)
            }
            _ => {
                let tag = element.tag();
                return Err(element.problem(format!("{tag} is no condition: and, or, not, equal and match are")));
            }
        })
    }

    fn several(element: &Element, loader: &mut Loader) -> Result<Vec<Evaluator>, Problem> {
        element.attribute("description");
        match Evaluator::all_inside(element, loader)? {
            none if none.is_empty() => Err(element.problem(format!("{} holds no condition", element.tag()))),
            several => Ok(several),
        }
    }

    /// The same need, and what this condition looks at.
    pub(super) fn add_to(&self, need: Need) -> Need {
        match self {
            Evaluator::All(several) | Evaluator::Any(several) => {
                several.iter().fold(need, |need, evaluator| evaluator.add_to(need))
            }
            Evaluator::Not(inner) => inner.add_to(need),
            Evaluator::Equal(Subject::Expression(expression), _)
            | Evaluator::Match(Subject::Expression(expression), _) => need.and(expression),
            Evaluator::Equal(..) | Evaluator::Match(..) => need,
        }
    }

    /// Whether it holds for a message and an address; what is not there is equal to nothing and matches nothing.
    ///
    /// Errors: as [`Expression::text`].
    pub(super) fn holds(&self, address: Option<&str>, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<bool> {
        match self {
            Evaluator::All(several) => {
                for evaluator in several {
                    if !evaluator.holds(address, exchange, scene)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Evaluator::Any(several) => {
                for evaluator in several {
                    if evaluator.holds(address, exchange, scene)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Evaluator::Not(inner) => inner.holds(address, exchange, scene).map(|holds| !holds),
            Evaluator::Equal(subject, value) => {
                let text = subject.text(address, exchange, scene)?;
                Ok(text.is_some_and(|text| text.to_lowercase() == value.to_lowercase()))
            }
            Evaluator::Match(subject, pattern) => {
                Ok(subject.text(address, exchange, scene)?.is_some_and(|text| pattern.matches(&text)))
            }
        }
    }
}

impl Subject {
    fn read(element: &Element, loader: &mut Loader) -> Result<Subject, Problem> {
        let kind = element.attribute("type").map_or("header", |kind| kind.value);
        let source = if kind == "url" { element.attribute("source") } else { Some(element.required("source")?) };
        Ok(match (kind, source) {
            ("header", Some(name)) => Subject::Source(Source::property(Base::Transport, name.value, loader.names())),
            ("param", Some(name)) => Subject::Parameter(name.value.to_owned()),
            ("property", Some(name)) => Subject::Source(Source::property(Base::Default, name.value, loader.names())),
            ("soap", Some(path)) => Subject::Expression(Expression::compile(path, Wanted::Text, loader)?),
            ("url", None) => Subject::Address(None),
            ("url", Some(part)) => Subject::Address(Some(Part::named(part)?)),
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
        scene: &'a Scene<'a>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        match self {
            Subject::Source(source) => Ok(source.read(exchange, scene).text()),
            Subject::Expression(expression) => expression.text(exchange, scene),
            Subject::Address(None) => Ok(address.map(Cow::Borrowed)),
            Subject::Address(Some(part)) => Ok(address.and_then(|address| part.of(address)).map(Cow::Owned)),
            Subject::Parameter(name) => Ok(address.and_then(|address| parameter(address, name)).map(Cow::Owned)),
        }
    }
}
