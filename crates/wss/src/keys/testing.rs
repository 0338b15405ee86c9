//! Keys and certificates for tests, made while they run.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, RsaKeySize,
    SigningKey,
};

use super::{Certificate, Curve, Identity, KeyKind, PrivateKey};

/// When all certificates of tests are good, unless a test says otherwise: the end of November 2025.
pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000)
}

/// A key pair in PKCS#8, one of each kind for the whole process, as those of RSA take long to make.
pub(crate) fn key(kind: KeyKind) -> &'static [u8] {
    static KEYS: [OnceLock<Vec<u8>>; 4] = [const { OnceLock::new() }; 4];
    let (slot, algorithm) = match kind {
        KeyKind::Rsa => (0, &rcgen::PKCS_RSA_SHA256),
        KeyKind::Ec(Curve::P256) => (1, &rcgen::PKCS_ECDSA_P256_SHA256),
        KeyKind::Ec(Curve::P384) => (2, &rcgen::PKCS_ECDSA_P384_SHA384),
        KeyKind::Ec(Curve::P521) => (3, &rcgen::PKCS_ECDSA_P521_SHA512),
    };
    KEYS[slot].get_or_init(|| {
        let made = match kind {
            KeyKind::Rsa => KeyPair::generate_rsa_for(algorithm, RsaKeySize::_2048),
            KeyKind::Ec(_) => KeyPair::generate_for(algorithm),
        };
        made.expect("a key").serialize_der()
    })
}

/// A certificate that can issue others.
pub(crate) struct Authority {
    pub(crate) certificate: Arc<Certificate>,
    issuer: Issuer<'static, KeyPair>,
}

/// What a certificate for `name` says when nothing else is asked for: good from 2020 to 2040, no authority.
pub(crate) fn parameters(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::OrganizationName, "Myelin");
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(2040, 1, 1);
    parameters
}

/// What the certificate of an authority says when nothing else is asked for.
pub(crate) fn authority_parameters(name: &str) -> CertificateParams {
    let mut parameters = parameters(name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    parameters
}

impl Authority {
    /// One that vouches for itself.
    pub(crate) fn root(name: &str) -> Authority {
        Authority::self_signed(authority_parameters(name))
    }

    pub(crate) fn self_signed(parameters: CertificateParams) -> Authority {
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        Authority { certificate: read(&certificate), issuer: Issuer::new(parameters, key) }
    }

    /// One below.
    pub(crate) fn authority(&self, parameters: CertificateParams) -> Authority {
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        Authority { certificate: read(&certificate), issuer: Issuer::new(parameters, key) }
    }

    /// A certificate for the key of a kind.
    pub(crate) fn issue(&self, parameters: &CertificateParams, kind: KeyKind) -> Arc<Certificate> {
        read(&parameters.signed_by(&pair(kind), &self.issuer).expect("a certificate"))
    }

    /// The authority itself, for what only rcgen makes of it.
    pub(crate) fn issuer(&self) -> &Issuer<'static, impl SigningKey> {
        &self.issuer
    }
}

/// A key with a certificate that vouches for itself.
pub(crate) fn identity(name: &str, kind: KeyKind) -> Arc<Identity> {
    let certificate = read(&parameters(name).self_signed(&pair(kind)).expect("a certificate"));
    let key = PrivateKey::from_der(key(kind)).expect("a key");
    Arc::new(Identity { alias: name.to_owned(), key, chain: vec![certificate] })
}

fn pair(kind: KeyKind) -> KeyPair {
    KeyPair::try_from(key(kind)).expect("a key")
}

fn read(certificate: &rcgen::Certificate) -> Arc<Certificate> {
    Arc::new(Certificate::from_der(certificate.der()).expect("a certificate"))
}
