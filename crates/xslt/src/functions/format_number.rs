//! `format-number()`: by the pictures of later versions, or by the patterns of JDK 1.1 that 1.0 refers to.

mod picture;

use myelin_java_text::decimal_format::{DecimalFormat, Digits, Symbols};
use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Error, Value, Version};

use super::{Call, Function};
use crate::name::ExpandedName;

pub(super) const FUNCTIONS: &[Function] = &[Function::own("format-number", 2, 3, format_number)];

fn format_number<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let picture = call.text(1)?;
    let symbols = symbols(call)?;
    let Some(digits) = number(call)? else { return call.built(symbols.nan.clone()) };
    let refused = |what: String| {
        let code = if call.version() == Version::V3 { "FODF1310" } else { "XTDE1310" };
        Error::value(code, format!("the picture {picture:?} of format-number(): {what}"))
    };
    let parsed = match call.is_v1() {
        true => DecimalFormat::parse(&picture, symbols),
        false => picture::parse(&picture, symbols),
    };
    call.built(parsed.map_err(refused)?.write(digits, symbols))
}

fn symbols<'a>(call: &Call<'_, 'a>) -> Result<&'a Symbols, Error> {
    let written = if call.count() == 3 { call.optional_text(2)? } else { None };
    let found = match &written {
        None => call.machine.decimal_format(&ExpandedName::default()),
        Some(written) => call.scope.expand(written).and_then(|name| call.machine.decimal_format(&name)),
    };
    found.ok_or_else(|| {
        let code = if call.version() == Version::V3 { "FODF1280" } else { "XTDE1280" };
        let written = written.unwrap_or_default();
        Error::value(code, format!("format-number(): there is no xsl:decimal-format with the name {written:?}"))
    })
}

/// The number to be written; `None` for what is none.
fn number(call: &Call<'_, '_>) -> Result<Option<Digits>, Error> {
    if call.is_v1() {
        return Ok(Digits::of_double(call.any_number(0)));
    }
    Ok(match call.atomic(0)? {
        None => None,
        Some(Atomic::Integer(number, _)) => Some(Digits::of_text(&number.to_string())),
        Some(Atomic::Decimal(number) | Atomic::Large(number, _)) => Some(Digits::of_text(&number.to_string())),
        Some(Atomic::Float(number)) if number.is_finite() => Some(Digits::of_text(&number.to_string())),
        Some(other) if other.is_numeric() => Digits::of_double(other.number()),
        Some(Atomic::Text(text, AtomicType::Untyped)) => Digits::of_double(Atomic::from(text).number()),
        Some(other) => return Err(super::call::wrong_type("a number", &other)),
    })
}

#[cfg(test)]
mod tests;
