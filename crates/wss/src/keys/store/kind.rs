//! The forms of key stores.

use std::fmt;

use super::super::{der, pem};

/// The form of a key store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Java's own.
    Jks,
    /// Java's own with a better cipher.
    Jceks,
    /// PKCS#12
    Pkcs12,
    /// Texts between `BEGIN` and `END`. Its entries have no aliases: each has the common name of its certificate.
    Pem,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreKind::Jks => "JKS",
            StoreKind::Jceks => "JCEKS",
            StoreKind::Pkcs12 => "PKCS12",
            StoreKind::Pem => "PEM",
        })
    }
}

impl StoreKind {
    /// What a configuration calls it: `JKS`, `JCEKS`, `PKCS12` (or `P12`), `PEM`, in any case.
    pub fn from_name(name: &str) -> Option<StoreKind> {
        match name.to_ascii_uppercase().as_str() {
            "JKS" => Some(StoreKind::Jks),
            "JCEKS" => Some(StoreKind::Jceks),
            "PKCS12" | "P12" => Some(StoreKind::Pkcs12),
            "PEM" => Some(StoreKind::Pem),
            _ => None,
        }
    }

    /// What a file is by its content.
    pub(super) fn of(bytes: &[u8]) -> Option<StoreKind> {
        match bytes {
            [0xfe, 0xed, 0xfe, 0xed, ..] => Some(StoreKind::Jks),
            [0xce, 0xce, 0xce, 0xce, ..] => Some(StoreKind::Jceks),
            _ if pem::is_pem(bytes) => Some(StoreKind::Pem),
            [der::SEQUENCE, ..] => Some(StoreKind::Pkcs12),
            _ => None,
        }
    }
}
