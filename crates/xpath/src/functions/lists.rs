//! Types of XML Schema that are lists: `xs:NMTOKENS`, `xs:IDREFS` and `xs:ENTITIES` (Functions and Operators §18.1).

use super::call::wrong_type;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::number::is_space;
use crate::value::{Atomic, Item, Value};

static LISTS: [Function; 3] = [
    Function::new("NMTOKENS", 1, 1, Returns::Any, |call| list(call, T::Nmtoken)),
    Function::new("IDREFS", 1, 1, Returns::Any, |call| list(call, T::Idref)),
    Function::new("ENTITIES", 1, 1, Returns::Any, |call| list(call, T::Entity)),
];

/// The constructor of a type that is a list.
pub(crate) fn list_constructor(name: &str) -> Option<&'static Function> {
    LISTS.iter().find(|function| function.name == name)
}

/// The words of a text, each of the type; there is one at least.
fn list<'a>(call: &Call<'_, 'a>, of: T) -> Result<Value<'a>, Error> {
    let text = match call.atomic(0)? {
        None => return Ok(Value::EMPTY),
        Some(Atomic::Text(text, _)) => text,
        Some(other) => return Err(wrong_type("a text", &other)),
    };
    let mut items = Vec::new();
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        call.run.build(word.len() + size_of::<Item<'_>>())?;
        items.push(Item::Atomic(cast(Atomic::from(word.to_owned()), of, call.run.version)?));
    }
    match items.is_empty() {
        true => Err(Error::value("FORG0001", format!("{text:?} has no word for a list"))),
        false => Ok(Value::from_items(items)),
    }
}
