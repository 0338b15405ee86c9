//! What a schema of `<jsontransform>` says of a value, and how a value becomes what it says.
//!
//! It is JSON Schema as far as it speaks of types: a value of another type is corrected where that can be, and what the
//! other words of the schema forbid is a fault. Nothing is looked up, so that a schema is all there is.

use std::collections::HashSet;

use myelin_json::text::write_string;
use myelin_json::{NodeId, Type, Value};

use myelin_java_text::pattern::{Finder, Pattern};

/// What a value must be, and is made where it can be.
pub(super) enum Rule {
    /// It stays as it is.
    Any,
    Null,
    Boolean(Choice<bool>),
    Text {
        bytes: Bounds,
        pattern: Option<Pattern>,
        choice: Choice<String>,
    },
    Number {
        is_integer: bool,
        limits: Vec<(Limit, f64)>,
        choice: Choice<f64>,
    },
    Array {
        count: Bounds,
        is_unique: bool,
        items: Items,
    },
    Object(Box<Members>),
}

/// The values of `enum` and `const`; all where there are none.
pub(super) struct Choice<T>(Vec<Vec<T>>);

/// The least and the most of something.
pub(super) struct Bounds {
    least: usize,
    most: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Limit {
    Least,
    Most,
    Above,
    Below,
    MultipleOf,
}

/// What the elements of an array are.
pub(super) enum Items {
    /// All the same.
    Each(Box<Rule>),
    /// The first ones each of its own; what follows, if anything may.
    InOrder(Vec<Rule>, Option<Box<Rule>>),
}

pub(super) struct Members {
    count: Bounds,
    required: Vec<String>,
    named: Vec<(String, Rule)>,
    patterns: Vec<(Finder, Rule)>,
    /// What other members are; `None` forbids them.
    others: Option<Rule>,
}

/// The words of the schema at one place.
struct Words<'a> {
    schema: &'a Value,
    node: NodeId,
}

impl<'a> Words<'a> {
    fn get(&self, key: &str) -> Option<NodeId> {
        self.schema.children(self.node).find(|&member| self.schema.has_key(member, key))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|node| self.schema.scalar(node)).map(|text| text.into_owned())
    }

    fn number(&self, key: &str) -> Result<Option<f64>, String> {
        let number = |text: String| text.trim().parse().map_err(|_| format!("{key:?} is no number: {text:?}"));
        self.text(key).filter(|text| !text.is_empty()).map(number).transpose()
    }

    fn bounds(&self, least: &str, most: &str) -> Result<Bounds, String> {
        let bound = |key| match self.number(key)? {
            Some(number) if number < 0.0 => Err(format!("{key:?} is negative")),
            number => Ok(number.map(|number: f64| number as usize)),
        };
        Ok(Bounds { least: bound(least)?.unwrap_or(0), most: bound(most)?.unwrap_or(usize::MAX) })
    }

    fn is_true(&self, key: &str) -> bool {
        self.text(key).is_some_and(|text| text == "true")
    }

    /// The values of `enum` and `const`, each as `read` reads it.
    fn choice<T>(&self, read: impl Fn(&str) -> Option<T>) -> Choice<T> {
        let value = |node| self.schema.scalar(node).and_then(|text| read(&text));
        let list = self.get("enum").map(|list| self.schema.children(list).filter_map(value).collect::<Vec<T>>());
        let one = self.get("const").map(|node| value(node).into_iter().collect());
        Choice(list.filter(|list| !list.is_empty()).into_iter().chain(one).collect())
    }

    fn rule(&self, node: NodeId) -> Result<Rule, String> {
        Rule::at(self.schema, node)
    }
}

impl Rule {
    /// Compiles a schema.
    ///
    /// Errors: a sentence that says what is wrong with it, or what of it cannot be done; the configuration's.
    pub(super) fn compile(schema: &Value) -> Result<Rule, String> {
        let root = schema.root();
        match schema.kind(root) {
            Type::True => Ok(Rule::Any),
            Type::False => Err("the schema is false, so that nothing is valid".to_owned()),
            Type::Object if (Words { schema, node: root }).get("type").is_some() => Rule::at(schema, root),
            Type::Object => Err("the schema has no \"type\"".to_owned()),
            _ => Err("a schema is an object, true or false".to_owned()),
        }
    }

