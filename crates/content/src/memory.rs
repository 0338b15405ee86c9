//! The memory of documents that are dropped, kept for the next documents of the same thread.

use std::cell::{Cell, RefCell};

use myelin_xml::{Arena, Document, Options, Parser};

/// A thread keeps so much memory; the rest is freed.
const KEPT_BYTES: usize = 8 << 20;

/// As many trees as one request mostly has at once: those of the branches that an `aggregate` gathers, say.
const KEPT: usize = 16;

thread_local! {
    static ARENAS: RefCell<Vec<Arena>> = const { RefCell::new(Vec::new()) };
    static PARSER: Cell<Option<Parser>> = const { Cell::new(None) };
}

/// How much memory a document may be given for nothing, and how much for each byte that it is made of. A document counts
/// as large as what is in it, so one that is kept for long must not hold the memory of a far larger one.
const SPARE_BYTES: usize = 32 << 10;
const SPARE_EACH: usize = 32;

/// Takes memory for a document made of about so many bytes, or of fewer than can be told. It knows the names of the
/// document that it held before.
pub fn take(bytes: usize) -> Arena {
    let most = bytes.saturating_mul(SPARE_EACH).saturating_add(SPARE_BYTES);
    ARENAS.with_borrow_mut(|arenas| {
        let place = arenas.iter().rposition(|arena| arena.size_bytes() <= most);
        place.map(|place| arenas.swap_remove(place)).unwrap_or_default()
    })
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

/// Lends a parser with the default options, for a document of which no tree is wanted. It knows names that it has read
/// before.
pub fn with_parser<T>(read: impl FnOnce(&mut Parser) -> T) -> T {
    // While it is lent, another call makes a new parser.
    let mut parser = PARSER.take().unwrap_or_else(|| Parser::new(Options::default()));
    let result = read(&mut parser);
    parser.reset();
    PARSER.set(Some(parser));
    result
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
        assert!((0..KEPT).all(|_| take(KEPT_BYTES).size_bytes() > 0));
        assert_eq!(take(KEPT_BYTES).size_bytes(), 0);
        keep(document(KEPT_BYTES / 40));
        assert_eq!(take(KEPT_BYTES).size_bytes(), 0);
        keep(Document::new());
        assert_eq!(take(KEPT_BYTES).size_bytes(), 0);
    }

    #[test]
    fn a_small_document_is_not_given_the_memory_of_a_large_one() {
        keep(document(100_000));
        let small = document(1);
        let bytes = small.text_bytes();
        keep(small);
        assert!((1..SPARE_BYTES).contains(&take(bytes).size_bytes()));
        assert_eq!(take(bytes).size_bytes(), 0);
        assert!(take(400_000).size_bytes() > SPARE_BYTES);
    }

    #[test]
    fn a_parser_is_lent_as_one_that_has_read_nothing() {
        let read = |parser: &mut Parser, xml: &[u8]| parser.next(xml, true).map(drop).map_err(|it| it.to_string());
        assert!(with_parser(|parser| read(parser, b"<")).is_err());
        let within = |parser: &mut Parser| (read(parser, b"<a>"), with_parser(|parser| read(parser, b"<b/>")));
        assert_eq!(with_parser(within), (Ok(()), Ok(())));
        assert_eq!(with_parser(|parser| (parser.position(), parser.depth())), (0, 0));
    }
}
