//! Tags of elements that are copied from documents: written once, then copied themselves.

/// Tags by the numbers that names have in the scopes of the result.
#[derive(Debug, Default)]
pub(in crate::output) struct CopiedTags {
    text: String,
    tags: Vec<CopiedTag>,
}

#[derive(Clone, Copy, Debug)]
struct CopiedTag {
    start: u32,
    /// Where the end tag begins.
    middle: u32,
    end: u32,
    /// Bytes of the prefix with its colon.
    prefix: u32,
}

impl CopiedTags {
    /// Whether it has room for more than so many names.
    pub(in crate::output) fn is_larger(&self, names: usize) -> bool {
        self.tags.capacity() > names || self.text.capacity() > names * 64
    }

    /// Memory for others.
    pub(super) fn cleared(mut self) -> CopiedTags {
        self.text.clear();
        self.tags.clear();
        self
    }

    /// Whether the tags of that number are known.
    #[inline]
    pub(super) fn holds(&self, number: u32) -> bool {
        (number as usize) < self.tags.len()
    }

    /// Keeps the tags of the next number.
    pub(super) fn add(&mut self, prefix: &str, local: &str) {
        let start = self.text.len();
        let colon = if prefix.is_empty() { "" } else { ":" };
        for part in ["<", prefix, colon, local, ">"] {
            self.text.push_str(part);
        }
        let middle = self.text.len();
        for part in ["</", prefix, colon, local, ">"] {
            self.text.push_str(part);
        }
        let [start, middle, end] = [start, middle, self.text.len()].map(|place| place as u32);
        self.tags.push(CopiedTag { start, middle, end, prefix: (prefix.len() + colon.len()) as u32 });
    }

    #[inline]
    pub(super) fn open(&self, number: u32) -> &str {
        let tag = self.tags[number as usize];
        &self.text[tag.start as usize..tag.middle as usize]
    }

    #[inline]
    pub(super) fn close(&self, number: u32) -> &str {
        let tag = self.tags[number as usize];
        &self.text[tag.middle as usize..tag.end as usize]
    }

    /// The local name.
    pub(super) fn name(&self, number: u32) -> &str {
        let tag = self.tags[number as usize];
        let open = self.open(number);
        &open[1 + tag.prefix as usize..open.len() - 1]
    }
}
