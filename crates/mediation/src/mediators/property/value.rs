//! The value of `<property>` with its type: from the configuration, or worked out.

use crate::config::{Element, Loader, Problem};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::Outcome;
use crate::mediators::kind::Kind;
use crate::mediators::setting;
use crate::pattern::Pattern;
use crate::property::Value;

/// What is set.
pub(super) enum Setting {
    Fixed(Value),
    Computed { expression: Expression, kind: Kind, extract: Option<(Pattern, usize)> },
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
    let kind = Kind::read(element, &KINDS)?;
    let extract = extract(element)?;
    let wanted = if kind == Kind::Xml { Wanted::Nodes } else { Wanted::Text };
    match setting::Setting::read_as(element, wanted, loader)? {
        Some(setting::Setting::Fixed(text)) => {
            let text = match &extract {
                Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default().to_owned(),
                None => text,
            };
            kind.fixed(&text, element).map(|value| Some(Setting::Fixed(value)))
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
    let Some(pattern) = element.attribute("pattern") else {
        return match group {
            Some(group) => Err(group.problem("group belongs to a pattern, and there is none")),
            None => Ok(None),
        };
    };
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
        let Some((pattern, group)) = extract else { return kind.of(expression, exchange, scene) };
        let Some(text) = expression.text(exchange, scene)? else { return Ok(None) };
        kind.computed(pattern.group(&text, *group).unwrap_or_default()).map(Some)
    }
}
