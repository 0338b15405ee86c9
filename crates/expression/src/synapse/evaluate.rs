//! Running a Synapse expression on a message.
//!
//! What recurses is bounded by how deep the expression is nested; each text that is made has a limit.

use std::borrow::Cow;

use myelin_content::{Json as Body, text_of};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::property::{ExternalSource, Lookup, Scope};
use myelin_java_text::pattern::Finder;
use myelin_json::{self as json, NodeId, Path};

use crate::source::{Source, SourceValue};
use crate::synapse::arithmetic::{self, Operator};
use crate::synapse::datetime::{DateTime, Pattern};
use crate::synapse::failure::{Failure, Result};
use crate::synapse::function::Function;
use crate::synapse::tree::{Date, Junction, Node, Prepared, Route};
use crate::synapse::value::{Json, Number, Value, parse};
use crate::text::LIMIT_BYTES;
use crate::xpath::XPathOrSource;

/// One message, as an expression sees it.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) context: &'a RequestContext<'a>,
}

impl<'a> Run<'a> {
    /// The value of a part.
    pub(super) fn value(self, node: &'a Node) -> Result<Value<'a>> {
        match node {
            Node::Null => Ok(Value::Null),
            Node::Boolean(boolean) => Ok(Value::Boolean(*boolean)),
            Node::Number(text) => {
                let number = Number::literal(text).map(Value::Number);
                number.ok_or_else(|| Failure::Nothing(format!("{text} has too many digits")))
            }
            Node::Text(text) => Ok(Value::Text(Cow::Borrowed(text))),
            Node::Array(parts) => self.array(parts),
            Node::Read(source, name) => self.read(source, name).map(Value::of_text),
            Node::Resource(source, key) => self.read(source, key).map(Value::Text),
            Node::ResourceOf(key, property) => self.resource(key, property.as_deref()),
            Node::XPath(kind) => self.xpath(kind),
            Node::Variable(slot, name, route) => {
                let Lookup::Set(value) = self.exchange.properties.find(Scope::Variable, *slot) else {
                    return Err(Failure::Nothing(format!("variable {name:?} is not set")));
                };
                let value = Value::of_property(value);
                match route {
                    Some(route) => self.inside(value, route),
                    None => Ok(value),
                }
            }
            Node::Payload(route) => {
                let json = self.json()?;
                let payload = json.value();
                match route {
                    // What was found ahead is of paths in which nothing is filled.
                    Some(route) if route.holes.is_empty() => Ok(Value::of_match(
                        payload,
                        json.outcome(&route.path, &self.context.json_rules())?.into_owned(),
                    )),
                    Some(route) => self.follow(route, payload, payload.root()),
                    None => Ok(Value::of_json(payload, payload.root())),
                }
            }
            Node::Inside(node, route) => self.inside(self.value(node)?, route),
            Node::Comparison(comparison) => {
                let left = self.value(&comparison.left)?;
                arithmetic::apply(&left, comparison.operator, &self.value(&comparison.right)?)
            }
            Node::Chain(first, rest) => rest.iter().try_fold(self.value(first)?, |left, (operator, right)| {
                arithmetic::apply(&left, *operator, &self.value(right)?)
            }),
            Node::Logic(parts, last) => self.logic(parts, last),
            Node::Choice(cases, otherwise) => {
                for (condition, then) in cases {
                    if boolean(&self.value(condition)?)? {
                        return self.value(then);
                    }
                }
                self.value(otherwise)
            }
            Node::Negative(node) => {
                let zero = Value::int(0);
                arithmetic::apply(&zero, Operator::Minus, &self.value(node)?)
            }
            Node::Split(text, pattern) => match self.value(text)? {
                Value::Text(text) => {
                    let split =
                        self.prepared(pattern, Finder::compile, |finder| crate::synapse::text::split(&text, finder))?;
                    Ok(Value::of_json_text(split?))
                }
                _ => Err(Failure::Nothing("split() is for texts".to_owned())),
            },
            Node::Date(date) => self.date(date),
            Node::Joined(parts) => self.joined(parts),
            Node::Call(Function::Exists, arguments) => Ok(Value::Boolean(match self.exists(arguments) {
                Err(Failure::Nothing(_)) => false,
                outcome => outcome?,
            })),
            Node::Call(function, arguments) => {
                let arguments: Vec<Value<'a>> =
                    arguments.iter().map(|argument| self.value(argument)).collect::<Result<_>>()?;
                function.call(&arguments, self.context)
            }
        }
    }

    fn exists(self, arguments: &'a [Node]) -> Result<bool> {
        let mut exists = true;
        for argument in arguments {
            exists &= !matches!(self.value(argument)?, Value::Null);
        }
        Ok(exists)
    }

    /// From the right, every part of it: what fails makes the whole fail, as in Synapse.
    fn logic(self, parts: &'a [(Node, Junction)], last: &'a Node) -> Result<Value<'a>> {
        let values = parts.iter().map(|(node, junction)| Ok((boolean(&self.value(node)?)?, *junction)));
        let values: Vec<(bool, Junction)> = values.collect::<Result<_>>()?;
        let last = boolean(&self.value(last)?)?;
        Ok(Value::Boolean(values.into_iter().rev().fold(last, |right, (left, junction)| match junction {
            Junction::And => left && right,
            Junction::Or => left || right,
        })))
    }

