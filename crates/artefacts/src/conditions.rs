//! Conditions on an address, the HTTP headers and the properties of a message, as elements: `and`, `or`, `not`,
//! `equal`, `match`.
//!
//! Source: Synapse's `org.apache.synapse.commons.evaluators`.

use std::borrow::Cow;

use crate::loader::Loader;
use crate::uri_parts::{UriPart, parameter};
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType, Source, SourceScope};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::recorder::{Comparison, Operand};
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
pub(crate) struct Subject {
    /// As people read it: `header X-Symbol`.
    label: Box<str>,
    kind: SubjectKind,
}

enum SubjectKind {
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
            Condition::Equal(subject, _) | Condition::Match(subject, _) => match &subject.kind {
                SubjectKind::Expression(expression) => need.and(expression),
                _ => need,
            },
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

    /// The comparisons in it with the values that they compared, in the order written, for a trace of the exchange.
    pub(crate) fn comparisons(
        &self,
        address: Option<&str>,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Vec<Comparison> {
        let compared = |subject: &Subject, operator: &str, value: &str| {
            let text = subject.text(address, exchange, context).ok().flatten();
            let holds = self.holds(address, exchange, context).ok();
            let left = Operand::new(&subject.label, text);
            vec![Comparison { left, operator: operator.to_owned(), right: Operand::fixed(value), holds }]
        };
        match self {
            Condition::All(several) | Condition::Any(several) => {
                several.iter().flat_map(|part| part.comparisons(address, exchange, context)).collect()
            }
            Condition::Not(inner) => inner.comparisons(address, exchange, context),
            Condition::Equal(subject, value) => compared(subject, "equals", value),
            Condition::Match(subject, pattern) => compared(subject, "matches", pattern.label()),
        }
    }
}

impl Subject {
    fn read(element: &Element, loader: &mut Loader) -> Result<Subject, Problem> {
        let kind = element.attribute("type").map_or("header", |kind| kind.value);
        let source = if kind == "url" { element.attribute("source") } else { Some(element.required("source")?) };
        let label = match (kind, source) {
            ("soap", Some(path)) => path.value.into(),
            (kind, Some(source)) => format!("{kind} {}", source.value).into(),
            (kind, None) => kind.into(),
        };
        let kind = match (kind, source) {
            ("header", Some(name)) => {
                SubjectKind::Source(Source::property(SourceScope::Transport, name.value, loader.names()))
            }
            ("param", Some(name)) => SubjectKind::Parameter(name.value.to_owned()),
            ("property", Some(name)) => {
                SubjectKind::Source(Source::property(SourceScope::Default, name.value, loader.names()))
            }
            ("soap", Some(path)) => SubjectKind::Expression(Expression::compile(path, ResultType::Text, loader)?),
            ("url", None) => SubjectKind::Address(None),
            ("url", Some(part)) => SubjectKind::Address(Some(UriPart::named(part)?)),
            (other, _) => {
                let known = ["header", "param", "url", "property", "soap"];
                return Err(element.problem(unknown_word("type", other, &known)));
            }
        };
        Ok(Subject { label, kind })
    }

    fn text<'a>(
        &'a self,
        address: Option<&'a str>,
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> Outcome<Option<Cow<'a, str>>> {
        match &self.kind {
            SubjectKind::Source(source) => Ok(source.read(exchange, context).text()),
            SubjectKind::Expression(expression) => expression.text(exchange, context),
            SubjectKind::Address(None) => Ok(address.map(Cow::Borrowed)),
            SubjectKind::Address(Some(part)) => Ok(address.and_then(|address| part.of(address)).map(Cow::Owned)),
            SubjectKind::Parameter(name) => Ok(address.and_then(|address| parameter(address, name)).map(Cow::Owned)),
        }
    }
}
