//! Elements apart from the message that they were found in, to be put into another one.

use myelin_xml::{Document, NodeId, Refusal};

use super::fragment::{LIMIT_BYTES, graft, too_much};
use super::memory;
use crate::fault::Outcome;

/// Elements of one document, which nobody changes any more.
#[derive(Debug)]
pub(crate) struct Elements {
    document: Box<Document>,
    nodes: Vec<NodeId>,
}

impl Elements {
    /// Elements, and the whole document that they stand in.
    pub(crate) fn within(document: Document, nodes: Vec<NodeId>) -> Elements {
        Elements { document: Box::new(document), nodes }
    }

    /// Copies of elements.
    ///
    /// Errors: the bus's, where they take more than 128 MiB: some of them may stand in others.
    pub(crate) fn copied<'a>(elements: impl Iterator<Item = (&'a Document, NodeId)>) -> Outcome<Elements> {
        let (mut document, mut nodes) = (Document::new(), Vec::new());
        for (from, element) in elements {
            nodes.push(graft(from, element, &mut document, None)?);
            if document.size_bytes() > LIMIT_BYTES {
                return Err(too_much());
            }
        }
        Ok(Elements::within(document, nodes))
    }

    /// How much memory they take, about.
    pub(crate) fn held_bytes(&self) -> usize {
        size_of::<Document>() + self.document.size_bytes()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Puts copies of them behind what is in an element; whether the document stays within so many bytes.
    pub(crate) fn append_to(
        &self,
        document: &mut Document,
        parent: NodeId,
        limit_bytes: usize,
    ) -> Result<bool, Refusal> {
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
