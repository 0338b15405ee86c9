//! One connection, to a client or to a backend: socket, unread bytes, and how far its current message has been read.

mod reading;

use std::cell::{Ref, RefCell, RefMut};
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use myelin_message::Version;

use crate::ahead::Ahead;
use crate::buffer::{Charge, Input};
use crate::h1::{Decoder, Framing, FramingError, HeadScanner, Piece, Refusal, ScanError};
use crate::pacer::Pacer;
use crate::pool::{Permit, Pooled};
use crate::stream::Stream;
use crate::timer::{Tick, Timer};

/// A connection as its task and the bodies read from it share it. Borrowed for the length of one poll only.
pub(crate) type Shared = Rc<Link>;

/// The cell in which a connection is shared: a body handle is one of these behind `dyn Source`.
pub(crate) struct Link(RefCell<Connection>);

impl Link {
    pub(crate) fn new(connection: Connection) -> Link {
        Link(RefCell::new(connection))
    }

    #[inline]
    pub(crate) fn borrow(&self) -> Ref<'_, Connection> {
        self.0.borrow()
    }

    #[inline]
    pub(crate) fn borrow_mut(&self) -> RefMut<'_, Connection> {
        self.0.borrow_mut()
    }
}

impl Pooled for Link {
    fn is_quiet(&self) -> bool {
        self.borrow_mut().is_quiet()
    }
}

pub(crate) struct Connection {
    pub(crate) stream: Stream,
    pub(crate) input: Input,
    /// How the message being read is delimited, and how far it has been read.
    pub(crate) framing: Framing,
    pub(crate) decoder: Decoder,
    /// How much came of the body of the message that ended last, as long as no other has begun.
    received_bytes: u64,
    /// Bytes at the front of `input` that the decoder has passed and that still have to be sent.
    /// Whoever ends a relay early leaves them here, and the next reader of this connection steps over them first.
    pub(crate) passed: usize,
    /// Part of a head was written and the rest never will be: nothing may follow it.
    pub(crate) severed: bool,
    /// Counts messages; a body handle carries the number of its own.
    pub(crate) ticket: u64,
    pub(crate) timer: Timer,
    /// When bytes last came in for the message being read.
    pub(crate) last_read: Tick,
    /// How long they may stay away.
    pub(crate) idle: Duration,
    pub(crate) side: Side,
    /// How far somebody has looked into the body without reading it, where more bytes have to come before they know.
    pub(crate) ahead: Option<Box<Ahead>>,
    charge: Charge,
}

/// What only one of the two sides has.
pub(crate) enum Side {
    Client {
        /// The client sent `Expect: 100-continue` and has heard nothing yet.
        awaits_continue: bool,
        version: Version,
        /// The largest body it may send.
        body_bytes: Option<u64>,
        /// How slowly it may send a body that a mediator reads.
        pacer: Pacer,
    },
    Backend {
        /// The rest of a request whose response has begun.
        upload: Option<Box<dyn PendingUpload>>,
        /// Whether the current response leaves the connection open.
        keep_alive: bool,
        permit: Permit<Link>,
        this: Weak<Link>,
    },
}

/// The rest of a request, on its way to the backend while the response is already read.
pub(crate) trait PendingUpload {
    /// Sends more of it; `false` where it broke off.
    fn poll(&mut self, cx: &mut Context<'_>, to: &mut Connection) -> Poll<bool>;
}

/// Why no head can be had from a connection.
#[derive(Debug)]
pub(crate) enum HeadError {
    /// The stream ended; `true` when part of a head had come.
    Ended(bool),
    Io(io::Error),
    Scan(ScanError),
    /// An empty line stands in its place.
    Blank,
    Refused(Refusal),
}

/// An interim answer that lets a waiting client go on.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Connection {
    pub(crate) fn new(stream: Stream, idle: Duration, side: Side) -> Connection {
        Connection {
            stream,
            input: Input::default(),
            framing: Framing::Empty,
            decoder: Decoder::new(Framing::Empty),
            received_bytes: 0,
            passed: 0,
            severed: false,
            ticket: 0,
            timer: Timer::new(),
            last_read: Tick::now(),
            idle,
            side,
            ahead: None,
            charge: Charge::default(),
        }
    }

