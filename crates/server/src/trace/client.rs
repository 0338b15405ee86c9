//! A client of the management API: a connection for each request, which is enough for a person who watches.

use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, InvalidMessage, RootCertStore, SignatureScheme, StreamOwned,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use serde_json::Value;

/// How long connecting, and each read and write, may take: longer than the bus lets a client wait for a trace.
const TIME: Duration = Duration::from_secs(30);

/// A larger answer is none of a bus.
const ANSWER_BYTES: u64 = 64 << 20;

/// A management API with the token of a user.
pub(super) struct Client {
    host: String,
    port: u16,
    /// How HTTPS is spoken; `None` for plain HTTP.
    tls: Option<Arc<ClientConfig>>,
    token: String,
}

impl Client {
    /// Logs in.
    ///
    /// Errors: nobody is there; the certificate is not one to be trusted; name or password is wrong.
    pub(super) fn login(url: &str, ca: Option<&Path>, user: &str, password: &str) -> anyhow::Result<Client> {
        let (is_https, host, port) = address(url)?;
        let tls = if is_https { Some(Arc::new(config(&host, ca)?)) } else { None };
        let mut client = Client { host, port, tls, token: String::new() };
        let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let (status, body) = client.ask("GET", "/login", &basic, None)?;
        if status == 401 {
            bail!(
                "{url} does not know the user {user:?} with this password; --user names another, and `myelin user list` shows \
                 the users"
            );
        }
        let answer: Value = serde_json::from_str(&body).unwrap_or_default();
        let token = answer["AccessToken"].as_str();
        client.token = token.with_context(|| format!("{url} answers a login with {status}: {body}"))?.to_owned();
        Ok(client)
    }

    /// The JSON that a request is answered with.
    ///
    /// Errors: the API refuses, with its sentence; what it answers is no JSON.
    pub(super) fn json(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let text = self.text(method, path, body)?;
        serde_json::from_str(&text).with_context(|| format!("{path} is answered with no JSON"))
    }

    /// The text that a request is answered with.
    ///
    /// Errors: the API refuses, with its sentence.
    pub(super) fn text(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<String> {
        let bearer = format!("Bearer {}", self.token);
        let (status, text) = self.ask(method, path, &bearer, body.map(Value::to_string).as_deref())?;
        match status {
            200..=299 => Ok(text),
            403 => bail!("the user may not do that: it needs the role admin"),
            _ => {
                let answer: Value = serde_json::from_str(&text).unwrap_or_default();
                match answer["Error"].as_str() {
                    Some(sentence) => bail!("{sentence}"),
                    None => bail!("{method} {path} is answered with {status}"),
                }
            }
        }
    }

    /// What went wrong on a connection, with what may have to be changed.
    fn explained(&self, error: &io::Error) -> anyhow::Error {
        let Client { host, port, tls, .. } = self;
        let is_plain = |error: &(dyn std::error::Error + Send + Sync + 'static)| {
            matches!(error.downcast_ref(), Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)))
        };
        match error.get_ref() {
            Some(inner) if tls.is_some() && is_plain(inner) => {
                anyhow!("this port speaks plain HTTP: http://{host}:{port}")
            }
            // Not as an error of input and output: a pipe that breaks here is not that of a reader who has seen enough.
            _ if tls.is_some() => anyhow!("{error}"),
            _ => anyhow!("{error}; a port of HTTPS needs https://"),
        }
    }

    fn ask(&self, method: &str, path: &str, authorization: &str, body: Option<&str>) -> anyhow::Result<(u16, String)> {
        let Client { host, port, tls, .. } = self;
        let scheme = if tls.is_some() { "https" } else { "http" };
        let told = || format!("{scheme}://{host}:{port}");
        let addresses = (host.as_str(), *port).to_socket_addrs().with_context(told)?;
        let mut connected = None;
        for address in addresses {
            connected = Some(TcpStream::connect_timeout(&address, TIME));
            if matches!(connected, Some(Ok(_))) {
                break;
            }
        }
        let socket = connected.with_context(|| format!("{host} has no address"))?;
        let socket = socket.with_context(|| {
            format!(
                "{}: no bus answers there; --url is the address of the management API that it logs when it starts",
                told()
            )
        })?;
        socket.set_read_timeout(Some(TIME))?;
        socket.set_write_timeout(Some(TIME))?;
        let mut stream: Box<dyn Stream> = match tls {
            None => Box::new(socket),
            Some(config) => {
                let name =
                    ServerName::try_from(host.clone()).with_context(|| format!("{host:?} is no name of a server"))?;
                let connection = ClientConnection::new(Arc::clone(config), name)?;
                Box::new(StreamOwned::new(connection, socket))
            }
        };
        let body = body.unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        let request = format!(
            "{method} /management{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: {authorization}\r\n{kind}\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let sent = stream.write_all(request.as_bytes()).and_then(|()| stream.flush());
        sent.map_err(|error| self.explained(&error)).with_context(told)?;
        answer(&mut BufReader::new(stream), |error| self.explained(error)).with_context(told)
    }
}

