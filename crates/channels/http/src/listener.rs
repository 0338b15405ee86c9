//! Listeners: sockets that accept connections, each of which is a task from then on.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustls::{HandshakeKind, ServerConfig};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::conversation;
use crate::dial::is_out_of_files;
use crate::refusals::Shortage;
use crate::service::{ConnectionInfo, TlsSession};
use crate::state::{ConnectionCount, ConnectionGuard, ListenerCounters, ServerState};
use crate::stream::{Stream, Tls};

/// Connections the kernel may hold for us before we accept them.
const BACKLOG: i32 = 4096;
/// Connections beyond the limit that are told so with 503, at most and as a part of the limit; further ones, and all of
/// TLS, are closed at once.
const TOLD_WHY: (usize, usize) = (64, 8);
/// The pause after the process ran out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A socket that accepts, and the certificate it shows.
pub struct Listener {
    /// Made by [`bind`].
    pub socket: StdListener,
    /// `None` for plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// The name of the inbound endpoint that it is for, if it is none of the server's own.
    pub inbound: Option<Arc<str>>,
}

/// What changes on a thread that serves.
pub enum ListenerCommand {
    /// Another listener, which is told from the others by its port.
    Open(Listener),
    /// What the listener of that port is for, and what it shows, to connections from now on.
    Change {
        /// The port of the listener.
        port: u16,
        /// Another certificate, or none for plain HTTP.
        tls: Option<Arc<ServerConfig>>,
        /// As [`Listener::inbound`].
        inbound: Option<Arc<str>>,
    },
    /// Nothing is accepted any more on that port; its connections end as others do.
    Close(u16),
}

/// Opens a listening socket; several threads may each open one on the same address and share its connections.
///
/// Errors: the system's: address in use, no permission, no such address.
pub fn bind(address: SocketAddr) -> io::Result<StdListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// How many clients may be connected at once where the process may have so many more files and sockets open.
///
/// Most clients are idle at any moment, so a third of the descriptors is kept for connections to backends; a request that
/// finds none left gets 503. A few clients beyond the limit hear why they are not served.
pub fn clients_within(files: usize) -> usize {
    (files / (3 * TOLD_WHY.1 + 2)).saturating_mul(2 * TOLD_WHY.1).max(1)
}

/// How many connections beyond the limit are told why they are not served.
fn told_why(connections: usize) -> usize {
    TOLD_WHY.0.min(connections.div_ceil(TOLD_WHY.1))
}

/// What a listener speaks, and for whom.
#[derive(Clone)]
struct ListenerSettings {
    acceptor: Option<TlsAcceptor>,
    inbound: Option<Arc<str>>,
}

impl ListenerSettings {
    fn new(tls: Option<Arc<ServerConfig>>, inbound: Option<Arc<str>>) -> ListenerSettings {
        ListenerSettings { acceptor: tls.map(TlsAcceptor::from), inbound }
    }
}

/// A listener that accepts until it is dropped; other settings may take the place of its own.
pub(crate) struct OpenListener {
    pub(crate) port: u16,
    settings: Rc<RefCell<ListenerSettings>>,
    task: JoinHandle<()>,
}

impl OpenListener {
    /// Begins to accept.
    ///
    /// Errors: a socket that tokio cannot take over.
    pub(crate) fn open(
        listener: Listener,
        state: &Rc<ServerState>,
        count: &ConnectionCount,
    ) -> io::Result<OpenListener> {
        let socket = TcpListener::from_std(listener.socket)?;
        let port = socket.local_addr()?.port();
        let settings = Rc::new(RefCell::new(ListenerSettings::new(listener.tls, listener.inbound)));
        let accepting = accept(socket, Rc::clone(&settings), Rc::clone(state), (count.clone(), count.listener(port)));
        Ok(OpenListener { port, settings, task: tokio::task::spawn_local(accepting) })
    }

    /// Lets it show something else to connections from now on.
    pub(crate) fn change(&self, tls: Option<Arc<ServerConfig>>, inbound: Option<Arc<str>>) {
        self.settings.replace(ListenerSettings::new(tls, inbound));
    }
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    socket: TcpListener,
    settings: Rc<RefCell<ListenerSettings>>,
    state: Rc<ServerState>,
    (count, counters): (ConnectionCount, Arc<ListenerCounters>),
) {
    loop {
        let (stream, peer) = match socket.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // A client that gave up while it waited is no reason to pause; having no descriptor left is.
                if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) {
                    if is_out_of_files(&error) {
                        state.refusals.count(Shortage::Files);
                    } else {
                        tracing::warn!(%error, "cannot accept a connection; the listener tries again");
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
                continue;
            }
        };
        let guard = ConnectionGuard::new(&state, &count, &counters);
        let ListenerSettings { acceptor, inbound } = settings.borrow().clone();
        let beyond = count.open().saturating_sub(state.options.connections);
        if beyond > 0 {
            state.refusals.count(Shortage::Connections);
        }
        // A few hear why they are not served; the rest would use up the descriptors that those inside need.
        if beyond > told_why(state.options.connections) || (beyond > 0 && acceptor.is_some()) {
            continue;
        }
        let crowded = beyond > 0;
        tokio::task::spawn_local(async move {
            let state = Rc::clone(guard.state());
            // Both only make the connection slower or the log poorer.
            let _ = stream.set_nodelay(true);
            let local = stream.local_addr().unwrap_or(peer);
            let mut connection = ConnectionInfo { peer, local, secure: acceptor.is_some(), inbound, tls: None };
            let stream = match acceptor {
                None => Stream::Plain(stream),
                // A handshake needs room that the connection behind it does not.
                Some(acceptor) => match Box::pin(handshake(stream, acceptor, &state, peer)).await {
                    Some((stream, session, is_resumed)) => {
                        guard.listener().shook_hands(is_resumed);
                        connection.tls = session;
                        stream
                    }
                    None => return guard.listener().failed_handshake(),
                },
            };
            conversation::serve_connection(&state, stream, &connection, crowded).await;
        });
    }
}

/// The stream behind a handshake, what was agreed on, and whether that was a session from before.
async fn handshake(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    state: &ServerState,
    peer: SocketAddr,
) -> Option<(Stream, Option<TlsSession>, bool)> {
    match timeout(state.options.head_timeout, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let (socket, session) = stream.into_inner();
            let agreed = session.protocol_version().and_then(|version| version.as_str());
            let cipher = session.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
            let agreed = agreed
                .zip(cipher)
                .map(|(version, cipher)| TlsSession { version: spoken(version), cipher: cipher_name(cipher) });
            let is_resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
            Some((Stream::Tls(Box::new(Tls::new(socket, session.into()))), agreed, is_resumed))
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, client = %peer, "TLS handshake failed");
            None
        }
        Err(_) => {
            tracing::debug!(client = %peer, "TLS handshake failed: it took too long");
            None
        }
    }
}

/// A version of TLS as OpenSSL and the logs of other servers name it.
fn spoken(version: &'static str) -> &'static str {
    match version {
        "TLSv1_2" => "TLSv1.2",
        "TLSv1_3" => "TLSv1.3",
        other => other,
    }
}

/// A suite as IANA names it: those of TLS 1.3 have a prefix of their own in rustls.
fn cipher_name(suite: &'static str) -> &'static str {
    match suite {
        "TLS13_AES_128_GCM_SHA256" => "TLS_AES_128_GCM_SHA256",
        "TLS13_AES_256_GCM_SHA384" => "TLS_AES_256_GCM_SHA384",
        "TLS13_CHACHA20_POLY1305_SHA256" => "TLS_CHACHA20_POLY1305_SHA256",
        other => other,
    }
}
