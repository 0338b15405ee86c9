//! Serves clients: accepts, reads heads, hands requests to a [`Service`], writes its answers.
//!
//! One task per connection does all of it, on the thread whose listener accepted the connection.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use myelin_message::Message;
use rustls::ServerConfig;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::answer;
use crate::conversation;
use crate::options::ServerOptions;
use crate::stream::Stream;
use crate::{buffer, timer};

/// Connections the kernel may hold for us before we accept them.
const BACKLOG: i32 = 4096;
/// Connections beyond the limit that are told so with 503; further ones, and all of TLS, are closed at once.
const TOLD_WHY: usize = 64;
/// The pause after the process ran out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers requests.
pub trait Service {
    /// Gives the answer to a request; there is always one.
    fn serve<'a>(&'a self, request: Message, arrival: Arrival) -> Pin<Box<dyn Future<Output = Message> + 'a>>;

    /// Whether [`Service::finished`] is to be called.
    fn records(&self) -> bool {
        false
    }

    /// Hears of an answer that was sent, or of one whose client went away.
    fn finished(&self, _record: &Record) {}
}

/// How a request came here.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The client's address.
    pub peer: SocketAddr,
    /// The address it was accepted on.
    pub local: SocketAddr,
    /// Whether it came over TLS.
    pub secure: bool,
    /// What [`Listener::inbound`] says of who accepted it.
    pub inbound: Option<u16>,
}

/// One line of an access log.
#[derive(Clone, Debug)]
pub struct Record {
    /// How the request came here.
    pub arrival: Arrival,
    /// The method; empty where the head was refused.
    pub method: String,
    /// The target as it came; empty where the head was refused.
    pub target: String,
    /// The status answered with.
    pub status: u16,
    /// Bytes sent, head included.
    pub sent_bytes: u64,
    /// From the request's head to the answer's last byte.
    pub duration: Duration,
    /// The value of `activityid`, where the answer carries one.
    pub correlation: Option<String>,
    /// Whether the answer was sent to its end.
    pub complete: bool,
}

/// A socket that accepts, and the certificate it shows.
pub struct Listener {
    /// Made by [`bind`].
    pub socket: StdListener,
    /// `None` for plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// What tells it from the server's own, if it is none of them: its port.
    pub inbound: Option<u16>,
}

/// What changes on a thread that serves.
pub enum Door {
    /// Another listener, which is told from the others by its [`Listener::inbound`].
    Open(Listener),
    /// What that one shows to connections from now on: another certificate, or none for plain HTTP.
    Show(u16, Option<Arc<ServerConfig>>),
    /// Nothing is accepted any more by that one; its connections end as others do.
    Close(u16),
}

/// Tells listeners and connections of all threads to stop.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Default for Stop {
    fn default() -> Stop {
        Stop(Arc::new(watch::Sender::new(false)))
    }
}

impl Stop {
    /// Stops accepting, closes idle connections, and lets requests under way finish.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Waits until somebody asked to stop.
    pub async fn asked(&self) {
        let mut seen = self.0.subscribe();
        // The sender lives in self, so waiting cannot fail.
        let _ = seen.wait_for(|stopped| *stopped).await;
    }
}

/// Counts client connections over all threads.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<AtomicUsize>);

