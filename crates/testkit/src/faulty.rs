//! Backends that behave badly, on loopback, each connection by a [`Script`].
//!
//! A backend runs on a thread of its own and stops when its handle is dropped.
//! What arrived is recorded for assertions, connection by connection.

mod defects;
mod script;
mod serve;
mod unreachable;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::wire::head_end;

pub use defects::{BODY, DEFECTS, Defect, Outcome, idle_race, named, whole};
pub use script::{Latch, Script, Step, Until};
pub use unreachable::NeverAccepts;

/// Of what a connection sends, this much is recorded; the rest is read and counted.
pub const RECORDED_BYTES: usize = 4 * 1024 * 1024;

/// What happened on one connection to a faulty backend.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The first [`RECORDED_BYTES`] that arrived and were read.
    pub received: Vec<u8>,
    /// All bytes that were read.
    pub received_bytes: u64,
    /// How often the script began; 2 when a second request came on the same connection.
    pub rounds: usize,
    /// How it ended; `None` while it lasts.
    pub end: Option<End>,
}

/// How a connection to a faulty backend ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The script came to its end, with or without a reset.
    Script,
    /// The peer closed while the script still wanted to read or write.
    PeerClosed,
    /// The peer sent what the script cannot follow.
    Malformed(String),
    /// A step took longer than the backend's deadline.
    Deadline,
    /// The backend was stopped.
    Stopped,
}

impl Connection {
    /// What arrived, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.received).into_owned()
    }
}

/// A running faulty backend; dropping it stops it.
#[derive(Debug)]
pub struct Backend {
    address: SocketAddr,
    transcript: Arc<Transcript>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Backend {
    /// Starts a backend on a free port of 127.0.0.1 whose n-th connection follows the n-th script, later ones the last.
    ///
    /// Errors: when the port or the thread cannot be had, or there is no script; the machine's or the test's.
    pub fn start(scripts: impl Into<Vec<Script>>) -> io::Result<Backend> {
        Backend::listen("127.0.0.1:0", scripts)
    }

    /// As [`Backend::start`] at an address of choice.
    pub fn listen(address: &str, scripts: impl Into<Vec<Script>>) -> io::Result<Backend> {
        let scripts = scripts.into();
        if scripts.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a faulty backend needs a script"));
        }
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let transcript = Arc::new(Transcript::default());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name(format!("faulty-{}", address.port())).spawn({
            let transcript = Arc::clone(&transcript);
            move || runtime.block_on(serve::run(listener, scripts, transcript, stopped))
        })?;
        Ok(Backend { address, transcript, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address as a URL of plain HTTP with the path given.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All connections so far, in the order they were accepted.
    pub fn connections(&self) -> Vec<Connection> {
        self.transcript.lock().clone()
    }

    /// Waits until `count` connections have ended, and gives all there are.
    ///
    /// Errors: those so far, when that takes longer than `deadline`.
    pub fn wait_for_ended(&self, count: usize, deadline: Duration) -> Result<Vec<Connection>, Vec<Connection>> {
        let ended = |all: &[Connection]| all.iter().filter(|one| one.end.is_some()).count();
        self.wait_until(deadline, |connections| ended(connections) >= count)
    }

    /// Waits until `count` connections have brought a whole head, and gives all there are.
    ///
    /// Errors: those so far, when that takes longer than `deadline`.
    pub fn wait_for_heads(&self, count: usize, deadline: Duration) -> Result<Vec<Connection>, Vec<Connection>> {
        let heads = |all: &[Connection]| all.iter().filter(|one| head_end(&one.received).is_some()).count();
        self.wait_until(deadline, |connections| heads(connections) >= count)
    }

    fn wait_until(
        &self,
        deadline: Duration,
        holds: impl Fn(&[Connection]) -> bool,
    ) -> Result<Vec<Connection>, Vec<Connection>> {
        let until = Instant::now() + deadline;
        let mut connections = self.transcript.lock();
        while !holds(&connections) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(connections.clone());
            }
            connections = match self.transcript.changed.wait_timeout(connections, left) {
                Ok((connections, _)) => connections,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        Ok(connections.clone())
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The connections of one backend, shared between its thread and its handle.
#[derive(Debug, Default)]
struct Transcript {
    connections: Mutex<Vec<Connection>>,
    changed: Condvar,
}

impl Transcript {
    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn edit(&self, index: usize, change: impl FnOnce(&mut Connection)) {
        if let Some(connection) = self.lock().get_mut(index) {
            change(connection);
        }
        self.changed.notify_all();
    }
}
