//! Certificates for HTTPS, made by the test itself.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use myelin_server::{Listen, Settings};
use rcgen::{BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};

use super::settings;

/// An authority of the test's own, and files of what it signs.
pub(crate) struct Authority {
    folder: tempfile::TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Authority {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { folder, issuer }
    }

    /// The file of its own certificate.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Writes a chain and a key for that name to two files.
    pub(crate) fn write(&self, name: &str, chain: &Path, key: &Path) {
        let (certificate, pair) = self.signed(name, 2090);
        std::fs::write(chain, certificate.pem()).unwrap();
        std::fs::write(key, pair.serialize_pem()).unwrap();
    }

    /// Settings of a bus on HTTPS with a certificate for that name, valid until that year.
    pub(crate) fn server(&self, name: &str, last_year: i32) -> Settings {
        let (certificate, key) = self.signed(name, last_year);
        let (chain, key_file) =
            (self.folder.path().join(format!("{name}.pem")), self.folder.path().join(format!("{name}.key")));
        std::fs::write(&chain, certificate.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        Settings { listen: vec![Listen::Https { address, chain, key: key_file }], ..settings() }
    }

    /// A key store with a key for that name: one file, which is returned.
    pub(crate) fn store(&self, name: &str) -> PathBuf {
        let (certificate, key) = self.signed(name, 2090);
        let file = self.folder.path().join(format!("{name}-store.pem"));
        std::fs::write(&file, key.serialize_pem() + &certificate.pem()).unwrap();
        file
    }

    /// A certificate for that name with its key, in DER.
    pub(crate) fn client(&self, name: &str) -> (Vec<u8>, Vec<u8>) {
        let (certificate, key) = self.signed(name, 2090);
        (certificate.der().to_vec(), key.serialize_der())
    }

    fn signed(&self, name: &str, last_year: i32) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(last_year, 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }
}
