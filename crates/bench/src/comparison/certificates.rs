//! The certificate that targets show by HTTPS, and the authority that the client trusts; both live as long as a run.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// The files of one key for 127.0.0.1, of the elliptic curve P-256.
#[derive(Clone, Debug)]
pub(super) struct Certificates {
    /// Of the authority.
    pub(super) authority: PathBuf,
    /// Of the server.
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
    /// The server's certificate and key in one file.
    pub(super) both: PathBuf,
}

impl Certificates {
    /// Makes them in a folder.
    ///
    /// Errors: a file cannot be written.
    pub(super) fn make(folder: &Path) -> anyhow::Result<Certificates> {
        let mut parameters = CertificateParams::new(vec![])?;
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            Ok::<PathBuf, anyhow::Error>(path)
        };
        Ok(Certificates {
            authority: write("authority.pem", authority.pem())?,
            both: write("both.pem", certificate.pem() + &key.serialize_pem())?,
            certificate: write("certificate.pem", certificate.pem())?,
            key: write("key.pem", key.serialize_pem())?,
        })
    }
}
