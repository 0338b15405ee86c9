//! What of JSON makes or reads documents: `json-to-xml()` and `json-doc()` (Functions and Operators §17.4 and §17.5).

mod elements;
mod reading;

use myelin_xpath::{Array, Error, FunctionItem, Item, Map, Value};

use super::{Call, Function};

use reading::Options;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("json-doc", 1, 2, json_doc),
    Function::own("json-to-xml", 1, 2, |call| match call.optional_text(0)? {
        Some(text) => elements::parse(call, &text, &Options::of(call)?),
        None => Ok(Value::EMPTY),
    }),
];

/// The text is read here, and becomes a value by XPath's own function.
fn json_doc<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(text) = super::documents::text(call, 1)? else { return Ok(Value::EMPTY) };
    let options = if call.count() == 2 { call.value(1).clone() } else { Value::from(Map::EMPTY) };
    let arguments = Array::new([Value::from(text), options])?;
    let parse = call.machine.expression("parse-json(?1, ?2)", call.scope, &[])?;
    call.machine.run(parse, Some(Item::Function(FunctionItem::Array(arguments))), 1, 1)
}

#[cfg(test)]
mod tests;
