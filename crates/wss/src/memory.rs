//! Memory of messages that are done, kept for the next messages of the same thread.
//!
//! The C library gives large blocks back to the kernel, page by page, and the next message would ask for each again.

use std::cell::RefCell;

use myelin_xml::{Arena, Document};

/// A thread keeps no larger buffer, and no larger tree.
const KEPT_BYTES: usize = 1 << 20;

/// Less is no work for the C library.
const LEAST_BYTES: usize = 16 << 10;

/// As many buffers as a message needs at once: two for what is encrypted, one for the whole.
const KEPT_BUFFERS: usize = 3;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static ARENA: RefCell<Option<Arena>> = const { RefCell::new(None) };
}

/// An empty buffer with room for so many bytes.
pub(crate) fn buffer(bytes: usize) -> Vec<u8> {
    if bytes < LEAST_BYTES {
        return Vec::with_capacity(bytes);
    }
    let kept = BUFFERS.try_with(|buffers| {
        let mut buffers = buffers.borrow_mut();
        // The smallest that is large enough, so that large ones are there when they are needed. A message counts as
        // large as what is in it, so a far larger buffer would be memory that nobody counts.
        let fits = |buffer: &Vec<u8>| (bytes..=bytes.saturating_mul(4)).contains(&buffer.capacity());
        let all = buffers.iter().enumerate().filter(|(_, buffer)| fits(buffer));
        let place = all.min_by_key(|(_, buffer)| buffer.capacity()).map(|(place, _)| place);
        place.map(|place| buffers.swap_remove(place))
    });
    kept.ok().flatten().unwrap_or_else(|| Vec::with_capacity(bytes))
}

/// Keeps the memory of a buffer.
pub(crate) fn keep_buffer(mut buffer: Vec<u8>) {
    if !(LEAST_BYTES..=KEPT_BYTES).contains(&buffer.capacity()) {
        return;
    }
    buffer.clear();
    // A thread that ends keeps nothing any more.
    let _ = BUFFERS.try_with(|buffers| {
        let mut buffers = buffers.borrow_mut();
        buffers.push(buffer);
        if buffers.len() > KEPT_BUFFERS {
            // Whoever sends larger messages now needs the larger ones.
            let smallest = buffers.iter().enumerate().min_by_key(|(_, buffer)| buffer.capacity());
            if let Some((place, _)) = smallest {
                buffers.swap_remove(place);
            }
        }
    });
}

/// The memory of a tree.
pub(crate) fn arena() -> Arena {
    ARENA.try_with(RefCell::take).ok().flatten().unwrap_or_default()
}

/// Keeps the memory of a document that nobody needs: that of its source and, unless the caller has use for it, of its
/// tree.
pub(crate) fn keep(document: Document) {
    let arena = keep_source(document);
    if arena.size_bytes() <= KEPT_BYTES {
        let _ = ARENA.try_with(|kept| kept.replace(Some(arena)));
    }
}

/// Keeps the memory of a document's source, and gives that of its tree back.
pub(crate) fn keep_source(document: Document) -> Arena {
    let (source, arena) = document.into_parts();
    keep_buffer(source);
    arena
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_buffers_are_kept_within_a_bound() {
        for kilobytes in [8, 32, 256, 128, 64, 2 << 10] {
            keep_buffer(Vec::with_capacity(kilobytes << 10));
        }
        assert_eq!(BUFFERS.with_borrow(Vec::len), KEPT_BUFFERS);
        assert_eq!([96 << 10; 3].map(|bytes| buffer(bytes).capacity() >> 10), [128, 256, 96]);
    }

    #[test]
    fn a_kept_buffer_holds_nothing() {
        keep_buffer(b"secret".repeat(10_000));
        let again = buffer(60_000);
        assert!(again.is_empty() && again.capacity() >= 60_000);
    }
}
