//! What a port for HTTPS shows its clients, and whom it lets in.

use std::fmt;

use myelin_wss::crypto::Secret;

/// How a port of an inbound endpoint speaks TLS; certificates and keys in DER.
///
/// Source: WSO2's `ServerConnFactoryBuilder`.
#[derive(Clone)]
pub struct PortTls {
    /// The port's own certificate first, each followed by its issuer's.
    pub chain: Vec<Vec<u8>>,
    /// The private key of the first of them, as PKCS#8.
    pub key: Secret,
    /// Whether clients have to show a certificate.
    pub clients: ClientCertificates,
    /// Whether TLS 1.2 is spoken.
    pub has_1_2: bool,
    /// Whether TLS 1.3 is spoken.
    pub has_1_3: bool,
}

/// Whether clients show certificates, with those of who vouches for them.
#[derive(Clone, PartialEq, Eq)]
pub enum ClientCertificates {
    /// Nobody is asked.
    NotAsked,
    /// Who has one shows it, and it must be good then.
    Optional(Vec<Vec<u8>>),
    /// Nobody else is let in.
    Required(Vec<Vec<u8>>),
}

impl PartialEq for PortTls {
    fn eq(&self, other: &PortTls) -> bool {
        // Both keys are the operator's own: there is nothing to learn from how long this takes.
        self.chain == other.chain
            && self.key.as_ref() == other.key.as_ref()
            && self.clients == other.clients
            && (self.has_1_2, self.has_1_3) == (other.has_1_2, other.has_1_3)
    }
}

impl fmt::Debug for PortTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortTls")
            .field("has_1_2", &self.has_1_2)
            .field("has_1_3", &self.has_1_3)
            .finish_non_exhaustive()
    }
}
