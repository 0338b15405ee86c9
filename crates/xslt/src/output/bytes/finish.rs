//! The end of a result: indentation, and the encoding it was asked for.

use std::ops::Range;

use super::{Bytes, Format, OutputError};
use crate::output::properties::{Charset, Method, Normalization};
use crate::output::spare::Spare;

/// What there is to know of a result that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// Where the first element at the top level stands in all that was written to; `None` where there is none, or
    /// where the result is not in UTF-8.
    pub(crate) root: Option<Range<usize>>,
    /// Whether there is text at the top level that is not white space.
    pub(crate) loose_text: bool,
}

impl Bytes<'_> {
    /// Ends the result, with whatever is still open.
    pub(in crate::output) fn finish(mut self) -> Result<Finished, OutputError> {
        while !self.open.is_empty() {
            self.end_element();
        }
        if self.format == Format::Undecided {
            self.decide(Method::Xml)?;
        }
        let limit = self.end - self.begin;
        let mut root = self.root.take();
        if let Some(indentation) = self.indentation.take() {
            indentation.apply(self.out, self.begin, limit, &mut root).map_err(|()| OutputError::TooLarge(limit))?;
        }
        if let Some(form) = self.properties.normalization.filter(|_| !self.inside) {
            root = None;
            normalize(self.out, self.begin, form);
        }
        self.check(0)?;
        let charset = self.charset();
        let mark = self.properties.byte_order_mark.unwrap_or(charset == Charset::Utf16) && !self.inside;
        if charset != Charset::Utf8 || mark {
            encode(self.out, self.begin, charset, mark);
            root = None;
        }
        self.check(0)?;
        Spare { names: self.names, tables: self.scopes.into_tables(), copied: self.copied }.keep();
        Ok(Finished { root, loose_text: self.loose_text })
    }
}

/// Brings what stands in `out` from `begin` on into a form of Unicode: markup is the same in all of them.
fn normalize(out: &mut Vec<u8>, begin: usize, form: Normalization) {
    let text = String::from_utf8_lossy(&out[begin..]);
    let normal = form.apply(&text).into_owned();
    out.truncate(begin);
    out.extend_from_slice(normal.as_bytes());
}

/// Puts what stands in `out` from `begin` on into another encoding, whose characters are the only ones in it.
fn encode(out: &mut Vec<u8>, begin: usize, charset: Charset, mark: bool) {
    let text = String::from_utf8_lossy(&out[begin..]).into_owned();
    out.truncate(begin);
    let text = if mark { format!("\u{FEFF}{text}") } else { text };
    match charset {
        Charset::Utf8 | Charset::UsAscii => out.extend_from_slice(text.as_bytes()),
        Charset::Latin1 => out.extend(text.chars().filter_map(|character| u8::try_from(u32::from(character)).ok())),
        Charset::Utf16 | Charset::Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Charset::Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
    }
}