    /// Waits for a complete head and takes it out of `input`; `read` reads it, and tells its length.
    pub(crate) fn poll_head<T>(
        &mut self,
        cx: &mut Context<'_>,
        scanner: &mut HeadScanner,
        limit_bytes: usize,
        read: impl Fn(&[u8]) -> Result<(T, usize), Refusal>,
    ) -> Poll<Result<T, HeadError>> {
        loop {
            if !self.input.is_empty() {
                // Most heads come at once and are sound, and need no search for their end before they are read.
                if scanner.is_new()
                    && let Ok((head, length)) = read(self.input.bytes())
                    && length <= limit_bytes
                {
                    self.input.consume(length);
                    return Poll::Ready(Ok(head));
                }
                match scanner.scan(self.input.bytes(), limit_bytes) {
                    Ok(Some(2)) => return Poll::Ready(Err(HeadError::Blank)),
                    Ok(Some(length)) => {
                        let head = read(&self.input.bytes()[..length]).map_err(HeadError::Refused);
                        self.input.consume(length);
                        return Poll::Ready(head.map(|(head, _)| head));
                    }
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(Err(HeadError::Scan(error))),
                }
            }
            match self.input.poll_fill(&mut self.stream, cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(HeadError::Ended(!self.input.is_empty()))),
                Poll::Ready(Ok(_)) => self.last_read = Tick::now(),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(HeadError::Io(error))),
                Poll::Pending => {
                    self.input.compact();
                    return Poll::Pending;
                }
            }
        }
    }

    /// Steps over what the decoder has passed and nobody will send any more.
    pub(crate) fn drop_passed(&mut self) {
        self.input.consume(std::mem::take(&mut self.passed));
    }

    /// Steps over what is at hand of the body; gives how many bytes at the front of `input` go on.
    ///
    /// Trailers that must not go on are cut out of the input.
    /// Errors: the sender's.
    pub(crate) fn pass(&mut self) -> Result<usize, FramingError> {
        let mut passed = 0;
        while let Some(piece) = self.decoder.next(&self.input.bytes()[passed..])? {
            match piece {
                Piece::Data(length) | Piece::Framing(length) => passed += length,
                Piece::Dropped(length) => self.input.cut(passed, length),
            }
        }
        Ok(passed)
    }

    /// Begins the body behind a head that was just read.
    pub(crate) fn begin_body(&mut self, framing: Framing) {
        self.ticket += 1;
        self.received_bytes = 0;
        self.framing = framing;
        self.decoder = match self.side {
            Side::Client { body_bytes: Some(limit_bytes), .. } => Decoder::new(framing).limit(limit_bytes),
            _ => Decoder::new(framing),
        };
        self.last_read = Tick::now();
        if let Side::Client { pacer, .. } = &mut self.side {
            pacer.reset();
        }
        self.ahead = None;
        self.charge.set(0);
    }

    /// How much has come of the body of the message being read, or of the one that was read last.
    pub(crate) fn received_body_bytes(&self) -> u64 {
        match self.framing {
            Framing::Empty => self.received_bytes,
            Framing::Length(length) => length.saturating_sub(self.decoder.remaining().unwrap_or(0)),
            _ => self.decoder.data_bytes(),
        }
    }

    /// Ends the message: handles of its body read as gone, and memory charged for it is free again.
    pub(crate) fn end_message(&mut self) {
        self.received_bytes = self.received_body_bytes();
        self.drop_passed();
        self.ticket += 1;
        self.framing = Framing::Empty;
        self.decoder = Decoder::new(Framing::Empty);
        self.ahead = None;
        self.charge.set(0);
    }

    /// Whether an unused connection still stands: nothing may come before it is asked something.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.input.is_empty() && self.stream.is_quiet()
    }

    /// Gives a backend connection back to its pool once request and response are through; otherwise it just drops.
    pub(crate) fn retire(&mut self) {
        if !self.decoder.is_done() || self.passed > 0 || !self.input.is_empty() {
            return;
        }
        self.end_message();
        if let Side::Backend { upload: None, keep_alive: true, permit, this } = &mut self.side
            && let Some(this) = this.upgrade()
        {
            permit.give_back(this);
        }
    }

    /// Whether this is a client that waits for `100 Continue` before it sends its body.
    pub(crate) fn awaits_continue(&self) -> bool {
        matches!(self.side, Side::Client { awaits_continue: true, .. })
    }

    /// Whether the rest of a request is still to be sent, though its response has begun.
    pub(crate) fn uploads(&self) -> bool {
        matches!(self.side, Side::Backend { upload: Some(_), .. })
    }

    /// Leaves the rest of a request unsent, and so nothing can follow it on this connection.
    pub(crate) fn end_upload(&mut self) {
        if let Side::Backend { upload, keep_alive, .. } = &mut self.side
            && upload.take().is_some()
        {
            *keep_alive = false;
        }
    }

    /// Sends more of a request whose response is already being read. A failure ends only the upload:
    /// the backend has answered, and its connection is not used again.
    pub(crate) fn poll_upload(&mut self, cx: &mut Context<'_>) {
        let Side::Backend { upload, .. } = &mut self.side else { return };
        let Some(mut pending) = upload.take() else { return };
        match pending.poll(cx, self) {
            Poll::Ready(true) => {}
            Poll::Ready(false) => {
                if let Side::Backend { keep_alive, .. } = &mut self.side {
                    *keep_alive = false;
                }
            }
            Poll::Pending => {
                if let Side::Backend { upload, .. } = &mut self.side {
                    *upload = Some(pending);
                }
            }
        }
    }
}