/// A connection, encrypted or not.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// Reads an answer to its end: the connection is closed behind it.
fn answer(
    stream: &mut impl Read,
    explained: impl FnOnce(&io::Error) -> anyhow::Error,
) -> anyhow::Result<(u16, String)> {
    let mut bytes = Vec::new();
    let read = stream.take(ANSWER_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        read.map_err(|error| explained(&error)).context("no answer came")?;
        bail!("what came is no answer of HTTP; a port of HTTPS needs https://");
    };
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let status = status.context("what came is no answer of HTTP")?;
    let is_chunked = lines.any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("transfer-encoding:") && line.contains("chunked")
    });
    let body = if is_chunked { unchunked(body) } else { Some(body.to_owned()) };
    Ok((status, body.context("the answer broke off")?))
}

/// A body without the chunks that it came in (RFC 9112 §7.1).
fn unchunked(mut body: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n")?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(rest.get(..size)?);
        body = rest.get(size..)?.strip_prefix("\r\n")?;
    }
}

/// Whether a URL is one of HTTPS, its host and its port.
///
/// Errors: it is no URL; it is one of HTTP and of another machine, where the password would be sent for all to read.
fn address(url: &str) -> anyhow::Result<(bool, String, u16)> {
    let uri: http::Uri = url.parse().with_context(|| format!("{url:?} is no URL"))?;
    let host = uri.host().with_context(|| format!("{url:?} names no host"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let (is_https, port) = match uri.scheme_str() {
        Some("https") => (true, 9164),
        Some("http") if is_here(&host) => (false, 9201),
        Some("http") => bail!("{url:?}: the management API of another machine is reached over https"),
        _ => bail!("{url:?} has no scheme: https://{url}, or http://{url} for the admin listener of this machine"),
    };
    Ok((is_https, host, uri.port_u16().unwrap_or(port)))
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn config(host: &str, ca: Option<&Path>) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    if let Some(file) = ca {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(file).with_context(|| file.display().to_string())? {
            roots.add(certificate.with_context(|| file.display().to_string())?)?;
        }
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    }
    if !is_here(host) {
        bail!("{host} is another machine: --ca has to name the certificate that its bus shows, or that of its issuer");
    }
    // Nobody is between two processes of one machine, and the bus makes its certificate anew with each start.
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyHere(provider))).with_no_client_auth())
}

/// Takes any certificate of a process of this machine.
#[derive(Debug)]
struct AnyHere(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyHere {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_become_one_body() {
        assert_eq!(unchunked("3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n").as_deref(), Some("abcd"));
        assert_eq!(unchunked("3\r\nab"), None);
    }

    #[test]
    fn another_machine_needs_a_certificate_that_is_known() {
        assert_eq!(address("https://[::1]:9164").unwrap(), (true, "::1".to_owned(), 9164));
        assert_eq!(address("http://localhost").unwrap(), (false, "localhost".to_owned(), 9201));
        assert!(address("http://bus.example:9164").unwrap_err().to_string().contains("over https"));
        assert!(address("127.0.0.1:9164").unwrap_err().to_string().contains("https://127.0.0.1:9164"));
        assert!(config("127.0.0.1", None).is_ok());
        assert!(config("bus.example", None).unwrap_err().to_string().contains("--ca"));
    }
}
