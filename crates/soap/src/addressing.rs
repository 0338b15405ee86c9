//! WS-Addressing 1.0 (core, SOAP binding) and the submission of August 2004: header blocks read, written, taken off.

use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::Envelope;

/// Which WS-Addressing header blocks are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// WS-Addressing 1.0, the W3C's recommendation.
    Final,
    /// The submission to the W3C, which many older services speak.
    Submission,
}

/// What the header blocks of a message say; of an endpoint reference the address alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// Where the message goes.
    pub to: Option<String>,
    /// What it asks for.
    pub action: Option<String>,
    /// Which message it is.
    pub message_id: Option<String>,
    /// Where its answer is to go.
    pub reply_to: Option<String>,
    /// Where a fault is to go.
    pub fault_to: Option<String>,
    /// Where it comes from.
    pub from: Option<String>,
    /// Which messages it belongs to.
    pub relates_to: Vec<Relation>,
}

/// That a message belongs to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The identifier of the other.
    pub message_id: String,
    /// In which way; none where it is the answer.
    pub kind: Option<String>,
}

/// The prefix that blocks written here wish for.
const PREFIX: &str = "wsa";

impl Addressing {
    /// The namespace of its blocks.
    pub fn namespace(self) -> &'static str {
        match self {
            Addressing::Final => "http://www.w3.org/2005/08/addressing",
            Addressing::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing",
        }
    }

    /// The address that means "back on the way this came".
    pub fn anonymous(self) -> &'static str {
        match self {
            Addressing::Final => "http://www.w3.org/2005/08/addressing/anonymous",
            Addressing::Submission => "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
        }
    }

    /// The address that means "nowhere"; the submission has none.
    pub fn none(self) -> Option<&'static str> {
        (self == Addressing::Final).then_some("http://www.w3.org/2005/08/addressing/none")
    }

    fn of_namespace(namespace: &str) -> Option<Addressing> {
        [Addressing::Final, Addressing::Submission].into_iter().find(|version| version.namespace() == namespace)
    }
}

impl Headers {
    /// What an envelope says, in the version of its first block; `None` where it has no such block.
    ///
    /// Of two blocks of one name the first counts, save for `RelatesTo`, of which there may be many.
    pub fn read(document: &Document, envelope: &Envelope) -> Option<(Addressing, Headers)> {
        let mut version = None;
        let mut headers = Headers::default();
        for (block, known) in blocks(document, envelope) {
            if *version.get_or_insert(known) != known {
                continue;
            }
            headers.note(document, block, known);
        }
        Some((version?, headers))
    }

    fn note(&mut self, document: &Document, block: NodeId, version: Addressing) {
        let text = |node: NodeId| document.string_value(node).trim().to_owned();
        let address = || {
            let is_address = |&node: &NodeId| {
                let name = document.qname(node);
                name.local == "Address" && name.namespace == version.namespace()
            };
            document.children(block).find(is_address).map(text)
        };
        let (place, value) = match document.qname(block).local {
            "To" => (&mut self.to, Some(text(block))),
            "Action" => (&mut self.action, Some(text(block))),
            "MessageID" => (&mut self.message_id, Some(text(block))),
            "ReplyTo" => (&mut self.reply_to, address()),
            "FaultTo" => (&mut self.fault_to, address()),
            "From" => (&mut self.from, address()),
            "RelatesTo" => {
                let kind = document.attribute(block, "", "RelationshipType").map(|kind| kind.trim().to_owned());
                self.relates_to.push(Relation { message_id: text(block), kind });
                return;
            }
            _ => return,
        };
        if place.is_none() {
            *place = value;
        }
    }

    /// Puts a block for each part that is said behind the others of the header, which is made where there is none.
    ///
    /// Errors: [`Refusal`], where a text cannot stand in XML, or the document is as large as it can be.
    pub fn write(&self, version: Addressing, document: &mut Document, envelope: &mut Envelope) -> Result<(), Refusal> {
        let header = envelope.header_or_new(document)?;
        let block = |document: &mut Document, parent: NodeId, local: &str, text: Option<&str>| {
            let element = document.create_element(PREFIX, local, version.namespace())?;
            if let Some(text) = text {
                document.set_value(element, text)?;
            }
            document.append(parent, element)?;
            Ok::<NodeId, Refusal>(element)
        };
        if document.lookup_namespace(header, PREFIX) != Some(version.namespace()) {
            document.declare(header, PREFIX, version.namespace())?;
        }
        if let Some(to) = &self.to {
            block(document, header, "To", Some(to))?;
        }
        for (local, address) in [("ReplyTo", &self.reply_to), ("From", &self.from), ("FaultTo", &self.fault_to)] {
            if let Some(address) = address {
                let reference = block(document, header, local, None)?;
                block(document, reference, "Address", Some(address))?;
            }
        }
        for (local, text) in [("MessageID", &self.message_id), ("Action", &self.action)] {
            if let Some(text) = text {
                block(document, header, local, Some(text))?;
            }
        }
        for relation in &self.relates_to {
            let element = block(document, header, "RelatesTo", Some(&relation.message_id))?;
            if let Some(kind) = &relation.kind {
                document.set_attribute(element, "", "RelationshipType", "", kind)?;
            }
        }
        Ok(())
    }

