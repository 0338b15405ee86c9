//! One socket, plain or TLS: the same connection code serves both.

mod tls;

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use crate::wire_log;
pub(crate) use tls::Tls;

/// A connected socket.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<Tls>),
}

impl Stream {
    /// Reads into `buffer`; 0 is the end of the stream.
    ///
    /// A read shorter than the buffer tells tokio that the socket is drained, which spares the read that finds nothing.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = match self {
            Stream::Plain(stream) => {
                let mut buffer = ReadBuf::new(buffer);
                Pin::new(stream).poll_read(cx, &mut buffer).map_ok(|()| buffer.filled().len())
            }
            Stream::Tls(stream) => stream.poll_read(cx, buffer),
        };
        if let Poll::Ready(Ok(length)) = read
            && wire_log::shows_bytes()
        {
            wire_log::bytes("from", self, &buffer[..length]);
        }
        read
    }

    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match self {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => stream.poll_write(cx, bytes),
        };
        if let Poll::Ready(Ok(length)) = written
            && wire_log::shows_bytes()
        {
            wire_log::bytes("to", self, &bytes[..length]);
        }
        written
    }

    /// The address of the other side, for the log.
    pub(crate) fn peer(&self) -> String {
        self.socket().peer_addr().map_or_else(|_| "gone".to_owned(), |peer| peer.to_string())
    }

    pub(crate) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match self {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Stream::Tls(stream) => stream.poll_write_vectored(cx, slices),
        };
        if let Poll::Ready(Ok(length)) = written
            && wire_log::shows_bytes()
        {
            wire_log::slices(self, slices, length);
        }
        written
    }

    /// Sends what TLS still holds; a plain socket holds nothing.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(stream) => stream.poll_flush(cx),
        }
    }

    /// Ends the sending side: FIN, with TLS a close_notify before it.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => stream.poll_shutdown(cx),
        }
    }

    /// Whether the peer is known to have closed its sending side; what it sent before may still be unread.
    ///
    /// It costs no system call: the driver has heard of it by the last look at the sockets.
    pub(crate) fn has_peer_closed(&self) -> bool {
        let ready = pin!(self.socket().ready(Interest::READABLE));
        let polled = ready.poll(&mut Context::from_waker(Waker::noop()));
        matches!(polled, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    /// Whether the connection stands and nothing has come on it, as far as the driver has heard.
    pub(crate) fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        match self {
            Stream::Plain(stream) => {
                stream.try_read(&mut byte).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
            }
            Stream::Tls(_) => self.poll_read(&mut Context::from_waker(Waker::noop()), &mut byte).is_pending(),
        }
    }

    /// The socket below, for its options.
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.socket(),
        }
    }

    /// The socket itself, where bytes on it are the message's own and nobody looks at them: splice works on these only.
    pub(crate) fn plain(&self) -> Option<&TcpStream> {
        match self {
            Stream::Plain(stream) => (!wire_log::shows_bytes()).then_some(stream),
            Stream::Tls(_) => None,
        }
    }
}
