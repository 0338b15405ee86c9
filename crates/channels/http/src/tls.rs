//! TLS by rustls with aws-lc-rs: a listener's certificate, and whom an endpoint trusts.
//!
//! Names and dates of certificates are always checked; there is no switch to turn that off.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use myelin_channel::{ClientCertificates, PortTls};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientCertVerifierBuilder, WebPkiClientVerifier};
use rustls::{ClientConfig, DEFAULT_VERSIONS, RootCertStore, ServerConfig, SupportedProtocolVersion, version};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Why keys or certificates cannot be used, with the file.
#[derive(Debug)]
pub struct TlsError {
    /// The file that holds what is wrong.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.reason)
    }
}

impl std::error::Error for TlsError {}

fn error(file: &Path, reason: impl fmt::Display) -> TlsError {
    TlsError { file: file.to_owned(), reason: reason.to_string() }
}

/// What a listener presents: a PEM file with the chain, leaf first, and a PEM file with its private key.
///
/// Errors: unreadable files, no certificate, no key, or a key that does not belong to the certificate.
pub fn server_config(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let certificates = certificates(chain)?;
    serving(certificates, private_key(key)?, WebPkiClientVerifier::no_client_auth(), DEFAULT_VERSIONS)
        .map_err(|reason| error(chain, explained(&reason)))
}

/// The same as [`server_config`] of what is in memory.
///
/// Errors: a sentence: no version, a certificate or key that cannot be used, or no root.
pub fn server_config_of(tls: &PortTls) -> Result<Arc<ServerConfig>, String> {
    let chain = tls.chain.iter().cloned().map(CertificateDer::from).collect();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(tls.key.to_vec()));
    let spoken = [(tls.has_1_3, &version::TLS13), (tls.has_1_2, &version::TLS12)];
    let versions: Vec<_> = spoken.into_iter().filter_map(|(is_spoken, version)| is_spoken.then_some(version)).collect();
    let verifier = match &tls.clients {
        ClientCertificates::NotAsked => Ok(WebPkiClientVerifier::no_client_auth()),
        ClientCertificates::Optional(roots) => trusting(roots)?.allow_unauthenticated().build(),
        ClientCertificates::Required(roots) => trusting(roots)?.build(),
    };
    let verifier = verifier.map_err(|reason| reason.to_string())?;
    serving(chain, key, verifier, &versions).map_err(|reason| explained(&reason))
}

/// Why a listener cannot use a certificate and its key, in words that name what to change.
fn explained(reason: &rustls::Error) -> String {
    match reason {
        rustls::Error::InconsistentKeys(_) => {
            "the private key does not belong to the first certificate; name the key that the certificate was made for"
                .to_owned()
        }
        other => other.to_string(),
    }
}

/// Who checks certificates of clients.
fn trusting(roots: &[Vec<u8>]) -> Result<ClientCertVerifierBuilder, String> {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add(root.as_slice().into()).map_err(|reason| format!("a trusted certificate: {reason}"))?;
    }
    Ok(WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider()))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn serving(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    clients: Arc<dyn ClientCertVerifier>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(versions)?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Whom `https` endpoints trust; shared by all threads.
///
/// The system's roots are read when the first `https` endpoint is called: reading them takes longer than starting.
#[derive(Clone, Debug, Default)]
pub struct Trust(Arc<OnceLock<Result<Arc<ClientConfig>, String>>>);

impl Trust {
    /// Trust in the roots of the given PEM files, or in the system's where none is given.
    ///
    /// Errors: unreadable files; the system's roots are read later, and an error then is that of the connection.
    pub fn new(roots: &[PathBuf]) -> Result<Trust, TlsError> {
        if roots.is_empty() { Ok(Trust::default()) } else { Ok(Trust::of(client_config(roots, None)?)) }
    }

    /// The same for a client that shows a certificate: a PEM file with the chain, leaf first, and one with its key.
    ///
    /// Errors: unreadable files, no key, or one that does not belong to the certificate; the system has no roots.
    pub fn with_certificate(roots: &[PathBuf], chain: &Path, key: &Path) -> Result<Trust, TlsError> {
        Ok(Trust::of(client_config(roots, Some((chain, key)))?))
    }

    fn of(config: Arc<ClientConfig>) -> Trust {
        Trust(Arc::new(OnceLock::from(Ok(config))))
    }

    /// The same for a protocol other than HTTP/1.1, which is named to the server (ALPN): `h2`.
    ///
    /// Errors: the system has no roots.
    pub fn config_for(&self, protocol: &str) -> Result<Arc<ClientConfig>, String> {
        let mut config = ClientConfig::clone(&*self.config()?);
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Ok(Arc::new(config))
    }

    pub(crate) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        self.0.get_or_init(|| client_config(&[], None).map_err(|error| error.to_string())).clone()
    }
}

/// Whom a client trusts: the given PEM files, or the system's roots where none is given; and what it shows, if anything.
///
/// Errors: unreadable files, no root at all, or a key that cannot be used.
fn client_config(roots: &[PathBuf], shows: Option<(&Path, &Path)>) -> Result<Arc<ClientConfig>, TlsError> {
    let mut store = RootCertStore::empty();
    for file in roots {
        for certificate in certificates(file)? {
            store.add(certificate).map_err(|reason| error(file, reason))?;
        }
    }
    if roots.is_empty() {
        let found = rustls_native_certs::load_native_certs();
        store.add_parsable_certificates(found.certs);
        if store.is_empty() {
            let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
            return Err(error(
                Path::new("system roots"),
                format!("no trusted certificate found; name a PEM file of roots instead. {}", reasons.join("; ")),
            ));
        }
    }
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|reason| error(Path::new("TLS"), reason))?
        .with_root_certificates(store);
    let config = match shows {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(certificates(chain)?, private_key(key)?)
            .map_err(|reason| error(chain, explained(&reason)))?,
    };
    Ok(Arc::new(config))
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(file).map_err(|reason| error(file, format!("no private key: {reason}")))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Vec<_> = CertificateDer::pem_file_iter(file)
        .map_err(|reason| error(file, reason))?
        .collect::<Result<_, _>>()
        .map_err(|reason| error(file, reason))?;
    if found.is_empty() { Err(error(file, "no certificate in PEM form")) } else { Ok(found) }
}