    fn at(schema: &Value, node: NodeId) -> Result<Rule, String> {
        let words = Words { schema, node };
        let Some(kind) = words.get("type") else { return Ok(Rule::Any) };
        let Some(kind) = schema.scalar(kind) else {
            return Err("several types at once are not offered: \"type\" is one word".to_owned());
        };
        Ok(match &*kind {
            "null" => Rule::Null,
            "boolean" => Rule::Boolean(words.choice(|text| text.parse().ok())),
            "string" | "String" => Rule::Text {
                bytes: words.bounds("minLength", "maxLength")?,
                pattern: words
                    .text("pattern")
                    .filter(|it| !it.is_empty())
                    .map(|it| Pattern::compile(&it))
                    .transpose()?,
                choice: words.choice(|text| Some(text.to_owned())),
            },
            "number" | "integer" => {
                let known = [
                    (Limit::Least, "minimum"),
                    (Limit::Most, "maximum"),
                    (Limit::Above, "exclusiveMinimum"),
                    (Limit::Below, "exclusiveMaximum"),
                    (Limit::MultipleOf, "multipleOf"),
                ];
                let mut limits = Vec::new();
                for (limit, key) in known {
                    limits.extend(words.number(key)?.map(|number| (limit, number)));
                }
                Rule::Number { is_integer: kind == "integer", limits, choice: words.choice(|text| text.parse().ok()) }
            }
            "array" => Rule::Array {
                count: words.bounds("minItems", "maxItems")?,
                is_unique: words.is_true("uniqueItems"),
                items: Items::of(&words)?,
            },
            "object" => Rule::Object(Box::new(Members::of(&words)?)),
            other => return Err(format!("type {other:?} is unknown")),
        })
    }

    /// Writes a value as the rule has it.
    ///
    /// Errors: a sentence, where it cannot be corrected; the sender's.
    pub(super) fn write(&self, value: &Value, node: NodeId, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Rule::Any => value.write_compact(node, out),
            Rule::Null => match value.scalar(node).as_deref() {
                Some("" | "null") => out.extend_from_slice(b"null"),
                _ => return Err(expected("null", value, node)),
            },
            Rule::Boolean(choice) => {
                let boolean = scalar(value, node).and_then(|text| text.trim_matches('"').parse().ok());
                let boolean = boolean.ok_or_else(|| expected("true or false", value, node))?;
                choice.check(|known| *known == boolean, value, node)?;
                out.extend_from_slice(if boolean { b"true" } else { b"false" });
            }
            Rule::Text { bytes, pattern, choice } => {
                let text = scalar(value, node).ok_or_else(|| expected("a text", value, node))?;
                bytes.check(text.encode_utf16().count(), "characters", value, node)?;
                if let Some(pattern) = pattern.as_ref().filter(|pattern| !pattern.matches(&text)) {
                    return Err(expected(&format!("a text that matches {:?}", pattern.label()), value, node));
                }
                choice.check(|known| *known == text, value, node)?;
                write_string(&text, out);
            }
            Rule::Number { is_integer, limits, choice } => {
                let text = scalar(value, node).unwrap_or_default();
                write_number(text.trim_matches('"').trim(), *is_integer, limits, choice, out)
                    .ok_or_else(|| expected("another number", value, node))?;
            }
            Rule::Array { count, is_unique, items } => {
                // What stands alone is an array of one.
                let elements = match value.kind(node) {
                    Type::Array => value.children(node).collect(),
                    _ => vec![node],
                };
                count.check(elements.len(), "elements", value, node)?;
                items.write(value, node, &elements, *is_unique, out)?;
            }
            Rule::Object(members) => members.write(value, node, out)?,
        }
        Ok(())
    }
}

/// Writes a number as it was written, where JSON can hold it like that.
fn write_number(
    text: &str,
    is_integer: bool,
    limits: &[(Limit, f64)],
    choice: &Choice<f64>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    let is_within = |(limit, bound): &(Limit, f64)| match limit {
        Limit::Least => number >= *bound,
        Limit::Most => number <= *bound,
        Limit::Above => number > *bound,
        Limit::Below => number < *bound,
        Limit::MultipleOf => number % bound == 0.0,
    };
    let is_whole = !is_integer || text.parse::<i64>().is_ok();
    if !is_whole || !limits.iter().all(is_within) || !choice.allows(|known| *known == number) {
        return None;
    }
    match Value::parse(text.into(), &myelin_json::Options::default()) {
        Ok(_) => out.extend_from_slice(text.as_bytes()),
        Err(_) => out.extend_from_slice(myelin_java_text::number::java(number).as_bytes()),
    }
    Some(())
}

impl Items {
    fn of(words: &Words<'_>) -> Result<Items, String> {
        let Some(items) = words.get("items") else { return Ok(Items::Each(Box::new(Rule::Any))) };
        if words.schema.kind(items) != Type::Array {
            return Ok(Items::Each(Box::new(words.rule(items)?)));
        }
        let rules = words.schema.children(items).map(|rule| words.rule(rule)).collect::<Result<_, _>>()?;
        let others = match words.get("additionalItems") {
            Some(node) if words.schema.kind(node) == Type::False => None,
            Some(node) => Some(Box::new(words.rule(node)?)),
            None => Some(Box::new(Rule::Any)),
        };
        Ok(Items::InOrder(rules, others))
    }

