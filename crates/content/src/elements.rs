//! Elements that were taken out of one message, to be put into another.

use myelin_xml::{Document, NodeId, Refusal};

use crate::fragment::{LIMIT_BYTES, Oversized, graft};
use crate::memory;

/// Elements of one document, which nobody changes any more.
#[derive(Debug)]
pub struct Elements {
    document: Box<Document>,
    nodes: Vec<NodeId>,
}

/// Why elements could not be copied.
#[derive(Debug)]
pub enum CopyError {
    /// The document refuses them.
    Refused(Refusal),
    /// They take too much memory.
    Oversized(Oversized),
}

impl From<Refusal> for CopyError {
    fn from(refusal: Refusal) -> CopyError {
        CopyError::Refused(refusal)
    }
}

impl From<Oversized> for CopyError {
    fn from(error: Oversized) -> CopyError {
        CopyError::Oversized(error)
    }
}

impl Elements {
    /// Elements of a document, which is taken over whole.
    pub fn within(document: Document, nodes: Vec<NodeId>) -> Elements {
        Elements { document: Box::new(document), nodes }
    }

    /// Copies of elements.
    ///
    /// Errors: the bus's, where they take more than 128 MiB: some of them may stand in others.
    pub fn copied<'a>(elements: impl Iterator<Item = (&'a Document, NodeId)>) -> Result<Elements, CopyError> {
        let (mut document, mut nodes) = (Document::in_arena(memory::take(0)), Vec::new());
        for (from, element) in elements {
            nodes.push(graft(from, element, &mut document, None)?);
            if document.size_bytes() > LIMIT_BYTES {
                return Err(Oversized.into());
            }
        }
        Ok(Elements::within(document, nodes))
    }

    /// About how many bytes of memory they take.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Document>() + self.document.size_bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Appends copies of them to an element; says whether the document stays within `limit_bytes` of memory.
    ///
    /// Errors: those of the document, which may hold some of the copies then.
    pub fn append_to(&self, document: &mut Document, parent: NodeId, limit_bytes: usize) -> Result<bool, Refusal> {
        for &node in &self.nodes {
            let copy = graft(&self.document, node, document, Some(parent))?;
            document.append(parent, copy)?;
            if document.size_bytes() > limit_bytes {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Drop for Elements {
    fn drop(&mut self) {
        memory::keep(std::mem::take(&mut *self.document));
    }
}