impl Gate {
    /// Open client connections.
    pub fn open(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What the connections of one thread share.
pub(crate) struct Hall {
    pub(crate) service: Rc<dyn Service>,
    pub(crate) options: ServerOptions,
    pub(crate) stopping: Cell<bool>,
    pub(crate) dates: answer::Dates,
    live: Cell<usize>,
    emptied: Notify,
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

/// Serves on one thread, through `doors` as they come, until `stop` is asked for and the requests under way are through, or the drain time is over.
///
/// Runs inside a `LocalSet` of a current-thread runtime.
/// Errors: a listener that tokio cannot take over.
pub async fn serve(
    listeners: Vec<Listener>,
    service: Rc<dyn Service>,
    options: ServerOptions,
    gate: Gate,
    stop: Stop,
    mut doors: UnboundedReceiver<Door>,
) -> io::Result<()> {
    tokio::task::spawn_local(timer::run());
    buffer::set_budget(options.memory_bytes);
    let drain = options.drain;
    let hall = Rc::new(Hall {
        service,
        options,
        stopping: Cell::new(false),
        dates: answer::Dates::default(),
        live: Cell::new(0),
        emptied: Notify::new(),
    });
    let open = |listener: Listener| {
        let (inbound, acceptor) = (listener.inbound, Rc::new(RefCell::new(listener.tls.map(TlsAcceptor::from))));
        let socket = TcpListener::from_std(listener.socket)?;
        let accepting = accept(socket, Rc::clone(&acceptor), inbound, Rc::clone(&hall), gate.clone());
        io::Result::Ok(Accepting { inbound, acceptor, task: tokio::task::spawn_local(accepting) })
    };
    let mut accepting = listeners.into_iter().map(&open).collect::<io::Result<Vec<_>>>()?;
    let mut stopped = pin!(stop.asked());
    loop {
        let door = tokio::select! {
            () = &mut stopped => break,
            door = doors.recv() => door,
        };
        match door {
            Some(Door::Open(listener)) => match open(listener) {
                Ok(open) => accepting.push(open),
                Err(error) => tracing::error!(%error, "cannot listen"),
            },
            Some(Door::Close(port)) => {
                for closed in accepting.extract_if(.., |one| one.inbound == Some(port)) {
                    closed.task.abort();
                }
            }
            Some(Door::Show(port, tls)) => {
                for one in accepting.iter().filter(|one| one.inbound == Some(port)) {
                    one.acceptor.replace(tls.clone().map(TlsAcceptor::from));
                }
            }
            // Nobody opens any more.
            None => {
                stopped.await;
                break;
            }
        }
    }
    hall.stopping.set(true);
    for one in accepting {
        one.task.abort();
    }
    timer::wake_all();
    let emptied = async {
        while hall.live.get() > 0 {
            hall.emptied.notified().await;
        }
    };
    if timeout(drain, emptied).await.is_err() {
        tracing::warn!(connections = hall.live.get(), "the drain time is over: closing what is still under way");
    }
    Ok(())
}

/// What a listener speaks; another may take its place.
type Acceptor = Rc<RefCell<Option<TlsAcceptor>>>;

/// A listener that accepts.
struct Accepting {
    inbound: Option<u16>,
    acceptor: Acceptor,
    task: JoinHandle<()>,
}

async fn accept(socket: TcpListener, acceptor: Acceptor, inbound: Option<u16>, hall: Rc<Hall>, gate: Gate) {
    loop {
        let (stream, peer) = match socket.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // A client that gave up while it waited is no reason to pause; having no descriptor left is.
                if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) {
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    sleep(ACCEPT_PAUSE).await;
                }
                continue;
            }
        };
        let guest = Guest::enter(&hall, &gate);
        let acceptor = acceptor.borrow().clone();
        let beyond = gate.open().saturating_sub(hall.options.connections);
        // A few hear why they are not served; the rest would use up the descriptors that those inside need.
        if beyond > TOLD_WHY || (beyond > 0 && acceptor.is_some()) {
            continue;
        }
        let crowded = beyond > 0;
        tokio::task::spawn_local(async move {
            let hall = Rc::clone(&guest.hall);
            // Both only make the connection slower or the log poorer.
            let _ = stream.set_nodelay(true);
            let local = stream.local_addr().unwrap_or(peer);
            let arrival = Arrival { peer, local, secure: acceptor.is_some(), inbound };
            let stream = match acceptor {
                None => Stream::Plain(stream),
                // A handshake needs room that the connection behind it does not.
                Some(acceptor) => match Box::pin(handshake(stream, acceptor, &hall)).await {
                    Some(stream) => stream,
                    None => return,
                },
            };
            conversation::hold(&hall, stream, arrival, crowded).await;
        });
    }
}

async fn handshake(stream: TcpStream, acceptor: TlsAcceptor, hall: &Hall) -> Option<Stream> {
    match timeout(hall.options.head_timeout, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Some(Stream::Tls(Box::new(stream.into()))),
        Ok(Err(error)) => {
            tracing::debug!(%error, "TLS handshake failed");
            None
        }
        Err(_) => None,
    }
}

/// A connection, counted while it lives.
struct Guest {
    hall: Rc<Hall>,
    gate: Gate,
}

impl Guest {
    fn enter(hall: &Rc<Hall>, gate: &Gate) -> Guest {
        gate.0.fetch_add(1, Ordering::Relaxed);
        hall.live.set(hall.live.get() + 1);
        Guest { hall: Rc::clone(hall), gate: gate.clone() }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.gate.0.fetch_sub(1, Ordering::Relaxed);
        self.hall.live.set(self.hall.live.get() - 1);
        self.hall.emptied.notify_one();
    }
}
