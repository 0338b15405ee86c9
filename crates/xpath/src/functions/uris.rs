//! Functions that write texts into addresses (Functions and Operators §6).

use super::{Call, Function, Returns};
use crate::error::Error;
use crate::value::Value;

use Returns::Text;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("encode-for-uri", 1, 1, Text, |call| escaped(call, is_unreserved)),
    Function::new("iri-to-uri", 1, 1, Text, |call| {
        escaped(call, |byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
    }),
    Function::new("escape-html-uri", 1, 1, Text, |call| escaped(call, |byte| byte == b' ' || byte.is_ascii_graphic())),
];

/// What an address may hold anywhere without a meaning of its own (RFC 3986 §2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

fn escaped<'a>(call: &Call<'_, 'a>, keep: fn(u8) -> bool) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    if text.bytes().all(keep) {
        return call.built(text);
    }
    let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
    let mut escaped = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        if keep(byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    call.built(escaped)
}
