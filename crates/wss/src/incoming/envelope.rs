//! Where the parts of an envelope are, each of which there may be only one of.

use myelin_soap::Version;
use myelin_xml::{Document, Kind, NodeId};

use crate::structure::is;
use crate::vocabulary::WSSE;
use crate::{Refusal, Rule};

/// The parts of an envelope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub(super) version: Version,
    pub(super) header: Option<NodeId>,
    /// The `Security` header for this receiver.
    pub(super) security: Option<NodeId>,
    pub(super) body: NodeId,
}

impl Envelope {
    /// Finds the parts, for the receiver of that actor or role; none: the ultimate receiver.
    ///
    /// SOAP 1.1 allows elements behind the body. Nobody sends any, and a second body could hide there, so that they are
    /// refused.
    /// Errors: `NotAnEnvelope`, `SecurityTwice`; the sender's.
    /// Source: SOAP 1.1 §4, SOAP 1.2 part 1 §5, WS-Security 1.1 §5.
    pub(super) fn of(document: &Document, actor: Option<&str>) -> Result<Envelope, Refusal> {
        let none = |detail: &'static str| Refusal::new(Rule::NotAnEnvelope, detail);
        let found = myelin_soap::Envelope::of(document).ok_or_else(|| none("the root element is no envelope"))?;
        let body = found.body.ok_or_else(|| none("there is no body"))?;
        let parts = document.children(found.element).filter(|&child| document.kind(child) == Kind::Element);
        if !parts.eq(found.header.into_iter().chain([body])) {
            return Err(none("there is something else than one header and one body"));
        }
        let mut envelope = Envelope { version: found.version, header: found.header, security: None, body };
        for block in envelope.blocks(document) {
            if is(document, block, WSSE, "Security")
                && envelope.is_for(document, block, actor)
                && envelope.security.replace(block).is_some()
            {
                return Err(Refusal::new(Rule::SecurityTwice, "two Security headers for the same receiver"));
            }
        }
        Ok(envelope)
    }

    /// The header blocks.
    pub(super) fn blocks(self, document: &Document) -> impl Iterator<Item = NodeId> {
        let blocks = self.header.into_iter().flat_map(|header| document.children(header));
        blocks.filter(|&block| document.kind(block) == Kind::Element)
    }

    /// Whether a header block is for the receiver of that actor or role.
    ///
    /// Whoever receives a message is the next, and without a role of its own it is the last as well: what is for one of
    /// these is for the same receiver, so that a second header cannot be slipped in under another of their names.
    pub(super) fn is_for(self, document: &Document, block: NodeId, actor: Option<&str>) -> bool {
        let (local, next, last) = match self.version {
            Version::Soap11 => ("actor", "http://schemas.xmlsoap.org/soap/actor/next", ""),
            Version::Soap12 => (
                "role",
                "http://www.w3.org/2003/05/soap-envelope/role/next",
                "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver",
            ),
        };
        let named = document.attribute(block, self.version.namespace(), local).unwrap_or_default();
        let named = named.trim();
        match actor {
            None => named.is_empty() || named == next || named == last,
            Some(actor) => named == actor || named == next,
        }
    }

    /// Whether a header block has to be understood by whom it is for.
    pub(super) fn must_understand(self, document: &Document, block: NodeId) -> bool {
        let value = document.attribute(block, self.version.namespace(), "mustUnderstand").unwrap_or_default();
        matches!(value.trim(), "1" | "true")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    fn security(inside: &str, actor: Option<&str>) -> Result<Option<String>, Rule> {
        let text = inside.replace("[", "<s:Security xmlns:s='WSSE' ").replace("]", "/>").replace("WSSE", WSSE);
        let text = format!("<e:Envelope xmlns:e='{}'>{text}</e:Envelope>", Version::Soap11.namespace());
        let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
        let envelope = Envelope::of(&document, actor).map_err(|refusal| refusal.rule)?;
        let name = |node| document.attribute(node, "", "n").expect("each has a name").into_owned();
        Ok(envelope.security.map(name))
    }

    #[test]
    fn the_header_of_this_receiver_is_found() {
        let header = "<e:Header>[n='1' e:actor='u:other'][n='2']</e:Header><e:Body/>";
        assert_eq!(security(header, None), Ok(Some("2".to_owned())));
        assert_eq!(security(header, Some("u:other")), Ok(Some("1".to_owned())));
        assert_eq!(security(header, Some("u:third")), Ok(None));
        assert_eq!(security("<e:Body/>", None), Ok(None));
    }

    #[test]
    fn two_headers_for_the_same_receiver_are_refused() {
        let next = "http://schemas.xmlsoap.org/soap/actor/next";
        for second in ["", "e:actor=''", &format!("e:actor='{next}'")] {
            let header = format!("<e:Header>[n='1'][n='2' {second}]</e:Header><e:Body/>");
            assert_eq!(security(&header, None), Err(Rule::SecurityTwice));
        }
    }

    #[test]
    fn anything_but_one_header_and_one_body_is_refused() {
        for wrong in [
            "",
            "<e:Header/>",
            "<e:Body/><e:Header/>",
            "<e:Body/><e:Body/>",
            "<e:Header/><e:Header/><e:Body/>",
            "<e:Body/><other/>",
            "<other/><e:Body/>",
            "<other><e:Body/></other>",
        ] {
            assert_eq!(security(wrong, None), Err(Rule::NotAnEnvelope), "{wrong}");
        }
    }
}
