//! Read buffers: one large buffer a thread, lent to whoever reads, and a small copy for who has to wait.
//!
//! A connection that is idle, or that waits with nothing unread, holds no buffer at all.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll, ready};

use myelin_message::budget;

use crate::stream::Stream;

/// The size of the large buffer. Against 32 KiB it halves the cost of a 100 KB message (DESIGN.md §2).
pub(crate) const READ_BYTES: usize = 128 * 1024;
/// How much is read at once while memory is short.
const FRUGAL_READ_BYTES: usize = 16 * 1024;
/// Large buffers kept for the next reader; more than one is in use only while tasks hold theirs across a wait.
const SPARE_BUFFERS: usize = 4;

/// A thread reports the memory it keeps to the process each time that has changed by so much.
const COUNTED_STEP_BYTES: usize = 256 * 1024;

thread_local! {
    static SPARE: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
    static KEPT_BYTES: Cell<usize> = const { Cell::new(0) };
    static COUNTED_BYTES: Cell<usize> = const { Cell::new(0) };
    static BUDGET_BYTES: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Sets how many bytes of bodies and half-read messages this thread may keep.
pub(crate) fn set_budget(bytes: usize) {
    BUDGET_BYTES.set(bytes);
}

/// How many bytes of bodies and half-read messages this thread keeps.
pub fn kept_bytes() -> usize {
    KEPT_BYTES.get()
}

/// Whether the thread's memory for bodies is spent.
pub(crate) fn over_budget() -> bool {
    KEPT_BYTES.get() > BUDGET_BYTES.get()
}

/// Whether no more of a body may be kept: by this thread, or by the process.
pub(crate) fn has_no_room() -> bool {
    over_budget() || budget::is_full_of_bodies()
}

/// Tells the process what this thread keeps, in large steps.
fn count(kept: usize) {
    let counted = COUNTED_BYTES.get();
    if kept.abs_diff(counted) >= COUNTED_STEP_BYTES || (kept == 0 && counted > 0) {
        COUNTED_BYTES.set(kept);
        budget::count_bodies(counted, kept);
    }
}

/// Whether so much of it is spent that nobody takes more than need be.
pub(crate) fn is_short() -> bool {
    KEPT_BYTES.get() > BUDGET_BYTES.get() / 2
}

/// Bytes charged to this thread's budget, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Charge(usize);

impl Charge {
    #[inline]
    pub(crate) fn set(&mut self, bytes: usize) {
        if bytes != self.0 {
            let kept = KEPT_BYTES.get() - self.0 + bytes;
            KEPT_BYTES.set(kept);
            self.0 = bytes;
            count(kept);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        // The counters may be gone at thread end.
        let kept = KEPT_BYTES.try_with(|kept| kept.replace(kept.get() - self.0) - self.0);
        if let (Ok(kept), Ok(_)) = (kept, COUNTED_BYTES.try_with(Cell::get)) {
            count(kept);
        }
    }
}

/// A buffer with what was read into it, and how much that is; `None` at the end of the stream.
type Filled = Option<(Box<[u8]>, usize)>;

/// Reads into the large buffer, and gives it away where anything came.
fn read_large(stream: &mut Stream, cx: &mut Context<'_>, most: usize) -> Poll<io::Result<Filled>> {
    SPARE.with_borrow_mut(|spare| {
        if spare.is_empty() {
            spare.push(vec![0; READ_BYTES].into_boxed_slice());
        }
        let Some(large) = spare.last_mut() else { return Poll::Ready(Ok(None)) };
        match ready!(stream.poll_read(cx, &mut large[..most]))? {
            0 => Poll::Ready(Ok(None)),
            length => Poll::Ready(Ok(spare.pop().map(|large| (large, length)))),
        }
    })
}

fn give_back(buffer: Box<[u8]>) {
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        if spare.len() < SPARE_BUFFERS {
            spare.push(buffer);
        }
    });
}

/// What is put together to be sent: a head, and a small body behind it. Its memory is used again.
pub(crate) struct Staging(Vec<u8>);

/// How many are kept by a thread for the next message, and how large.
const SPARE_STAGINGS: usize = 64;
const SPARE_STAGING_BYTES: usize = 8 * 1024;

