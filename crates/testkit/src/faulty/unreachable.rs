//! A backend that cannot be reached; where connecting is to be refused, a [free port](crate::port::free) does it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use tokio::net::{TcpSocket, TcpStream};

/// A listener that accepts nothing and whose queue is full: connecting takes until the connector gives up.
#[derive(Debug)]
pub struct NeverAccepts {
    address: SocketAddr,
    _held: (TcpListener, Vec<TcpStream>),
    _runtime: tokio::runtime::Runtime,
}

impl NeverAccepts {
    /// Listens on a free port of 127.0.0.1 and fills its own queue.
    ///
    /// Errors: when the sockets cannot be had, or the queue does not fill, as on kernels other than Linux.
    pub fn start() -> io::Result<NeverAccepts> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (address, listener, queue) = runtime.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            let listener = socket.listen(1)?.into_std()?;
            let address = listener.local_addr()?;
            let mut queue = Vec::new();
            // Linux completes one or two connections more than the queue's length, then leaves SYNs unanswered.
            for _ in 0..16 {
                match tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
                    Ok(stream) => queue.push(stream?),
                    Err(_) => return Ok((address, listener, queue)),
                }
            }
            Err(io::Error::other("the queue of the listener does not fill"))
        })?;
        Ok(NeverAccepts { address, _held: (listener, queue), _runtime: runtime })
    }

    /// Where it does not accept.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
