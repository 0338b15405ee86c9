//! A connection, plain or TLS.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use anyhow::{Context as _, bail};
use rustix::net::RecvFlags;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

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
    /// Resolves the name and reads the certificates to trust.
    ///
    /// Errors: the name does not resolve, there are no certificates to trust; the caller's.
    pub(super) fn new(target: &Target, authorities: Option<&Path>) -> anyhow::Result<Dialer> {
        let addresses = target.addresses()?.into();
        if !target.secure {
            return Ok(Dialer { addresses, secure: None });
        }
        let mut roots = RootCertStore::empty();
        match authorities {
            Some(path) => {
                let certificates = CertificateDer::pem_file_iter(path)
                    .with_context(|| format!("cannot read certificates from {}", path.display()))?;
                for certificate in certificates {
                    roots.add(certificate.with_context(|| format!("a certificate in {}", path.display()))?)?;
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
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
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

impl Stream {
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
