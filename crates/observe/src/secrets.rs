//! Secrets in what people are shown of messages: known by the names that stand before them, or by their values.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use myelin_flow::settings::SecuritySettings;
use myelin_secrets::{MASK, apart, in_message, is_secret_name, masked};

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
        let named = in_message(text);
        let Some(values) = &self.values else { return masked(text, &named) };
        let known = values.find_iter(text).map(|found| found.range());
        masked(text, &apart(named.into_iter().chain(known).collect()))
    }

    /// The value of a header line, a property, a variable or a parameter.
    pub fn value<'a>(&self, name: &str, value: &'a str) -> Cow<'a, str> {
        if is_secret_name(name) && !value.is_empty() { Cow::Borrowed(MASK) } else { self.text(value) }
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
mod tests {
    use super::*;

    #[test]
    fn values_by_a_secret_name_are_masked_whole() {
        let secrets = Secrets::default();
        for name in
            ["Authorization", "Proxy-Authorization", "Set-Cookie", "X-API-Key", "Ocp-Apim-Subscription-Key", "db.pwd"]
        {
            assert_eq!(secrets.value(name, "a b"), MASK, "{name}");
        }
        for name in ["Content-Type", "token_type", "symbol", "X-Request-Id"] {
            assert_eq!(secrets.value(name, "a b"), "a b", "{name}");
        }
        assert_eq!(secrets.value("Authorization", ""), "");
    }

    #[test]
    fn known_values_are_masked_wherever_they_are_however_they_are_written() {
        let secrets = Secrets::new(["p<a>ss wörd&1", "abc"]);
        for text in ["p<a>ss wörd&1", "p&lt;a&gt;ss wörd&amp;1", "p%3Ca%3Ess%20w%C3%B6rd%261", "cDxhPnNzIHfDtnJkJjE="]
        {
            let masked = secrets.text(text).into_owned();
            assert_eq!(masked.trim_end_matches('='), MASK, "{text}");
        }
        assert_eq!(secrets.text("abc is too short to be looked for"), "abc is too short to be looked for");
    }
}
