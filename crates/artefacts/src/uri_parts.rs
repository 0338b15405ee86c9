//! Addresses taken apart, by Synapse's words for the parts.

use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_java_text::percent::{Plus, decoded};

/// A part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UriPart {
    Protocol,
    User,
    Host,
    Port,
    Path,
    Query,
    Reference,
}

const PARTS: [(&str, UriPart); 7] = [
    ("protocol", UriPart::Protocol),
    ("user", UriPart::User),
    ("host", UriPart::Host),
    ("port", UriPart::Port),
    ("path", UriPart::Path),
    ("query", UriPart::Query),
    ("ref", UriPart::Reference),
];

/// The parts of an address as they stand in it, by [`UriPart`]; a path can be empty.
///
/// An address may begin with its path, or with the host.
/// Source: RFC 3986 §3; what has a protocol and no slash behind it has no parts that Synapse knows.
pub(crate) fn parts(address: &str) -> [Option<&str>; PARTS.len()] {
    let behind = |text: &str, separator: char| text.find(separator).unwrap_or(text.len());
    let (address, reference) = address.split_at(behind(address, '#'));
    let (address, query) = address.split_at(behind(address, '?'));
    let (protocol, rest) = match address.split_once(':') {
        Some((protocol, rest)) if is_protocol(protocol) => (Some(protocol), rest),
        _ => (None, address),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(behind(rest, '/')),
        None => ("", rest),
    };
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    // The colons of an IPv6 address stand in brackets.
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (host, None),
    };
    let host = Some(host).filter(|host| !host.is_empty());
    [protocol, user, host, port, Some(path), query.strip_prefix('?'), reference.strip_prefix('#')]
}

/// Whether a text could be the protocol of an address.
pub(crate) fn is_protocol(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// The last parameter of that name in the query of an address.
pub(crate) fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let mut pairs = query.rsplit('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let value = pairs.find(|(key, _)| *key == name).map(|(_, value)| value)?;
    Some(decoded(value, Plus::Blank).into_owned())
}

impl UriPart {
    /// The part that an attribute names.
    ///
    /// Errors: the configuration's, where it names none.
    pub(crate) fn named(word: Text<'_>) -> Result<UriPart, Problem> {
        let named = PARTS.iter().find(|(known, _)| *known == word.value);
        named.map(|(_, part)| *part).ok_or_else(|| word.problem(format!("{:?} is no part of an address", word.value)))
    }

    /// The part of an address, decoded; `None` where it has none.
    ///
    /// Source: `java.net.URI`, which says −1 for a port that is not there.
    pub(crate) fn of(self, address: &str) -> Option<String> {
        let text = match (self, parts(address)[self as usize]) {
            (UriPart::Port, None) => Some("-1"),
            (_, text) => text,
        };
        // Only in the parameters of a query does a plus stand for a blank.
        text.map(|text| decoded(text, Plus::Itself).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_parts() {
        let check = |address: &str, expected: [Option<&str>; 7]| {
            let parts = PARTS.map(|(_, part)| part.of(address));
            assert_eq!(parts.each_ref().map(Option::as_deref), expected, "{address}");
        };
        check(
            "http://u@h:81/a%20b?q=1#r",
            [Some("http"), Some("u"), Some("h"), Some("81"), Some("/a b"), Some("q=1"), Some("r")],
        );
        check("/services/P", [None, None, None, Some("-1"), Some("/services/P"), None, None]);
        check("/a:b?c:d#e?f", [None, None, None, Some("-1"), Some("/a:b"), Some("c:d"), Some("e?f")]);
        check("http://[::1]", [Some("http"), None, Some("[::1]"), Some("-1"), Some(""), None, None]);
        check("//h/a", [None, None, Some("h"), Some("-1"), Some("/a"), None, None]);
        check("jms:/q", [Some("jms"), None, None, Some("-1"), Some("/q"), None, None]);
        check("", [None, None, None, Some("-1"), Some(""), None, None]);
    }

    #[test]
    fn a_parameter_is_decoded_and_the_last_of_its_name() {
        assert_eq!(parameter("/s?a=1&a=b%20c&ab=2", "a").as_deref(), Some("b c"));
        assert_eq!(parameter("/s?b", "b").as_deref(), Some(""));
        assert_eq!(parameter("/s", "b"), None);
    }
}
