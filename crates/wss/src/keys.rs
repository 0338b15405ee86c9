//! Keys, certificates, the stores they come from, and which of them are trusted.

mod cache;
mod certificate;
mod curve;
mod der;
mod ec;
mod identity;
mod pem;
mod private;
mod public;
mod rsa;
mod software;
mod store;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod trust;

use cache::Cache;

pub use certificate::{Certificate, CertificateError, Certificates, KeyUsage, Name};
pub use curve::Curve;
pub use identity::Identity;
pub use private::PrivateKey;
pub use public::{KeyKind, PublicKey};
pub use store::{KeyStore, KeyStoreError, Passwords, StoreKind};
pub use trust::{Crl, Distrust, Purpose, Trust, TrustError, TrustLimits};
