//! OTLP over gRPC: one unary call for each message, over one connection of HTTP/2.
//!
//! Source: gRPC over HTTP2 (PROTOCOL-HTTP2.md), and the OTLP specification, "OTLP/gRPC".

use std::future::poll_fn;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, StatusCode, Uri};
use myelin_http::Trust;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::destination::Destination;
use super::refused::Refused;

/// What the bus calls itself.
pub(super) const USER_AGENT: &str = concat!("myelin/", env!("CARGO_PKG_VERSION"));

/// How large an answer may be; those of collectors are a few bytes.
const ANSWER_BYTES: usize = 64 * 1024;

/// The codes of gRPC that OTLP counts as passing: CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE,
/// DATA_LOSS; and RESOURCE_EXHAUSTED, by which collectors say that their own queue is full.
const PASSING: [u32; 7] = [1, 4, 8, 10, 11, 14, 15];

/// A collector that is spoken with by gRPC.
pub(super) struct GrpcClient {
    url: Uri,
    /// The URL as it may be told.
    shown: String,
    method: &'static str,
    headers: Vec<(http::HeaderName, http::HeaderValue)>,
    timeout: Duration,
    gzip: bool,
    trust: Trust,
    connection: Option<SendRequest<Bytes>>,
}

impl GrpcClient {
    /// A client of one method, inside a `LocalSet`; it connects when something is to be sent.
    pub(super) fn new(destination: &Destination, trust: Trust, method: &'static str) -> GrpcClient {
        let Destination { url, headers, timeout, gzip, .. } = destination.clone();
        GrpcClient { url, shown: destination.to_string(), method, headers, timeout, gzip, trust, connection: None }
    }

    /// The connection is not to be used again.
    pub(super) fn forget(&mut self) {
        self.connection = None;
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, message: Bytes) -> Result<Bytes, Refused> {
        let sent = self.call(message).await;
        // A connection that failed once is not asked again.
        if sent.as_ref().is_err_and(|refused| refused.retry.is_some()) {
            self.forget();
        }
        sent
    }

    async fn call(&mut self, message: Bytes) -> Result<Bytes, Refused> {
        let url = self.shown.clone();
        let failed = |error: h2::Error| Refused::for_now(format!("{url}: {error}"));
        let connection = match self.connection.take() {
            // One that was closed meanwhile is opened anew.
            Some(connection) => match connection.ready().await {
                Ok(connection) => connection,
                Err(_) => self.connect().await?.ready().await.map_err(failed)?,
            },
            None => self.connect().await?.ready().await.map_err(failed)?,
        };
        let mut connection = connection;
        let (answer, stream) = connection.send_request(self.request()?, false).map_err(failed)?;
        self.connection = Some(connection);
        send_all(stream, framed(&message, self.gzip)).await.map_err(failed)?;
        let answer = answer.await.map_err(failed)?;
        let (head, mut body) = answer.into_parts();
        if head.status != StatusCode::OK {
            let is_for_now = matches!(head.status.as_u16(), 429 | 502 | 503 | 504);
            let reason = format!("{url} answered {}: is it a collector that speaks gRPC?", head.status);
            return Err(Refused { reason, retry: is_for_now.then_some(Duration::ZERO) });
        }
        let data = read(&mut body).await.map_err(failed)?;
        let trailers = body.trailers().await.map_err(failed)?.unwrap_or_default();
        // An answer without a body has its status in the head.
        let status = status_of(&trailers).or_else(|| status_of(&head.headers));
        match status {
            Some((0, _)) => Ok(data.slice(data.len().min(5)..)),
            Some((code, message)) => {
                let reason = format!("{url} answered gRPC status {code}: {message}");
                Err(Refused { reason, retry: PASSING.contains(&code).then_some(Duration::ZERO) })
            }
            None => Err(Refused::for_now(format!("{url} answered without a status of gRPC"))),
        }
    }

    fn request(&self) -> Result<Request<()>, Refused> {
        let (scheme, authority) = (self.url.scheme_str().unwrap_or("http"), self.url.authority());
        let authority = authority.map_or("", |authority| authority.as_str());
        let mut request = Request::post(format!("{scheme}://{authority}{}", self.method))
            .version(http::Version::HTTP_2)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("user-agent", USER_AGENT)
            .header("grpc-timeout", format!("{}m", self.timeout.as_millis().min(99_999_999)));
        if self.gzip {
            request = request.header("grpc-encoding", "gzip");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request.body(()).map_err(|error| Refused::for_good(error.to_string()))
    }

    async fn connect(&self) -> Result<SendRequest<Bytes>, Refused> {
        let is_tls = self.url.scheme_str() == Some("https");
        let host = self.url.host().unwrap_or_default();
        let bare = host.trim_matches(['[', ']']);
        let port = self.url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let failed = |error: &dyn std::fmt::Display| Refused::for_now(format!("{}: {error}", self.shown));
        let stream = TcpStream::connect((bare, port)).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        if !is_tls {
            return shake_hands(stream).await.map_err(|error| failed(&error));
        }
        let config = self.trust.config_for("h2").map_err(|error| failed(&error))?;
        let name = ServerName::try_from(bare.to_owned()).map_err(|error| failed(&error))?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(|error| failed(&error))?;
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(failed(&"the server does not speak HTTP/2"));
        }
        shake_hands(stream).await.map_err(|error| failed(&error))
    }
}

/// Begins a connection of HTTP/2, which a task of its own keeps up.
async fn shake_hands<S>(stream: S) -> Result<SendRequest<Bytes>, h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (client, connection) = h2::client::handshake(stream).await?;
    tokio::task::spawn_local(async move {
        // Whoever sends over it hears of its end.
        let _ = connection.await;
    });
    Ok(client)
}

/// A message as gRPC frames it: whether it is compressed, its length, and itself.
fn framed(message: &Bytes, is_compressed: bool) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(u8::from(is_compressed));
    frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    frame.extend_from_slice(message);
    frame.freeze()
}

/// Sends all of a body, as fast as the other side takes it.
async fn send_all(mut stream: SendStream<Bytes>, mut body: Bytes) -> Result<(), h2::Error> {
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => {
                let piece = body.split_to(room?.min(body.len()));
                stream.send_data(piece, body.is_empty())?;
            }
            // The other side has answered already, and wants no more.
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Reads an answer, as far as it is not too large.
async fn read(body: &mut RecvStream) -> Result<Bytes, h2::Error> {
    let mut data = BytesMut::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        if data.len() + piece.len() <= ANSWER_BYTES {
            data.extend_from_slice(&piece);
        }
    }
    Ok(data.freeze())
}

/// The status of gRPC, and what is said of it.
fn status_of(headers: &HeaderMap) -> Option<(u32, String)> {
    let code = headers.get("grpc-status")?.to_str().ok()?.parse().ok()?;
    let message = headers.get("grpc-message").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    Some((code, message.unwrap_or_default()))
}
