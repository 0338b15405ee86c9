//! `myelin relay`: copies bytes between two TCP connections and looks at none of them.
//!
//! This is the least that anything standing between a client and a backend can cost, and so the floor a bus is
//! measured against: one receive and one send per message and direction, one backend connection per client.

use std::future::poll_fn;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::deadlines::{Deadline, Deadlines};
use crate::listening::{self, Handle, PerThread, ReadBuffer};

/// A pair on which nothing moves for so long is closed.
const IDLE: Duration = Duration::from_secs(600);
/// The backend has so long to accept.
const CONNECT: Duration = Duration::from_secs(10);

/// The arguments of `myelin relay`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Where to listen; port 0 finds a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9100")]
    pub listen: SocketAddr,
    /// Where to connect to
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9000")]
    pub to: SocketAddr,
    /// Threads to serve with
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub threads: usize,
}

/// What the pairs of one thread share.
struct Shared {
    to: SocketAddr,
    buffer: ReadBuffer,
    deadlines: Deadlines,
}

impl PerThread for Shared {
    fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }
}

/// Starts the relay on threads of its own.
///
/// Errors: the address cannot be had, or a thread cannot start; the caller's.
pub fn start(listen: SocketAddr, to: SocketAddr, threads: usize) -> anyhow::Result<Handle> {
    let shared = move || Shared { to, buffer: listening::read_buffer(), deadlines: Deadlines::default() };
    Ok(listening::start("relay", listen, threads, shared, serve)?)
}

/// Runs `myelin relay` until the process is ended.
///
/// Writes one line, `relay ready on ADDRESS`, when connections are accepted.
/// Errors: as [`start`], or `out` cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let handle = start(arguments.listen, arguments.to, arguments.threads)?;
    writeln!(out, "relay ready on {}", handle.address)?;
    out.flush()?;
    handle.wait();
    Ok(ExitCode::SUCCESS)
}

async fn serve(client: TcpStream, shared: Rc<Shared>) {
    let Ok(Ok(backend)) = tokio::time::timeout(CONNECT, TcpStream::connect(shared.to)).await else { return };
    if backend.set_nodelay(true).is_err() {
        return;
    }
    let mut pair = Pair {
        client,
        backend,
        up: Direction::default(),
        down: Direction::default(),
        deadline: shared.deadlines.register(),
    };
    // A broken pair is closed; there is nobody to tell.
    let _ = poll_fn(|context| pair.poll(context, &shared.buffer)).await;
}

struct Pair {
    client: TcpStream,
    backend: TcpStream,
    up: Direction,
    down: Direction,
    deadline: Deadline,
}

/// One way through the relay.
#[derive(Default)]
struct Direction {
    /// What the receiver has not taken yet; nothing more is read until it is gone.
    pending: Vec<u8>,
    sent: usize,
    /// The sender has closed its side.
    ended: bool,
    /// And so the receiver has been told.
    finished: bool,
}

impl Pair {
    fn poll(&mut self, context: &mut Context<'_>, buffer: &ReadBuffer) -> Poll<io::Result<()>> {
        let up = self.up.poll(context, &mut self.client, &mut self.backend, buffer)?;
        let down = self.down.poll(context, &mut self.backend, &mut self.client, buffer)?;
        if up.is_ready() && down.is_ready() {
            return Poll::Ready(Ok(()));
        }
        if self.deadline.poll_expired(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.deadline.arm(IDLE);
        Poll::Pending
    }
}

impl Direction {
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        from: &mut TcpStream,
        to: &mut TcpStream,
        buffer: &ReadBuffer,
    ) -> Poll<io::Result<()>> {
        loop {
            while self.sent < self.pending.len() {
                match Pin::new(&mut *to).poll_write(context, &self.pending[self.sent..])? {
                    Poll::Ready(count) => self.sent += count,
                    Poll::Pending => return Poll::Pending,
                }
            }
            if self.finished {
                return Poll::Ready(Ok(()));
            }
            if self.ended {
                if Pin::new(&mut *to).poll_shutdown(context)?.is_pending() {
                    return Poll::Pending;
                }
                self.finished = true;
                continue;
            }
            let mut buffer = buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            if Pin::new(&mut *from).poll_read(context, &mut read)?.is_pending() {
                return Poll::Pending;
            }
            let bytes = read.filled();
            self.ended = bytes.is_empty();
            let sent = match Pin::new(&mut *to).poll_write(context, bytes)? {
                Poll::Ready(count) => count,
                Poll::Pending => 0,
            };
            self.pending.clear();
            self.pending.extend_from_slice(&bytes[sent..]);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::time::Duration;

    use myelin_testkit::eventually;

    use crate::echo;

    const WAIT: Option<Duration> = Some(Duration::from_secs(10));

    #[test]
    fn bytes_go_both_ways_and_closing_one_side_leaves_the_other_open() {
        let backend = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = super::start("127.0.0.1:0".parse().unwrap(), backend.local_addr().unwrap(), 1).unwrap();
        let mut client = TcpStream::connect(relay.address).unwrap();
        client.set_read_timeout(WAIT).unwrap();
        let sender = std::thread::spawn({
            let mut client = client.try_clone().unwrap();
            move || {
                client.write_all(&[b'x'; 3_000_000]).unwrap();
                client.shutdown(Shutdown::Write).unwrap();
            }
        });
        let (mut served, _) = backend.accept().unwrap();
        served.set_read_timeout(WAIT).unwrap();
        let mut received = Vec::new();
        served.read_to_end(&mut received).unwrap();
        sender.join().unwrap();
        assert_eq!(received.len(), 3_000_000);
        served.write_all(b"answer").unwrap();
        drop(served);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "answer");
        relay.stop();
    }

    #[test]
    fn a_stopped_relay_closes_its_connections() {
        let echo = echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap();
        let relay = super::start("127.0.0.1:0".parse().unwrap(), echo.address, 2).unwrap();
        let mut client = TcpStream::connect(relay.address).unwrap();
        client.set_read_timeout(WAIT).unwrap();
        client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut start = [0; 15];
        client.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200 OK");
        relay.stop();
        assert!(client.read_to_end(&mut Vec::new()).is_ok());
        eventually("nobody listens any more", || TcpStream::connect(client.peer_addr().unwrap()).is_err());
    }
}