thread_local! {
    static STAGINGS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

impl Staging {
    /// An empty one with room for that many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Staging {
        let mut staging = STAGINGS.with(|spare| spare.borrow_mut().pop()).unwrap_or_default();
        staging.reserve(bytes);
        Staging(staging)
    }
}

impl Deref for Staging {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Staging {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0);
        if bytes.capacity() > SPARE_STAGING_BYTES {
            return;
        }
        bytes.clear();
        // The list may be gone at thread end.
        let _ = STAGINGS.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_STAGINGS {
                spare.push(bytes);
            }
        });
    }
}

/// What was read from a connection and not yet consumed.
#[derive(Default)]
pub(crate) struct Input {
    storage: Storage,
    start: usize,
    end: usize,
    charge: Charge,
    /// Whether the bytes kept belong to a head: the budget of heads counts those.
    is_head: bool,
}

#[derive(Default)]
enum Storage {
    #[default]
    None,
    /// The thread's large buffer, until everything in it is consumed or the task waits.
    Large(Box<[u8]>),
    /// A copy of what was left when the task had to wait.
    Kept(Vec<u8>),
}

impl Input {
    /// The unconsumed bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.storage {
            Storage::None => &[],
            Storage::Large(buffer) => &buffer[self.start..self.end],
            Storage::Kept(bytes) => &bytes[self.start..self.end],
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Steps over `length` bytes.
    pub(crate) fn consume(&mut self, length: usize) {
        self.start += length;
        debug_assert!(self.start <= self.end, "consumed more than there is");
        if self.start >= self.end {
            self.release();
        }
    }

    /// Takes `length` bytes out, `offset` bytes behind the first.
    pub(crate) fn cut(&mut self, offset: usize, length: usize) {
        let (from, to) = (self.start + offset + length, self.start + offset);
        match &mut self.storage {
            Storage::None => {}
            Storage::Large(buffer) => buffer.copy_within(from..self.end, to),
            Storage::Kept(bytes) => {
                bytes.copy_within(from..self.end, to);
                bytes.truncate(self.end - length);
            }
        }
        self.end -= length;
        self.consume(0);
    }

    /// Reads more bytes behind those at hand; 0 is the end of the stream.
    ///
    /// Errors: the socket's.
    pub(crate) fn poll_fill(&mut self, stream: &mut Stream, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let most = if is_short() { FRUGAL_READ_BYTES } else { READ_BYTES };
        if let Storage::Large(_) = self.storage {
            self.compact();
        }
        let Some((large, length)) = ready!(read_large(stream, cx, most))? else { return Poll::Ready(Ok(0)) };
        match &mut self.storage {
            // Some bytes are waiting for the rest of a head, or for a slow reader: what comes now goes behind them.
            Storage::Kept(kept) => {
                kept.extend_from_slice(&large[..length]);
                self.end = kept.len();
                give_back(large);
                self.count();
            }
            storage => {
                (self.start, self.end) = (0, length);
                *storage = Storage::Large(large);
            }
        }
        Poll::Ready(Ok(length))
    }

    /// Before a wait: gives the large buffer back and keeps a copy of what is left in it.
    pub(crate) fn compact(&mut self) {
        if let Storage::Large(large) = &self.storage {
            let kept = large[self.start..self.end].to_vec();
            let end = kept.len();
            self.release();
            self.storage = Storage::Kept(kept);
            self.end = end;
            self.count();
        }
    }

    /// Says whether what is kept from here on is of a head: then it does not count as memory for bodies.
    pub(crate) fn set_head(&mut self, is_head: bool) {
        self.is_head = is_head;
        self.count();
    }

    /// How many bytes it takes of its own.
    pub(crate) fn kept_bytes(&self) -> usize {
        if let Storage::Kept(kept) = &self.storage { kept.capacity() } else { 0 }
    }

    fn count(&mut self) {
        let bytes = if self.is_head { 0 } else { self.kept_bytes() };
        self.charge.set(bytes);
    }

    fn release(&mut self) {
        if let Storage::Large(large) = std::mem::take(&mut self.storage) {
            give_back(large);
        }
        self.charge.set(0);
        (self.start, self.end) = (0, 0);
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.release();
    }
}
