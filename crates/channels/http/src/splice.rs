//! Moves large bodies from socket to socket inside the kernel.
//!
//! It pays for a known remainder of 256 KiB or more on plain connections (DESIGN.md §2).

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// The smallest remainder worth a pipe.
pub(crate) const LEAST_BYTES: u64 = 256 * 1024;
/// What the pipe holds, where the kernel grants it: fewer calls a megabyte than its usual 64 KiB.
const PIPE_BYTES: usize = 1024 * 1024;
const SPARE_PIPES: usize = 8;

thread_local! {
    static SPARE: RefCell<Vec<Pipe>> = const { RefCell::new(Vec::new()) };
}

struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
    bytes: usize,
}

/// A transfer of a known number of bytes.
pub(crate) struct Splice {
    /// `None` only after the transfer ended.
    pipe: Option<Pipe>,
    in_pipe: usize,
}

impl Splice {
    /// A transfer, or `None` where the process has no file descriptors left for one: the copying relay needs none.
    pub(crate) fn new() -> Option<Splice> {
        let pipe = SPARE.with(|spare| spare.borrow_mut().pop()).or_else(|| {
            let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
            // Over the user's quota for pipe pages the kernel refuses, and the pipe keeps its usual size.
            let bytes = fcntl_setpipe_size(&write, PIPE_BYTES).unwrap_or(64 * 1024);
            Some(Pipe { read, write, bytes })
        });
        pipe.map(|pipe| Splice { pipe: Some(pipe), in_pipe: 0 })
    }

    /// Whether everything taken from the source has reached the target.
    pub(crate) fn is_empty(&self) -> bool {
        self.in_pipe == 0
    }

    /// Takes up to `remaining` bytes from the source; 0 is the end of the stream.
    pub(crate) fn poll_in(
        &mut self,
        cx: &mut Context<'_>,
        from: &TcpStream,
        remaining: u64,
    ) -> Poll<io::Result<usize>> {
        let Some(pipe) = &self.pipe else { return Poll::Ready(Ok(0)) };
        let most = usize::try_from(remaining).unwrap_or(usize::MAX).min(pipe.bytes);
        loop {
            ready!(from.poll_read_ready(cx))?;
            let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
            match from.try_io(Interest::READABLE, || Ok(splice(from, None, &pipe.write, None, most, flags)?)) {
                Ok(moved) => {
                    self.in_pipe = moved;
                    return Poll::Ready(Ok(moved));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Sends what was taken, as far as the target takes it; gives how much that was.
    pub(crate) fn poll_out(&mut self, cx: &mut Context<'_>, to: &TcpStream) -> Poll<io::Result<usize>> {
        let Some(pipe) = &self.pipe else { return Poll::Ready(Ok(0)) };
        loop {
            ready!(to.poll_write_ready(cx))?;
            let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
            match to.try_io(Interest::WRITABLE, || Ok(splice(&pipe.read, None, to, None, self.in_pipe, flags)?)) {
                Ok(moved) => {
                    self.in_pipe -= moved;
                    return Poll::Ready(Ok(moved));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Gives up: hands out what was taken and not sent, and leaves the rest to the source.
    pub(crate) fn take_out(&mut self, give: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let mut buffer = vec![0; self.in_pipe.min(64 * 1024)];
        while self.in_pipe > 0 {
            let length = rustix::io::read(&pipe.read, &mut buffer)?;
            give(&buffer[..length]);
            self.in_pipe =
                self.in_pipe.checked_sub(length).filter(|_| length > 0).ok_or(io::ErrorKind::UnexpectedEof)?;
        }
        Ok(())
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        // A pipe with bytes left in it would give them to the next message.
        if self.in_pipe == 0
            && let Some(pipe) = self.pipe.take()
        {
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < SPARE_PIPES {
                    spare.push(pipe);
                }
            });
        }
    }
}
