//! A page that a service hands out, finished but for the addresses.

use myelin_xml::escape_attribute;

/// How a service is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

/// Where services are offered, as the one who asks can reach them.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    /// The way the page was asked for.
    pub asked: Scheme,
    /// What stands before the name of a service, `http://host:8280/services/`; `None` where HTTP is not offered.
    pub http: Option<&'a str>,
    /// The same for HTTPS.
    pub https: Option<&'a str>,
}

impl Addresses<'_> {
    fn of(&self, scheme: Scheme) -> Option<&str> {
        match scheme {
            Scheme::Http => self.http,
            Scheme::Https => self.https,
        }
    }
}

/// A document with holes for addresses.
#[derive(Clone, Debug, Default)]
pub struct Page {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text(String),
    /// What stands before the name of a service reached that way; without one, or where it is not offered that way, of
    /// one reached the way the page was asked for.
    Base(Option<Scheme>),
    /// What is left out where services are not offered that way.
    Only(Scheme, Vec<Piece>),
}

impl Page {
    /// Adds text.
    pub(crate) fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds the value of an attribute, escaped.
    pub(crate) fn push_value(&mut self, value: &str) {
        self.push(&escaped(value));
    }

    /// Adds a hole.
    pub(crate) fn push_base(&mut self, scheme: Option<Scheme>) {
        self.pieces.push(Piece::Base(scheme));
    }

    /// Adds what another page holds.
    pub(crate) fn append(&mut self, other: Page) {
        for piece in other.pieces {
            match piece {
                Piece::Text(text) => self.push(&text),
                piece => self.pieces.push(piece),
            }
        }
    }

    /// The document, as UTF-8.
    pub fn fill(&self, addresses: &Addresses<'_>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.pieces.iter().map(Piece::length).sum());
        fill(&self.pieces, addresses, &mut out);
        out
    }
}

impl Piece {
    /// About how many bytes it will take.
    fn length(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Base(_) => 48,
            Piece::Only(_, pieces) => pieces.iter().map(Piece::length).sum(),
        }
    }
}

/// The value of an attribute as it is written.
pub(crate) fn escaped(value: &str) -> String {
    let mut bytes = Vec::new();
    escape_attribute(value, &mut bytes);
    String::from_utf8(bytes).expect("escaping text gives text")
}

fn fill(pieces: &[Piece], addresses: &Addresses<'_>, out: &mut Vec<u8>) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Base(scheme) => {
                let base = scheme.and_then(|scheme| addresses.of(scheme)).or(addresses.of(addresses.asked));
                escape_attribute(base.unwrap_or_default(), out);
            }
            Piece::Only(scheme, pieces) => {
                if addresses.of(*scheme).is_some() {
                    fill(pieces, addresses, out);
                }
            }
        }
    }
}
