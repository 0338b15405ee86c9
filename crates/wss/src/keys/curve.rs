//! Elliptic curves.

/// An elliptic curve of FIPS 186-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256, `1.2.840.10045.3.1.7`
    P256,
    /// P-384, `1.3.132.0.34`
    P384,
    /// P-521, `1.3.132.0.35`
    P521,
}

impl Curve {
    /// The bits of its field.
    pub fn bits(self) -> usize {
        match self {
            Curve::P256 => 256,
            Curve::P384 => 384,
            Curve::P521 => 521,
        }
    }

    /// What the URI in an `ECKeyValue` means: `urn:oid:` and an object identifier.
    ///
    /// Source: XML Signature 1.1 §4.5.2.3.1.
    pub fn from_uri(uri: &str) -> Option<Curve> {
        match uri {
            "urn:oid:1.2.840.10045.3.1.7" => Some(Curve::P256),
            "urn:oid:1.3.132.0.34" => Some(Curve::P384),
            "urn:oid:1.3.132.0.35" => Some(Curve::P521),
            _ => None,
        }
    }
}
