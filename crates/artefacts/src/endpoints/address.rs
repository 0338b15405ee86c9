//! Addresses of endpoints as texts: which are valid, and how parts of them are escaped.

use std::borrow::Cow;
use std::sync::Arc;

use http::Uri;

use myelin_channel::{Spec, find_scheme, listed};
use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_flow::fault::{Fault, Outcome};
use myelin_java_text::percent;

/// Reads an absolute `http` or `https` URI, or a `local` one, which names a service of this bus.
///
/// Errors: a sentence that says what is wrong with it.
pub fn absolute(text: &str) -> Result<Uri, String> {
    let text = text.trim();
    let text: Cow<'_, str> = match text.split_once('#') {
        // A fragment never leaves the client (RFC 9110 §4.2.5).
        Some((before, _)) => before.into(),
        None => text.into(),
    };
    let scheme = text.split(':').next().unwrap_or_default();
    if !matches!(scheme, "http" | "https" | "local") || !text[scheme.len()..].starts_with("://") {
        return Err(match text.split_once(':') {
            Some((scheme, _)) if !scheme.is_empty() && !scheme.contains('/') => {
                format!("transport {scheme:?} is not offered yet: http, https and local are")
            }
            _ => format!("{text:?} is not an absolute http or https URI"),
        });
    }
    match text.parse::<Uri>() {
        // A password in it would stand in logs, too; it is not repeated here.
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            Err("an address with a user in it is not offered: <authentication> in an http endpoint says who calls"
                .into())
        }
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => Ok(uri),
        Ok(_) => Err(format!("{text:?} names no host")),
        Err(error) => Err(format!("{text:?} is not a URI: {error}")),
    }
}

/// That an address cannot be used: it shows when a message is sent there, as in Synapse, unless the address names a
/// transport that is not offered.
pub(super) fn unusable(text: Text<'_>, value: &str, message: String) -> Problem {
    let problem = text.problem(message);
    if other_transport(value).is_some() { problem } else { problem.latent() }
}

/// The scheme of an address that begins with the name of a transport besides HTTP, and not with a host and its port.
pub(super) fn other_transport(text: &str) -> Option<&str> {
    let (scheme, rest) = text.trim().split_once(':')?;
    let is_name =
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-".contains(&byte));
    let is_other = !["http", "https", "local"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours));
    (is_name && is_other && !rest.starts_with(|first: char| first.is_ascii_digit())).then_some(scheme)
}

/// Checks an address that is no URI of HTTP or of this bus: whether a channel can send to it.
///
/// Shape: `None` where it is such a URI, or none at all, which [`absolute`] says better.
/// Errors: a sentence that says what is wrong with it.
pub(super) fn other(text: &str, channels: &'static [Spec]) -> Option<Result<Arc<str>, String>> {
    let text = text.trim();
    let (scheme, rest) = text.split_once(':')?;
    if matches!(scheme, "http" | "https" | "local") || scheme.is_empty() || scheme.contains('/') || rest.is_empty() {
        return None;
    }
    Some(match find_scheme(channels, scheme) {
        Some(channel) => (channel.check_address)(text).map(|()| text.into()),
        None => {
            let offered = listed(channels.iter().flat_map(|channel| channel.schemes).copied());
            Err(format!("transport {scheme:?} is not offered yet: {offered} are"))
        }
    })
}

/// A URI that was put together while serving.
pub(super) fn parse_uri(text: &str) -> Outcome<Uri> {
    match absolute(text) {
        Ok(uri) => Ok(uri),
        Err(message) => {
            Err(Fault::bus("The address of the backend is not valid").with_detail(format!("{text:?}: {message}")))
        }
    }
}

/// Escapes whatever is not unreserved (RFC 3986 §2.3).
pub(super) fn escape(text: &str, out: &mut String) {
    percent::push(text.as_bytes(), |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte), out);
}
