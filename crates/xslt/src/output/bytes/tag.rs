//! The attributes of the start tag that was written last: of those of one name only the last counts.

use std::collections::HashMap;
use std::ops::Range;

use myelin_xml::Atom;

/// How many names are looked through one by one; beyond that their places are kept in a table.
const FEW: usize = 16;

/// The attributes of the start tag that was written last.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    /// The number of the element they are of.
    element: u32,
    entries: Vec<Entry>,
    /// Places in `entries`, once there are many.
    places: HashMap<(Atom, Box<str>), usize>,
    /// Attributes that others took the place of.
    replaced: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
struct Entry {
    namespace: Atom,
    /// The attribute with the space in front of it.
    whole: Range<usize>,
    local: Range<usize>,
}

impl Attributes {
    /// Begins those of another element.
    #[inline]
    pub(super) fn begin(&mut self, element: u32) {
        if self.element != element {
            self.element = element;
            self.entries.clear();
            self.places.clear();
        }
    }

    /// Notes an attribute that was written at the end of `out`; one of the same name is to be taken out.
    #[inline]
    pub(super) fn add(&mut self, namespace: Atom, whole: Range<usize>, local: Range<usize>, out: &[u8]) {
        let entry = Entry { namespace, whole, local };
        let place = if self.entries.len() < FEW {
            let name = &out[entry.local.clone()];
            self.entries.iter().position(|known| known.namespace == namespace && out[known.local.clone()] == *name)
        } else {
            self.known(&entry, out)
        };
        match place {
            None => self.entries.push(entry),
            Some(place) => {
                let before = std::mem::replace(&mut self.entries[place], entry);
                self.replaced.push(before.whole);
            }
        }
    }

    /// The place of an attribute of the same name, among many.
    fn known(&mut self, entry: &Entry, out: &[u8]) -> Option<usize> {
        let key = |entry: &Entry| (entry.namespace, String::from_utf8_lossy(&out[entry.local.clone()]).into());
        // The first time all that came before, then one by one.
        let from = self.places.len();
        self.places.extend(self.entries.iter().enumerate().skip(from).map(|(place, entry)| (key(entry), place)));
        self.places.get(&key(entry)).copied()
    }

    /// Takes attributes out of the start tag that others took the place of.
    #[inline]
    pub(super) fn drop_replaced(&mut self, out: &mut Vec<u8>) {
        if !self.replaced.is_empty() {
            self.compact(out);
        }
    }

    #[cold]
    pub(super) fn compact(&mut self, out: &mut Vec<u8>) {
        self.replaced.sort_by_key(|range| range.start);
        let mut kept = self.replaced[0].start;
        for (place, gap) in self.replaced.iter().enumerate() {
            let next = self.replaced.get(place + 1).map_or(out.len(), |next| next.start);
            out.copy_within(gap.end..next, kept);
            kept += next - gap.end;
        }
        out.truncate(kept);
        self.replaced.clear();
    }
}
