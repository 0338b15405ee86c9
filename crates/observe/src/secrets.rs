//! Secrets in what people are shown: they are known by the names that stand before them, or by their values.
//!
//! A body may be cut off, malformed, or JSON inside of XML, so nothing is parsed here: one pass looks for what names a
//! secret in XML, JSON, forms and URLs alike. It would rather mask too much than too little.

mod json;
mod names;
mod pairs;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use myelin_flow::settings::SecuritySettings;

pub use names::is_secret_name;

/// What stands in the place of a secret.
pub const MASK: &str = "****";

/// Values shorter than this are masked where their names are, but not wherever they occur: half of every text would be
/// gone.
const SHORTEST_BYTES: usize = 5;

/// The secrets that a process knows: those of its settings, its vault and its endpoints.
#[derive(Debug, Default)]
pub struct Secrets {
    values: Option<AhoCorasick>,
}

impl Secrets {
    /// Knows these values, as they are and as XML, JSON, a URL or Base64 would have them.
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Secrets {
        let values: BTreeSet<String> = values
            .into_iter()
            .filter(|value| value.as_ref().trim().len() >= SHORTEST_BYTES)
            .flat_map(|value| spellings(value.as_ref().trim()))
            .collect();
        if values.is_empty() {
            return Secrets::default();
        }
        // Values are as few as the secrets of a configuration; more than the library takes are not known by value.
        let values = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values).ok();
        Secrets { values }
    }

    /// Knows the secrets that a configuration can refer to, the passwords of its users and those of its keys.
    pub fn of(settings: &SecuritySettings) -> Secrets {
        let users = settings.users.values().map(|user| &user.password);
        let all = settings.secrets.values().chain(settings.key_passwords.values()).chain(users);
        Secrets::new(all.filter_map(|secret| std::str::from_utf8(secret.as_ref()).ok()))
    }

    /// A text, such as a body, a URL or an attribute, without the secrets in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut found = Vec::new();
        xml::find(text, &mut found);
        json::find(text, &mut found);
        pairs::find(text, &mut found);
        self.masked(text, found)
    }

    /// The value of a header line, a property, a variable or a parameter.
    pub fn value<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        if is_secret_name(name) && !value.is_empty() { Cow::Borrowed(MASK) } else { self.text(value) }
    }

    fn masked<'a>(&self, text: &'a str, mut found: Vec<Range<usize>>) -> Cow<'a, str> {
        if let Some(values) = &self.values {
            found.extend(values.find_iter(text).map(|found| found.range()));
        }
        found.retain(|range| !range.is_empty());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for range in found {
            if range.start >= done {
                out.push_str(&text[done..range.start]);
                out.push_str(MASK);
            }
            done = done.max(range.end);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}

/// How a value stands in different places.
fn spellings(value: &str) -> Vec<String> {
    let xml = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let attribute = xml.replace('"', "&quot;").replace('\'', "&apos;");
    let json = serde_json::Value::from(value).to_string();
    let percent = |space: &str| -> String {
        let encode = |byte: u8| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            b' ' => space.to_owned(),
            _ => format!("%{byte:02X}"),
        };
        value.bytes().map(encode).collect()
    };
    vec![
        json.trim_matches('"').to_owned(),
        percent("%20"),
        percent("+"),
        xml,
        attribute,
        // Without its padding, so that it is found with and without.
        STANDARD_NO_PAD.encode(value),
        value.to_owned(),
    ]
}

#[cfg(test)]
mod tests;
