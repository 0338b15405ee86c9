//! White space that puts elements on lines of their own.
//!
//! Whether an element may get some is known only when it ends: text beside its elements forbids it. So places are
//! noted while the result is written, and the white space is put in at the end, in one pass from the back.

use std::ops::Range;

/// Spaces for each level.
const WIDTH: usize = 2;

/// Where white space could be put.
#[derive(Debug)]
pub(super) struct Indentation {
    /// The first stands for the document.
    elements: Vec<Element>,
    /// The open ones.
    open: Vec<u32>,
    breaks: Vec<Break>,
}

#[derive(Clone, Copy, Debug)]
struct Element {
    parent: u32,
    /// Whether nothing may be added in it, nor in what it holds.
    kept: bool,
    /// Whether it holds anything.
    filled: bool,
}

/// A place between two children, or before the first or behind the last.
#[derive(Clone, Copy, Debug)]
struct Break {
    /// From the beginning of the result.
    at: u32,
    level: u32,
    /// The element it is in.
    inside: u32,
}

const DOCUMENT: Element = Element { parent: 0, kept: false, filled: false };

impl Indentation {
    pub(super) fn new() -> Indentation {
        Indentation { elements: vec![DOCUMENT], open: vec![0], breaks: Vec::new() }
    }

    /// An element begins at `at`; `inline`: white space around it would be seen.
    pub(super) fn start(&mut self, at: usize, inline: bool) {
        self.child(at);
        if inline {
            self.keep();
        }
        let parent = self.innermost();
        self.open.push(self.elements.len() as u32);
        self.elements.push(Element { parent, kept: false, filled: false });
    }

    /// The innermost element ends, and its end tag would stand at `at`.
    pub(super) fn end(&mut self, at: usize) {
        let element = self.innermost();
        if self.elements[element as usize].filled {
            self.add(at, self.open.len().saturating_sub(2));
        }
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// The innermost element was never there.
    pub(super) fn take_back(&mut self) {
        self.open.pop();
        self.elements.pop();
        self.breaks.pop();
    }

    /// Something that is not text begins at `at`.
    pub(super) fn child(&mut self, at: usize) {
        let element = &mut self.elements[self.open.last().copied().unwrap_or(0) as usize];
        let first = !std::mem::replace(&mut element.filled, true);
        // Nothing stands in front of the first item of a document but the line of the declaration.
        if self.open.len() > 1 || !first {
            self.add(at, self.open.len() - 1);
        }
    }

    /// Nothing may be added in the innermost element: it has text, or says so.
    pub(super) fn keep(&mut self) {
        let element = self.innermost() as usize;
        self.elements[element].kept = true;
    }

    /// Puts the white space in; `out` has the result from `begin` on, and `noted` is a range that is moved along.
    ///
    /// Errors: none if the result would not have more than `limit` bytes then.
    pub(super) fn apply(
        mut self,
        out: &mut Vec<u8>,
        begin: usize,
        limit: usize,
        noted: &mut Option<Range<usize>>,
    ) -> Result<(), ()> {
        for place in 1..self.elements.len() {
            // What the document holds beside its root forbids only what would stand there itself.
            let parent = self.elements[place].parent as usize;
            self.elements[place].kept |= parent != 0 && self.elements[parent].kept;
        }
        let elements = &self.elements;
        self.breaks.retain(|at| !elements[at.inside as usize].kept);
        let added: usize = self.breaks.iter().map(Break::width).sum();
        let length = out.len();
        if length - begin + added > limit {
            return Err(());
        }
        out.resize(length + added, b' ');
        let mut source = length;
        let mut target = out.len();
        let mut moved = noted.clone();
        for place in self.breaks.iter().rev() {
            let at = begin + place.at as usize;
            out.copy_within(at..source, target - (source - at));
            target -= source - at;
            source = at;
            let width = place.width();
            if let (Some(noted), Some(moved)) = (noted.as_ref(), moved.as_mut()) {
                // A break stands in front of what begins there.
                moved.start += if at <= noted.start { width } else { 0 };
                moved.end += if at < noted.end { width } else { 0 };
            }
            out[target - width..target].fill(b' ');
            out[target - width] = b'\n';
            target -= width;
        }
        *noted = moved;
        Ok(())
    }

    fn add(&mut self, at: usize, level: usize) {
        // A result of more than 4 GiB is not for people to read.
        if let Ok(at) = u32::try_from(at) {
            self.breaks.push(Break { at, level: level as u32, inside: self.innermost() });
        }
    }

    fn innermost(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }
}

impl Break {
    fn width(&self) -> usize {
        1 + WIDTH * self.level as usize
    }
}