    fn write(
        &self,
        value: &Value,
        whole: NodeId,
        elements: &[NodeId],
        is_unique: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let mut seen = HashSet::new();
        if let Items::InOrder(rules, _) = self
            && elements.len() < rules.len()
        {
            return Err(expected(&format!("an array of at least {} elements", rules.len()), value, whole));
        }
        out.push(b'[');
        for (at, &element) in elements.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let rule = match self {
                Items::Each(rule) => rule,
                Items::InOrder(rules, others) => match (rules.get(at), others) {
                    (Some(rule), _) => rule,
                    (None, Some(rule)) => rule,
                    (None, None) => {
                        return Err(expected(&format!("an array of {} elements", rules.len()), value, whole));
                    }
                },
            };
            let start = out.len();
            rule.write(value, element, out)?;
            if is_unique && !seen.insert(out[start..].to_vec()) {
                return Err(expected("an array without equal elements", value, whole));
            }
        }
        out.push(b']');
        Ok(())
    }
}

impl Members {
    fn of(words: &Words<'_>) -> Result<Members, String> {
        let schema = words.schema;
        let members = |key: &str| words.get(key).into_iter().flat_map(|node| schema.children(node));
        let key = |node| schema.key(node).unwrap_or_default().into_owned();
        let others = match words.get("additionalProperties") {
            Some(node) if schema.scalar(node).as_deref() == Some("false") => None,
            Some(node) if schema.kind(node) == Type::Object => Some(words.rule(node)?),
            _ => Some(Rule::Any),
        };
        let pattern = |node| Ok((Finder::compile(&key(node))?, words.rule(node)?));
        Ok(Members {
            count: words.bounds("minProperties", "maxProperties")?,
            required: members("required").filter_map(|node| Some(schema.scalar(node)?.into_owned())).collect(),
            named: members("properties")
                .map(|node| Ok((key(node), words.rule(node)?)))
                .collect::<Result<_, String>>()?,
            patterns: members("patternProperties").map(pattern).collect::<Result<_, String>>()?,
            others,
        })
    }

    fn write(&self, value: &Value, node: NodeId, out: &mut Vec<u8>) -> Result<(), String> {
        if value.kind(node) != Type::Object {
            return Err(expected("an object", value, node));
        }
        self.count.check(value.children(node).count(), "members", value, node)?;
        let is_there = |name: &&String| value.children(node).any(|member| value.has_key(member, name));
        if let Some(name) = self.required.iter().find(|name| !is_there(name)) {
            return Err(expected(&format!("an object with {name:?}"), value, node));
        }
        out.push(b'{');
        for (at, member) in value.children(node).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let key = value.key(member).unwrap_or_default();
            write_string(&key, out);
            out.push(b':');
            let named = self.named.iter().find(|(name, _)| *name == key).map(|(_, rule)| rule);
            let by_pattern = || self.patterns.iter().find(|(pattern, _)| pattern.finds(&key)).map(|(_, rule)| rule);
            let rule = named.or_else(by_pattern).or(self.others.as_ref());
            let rule = rule.ok_or_else(|| expected(&format!("an object without {key:?}"), value, node))?;
            rule.write(value, member, out)?;
        }
        out.push(b'}');
        Ok(())
    }
}

impl Bounds {
    fn check(&self, count: usize, what: &str, value: &Value, node: NodeId) -> Result<(), String> {
        if (self.least..=self.most).contains(&count) {
            return Ok(());
        }
        let most = if self.most == usize::MAX { String::new() } else { format!(" and at most {}", self.most) };
        Err(expected(&format!("at least {}{most} {what}", self.least), value, node))
    }
}

impl<T> Choice<T> {
    fn allows(&self, is_it: impl Fn(&T) -> bool) -> bool {
        self.0.iter().all(|list| list.iter().any(&is_it))
    }

    fn check(&self, is_it: impl Fn(&T) -> bool, value: &Value, node: NodeId) -> Result<(), String> {
        if self.allows(is_it) { Ok(()) } else { Err(expected("one of the values that the schema lists", value, node)) }
    }
}

/// The text of a text, a number or a truth value.
fn scalar(value: &Value, node: NodeId) -> Option<String> {
    let is_null = value.kind(node) == Type::Null;
    value.scalar(node).filter(|_| !is_null).map(|text| text.into_owned())
}

fn expected(what: &str, value: &Value, node: NodeId) -> String {
    let mut found = Vec::new();
    value.write_compact(node, &mut found);
    let found = String::from_utf8_lossy(&found);
    let shown: String = found.chars().take(80).collect();
    let at = value.key(node).map(|key| format!("{key}: ")).unwrap_or_default();
    format!("{at}the schema expects {what}, not {shown}{}", if shown.len() < found.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests;
