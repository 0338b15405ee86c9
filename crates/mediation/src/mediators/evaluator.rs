//! Conditions on the address, the HTTP headers and the properties of a message, as elements: `and`, `or`, `not`,
//! `equal`, `match`.
//!
//! Source: Synapse's `org.apache.synapse.commons.evaluators`.

use std::borrow::Cow;

use crate::config::{Element, Loader, Problem};
use crate::content::Need;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Base, Expression, Source, Wanted};
use crate::fault::Outcome;
use crate::pattern::Pattern;
use crate::percent::{Plus, decoded};

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
    /// A parameter of the query of where the message is addressed.
    Parameter(String),
    Address(Option<Part>),
    Expression(Expression),
}

/// A part of an address, by Synapse's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Protocol,
    User,
    Host,
    Port,
    Path,
    Query,
    Reference,
}

const PARTS: [(&str, Part); 7] = [
    ("protocol", Part::Protocol),
    ("user", Part::User),
    ("host", Part::Host),
    ("port", Part::Port),
    ("path", Part::Path),
    ("query", Part::Query),
    ("ref", Part::Reference),
];

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

    /// Whether it holds; what is not there is equal to nothing and matches nothing.
    ///
    /// Errors: as [`Expression::text`].
    pub(super) fn holds(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<bool> {
        match self {
            Evaluator::All(several) => {
                for evaluator in several {
                    if !evaluator.holds(exchange, scene)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Evaluator::Any(several) => {
                for evaluator in several {
                    if evaluator.holds(exchange, scene)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Evaluator::Not(inner) => inner.holds(exchange, scene).map(|holds| !holds),
            Evaluator::Equal(subject, value) => {
                let text = subject.text(exchange, scene)?;
                Ok(text.is_some_and(|text| text.to_lowercase() == value.to_lowercase()))
            }
            Evaluator::Match(subject, pattern) => {
                Ok(subject.text(exchange, scene)?.is_some_and(|text| pattern.matches(&text)))
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
            ("url", Some(part)) => match PARTS.iter().find(|(word, _)| *word == part.value) {
                Some((_, part)) => Subject::Address(Some(*part)),
                None => return Err(part.problem(format!("{:?} is no part of an address", part.value))),
            },
            (other, _) => {
                let message = format!("type {other:?} is unknown: header, param, url, property and soap are known");
                return Err(element.problem(message));
            }
        })
    }

    fn text<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Outcome<Option<Cow<'a, str>>> {
        match self {
            Subject::Source(source) => Ok(source.read(exchange, scene).text()),
            Subject::Expression(expression) => expression.text(exchange, scene),
            Subject::Address(None) => Ok(exchange.to()),
            Subject::Address(Some(part)) => Ok(exchange.to().and_then(|to| part.of(&to).map(Cow::Owned))),
            Subject::Parameter(name) => Ok(exchange.to().and_then(|to| parameter(&to, name).map(Cow::Owned))),
        }
    }
}

/// The last parameter of that name in the query of an address.
fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let mut pairs = query.rsplit('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let value = pairs.find(|(key, _)| *key == name).map(|(_, value)| value)?;
    Some(decoded(value, Plus::Blank).into_owned())
}

impl Part {
    /// The part of an address, which may begin with its path; `None` where it has none.
    ///
    /// Source: RFC 3986 §3, and `java.net.URI`, which says −1 for a port that is not there.
    fn of(self, address: &str) -> Option<String> {
        let (address, reference) = match address.split_once('#') {
            Some((address, reference)) => (address, Some(reference)),
            None => (address, None),
        };
        let (address, query) = match address.split_once('?') {
            Some((address, query)) => (address, Some(query)),
            None => (address, None),
        };
        let (protocol, rest) = match address.split_once("://") {
            Some((protocol, rest)) => (Some(protocol), rest),
            None => (None, address),
        };
        let (authority, path) = match protocol {
            Some(_) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        // The colons of an IPv6 address stand in brackets.
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (host, "-1"),
        };
        let text = match self {
            Part::Protocol => protocol,
            Part::User => user,
            Part::Host => Some(host).filter(|host| !host.is_empty()),
            Part::Port => Some(port),
            Part::Path => Some(path),
            Part::Query => query,
            Part::Reference => reference,
        };
        // Only in a query does a plus stand for a blank.
        text.map(|text| decoded(text, Plus::Itself).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_parts() {
        let check = |address: &str, expected: [Option<&str>; 7]| {
            let parts = PARTS.map(|(_, part)| part.of(address));
            assert_eq!(parts.each_ref().map(Option::as_deref), expected, "{address}");
        };
        check(
            "http://u@h:81/a%20b?q=1#r",
            [Some("http"), Some("u"), Some("h"), Some("81"), Some("/a b"), Some("q=1"), Some("r")],
        );
        check("/services/P", [None, None, None, Some("-1"), Some("/services/P"), None, None]);
        check("http://[::1]", [Some("http"), None, Some("[::1]"), Some("-1"), Some(""), None, None]);
        check("", [None, None, None, Some("-1"), Some(""), None, None]);
    }

    #[test]
    fn a_parameter_is_decoded_and_the_last_of_its_name() {
        assert_eq!(parameter("/s?a=1&a=b%20c&ab=2", "a").as_deref(), Some("b c"));
        assert_eq!(parameter("/s?b", "b").as_deref(), Some(""));
        assert_eq!(parameter("/s", "b"), None);
    }
}