    fn array(self, parts: &'a [Node]) -> Result<Value<'a>> {
        let mut text = "[".to_owned();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            let json = self.value(part)?.json()?;
            let mut out = Vec::new();
            json.write_compact(json.root(), &mut out);
            text.push_str(&String::from_utf8(out).unwrap_or_default());
            within_limit(&text)?;
        }
        text.push(']');
        Ok(Value::Json(Json::Text(text)))
    }

    /// Hands on what an argument was compiled to, or what it is compiled to now.
    fn prepared<T, R>(
        self,
        prepared: &'a Prepared<T>,
        compile: impl FnOnce(&str) -> std::result::Result<T, String>,
        then: impl FnOnce(&T) -> R,
    ) -> Result<R> {
        match prepared {
            Prepared::Fixed(compiled) => Ok(then(compiled)),
            Prepared::Open(node) => match self.value(node)? {
                Value::Text(text) => compile(&text).map(|compiled| then(&compiled)).map_err(Failure::Nothing),
                _ => Err(Failure::Nothing("a pattern is a text".to_owned())),
            },
        }
    }

    fn date(self, date: &'a Date) -> Result<Value<'a>> {
        let value = self.value(&date.date)?;
        let stamp = match (&value, &date.from) {
            (Value::Number(number), None) => number.kind.integer().map(DateTime::of_millis),
            (Value::Text(text), Some(from)) => {
                self.prepared(from, Pattern::formatter, |from| from.read(text)?.smart())?
            }
            // A date of digits alone looks like a number.
            (Value::Number(_), Some(from)) => {
                let text = value.text().unwrap_or_default();
                self.prepared(from, Pattern::formatter, |from| from.read(&text)?.smart())?
            }
            _ => None,
        };
        let stamp = stamp.ok_or_else(|| Failure::Nothing("formatDateTime() is given no such date".to_owned()))?;
        let written = self.prepared(&date.to, Pattern::formatter, |to| to.write(&stamp))?;
        let missing = || Failure::Nothing("formatDateTime() is given a date that lacks what is asked for".to_owned());
        Ok(Value::Text(written.ok_or_else(missing)?.into()))
    }

    fn joined(self, parts: &'a [Node]) -> Result<Value<'a>> {
        let mut text = String::new();
        for part in parts {
            match self.value(part) {
                Ok(value) => text.push_str(&value.text().unwrap_or_default()),
                Err(Failure::Nothing(why)) => {
                    tracing::warn!(target: "myelin::expression", "an expression in a text gives nothing: {why}");
                }
                Err(fault) => return Err(fault),
            }
            within_limit(&text)?;
        }
        Ok(Value::Text(text.into()))
    }

    fn read(self, source: &'a Source, name: &str) -> Result<Cow<'a, str>> {
        Ok(match source.read(self.exchange, self.context) {
            SourceValue::Nothing => return Err(Failure::Nothing(format!("{name:?} is not set"))),
            SourceValue::Text(text) => text,
            SourceValue::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
            SourceValue::Xml(fragment) => Cow::Owned(text_of(&fragment.document, fragment.node)),
            SourceValue::List(list) => list.iter().map(|fragment| text_of(&fragment.document, fragment.node)).collect(),
        })
    }

    /// A resource of the registry by a key that is worked out, or a property of it.
    fn resource(self, key: &'a Node, property: Option<&str>) -> Result<Value<'a>> {
        let nothing = || Failure::Nothing("the key of a resource is empty".to_owned());
        let mut key = self.value(key)?.text().ok_or_else(nothing)?.into_owned();
        if let Some(property) = property {
            key = format!("{key}@{property}");
        }
        let found = self.context.definitions.external_texts.find(ExternalSource::Registry, &key);
        let text = found.ok_or_else(|| Failure::Nothing(format!("{key:?} is not in the registry")))?;
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn xpath(self, kind: &'a XPathOrSource) -> Result<Value<'a>> {
        let text = match kind {
            XPathOrSource::XPath(xpath) => Some(xpath.text(self.exchange, self.context)?),
            XPathOrSource::Source(source) => source.read(self.exchange, self.context).text(),
        };
        Ok(Value::Text(text.unwrap_or_default()))
    }

    /// The message's body as JSON.
    fn json(self) -> Result<&'a Body> {
        self.exchange.json()?.ok_or_else(|| Failure::Nothing("the payload is empty".to_owned()))
    }

    /// What a path finds in a value.
    fn inside(self, value: Value<'a>, route: &'a Route) -> Result<Value<'a>> {
        match value {
            Value::Json(Json::Node(value, node)) => self.follow(route, value, node),
            Value::Json(Json::Text(text)) => self.follow_made(route, &text),
            // As in Synapse, a text that is JSON can be looked into.
            Value::Text(text) => self.follow_made(route, &text),
            _ => Err(Failure::Nothing(format!("{} leads into JSON only", route.path.as_str()))),
        }
    }

    fn follow_made(self, route: &'a Route, text: &str) -> Result<Value<'a>> {
        let value = parse(text)?;
        // What is found borrows from a value that ends here.
        self.follow(route, &value, value.root()).map(Value::into_owned)
    }

    /// What a path finds, from a node of a value on.
    fn follow<'v>(self, route: &'a Route, value: &'v json::Value, node: NodeId) -> Result<Value<'v>> {
        let filled = self.filled(route)?;
        let path = filled.as_ref().unwrap_or(&route.path);
        Ok(Value::of_match(value, path.outcome(value, node, &self.context.json_rules())?))
    }

    /// The path with what its holes hold; `None` for one without any.
    fn filled(self, route: &'a Route) -> Result<Option<Path>> {
        if route.holes.is_empty() {
            return Ok(None);
        }
        let values = route.holes.iter().map(|node| self.value(node)?.json());
        let values: Vec<json::Value> = values.collect::<Result<_>>()?;
        Ok(Some(route.path.filled(&values)?))
    }
}

fn within_limit(text: &str) -> Result<()> {
    if text.len() > LIMIT_BYTES { Err(Failure::too_long(LIMIT_BYTES)) } else { Ok(()) }
}

fn boolean(value: &Value<'_>) -> Result<bool> {
    match value {
        Value::Boolean(boolean) => Ok(*boolean),
        other => {
            Err(Failure::Nothing(format!("{:?} is neither true nor false", other.text().unwrap_or("null".into()))))
        }
    }
}
