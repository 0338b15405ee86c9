//! Secrets in what people are shown: passwords, keys and tokens, known by the names that stand before them.
//!
//! A text may be cut off, malformed, or JSON inside of XML, so nothing is parsed here: it is searched by its marks for
//! what names a secret in XML, JSON, forms, tables and URLs alike. More is taken for a secret than is one: what is
//! shown may be pasted into a ticket.
//!
//! Everything that shows texts of others asks here: excerpts below problems, the log, the access log, the wire log,
//! traces and the management API.

mod json;
mod names;
mod pairs;
mod target;
mod xml;

use std::borrow::Cow;
use std::ops::Range;

use names::Text;
pub use names::is_secret_name;
pub use target::masked_target;

/// What stands in the place of a secret.
pub const MASK: &str = "****";

/// Where secrets stand in configuration text, XML or not, in their order, none in another.
///
/// A misspelt name counts as well. References to a secret, such as `$secret{…}`, are none.
pub fn in_configuration(text: &str) -> Vec<Range<usize>> {
    let mut found = all(Text::Configuration, text);
    found.retain(|range| !is_reference(&text[range.clone()]));
    apart(found)
}

/// Where secrets stand in a body, a URL, a line of a log or another text of a message, in their order, none in another.
pub fn in_message(text: &str) -> Vec<Range<usize>> {
    apart(all(Text::Message, text))
}

/// Configuration text with [`MASK`] in the place of each secret.
pub fn masked_configuration(text: &str) -> Cow<'_, str> {
    masked(text, &in_configuration(text))
}

/// The value of a parameter, a property or an entry of a configuration, with [`MASK`] in the place of secrets.
pub fn masked_setting<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let is_secret = names::is_like_secret_name(name) && !is_reference(value);
    if is_secret { Cow::Borrowed(MASK) } else { masked_configuration(value) }
}

/// A text of a message with [`MASK`] in the place of each secret.
pub fn masked_message(text: &str) -> Cow<'_, str> {
    masked(text, &in_message(text))
}

/// The text with [`MASK`] in the place of each range; these are in their order, none in another.
pub fn masked<'a>(text: &'a str, secrets: &[Range<usize>]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        out.push_str(&text[done..secret.start]);
        out.push_str(MASK);
        done = secret.end;
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The ranges in their order, with those that overlap made one, and without empty ones.
pub fn apart(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

fn all(kind: Text, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    xml::find(kind, text, &mut found);
    xml::find_escaped(kind, text, &mut found);
    json::find(kind, text, &mut found);
    pairs::find(kind, text, &mut found);
    found
}

/// Whether a value says where a secret is, and is none itself.
fn is_reference(value: &str) -> bool {
    let value = value.trim();
    let inside = ["$secret{", "$env{", "${"].iter().find_map(|begin| value.strip_prefix(begin)?.strip_suffix('}'));
    let is_looked_up = value.starts_with('{') && value.ends_with('}') && value.contains("vault-lookup(");
    value.is_empty() || is_looked_up || inside.is_some_and(|name| !name.contains(['{', '}', '$']))
}

#[cfg(test)]
mod tests;
