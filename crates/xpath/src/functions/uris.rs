//! Functions that write texts into addresses (Functions and Operators §6).

use std::borrow::Cow;

use myelin_java_text::percent::encoded;

use crate::error::Error;
use crate::function::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::text("encode-for-uri", 1, 1, |call| escaped(call, is_unreserved)),
    Function::text("iri-to-uri", 1, 1, |call| {
        escaped(call, |byte| byte.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&byte))
    }),
    Function::text("escape-html-uri", 1, 1, |call| escaped(call, |byte| byte == b' ' || byte.is_ascii_graphic())),
];

/// What an address may hold anywhere without a meaning of its own (RFC 3986 §2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

fn escaped<'a>(call: &Call<'_, 'a>, is_kept: fn(u8) -> bool) -> Result<Cow<'a, str>, Error> {
    let text = call.text(0)?;
    let escaped = match encoded(&text, is_kept) {
        Cow::Borrowed(_) => None,
        Cow::Owned(escaped) => Some(escaped),
    };
    match escaped {
        None => call.built(text),
        Some(escaped) => call.built(escaped),
    }
}
