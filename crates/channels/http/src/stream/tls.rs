//! A socket with TLS behind its handshake: as few system calls as a plain one.
//!
//! rustls asks for 4 KiB at a time, which would be a system call for each quarter of a record. Here one receive takes
//! what the socket has into a buffer of the thread, and rustls gets it from there, while the plaintext of each record
//! leaves for the reader: a connection that waits holds no more than a part of a record.

use std::cell::RefCell;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::{Connection, Writer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The most that is received at once.
const RECEIVED_BYTES: usize = 128 * 1024;
/// The least that is received at once, whatever room the reader has.
const LEAST_BYTES: usize = 4 * 1024;

thread_local! {
    /// What a receive brings, until rustls has it.
    static RECEIVED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A connected socket and its session.
pub(crate) struct Tls {
    socket: TcpStream,
    session: Connection,
    /// Received bytes that rustls has not got yet, because the reader had no room for their plaintext.
    unread: Vec<u8>,
    /// How much the session has decrypted for the reader.
    plaintext_bytes: usize,
    /// Whether the peer has told that nothing more comes behind that.
    peer_has_closed: bool,
    /// What is wrong behind the bytes that were read last.
    error: Option<io::Error>,
    /// Whether the session may have memory for a whole record.
    is_grown: bool,
    /// Whether the peer is told that nothing more comes.
    has_closed: bool,
}

impl Tls {
    pub(crate) fn new(socket: TcpStream, session: Connection) -> Tls {
        let mut tls = Tls {
            socket,
            session,
            unread: Vec::new(),
            plaintext_bytes: 0,
            peer_has_closed: false,
            error: None,
            is_grown: true,
            has_closed: false,
        };
        // The last message of the handshake may have come with the first bytes behind it.
        tls.error = tls.process().err();
        tls
    }

    /// The socket below, for its options.
    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Reads into `out`; 0 is the end that the peer has told.
    ///
    /// Errors: the socket's; `InvalidData` for what is no TLS; `UnexpectedEof` for an end that the peer has not told.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, out: &mut [u8]) -> Poll<io::Result<usize>> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Err(error));
        }
        if out.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut filled = 0;
        let unread = std::mem::take(&mut self.unread);
        let mut decrypted = self.decrypt(cx, &unread, out, &mut filled);
        if filled == 0 && decrypted.is_ok() && !self.has_ended() {
            decrypted = ready!(self.poll_receive(cx, out, &mut filled));
        }
        match decrypted {
            Err(error) if filled == 0 => Poll::Ready(Err(error)),
            decrypted => {
                self.error = decrypted.err();
                Poll::Ready(Ok(filled))
            }
        }
    }

    /// Whether nothing is there for the reader and nothing comes.
    fn has_ended(&self) -> bool {
        self.peer_has_closed && self.plaintext_bytes == 0
    }

    /// Receives until something is there for the reader, or the stream has ended.
    fn poll_receive(&mut self, cx: &mut Context<'_>, out: &mut [u8], filled: &mut usize) -> Poll<io::Result<()>> {
        RECEIVED.with_borrow_mut(|received| {
            received.resize(RECEIVED_BYTES, 0);
            let room = out.len().clamp(LEAST_BYTES, RECEIVED_BYTES);
            loop {
                let mut buffer = ReadBuf::new(&mut received[..room]);
                if Pin::new(&mut self.socket).poll_read(cx, &mut buffer)?.is_pending() {
                    self.shrink();
                    return Poll::Pending;
                }
                if buffer.filled().is_empty() {
                    return Poll::Ready(Err(ErrorKind::UnexpectedEof.into()));
                }
                let decrypted = self.decrypt(cx, buffer.filled(), out, filled);
                if decrypted.is_err() || *filled > 0 || self.has_ended() {
                    return Poll::Ready(decrypted);
                }
            }
        })
    }

    /// Decrypts into `out` behind what is filled, and keeps what it has no room for.
    fn decrypt(
        &mut self,
        cx: &mut Context<'_>,
        mut bytes: &[u8],
        out: &mut [u8],
        filled: &mut usize,
    ) -> io::Result<()> {
        self.is_grown |= bytes.len() > LEAST_BYTES;
        loop {
            while self.plaintext_bytes > 0 && *filled < out.len() {
                let length = self.session.reader().read(&mut out[*filled..])?;
                self.plaintext_bytes = if length == 0 { 0 } else { self.plaintext_bytes.saturating_sub(length) };
                *filled += length;
            }
            // Behind the end comes nothing that counts.
            if bytes.is_empty() || self.peer_has_closed {
                return Ok(());
            }
            if *filled == out.len() {
                self.unread = bytes.to_vec();
                return Ok(());
            }
            self.session.read_tls(&mut bytes)?;
            if let Err(error) = self.process() {
                // The peer is told why, if it takes that at once.
                let _ = self.poll_send(cx);
                return Err(error);
            }
        }
    }

    /// Has the session look at what it was given.
    fn process(&mut self) -> io::Result<()> {
        let state = self.session.process_new_packets();
        let state = state.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        (self.plaintext_bytes, self.peer_has_closed) = (state.plaintext_bytes_to_read(), state.peer_has_closed());
        Ok(())
    }

    /// Has the session give back what it needed for whole records.
    fn shrink(&mut self) {
        if std::mem::take(&mut self.is_grown) {
            // It looks to its memory before it reads.
            let _ = self.session.read_tls(&mut Nothing);
        }
    }

    /// Encrypts and sends; what the socket does not take at once leaves with the next call, or with a flush.
    ///
    /// Shape: how many bytes are encrypted; those of all slices leave together.
    pub(crate) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if slices.iter().all(|slice| slice.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        self.poll_write_with(cx, |writer| writer.write_vectored(slices))
    }

    /// As [`poll_write_vectored`](Tls::poll_write_vectored), of bytes that lie together.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.poll_write_with(cx, |writer| writer.write(bytes))
    }

    fn poll_write_with(
        &mut self,
        cx: &mut Context<'_>,
        write: impl Fn(&mut Writer<'_>) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let length = write(&mut self.session.writer())?;
            let sent = self.poll_send(cx)?;
            if length > 0 {
                return Poll::Ready(Ok(length));
            }
            // There was no room for more.
            ready!(sent);
        }
    }

    /// Sends what is encrypted.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send(cx)
    }

    /// Tells the peer that nothing more comes, and ends the sending side.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !std::mem::replace(&mut self.has_closed, true) {
            self.session.send_close_notify();
        }
        ready!(self.poll_send(cx))?;
        match ready!(Pin::new(&mut self.socket).poll_shutdown(cx)) {
            // The peer was faster.
            Err(error) if error.kind() == ErrorKind::NotConnected => Poll::Ready(Ok(())),
            ended => Poll::Ready(ended),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.session.wants_write() {
            match self.session.write_tls(&mut Socket { socket: &mut self.socket, cx }) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A socket as rustls wants it: what would have to wait is an error.
struct Socket<'a, 'b> {
    socket: &'a mut TcpStream,
    cx: &'a mut Context<'b>,
}

impl Write for Socket<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        at_once(Pin::new(&mut *self.socket).poll_write(self.cx, bytes))
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        at_once(Pin::new(&mut *self.socket).poll_write_vectored(self.cx, slices))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn at_once(written: Poll<io::Result<usize>>) -> io::Result<usize> {
    match written {
        Poll::Ready(written) => written,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}

/// Nothing to read yet.
struct Nothing;

impl Read for Nothing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::WouldBlock.into())
    }
}

#[cfg(test)]
mod tests;
