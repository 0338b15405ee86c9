//! A connection, plain or TLS.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use anyhow::{Context as _, bail};
use rustix::net::RecvFlags;
use rustls::client::Resumption;
use rustls::{ClientConfig, HandshakeKind, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::plan::Plan;
use super::target::Target;

/// How connections are made; shared by all threads.
#[derive(Clone)]
pub(super) struct Dialer {
    addresses: Arc<[SocketAddr]>,
    secure: Option<(TlsConnector, ServerName<'static>)>,
}

/// An open connection.
pub(super) enum Stream {
    Plain(TcpStream),
    // Boxed because a TLS session is large and most runs have none.
    Secure(Box<TlsStream<TcpStream>>),
}

impl Dialer {
    /// Resolves the name and reads the certificates to trust and to show.
    ///
    /// Errors: the name does not resolve, there are no certificates to trust, the client's certificate and key cannot be
    /// used; the caller's.
    pub(super) fn new(target: &Target, plan: &Plan) -> anyhow::Result<Dialer> {
        let addresses = target.addresses()?.into();
        if !target.secure {
            return Ok(Dialer { addresses, secure: None });
        }
        let mut roots = RootCertStore::empty();
        match &plan.authorities {
            Some(path) => {
                for certificate in certificates(path)? {
                    roots.add(certificate)?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            bail!("there are no certificates to trust; name a file with --cacert");
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match &plan.certificate {
            None => config.with_no_client_auth(),
            Some(path) => {
                let file = plan.key.as_ref().unwrap_or(path);
                let key = PrivateKeyDer::from_pem_file(file)
                    .with_context(|| format!("cannot read a key in PEM, not encrypted, from {}", file.display()))?;
                config
                    .with_client_auth_cert(certificates(path)?, key)
                    .with_context(|| format!("{} and {} do not belong together", path.display(), file.display()))?
            }
        };
        if !plan.resumption {
            config.resumption = Resumption::disabled();
        }
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let name = ServerName::try_from(target.host.clone())?;
        Ok(Dialer { addresses, secure: Some((TlsConnector::from(Arc::new(config)), name)) })
    }

    /// Opens a connection, with TLS where the target wants it.
    pub(super) async fn dial(&self) -> io::Result<Stream> {
        let stream = TcpStream::connect(&*self.addresses).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.secure {
            None => Stream::Plain(stream),
            Some((connector, name)) => Stream::Secure(Box::new(connector.connect(name.clone(), stream).await?)),
        })
    }
}

/// The certificates in a PEM file, at least one.
fn certificates(path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = found.with_context(|| format!("cannot read certificates in PEM from {}", path.display()))?;
    if found.is_empty() {
        bail!("{} holds no certificate in PEM", path.display());
    }
    Ok(found)
}

/// Anything that bytes are read from and written to.
pub(crate) trait Duplex: AsyncRead + AsyncWrite {}

impl<T: AsyncRead + AsyncWrite> Duplex for T {}

/// Opens one connection to where a plan sends its requests.
///
/// Errors: as [`Dialer::new`], and those of the network.
pub(crate) async fn connect(plan: &Plan) -> anyhow::Result<Pin<Box<dyn Duplex>>> {
    Ok(match Dialer::new(&plan.target, plan)?.dial().await? {
        Stream::Plain(stream) => Box::pin(stream),
        Stream::Secure(stream) => Box::pin(*stream),
    })
}

impl Stream {
    /// Whether the connection resumes an earlier session of TLS.
    pub(super) fn is_resumed(&self) -> bool {
        match self {
            Stream::Plain(_) => false,
            Stream::Secure(stream) => stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }

    #[inline]
    pub(super) fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Secure(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }

    #[inline]
    pub(super) fn poll_write(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Secure(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    /// Pushes out what TLS holds back; a plain connection holds nothing.
    #[inline]
    pub(super) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Secure(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    /// Whether the peer has closed the connection, or sent what nobody asked for; takes nothing out of it.
    pub(super) fn is_stale(&self) -> bool {
        let socket = match self {
            Stream::Plain(stream) => stream,
            Stream::Secure(stream) => stream.get_ref().0,
        };
        match rustix::net::recv(socket, &mut [0_u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, 0)) => true,
            // TLS may send session tickets at any time.
            Ok(_) => matches!(self, Stream::Plain(_)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            Err(_) => true,
        }
    }
}
