//! Keys, certificates, the stores they come from, and which of them are trusted.

mod certificate;
mod identity;
mod private;
mod public;
mod store;
mod trust;

pub use certificate::{Certificate, CertificateError, Certificates, KeyUsage, Name};
pub use identity::Identity;
pub use private::PrivateKey;
pub use public::{Curve, KeyKind, PublicKey};
pub use store::{KeyStore, KeyStoreError, Passwords, StoreKind};
pub use trust::{Crl, Purpose, Trust, TrustError, TrustLimits};
