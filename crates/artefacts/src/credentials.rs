//! The credentials with which a client says who it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use myelin_message::Head;

/// The credentials of a scheme in a header like `Authorization`, where there are some.
pub(crate) fn credentials<'a>(head: &'a Head, header: &str, scheme: &str) -> Option<&'a str> {
    let value = std::str::from_utf8(head.first(header)?).ok()?;
    let (name, rest) = value.trim().split_once(' ')?;
    name.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// The name and the password of HTTP Basic (RFC 7617); `None` where there are none, or they are not understood.
pub(crate) fn basic_credentials(head: &Head) -> Option<(String, String)> {
    let encoded = credentials(head, "Authorization", "Basic")?;
    let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}
