//! When two texts count as the same: by what they hold as XML or JSON, whatever the space.

use myelin_xml::c14n::{self, Canonical, Method, Subset};
use myelin_xml::{Document, Options};

/// A text in the form that is compared.
pub(super) fn comparable(text: &str) -> String {
    let text = without_cdata(text);
    let canonical = match text.chars().next() {
        Some('<') => canonical_xml(text),
        Some('{' | '[') => serde_json::from_str::<serde_json::Value>(text).ok().map(|value| value.to_string()),
        _ => None,
    };
    canonical.as_deref().unwrap_or(text).chars().filter(|character| !character.is_whitespace()).collect()
}

/// Some tools escape the marks of a CDATA section instead of writing one.
pub(super) fn without_cdata(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("<![CDATA[").and_then(|text| text.strip_suffix("]]>")).map_or(text, str::trim)
}

fn canonical_xml(text: &str) -> Option<String> {
    let document = Document::parse(text.as_bytes().to_vec(), &Options::default()).ok()?;
    let mut out = Vec::new();
    let all = Subset { apex: document.document_node(), excluded: &[] };
    c14n::canonicalize(&document, all, &Canonical::new(Method::Exclusive), &mut out).ok()?;
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_the_same_is_the_same() {
        let check = |one: &str, other: &str, same: bool| {
            assert_eq!(comparable(one) == comparable(other), same, "{one} and {other}");
        };
        check("<a b='1' c='2'><d/></a>", "<a c=\"2\" b=\"1\">\n  <d></d>\n</a>", true);
        check("<a xmlns:x='urn:x'><x:b/></a>", "<a><y:b xmlns:y='urn:x'/></a>", false);
        check(r#"{"a": 1, "b": [true]}"#, r#"{"b":[true],"a":1}"#, true);
        check(r#"{"a": 1}"#, r#"{"a": 2}"#, false);
        check("<![CDATA[<a/>]]>", "<a></a>", true);
        check(" plain  text ", "plaintext", true);
        check("<a>", "<a/>", false);
    }
}
