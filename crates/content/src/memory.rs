//! The memory of documents that are dropped, kept for the next documents of the same thread.

use std::cell::RefCell;

use myelin_xml::{Arena, Document};

/// A thread keeps so much memory; the rest is freed.
const KEPT_BYTES: usize = 8 << 20;

/// As many trees as one request mostly has at once: those of the branches that an `aggregate` gathers, say.
const KEPT: usize = 16;

thread_local! {
    static ARENAS: RefCell<Vec<Arena>> = const { RefCell::new(Vec::new()) };
}

/// Takes memory for a document. It knows the names of the document that it held before.
pub fn take() -> Arena {
    ARENAS.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps the memory of a document that nobody needs.
pub fn keep(document: Document) {
    // Of one that was taken out, or that nobody has filled, there is nothing to keep.
    if document.node_count() > 1 {
        keep_arena(document.into_arena());
    }
}

/// Keeps the memory of a document whose source was taken out.
pub fn keep_arena(arena: Arena) {
    // A tree may outlive what its thread keeps.
    let _ = ARENAS.try_with(|arenas| {
        let mut arenas = arenas.borrow_mut();
        let held: usize = arenas.iter().map(Arena::size_bytes).sum();
        if arenas.len() < KEPT && held + arena.size_bytes() <= KEPT_BYTES {
            arenas.push(arena);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(elements: usize) -> Document {
        Document::parse(format!("<a>{}</a>", "<b/>".repeat(elements)).into_bytes(), &Default::default()).unwrap()
    }

    #[test]
    fn so_much_memory_is_kept_and_no_more() {
        (0..2 * KEPT).for_each(|_| keep(document(1)));
        assert!((0..KEPT).all(|_| take().size_bytes() > 0));
        assert_eq!(take().size_bytes(), 0);
        keep(document(KEPT_BYTES / 40));
        assert_eq!(take().size_bytes(), 0);
        keep(Document::new());
        assert_eq!(take().size_bytes(), 0);
    }
}
