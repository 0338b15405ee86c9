//! Secrets in the target of a request, or its query.

use std::borrow::Cow;

use super::MASK;
use super::names::is_secret_name;

/// A target with the values of parameters masked that are secrets by their names.
pub fn masked_target(target: &str) -> Cow<'_, str> {
    let Some(mark) = memchr::memchr(b'?', target.as_bytes()) else { return Cow::Borrowed(target) };
    let (path, query) = (&target[..mark], &target[mark + 1..]);
    let masked = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        (!value.is_empty() && is_secret_name(name)).then(|| format!("{name}={MASK}"))
    };
    if !query.split('&').any(|pair| masked(pair).is_some()) {
        return Cow::Borrowed(target);
    }
    let pairs: Vec<String> = query.split('&').map(|pair| masked(pair).unwrap_or_else(|| pair.to_owned())).collect();
    Cow::Owned(format!("{path}?{}", pairs.join("&")))
}
