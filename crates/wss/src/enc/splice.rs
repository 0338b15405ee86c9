//! Plaintexts in the places of what was encrypted.
//!
//! The source is put together anew and parsed again; then it is checked that each plaintext stayed in its place: that
//! everything around it is what it was. A plaintext could otherwise close the element around it, or open a comment
//! that swallows what comes behind it, and so change parts of the message that its encryption has nothing to do with.

use std::borrow::Cow;
use std::ops::Range;

use myelin_xml::{Arena, DeclaredEncoding, Document, Kind, NodeId, Options};

use super::Form;
use crate::error::{Refusal, Rule};
use crate::memory;

/// A plaintext and its place.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it takes the place of: an `xenc:EncryptedData`, or an element that wraps one.
    pub place: NodeId,
    /// What was encrypted.
    pub form: Form,
    /// The bytes that were encrypted.
    pub plaintext: Vec<u8>,
}

/// Where the nodes of a document are in the one that plaintexts were put into.
#[derive(Clone, Debug)]
pub struct Places {
    /// In the order of the source.
    shifts: Vec<Shift>,
}

#[derive(Clone, Debug)]
struct Shift {
    /// Which of the pieces it is.
    piece: usize,
    /// In the old source.
    removed: Range<usize>,
    /// In the new source.
    inserted: Range<usize>,
}

/// Puts plaintexts in their places and reads the document again.
///
/// Shape: the document is as it was read; the places do not lie in each other. A document with all its text costs one
/// pass, however many pieces there are.
/// Errors: `DecryptionFailed` for plaintexts that are not what their form says, or that do not stay in their places,
/// and for a document that is not accepted with them; the sender's.
/// Source: XML Encryption 1.1 §4.4 and §4.5.
pub fn splice(document: &Document, pieces: &[Piece], options: &Options) -> Result<(Document, Places), Refusal> {
    splice_in(document, pieces, options, Arena::default())
}

/// As [`splice`], in memory that was used before.
pub fn splice_in(
    document: &Document,
    pieces: &[Piece],
    options: &Options,
    arena: Arena,
) -> Result<(Document, Places), Refusal> {
    let mut order = Vec::with_capacity(pieces.len());
    for (number, piece) in pieces.iter().enumerate() {
        let range = document.range(piece.place).filter(|_| document.is_as_read());
        order.push((number, range.ok_or_else(|| failed("the place is not in the source"))?));
    }
    order.sort_by_key(|(_, range)| range.start);
    let source = document.source().as_bytes();
    let added: usize = pieces.iter().map(|piece| piece.plaintext.len()).sum();
    let removed: usize = order.iter().map(|(_, range)| range.len()).sum();
    let mut whole = memory::buffer(source.len().saturating_sub(removed) + added);
    let mut shifts: Vec<Shift> = Vec::with_capacity(pieces.len());
    let mut copied = 0;
    for (piece, removed) in order {
        if removed.start < copied {
            return Err(failed("one place lies in another"));
        }
        whole.extend_from_slice(&source[copied..removed.start]);
        copied = removed.end;
        let start = whole.len();
        whole.extend_from_slice(&pieces[piece].plaintext);
        shifts.push(Shift { piece, removed, inserted: start..whole.len() });
    }
    whole.extend_from_slice(&source[copied..]);

    // The source is in UTF-8 whatever encoding its declaration names.
    let options = Options { declared_encoding: DeclaredEncoding::Any, ..options.clone() };
    let length = whole.len();
    let spliced = Document::parse_in(whole, &options, arena).map_err(|error| {
        read_for_the_time(&source[..source.len().min(length.saturating_sub(error.offset))], &options);
        failed(error.to_string())
    })?;
    let places = Places { shifts };
    for shift in &places.shifts {
        let piece = &pieces[shift.piece];
        if !places.stays(document, &spliced, piece, &shift.inserted) {
            return Err(failed("a plaintext does not stay in its place"));
        }
    }
    Ok((spliced, places))
}

