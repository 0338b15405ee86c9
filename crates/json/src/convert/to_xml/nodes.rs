//! Where what is written stands, for those who want it as a tree.

use std::ops::Range;

use myelin_xml::TreeRecorder;

/// Is told of all that is written, as soon as it is.
pub(super) trait Nodes {
    /// An element whose start tag begins there.
    fn start(&mut self, name: &[u8], at: usize);
    /// An attribute, with the space before it; `verbatim` without references.
    fn attribute(&mut self, name: &[u8], range: Range<usize>, verbatim: bool);
    /// A text; `verbatim` without references.
    fn text(&mut self, range: Range<usize>, verbatim: bool);
    /// The end of the element that is open.
    fn end(&mut self, at: usize);
    /// Something that is none of these, or not in its final place.
    fn leave_to_parser(&mut self);
}

/// Nobody wants it.
impl Nodes for () {
    fn start(&mut self, _: &[u8], _: usize) {}
    fn attribute(&mut self, _: &[u8], _: Range<usize>, _: bool) {}
    fn text(&mut self, _: Range<usize>, _: bool) {}
    fn end(&mut self, _: usize) {}
    fn leave_to_parser(&mut self) {}
}

impl Nodes for TreeRecorder<'_> {
    #[inline]
    fn start(&mut self, name: &[u8], at: usize) {
        TreeRecorder::start(self, name, at);
    }

    #[inline]
    fn attribute(&mut self, name: &[u8], range: Range<usize>, verbatim: bool) {
        let value = range.start + " =\"".len() + name.len()..range.end - 1;
        TreeRecorder::attribute(self, name, range.start + 1..range.end, value, verbatim);
    }

    #[inline]
    fn text(&mut self, range: Range<usize>, verbatim: bool) {
        TreeRecorder::text(self, range, verbatim);
    }

    #[inline]
    fn end(&mut self, at: usize) {
        TreeRecorder::end(self, at);
    }

    #[inline]
    fn leave_to_parser(&mut self) {
        TreeRecorder::leave_to_parser(self);
    }
}
