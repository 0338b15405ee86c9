//! How a port speaks TLS: what it shows its clients, and whom it lets in.

use std::fmt;

use zeroize::Zeroizing;

/// How a port speaks TLS; certificates and keys in DER.
///
/// Source: WSO2's `ServerConnFactoryBuilder`.
#[derive(Clone, PartialEq, Eq)]
pub struct PortTls {
    /// The port's own certificate first, each followed by its issuer's.
    pub chain: Vec<Vec<u8>>,
    /// The private key of the first of them, as PKCS#8.
    pub key: Zeroizing<Vec<u8>>,
    /// Whether clients have to show a certificate.
    pub clients: ClientCertificates,
    /// Whether TLS 1.2 is spoken.
    pub has_1_2: bool,
    /// Whether TLS 1.3 is spoken.
    pub has_1_3: bool,
}

/// Whether clients show certificates, with the certificates of those who vouch for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientCertificates {
    /// No client is asked.
    NotAsked,
    /// A client that has a certificate shows it, and it must be good then.
    Optional(Vec<Vec<u8>>),
    /// A client without a good certificate is not let in.
    Required(Vec<Vec<u8>>),
}

impl fmt::Debug for PortTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortTls")
            .field("has_1_2", &self.has_1_2)
            .field("has_1_3", &self.has_1_3)
            .finish_non_exhaustive()
    }
}
