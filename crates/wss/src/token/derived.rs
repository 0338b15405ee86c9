//! `wsc:DerivedKeyToken`: a key made of another key that both sides know.

use myelin_xml::{Document, NodeId};

use super::short_text;
use crate::crypto::{Secret, p_sha1};
use crate::structure::Children;
use crate::vocabulary::{WSC_13, WSC_2005, WSSE};
use crate::{Limits, Refusal, Rule, binary};

/// What the label of a derived key is where none is said: twice the name of the standard.
///
/// Source: WS-SecureConversation 1.3 §7.
const LABEL: &str = "WS-SecureConversationWS-SecureConversation";

/// How long a derived key is where nothing is said.
const LENGTH: usize = 32;

/// How a key is derived.
#[derive(Debug)]
pub(crate) struct DerivedKey {
    /// `wsse:SecurityTokenReference`: the key that it is derived from.
    pub(crate) reference: NodeId,
    offset: usize,
    length: usize,
    label: String,
    nonce: Vec<u8>,
}

impl DerivedKey {
    /// Whether an element of that name and namespace is one of a derived key.
    pub(crate) fn is(namespace: &str, local: &str) -> bool {
        local == "DerivedKeyToken" && matches!(namespace, WSC_2005 | WSC_13)
    }

    /// Reads how a key is derived.
    ///
    /// Errors: `Malformed`, `UnknownElement`, `Limit`; `UnknownAlgorithm` for another way than P_SHA1; the sender's.
    /// Source: WS-SecureConversation 1.3 §7; the one of February 2005 §7, which differs by its namespace.
    pub(crate) fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<DerivedKey, Refusal> {
        let namespace = document.qname(element).namespace;
        if let Some(algorithm) = document.attribute(element, "", "Algorithm")
            && algorithm.strip_prefix(namespace) != Some("/dk/p_sha1")
        {
            return Err(Refusal::new(Rule::UnknownAlgorithm, algorithm.into_owned()));
        }
        let mut children = Children::of(document, element);
        let reference = children.require(WSSE, "SecurityTokenReference")?;
        let mut number = |local: &str| {
            let Some(child) = children.take(namespace, local) else { return Ok(None) };
            let text = short_text(document, child, limits)?;
            let number = text.parse::<usize>().ok().filter(|&number| number <= limits.derived_bytes);
            let bound = || Refusal::new(Rule::Limit, format!("{local} {text:?}, at most {}", limits.derived_bytes));
            number.map(Some).ok_or_else(bound)
        };
        let generation = number("Generation")?;
        let offset = number("Offset")?;
        let length = number("Length")?.unwrap_or(LENGTH);
        let label = match children.take(namespace, "Label") {
            Some(label) => short_text(document, label, limits)?.into_owned(),
            None => LABEL.to_owned(),
        };
        let nonce = binary::decode(document, children.require(namespace, "Nonce")?, limits.short_text)?;
        children.end()?;
        let offset = match (generation, offset) {
            (None, offset) => offset.unwrap_or(0),
            (Some(generation), None) => generation * length,
            (Some(_), Some(_)) => return Err(Refusal::new(Rule::Malformed, "a generation and an offset")),
        };
        if offset > limits.derived_bytes || length == 0 {
            return Err(Refusal::new(Rule::Limit, format!("a derived key of {length} bytes at {offset}")));
        }
        Ok(DerivedKey { reference, offset, length, label, nonce })
    }

    /// The key.
    pub(crate) fn derive(&self, secret: &[u8]) -> Secret {
        p_sha1(secret, &[self.label.as_bytes(), &self.nonce], self.offset, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    fn derived(inside: &str) -> Result<DerivedKey, Rule> {
        let text = format!(
            "<c:DerivedKeyToken xmlns:c='{WSC_2005}' xmlns:s='{WSSE}'>\
             <s:SecurityTokenReference/>{inside}</c:DerivedKeyToken>"
        );
        let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
        let element = document.root_element().expect("it has a root");
        DerivedKey::read(&document, element, &Limits::default()).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn what_is_not_said_has_the_standards_value() {
        let key = derived("<c:Nonce>AAAA</c:Nonce>").expect("it is one");
        assert_eq!((key.offset, key.length, key.label.as_str()), (0, 32, LABEL));
        assert_eq!(key.derive(b"secret").as_ref(), p_sha1(b"secret", &[LABEL.as_bytes(), &[0; 3]], 0, 32).as_ref());
    }

    #[test]
    fn a_generation_counts_keys_of_the_same_length() {
        let key =
            derived("<c:Generation>2</c:Generation><c:Length>16</c:Length><c:Label>a</c:Label><c:Nonce>AAAA</c:Nonce>");
        let key = key.expect("it is one");
        assert_eq!((key.offset, key.length, key.label.as_str()), (32, 16, "a"));
    }

    #[test]
    fn what_would_take_long_or_means_nothing_is_refused() {
        for (inside, rule) in [
            ("<c:Length>99999</c:Length><c:Nonce>AAAA</c:Nonce>", Rule::Limit),
            ("<c:Offset>99999999999999999999999</c:Offset><c:Nonce>AAAA</c:Nonce>", Rule::Limit),
            ("<c:Generation>1000</c:Generation><c:Length>1000</c:Length><c:Nonce>AAAA</c:Nonce>", Rule::Limit),
            ("<c:Length>0</c:Length><c:Nonce>AAAA</c:Nonce>", Rule::Limit),
            ("<c:Generation>1</c:Generation><c:Offset>1</c:Offset><c:Nonce>AAAA</c:Nonce>", Rule::Malformed),
            ("<c:Length>-1</c:Length><c:Nonce>AAAA</c:Nonce>", Rule::Limit),
            ("<c:Nonce>AAAA</c:Nonce><c:Nonce>AAAA</c:Nonce>", Rule::UnknownElement),
            ("", Rule::Malformed),
        ] {
            assert_eq!(derived(inside).err(), Some(rule), "{inside}");
        }
    }
}
