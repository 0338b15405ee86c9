//! Listeners on several threads, and how they are stopped.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::deadlines::Deadlines;

/// Bytes one read takes at most; all connections of a thread read into the same buffer.
pub(crate) const READ_BYTES: usize = 128 * 1024;

/// The buffer all connections of a thread read into, one after another.
pub(crate) type ReadBuffer = Rc<RefCell<Box<[u8]>>>;

/// A new read buffer, for one thread.
pub(crate) fn read_buffer() -> ReadBuffer {
    Rc::new(RefCell::new(vec![0; READ_BYTES].into_boxed_slice()))
}

/// A running service; dropping the handle stops it as [`Handle::stop`] does.
#[derive(Debug)]
pub struct Handle {
    /// Where it listens; with port 0 asked for, the port that was found.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Handle {
    /// Closes the listeners and all connections, and waits for the threads to end.
    pub fn stop(mut self) {
        self.end();
    }

    /// Waits until the service ends, which it does only when its threads fail.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so on its own; there is nothing to add.
            let _ = thread.join();
        }
    }

    fn end(&mut self) {
        // Without receivers all threads have ended already.
        let _ = self.stop.send(true);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the connections of one thread share.
pub(crate) trait PerThread: 'static {
    /// The deadlines of these connections.
    fn deadlines(&self) -> &Deadlines;
}

/// Runs `serve` for every connection that comes in at `address`, on `threads` threads with a listener each.
///
/// `state` makes what the connections of one thread share; its deadlines are swept as long as the thread lives.
/// Errors: the address cannot be had, or a thread cannot start; the caller's.
pub(crate) fn start<State, Serving>(
    name: &str,
    address: SocketAddr,
    threads: usize,
    state: impl Fn() -> State + Clone + Send + 'static,
    serve: fn(TcpStream, Rc<State>) -> Serving,
) -> io::Result<Handle>
where
    State: PerThread,
    Serving: Future<Output = ()> + 'static,
{
    let (stop, stopped) = watch::channel(false);
    let mut handle = Handle { address, stop, threads: Vec::new() };
    if threads > 1 && address.port() != 0 {
        // A port that may be shared is shared with strangers too; only without sharing is a taken one an error.
        drop(listen(address, false)?);
    }
    for index in 0..threads.max(1) {
        // The first listener finds the port, the others share it.
        let listener = listen(handle.address, threads > 1)?;
        handle.address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (state, mut stopped) = (state.clone(), stopped.clone());
        let thread = std::thread::Builder::new().name(format!("{name}-{index}")).spawn(move || {
            let state = Rc::new(state());
            let local = LocalSet::new();
            let swept = state.clone();
            local.spawn_local(async move { swept.deadlines().sweep_forever().await });
            local.block_on(&runtime, async {
                tokio::select! {
                    () = accept(listener, state, serve) => {}
                    _ = stopped.wait_for(|stop| *stop) => {}
                }
            });
        })?;
        handle.threads.push(thread);
    }
    Ok(handle)
}

/// Accepts until the listener itself breaks.
async fn accept<State, Serving>(
    listener: std::net::TcpListener,
    state: Rc<State>,
    serve: fn(TcpStream, Rc<State>) -> Serving,
) where
    State: 'static,
    Serving: Future<Output = ()> + 'static,
{
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A connection whose options cannot be set is gone already.
                if stream.set_nodelay(true).is_ok() {
                    tokio::task::spawn_local(serve(stream, state.clone()));
                }
            }
            // Out of files or memory: accepting again at once would only spin.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

fn listen(address: SocketAddr, shared: bool) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    Ok(socket.into())
}