    /// Takes off all blocks of either version.
    pub fn remove(document: &mut Document, envelope: &Envelope) {
        let blocks: Vec<NodeId> = blocks(document, envelope).map(|(block, _)| block).collect();
        blocks.into_iter().for_each(|block| document.detach(block));
    }

    /// Writes another identifier wherever an envelope says that it belongs to `before`; whether it did so.
    ///
    /// Errors: as [`Headers::write`].
    pub fn relate(document: &mut Document, envelope: &Envelope, before: &str, now: &str) -> Result<bool, Refusal> {
        let is_meant = |&(block, _): &(NodeId, Addressing)| {
            document.qname(block).local == "RelatesTo" && document.string_value(block).trim() == before
        };
        let blocks: Vec<NodeId> = blocks(document, envelope).filter(is_meant).map(|(block, _)| block).collect();
        blocks.iter().try_for_each(|&block| document.set_value(block, now))?;
        Ok(!blocks.is_empty())
    }
}

/// The blocks of either version.
fn blocks(document: &Document, envelope: &Envelope) -> impl Iterator<Item = (NodeId, Addressing)> {
    let children = envelope.header.into_iter().flat_map(|header| document.children(header));
    let elements = children.filter(|&node| document.kind(node) == Kind::Element);
    elements.filter_map(|node| Some((node, Addressing::of_namespace(document.qname(node).namespace)?)))
}

#[cfg(test)]
mod tests {
    use myelin_xml::{Options, WriteOptions, write};

    use super::*;

    const START: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\">";

    fn parsed(header: &str) -> (Document, Envelope) {
        let text = format!("{START}{header}<s:Body/></s:Envelope>");
        let document = Document::parse(text.into_bytes(), &Options::default()).unwrap();
        let envelope = Envelope::of(&document).unwrap();
        (document, envelope)
    }

    fn written(document: &Document) -> String {
        let mut out = Vec::new();
        write(document, document.document_node(), &WriteOptions::default(), &mut out);
        String::from_utf8(out).unwrap().replace(START, "").replace("</s:Envelope>", "")
    }

    fn all() -> Headers {
        let text = |text: &str| Some(text.to_owned());
        let kind = text("urn:kind");
        Headers {
            to: text("http://to/"),
            action: text("urn:action"),
            message_id: text("urn:uuid:1"),
            reply_to: text("http://reply/"),
            fault_to: text("http://fault/"),
            from: text("http://from/"),
            relates_to: vec![
                Relation { message_id: "urn:uuid:0".to_owned(), kind: None },
                Relation { message_id: "urn:uuid:2".to_owned(), kind },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for version in [Addressing::Final, Addressing::Submission] {
            let (mut document, mut envelope) = parsed("");
            all().write(version, &mut document, &mut envelope).unwrap();
            let text = written(&document);
            let header = &text[..text.find("<s:Body/>").unwrap()];
            let (document, envelope) = parsed(header);
            assert_eq!(Headers::read(&document, &envelope), Some((version, all())), "{text}");
        }
    }

    #[test]
    fn blocks_stand_behind_the_others_and_declare_their_prefix_once() {
        let (mut document, mut envelope) = parsed("<s:Header><x/></s:Header>");
        let headers =
            Headers { to: Some("urn:a&b".to_owned()), action: Some("urn:c".to_owned()), ..Headers::default() };
        headers.write(Addressing::Final, &mut document, &mut envelope).unwrap();
        assert_eq!(
            written(&document),
            "<s:Header xmlns:wsa=\"http://www.w3.org/2005/08/addressing\"><x/><wsa:To>urn:a&amp;b</wsa:To>\
             <wsa:Action>urn:c</wsa:Action></s:Header><s:Body/>"
        );
    }

    #[test]
    fn blocks_of_both_versions_are_taken_off_and_no_others() {
        let header = "<s:Header xmlns:a='http://www.w3.org/2005/08/addressing' \
                      xmlns:b='http://schemas.xmlsoap.org/ws/2004/08/addressing'><a:To>x</a:To><c/><b:Action>y</b:Action>\
                      </s:Header>";
        let (mut document, envelope) = parsed(header);
        let (version, headers) = Headers::read(&document, &envelope).unwrap();
        assert_eq!((version, headers.to.as_deref(), headers.action), (Addressing::Final, Some("x"), None));
        Headers::remove(&mut document, &envelope);
        assert!(written(&document).contains("><c/></s:Header>"), "{}", written(&document));
        assert_eq!(Headers::read(&document, &envelope), None);
    }

    #[test]
    fn an_answer_is_related_to_the_message_its_receiver_knows() {
        let header =
            "<s:Header><a:RelatesTo xmlns:a='http://www.w3.org/2005/08/addressing'> urn:y </a:RelatesTo></s:Header>";
        let (mut document, envelope) = parsed(header);
        assert!(!Headers::relate(&mut document, &envelope, "urn:z", "urn:x").unwrap());
        assert!(Headers::relate(&mut document, &envelope, "urn:y", "urn:x").unwrap());
        assert!(written(&document).contains(">urn:x</a:RelatesTo>"), "{}", written(&document));
    }

    #[test]
    fn an_envelope_without_blocks_is_not_addressed() {
        let (document, envelope) = parsed("<s:Header><To>x</To></s:Header>");
        assert_eq!(Headers::read(&document, &envelope), None);
        let (document, envelope) = parsed("");
        assert_eq!(Headers::read(&document, &envelope), None);
    }
}
