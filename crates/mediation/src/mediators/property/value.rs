//! The value of `<property>` with its type: from the configuration, or worked out.

use std::sync::Arc;

use crate::config::{Element, Loader, Problem};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediators::setting;
use crate::pattern::Pattern;
use crate::property::{Fragment, Value};

/// What is set.
pub(super) enum Setting {
    Fixed(Value),
    Computed { expression: Expression, kind: Kind, extract: Option<(Pattern, usize)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Boolean,
    Integer,
    Long,
    Short,
    Float,
    Double,
    Xml,
    Json,
}

/// What to set, or `None` to remove.
pub(super) fn setting(element: &Element, loader: &mut Loader) -> Result<Option<Setting>, Problem> {
    match element.attribute("action").map_or("set", |action| action.value) {
        "set" => {}
        "remove" => {
            element.forgive();
            return Ok(None);
        }
        other => return Err(element.problem(format!("<property>: action {other:?} is neither set nor remove"))),
    }
    let kind = kind(element)?;
    let extract = extract(element)?;
    let wanted = if kind == Kind::Xml { Wanted::Nodes } else { Wanted::Text };
    match setting::Setting::read_as(element, wanted, loader)? {
        Some(setting::Setting::Fixed(text)) => {
            let text = match &extract {
                Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default().to_owned(),
                None => text,
            };
            let value = kind.value(&text).ok_or_else(|| element.problem(format!("{text:?} is no {}", kind.word())))?;
            Ok(Some(Setting::Fixed(value)))
        }
        Some(setting::Setting::Computed(expression)) => Ok(Some(Setting::Computed { expression, kind, extract })),
        None => match element.children.iter().find(|child| !child.is("description")) {
            Some(child) => Ok(Some(Setting::Fixed(Value::Xml(child.fragment())))),
            None => Err(element.problem("<property> needs value, expression or an element inside")),
        },
    }
}

fn extract(element: &Element) -> Result<Option<(Pattern, usize)>, Problem> {
    let group = element.attribute("group");
    let Some(pattern) = element.attribute("pattern") else { return Ok(None) };
    let compiled = Pattern::compile(pattern.value).map_err(|message| pattern.problem(message))?;
    let number = match group {
        Some(group) => group.value.trim().parse().map_err(|_| group.problem("group is no number"))?,
        None => 0,
    };
    if number > compiled.groups() {
        return Err(pattern.problem(format!("the pattern has {} groups, not {number}", compiled.groups())));
    }
    Ok(Some((compiled, number)))
}

/// The words of the attribute `type`.
const KINDS: [(Kind, &str); 9] = [
    (Kind::Text, "STRING"),
    (Kind::Boolean, "BOOLEAN"),
    (Kind::Integer, "INTEGER"),
    (Kind::Long, "LONG"),
    (Kind::Short, "SHORT"),
    (Kind::Float, "FLOAT"),
    (Kind::Double, "DOUBLE"),
    (Kind::Xml, "OM"),
    (Kind::Json, "JSON"),
];

fn kind(element: &Element) -> Result<Kind, Problem> {
    let Some(text) = element.attribute("type").filter(|text| !text.value.is_empty()) else { return Ok(Kind::Text) };
    let known = KINDS.iter().find(|(_, word)| *word == text.value);
    known.map(|(kind, _)| *kind).ok_or_else(|| text.problem(format!("type {:?} is unknown", text.value)))
}

impl Kind {
    fn word(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The value a text stands for; `None` where it stands for none of this kind.
    fn value(self, text: &str) -> Option<Value> {
        let integer = |number: Option<i64>| number.map(Value::Integer);
        match self {
            Kind::Text => Some(Value::Text(Arc::from(text))),
            // What is not explicitly true is false.
            Kind::Boolean => {
                Some(Value::Boolean(["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))))
            }
            Kind::Integer => integer(text.parse::<i32>().ok().map(i64::from)),
            Kind::Long => integer(text.parse().ok()),
            Kind::Short => integer(text.parse::<i16>().ok().map(i64::from)),
            Kind::Float => text.trim().parse().ok().map(Value::Float),
            Kind::Double => text.trim().parse().ok().map(Value::Double),
            Kind::Xml => Fragment::parse(text).map(Value::Xml),
            Kind::Json => {
                let value = myelin_json::Value::parse(text.into(), &myelin_json::Options::default());
                value.is_ok().then(|| Value::Text(Arc::from(text)))
            }
        }
    }
}

impl Setting {
    /// The expression, if it is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        match self {
            Setting::Fixed(_) => None,
            Setting::Computed { expression, .. } => Some(expression),
        }
    }

    /// The value, or `None` where the expression finds nothing that is set.
    pub(super) fn value(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Value>> {
        let (expression, kind, extract) = match self {
            Setting::Fixed(value) => return Ok(Some(value.clone())),
            Setting::Computed { expression, kind, extract } => (expression, kind, extract),
        };
        if *kind == Kind::Xml
            && let Some(fragment) = expression.fragment(exchange, scene)?
        {
            return Ok(Some(Value::Xml(fragment)));
        }
        let Some(text) = expression.text(exchange, scene)? else { return Ok(None) };
        if *kind == Kind::Xml && text.is_empty() {
            return Ok(None);
        }
        let part = match extract {
            Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default(),
            None => &text,
        };
        match kind.value(part) {
            Some(value) => Ok(Some(value)),
            None => Err(Fault::bus(format!("A property of type {} got a value of another kind", kind.word()))
                .with_detail(format!("{part:?} is no {}", kind.word()))),
        }
    }
}
