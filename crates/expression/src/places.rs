//! Places in a message that expressions name: `$env`, `$header`, `$body`, `get-property('FAULT')`.

use std::sync::LazyLock;

use myelin_content::Tree;
use myelin_soap::Version;
use myelin_xml::NodeId;
use myelin_xpath::{Argument, Declared, Environment, Expression};

/// A place in the envelope. Each has the same slot in every expression, so that expressions can share a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePart {
    /// The SOAP envelope.
    Envelope,
    /// Its header.
    Header,
    /// Its body.
    Body,
    /// The SOAP fault in the body, if there is one.
    Fault,
}

impl MessagePart {
    /// The places in the order of their slots, and how a path leads to them from the document; `s` is SOAP's namespace.
    pub(super) const ALL: [(MessagePart, &'static str); 4] = [
        (MessagePart::Envelope, "/*"),
        (MessagePart::Header, "/s:Envelope/s:Header[1]"),
        (MessagePart::Body, "/s:Envelope/s:Body[1]"),
        (MessagePart::Fault, "/s:Envelope/s:Body[1]/s:Fault[1]"),
    ];

    /// The slot that stands for it in expressions.
    pub(super) fn slot(self) -> u32 {
        self as u32
    }

    /// The place with that slot.
    pub(super) fn of_slot(slot: u32) -> Option<MessagePart> {
        MessagePart::ALL.get(slot as usize).map(|(place, _)| *place)
    }

    /// The node there.
    pub fn find(self, tree: &Tree) -> Option<NodeId> {
        let envelope = tree.envelope();
        match self {
            MessagePart::Envelope => Some(envelope.element),
            MessagePart::Header => envelope.header,
            MessagePart::Body => envelope.body,
            MessagePart::Fault => {
                let document = tree.document();
                document.children(envelope.body?).find(|&node| {
                    let name = document.qname(node);
                    name.local == "Fault" && name.namespace == envelope.version.namespace()
                })
            }
        }
    }
}

/// The path that the variable with that slot stands for in a message of that version, where it is a place.
pub fn path_of_part(slot: u32, version: Version) -> Option<&'static Expression> {
    static PATHS: LazyLock<[Vec<Expression>; 2]> = LazyLock::new(|| {
        [Version::Soap11, Version::Soap12].map(|version| {
            let compile = |(_, path): &(MessagePart, &str)| {
                Expression::compile(path, &mut SoapOnly(version)).expect("the paths of this file are sound")
            };
            MessagePart::ALL.iter().map(compile).collect()
        })
    });
    PATHS[version as usize].get(slot as usize)
}

/// For paths that name the parts of an envelope and nothing else.
struct SoapOnly(Version);

impl Environment for SoapOnly {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "s").then(|| self.0.namespace().to_owned())
    }

    fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
        Err("there are no variables here".to_owned())
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}
