//! Built-ins that ask what a value is, and what a node has around it.

use crate::builtin::{Builtin, Input, Outcome, plain};
use crate::moment::Part;
use crate::value::{Value, expected};

pub(super) const KIND: &[Builtin] = &[
    plain("is_string", |run, input| {
        let is_text = match &input.subject {
            Value::Text(_) | Value::Nothing => true,
            Value::Object(_) => run.text(&input.subject).is_ok(),
            _ => false,
        };
        Ok(Some(Value::Boolean(is_text)))
    }),
    plain("is_number", |_, input| is(matches!(input.subject, Value::Number(_)))),
    plain("is_boolean", |_, input| is(matches!(input.subject, Value::Boolean(_)))),
    plain("is_date", |_, input| is(matches!(input.subject, Value::Moment(_)))),
    plain("is_date_like", |_, input| is(matches!(input.subject, Value::Moment(_)))),
    plain("is_date_only", |_, input| is(matches!(&input.subject, Value::Moment(moment) if moment.part == Part::Date))),
    plain("is_time", |_, input| is(matches!(&input.subject, Value::Moment(moment) if moment.part == Part::Time))),
    plain("is_datetime", |_, input| is(matches!(&input.subject, Value::Moment(moment) if moment.part == Part::Both))),
    plain("is_unknown_date_like", |_, _| is(false)),
    plain("is_hash", |_, input| is(input.subject.is_hash())),
    plain("is_hash_ex", |_, input| is(input.subject.members().is_some())),
    plain("is_sequence", |_, input| is(is_sequence(input))),
    plain("is_indexable", |_, input| is(is_sequence(input))),
    plain("is_enumerable", |_, input| is(is_sequence(input))),
    plain("is_collection", |_, input| is(matches!(input.subject, Value::Nothing))),
    plain("is_collection_ex", |_, input| is(matches!(input.subject, Value::Nothing))),
    plain("is_macro", |run, input| match &input.subject {
        Value::Callable(index) => is(!run.template.callables[*index].is_function),
        _ => is(false),
    }),
    plain("is_directive", |_, input| is(matches!(input.subject, Value::Callable(_)))),
    plain("is_method", |_, _| is(false)),
    plain("is_markup_output", |_, input| is(matches!(input.subject, Value::Markup(..)))),
    plain("is_node", |_, input| match &input.subject {
        Value::Object(object) => is(object.node("node_type").is_some()),
        _ => is(false),
    }),
    plain("parent", |_, input| node(input, "parent")),
    plain("children", |_, input| node(input, "children")),
    plain("root", |_, input| node(input, "root")),
    plain("node_name", |_, input| node(input, "node_name")),
    plain("node_type", |_, input| node(input, "node_type")),
    plain("node_namespace", |_, input| node(input, "node_namespace")),
    plain("next_sibling", |_, input| node(input, "next_sibling")),
    plain("previous_sibling", |_, input| node(input, "previous_sibling")),
];

fn is<'m>(answer: bool) -> Outcome<'m> {
    Ok(Some(Value::Boolean(answer)))
}

fn is_sequence(input: &Input<'_, '_>) -> bool {
    matches!(input.subject, Value::Range(_)) || input.subject.length().is_some()
}

fn node<'m>(input: &Input<'_, 'm>, question: &str) -> Outcome<'m> {
    let answer = match &input.subject {
        Value::Object(object) => object.node(question),
        _ => None,
    };
    answer.ok_or_else(|| expected("a node", &input.subject))
}
