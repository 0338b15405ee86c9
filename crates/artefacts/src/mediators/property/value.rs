//! The value of `<property>` with its type: from the configuration, or worked out.

use crate::loader::Loader;
use crate::values::ConfiguredValue;
use crate::values::ValueType;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::property::Value;
use myelin_java_text::pattern::Pattern;

/// What is set.
pub(super) enum PropertyValue {
    Fixed(Value),
    Computed { expression: Expression, kind: ValueType, extract: Option<(Pattern, usize)> },
}

/// The words of the attribute `type`.
const KINDS: [(ValueType, &str); 9] = [
    (ValueType::Text, "STRING"),
    (ValueType::Boolean, "BOOLEAN"),
    (ValueType::Integer, "INTEGER"),
    (ValueType::Long, "LONG"),
    (ValueType::Short, "SHORT"),
    (ValueType::Float, "FLOAT"),
    (ValueType::Double, "DOUBLE"),
    (ValueType::Xml, "OM"),
    (ValueType::Json, "JSON"),
];

/// What to set, or `None` to remove.
pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Option<PropertyValue>, Problem> {
    match element.attribute("action").map_or("set", |action| action.value) {
        "set" => {}
        "remove" => {
            element.forgive();
            return Ok(None);
        }
        other => return Err(element.problem(format!("<property>: action {other:?} is neither set nor remove"))),
    }
    let kind = ValueType::read(element, &KINDS)?;
    let extract = extract(element)?;
    let wanted = if kind == ValueType::Xml { ResultType::Nodes } else { ResultType::Text };
    match ConfiguredValue::read_as(element, wanted, loader)? {
        Some(ConfiguredValue::Fixed(text)) => {
            let text = match &extract {
                Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default().to_owned(),
                None => text,
            };
            kind.fixed(&text, element).map(|value| Some(PropertyValue::Fixed(value)))
        }
        Some(ConfiguredValue::Computed(expression)) => Ok(Some(PropertyValue::Computed { expression, kind, extract })),
        None => match element.children.iter().find(|child| !child.is("description")) {
            Some(child) => Ok(Some(PropertyValue::Fixed(Value::Xml(child.fragment())))),
            None => Err(element.lacks("<property> needs value, expression or an element inside")),
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

impl PropertyValue {
    /// The expression, if it is one.
    pub(super) fn expression(&self) -> Option<&Expression> {
        match self {
            PropertyValue::Fixed(_) => None,
            PropertyValue::Computed { expression, .. } => Some(expression),
        }
    }

    /// The value, or `None` where the expression finds nothing that is set.
    pub(super) fn value(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Value>> {
        let (expression, kind, extract) = match self {
            PropertyValue::Fixed(value) => return Ok(Some(value.clone())),
            PropertyValue::Computed { expression, kind, extract } => (expression, kind, extract),
        };
        let Some((pattern, group)) = extract else { return kind.of(expression, exchange, context) };
        let Some(text) = expression.text(exchange, context)? else { return Ok(None) };
        kind.computed(pattern.group(&text, *group).unwrap_or_default()).map(Some)
    }
}