impl Places {
    /// The element of the new document that `element` of the old one has become: the same, at the same place.
    ///
    /// `None` for what was taken out.
    pub fn element(&self, old: &Document, new: &Document, element: NodeId) -> Option<NodeId> {
        if element == old.document_node() {
            return Some(new.document_node());
        }
        let Range { start, end } = old.range(element)?;
        let (start, end) = (self.moved(start)?, self.moved(end - 1)? + 1);
        let found = new.node_at(start)?;
        (new.kind(found) == Kind::Element && new.range(found)? == (start..end)).then_some(found)
    }

    /// Where a piece's plaintext stands in the source of the new document; pieces are numbered as they were given.
    pub fn inserted(&self, piece: usize) -> Option<Range<usize>> {
        self.shifts.iter().find(|shift| shift.piece == piece).map(|shift| shift.inserted.clone())
    }

    /// Where a byte of the old source is in the new one; none for one that was taken out.
    fn moved(&self, offset: usize) -> Option<usize> {
        let before = self.shifts.partition_point(|shift| shift.removed.end <= offset);
        if self.shifts.get(before).is_some_and(|shift| shift.removed.start <= offset) {
            return None;
        }
        match before.checked_sub(1).map(|last| &self.shifts[last]) {
            Some(Shift { removed, inserted, .. }) => Some(offset - removed.end + inserted.end),
            None => Some(offset),
        }
    }

    /// Whether all around a plaintext is what it was.
    ///
    /// Up to the plaintext the bytes are the same, so that the same elements are open where it begins. It has to be
    /// shown that where it ends they are open again and that markup or text begins there: then all that follows is
    /// read as it was before.
    fn stays(&self, old: &Document, new: &Document, piece: &Piece, inserted: &Range<usize>) -> bool {
        let Some(old_parent) = old.parent(piece.place) else { return false };
        // It ends where it ended, so that nothing in the plaintext closed it.
        let Some(parent) = self.element(old, new, old_parent) else { return false };
        let is_child = |node: &NodeId| new.parent(*node) == Some(parent);
        if piece.form == Form::Element {
            // It ends where the plaintext ends.
            let element = new.node_at(inserted.start).filter(is_child);
            return element.is_some_and(|element| {
                new.kind(element) == Kind::Element && new.range(element).as_ref() == Some(inserted)
            });
        }
        let behind = new.node_at(inserted.end).filter(is_child).map(|node| new.kind(node));
        match old.next_sibling(piece.place) {
            // The end tag of the parent is where it was, and no other markup may hold a `<`.
            None => true,
            // Two plaintexts that meet could be one text between them.
            Some(next) if old.range(next).is_none_or(|next| self.moved(next.start).is_none()) => false,
            Some(next) if old.kind(next) != Kind::Text => behind == Some(old.kind(next)),
            Some(_) if behind == Some(Kind::Text) => true,
            Some(_) => new
                .text_around(inserted.end)
                .filter(is_child)
                .and_then(|text| new.range(text))
                .is_some_and(|text| is_complete(&new.source()[text.start..inserted.end])),
        }
    }
}

/// Whether a text ends outside of its CDATA sections and references.
fn is_complete(mut text: &str) -> bool {
    while let Some(start) = text.find("<![CDATA[") {
        if !references_end(&text[..start]) {
            return false;
        }
        let Some(length) = text[start..].find("]]>") else { return false };
        text = &text[start + length + "]]>".len()..];
    }
    references_end(text)
}

fn references_end(text: &str) -> bool {
    text.rfind('&').is_none_or(|at| text[at..].contains(';'))
}

/// Takes as long as the rest of a document would have taken that broke off: how far it could be read says something
/// about the plaintext.
fn read_for_the_time(begin: &[u8], options: &Options) {
    // A begin without its end is always an error.
    let _ = Document::parse_in(begin.to_vec(), options, Arena::default());
}

fn failed(detail: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(Rule::DecryptionFailed, detail)
}
