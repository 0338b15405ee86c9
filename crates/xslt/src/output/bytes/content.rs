//! What stands between tags: text, CDATA sections, comments, instructions.

use super::{Bytes, Early, Format, Indentation, OutputError};
use crate::output::escape::{Context, Repertoire, escape, number};
use crate::output::html::Traits;
use crate::output::properties::Method;

const CDATA: &[u8] = b"<![CDATA[";
const CDATA_END: &[u8] = b"]]>";

impl Bytes<'_> {
    #[inline]
    pub(in crate::output) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        if !self.quick {
            return self.special_text(text, true);
        }
        if text.is_empty() {
            return Ok(());
        }
        self.check(text.len())?;
        self.close_tag();
        self.whole(|bytes| escape(text, Context::Text, Repertoire::Unicode, bytes.out))
    }

    /// Text that is not escaped.
    pub(in crate::output) fn raw_text(&mut self, text: &str) -> Result<(), OutputError> {
        self.special_text(text, false)
    }

    pub(in crate::output) fn comment(&mut self, text: &str) -> Result<(), OutputError> {
        if !self.begin_item(|| Early::Comment(text.to_owned())) {
            return Ok(());
        }
        self.whole(|bytes| {
            bytes.out.extend_from_slice(b"<!--");
            bytes.verbatim(text)?;
            bytes.out.extend_from_slice(b"-->");
            Ok(())
        })
    }

    pub(in crate::output) fn instruction(&mut self, target: &str, data: &str) -> Result<(), OutputError> {
        if !self.begin_item(|| Early::Instruction(target.to_owned(), data.to_owned())) {
            return Ok(());
        }
        let html = self.format == Format::Html;
        if html && data.contains('>') {
            return Err(OutputError::HtmlInstruction);
        }
        self.whole(|bytes| {
            bytes.out.extend_from_slice(b"<?");
            bytes.verbatim(target)?;
            if !data.is_empty() {
                bytes.out.push(b' ');
                bytes.verbatim(data)?;
            }
            bytes.out.extend_from_slice(if html { b">" } else { b"?>" });
            Ok(())
        })
    }

    /// Begins a comment or instruction; whether it is to be written now.
    fn begin_item(&mut self, early: impl FnOnce() -> Early) -> bool {
        match self.format {
            Format::Text => return false,
            Format::Undecided => {
                self.early.push(early());
                return false;
            }
            _ => {}
        }
        self.close_tag();
        if self.indentation.is_some() && self.open.is_empty() {
            self.end_line();
        }
        if let Some(indentation) = &mut self.indentation {
            indentation.child(self.out.len() - self.begin);
        }
        true
    }

    /// Text of a result that needs more than the rules of XML, or outside of its elements.
    fn special_text(&mut self, text: &str, escaped: bool) -> Result<(), OutputError> {
        if text.is_empty() {
            return Ok(());
        }
        self.check(text.len())?;
        if self.format == Format::Undecided {
            if escaped && is_space(text) {
                self.early.push(Early::Text(text.to_owned()));
                return Ok(());
            }
            self.decide(Method::Xml)?;
        }
        if self.format == Format::Text {
            return self.whole(|bytes| bytes.mapped_as_it_is(text, escaped));
        }
        self.close_tag();
        self.indentation.iter_mut().for_each(Indentation::keep);
        let Some(open) = self.open.last().copied() else {
            if !is_space(text) {
                self.loose_text = true;
                self.is_no_document()?;
            }
            return self.some_text(text, escaped, Context::Text);
        };
        if escaped && open.cdata {
            return self.cdata(text);
        }
        let html = open.html && self.format == Format::Html;
        let raw = html && open.traits.any(Traits::RAW);
        self.some_text(text, escaped && !raw, if html { Context::HtmlText } else { Context::Text })
    }

    fn some_text(&mut self, text: &str, escaped: bool, context: Context) -> Result<(), OutputError> {
        self.whole(|bytes| if escaped { bytes.mapped(text, context) } else { bytes.verbatim(text) })
    }

    /// Writes text with the characters replaced that the stylesheet wants to be.
    pub(super) fn mapped(&mut self, text: &str, context: Context) -> Result<(), OutputError> {
        let map = &self.properties.character_map;
        if map.is_empty() {
            return escape(text, context, self.repertoire, self.out);
        }
        let mut done = 0;
        for (at, character) in text.char_indices() {
            if let Ok(place) = map.binary_search_by_key(&character, |&(known, _)| known) {
                escape(&text[done..at], context, self.repertoire, self.out)?;
                self.verbatim(&map[place].1)?;
                self.check(0)?;
                done = at + character.len_utf8();
            }
        }
        escape(&text[done..], context, self.repertoire, self.out)
    }

    /// As [`mapped`](Bytes::mapped), for the method that escapes nothing.
    fn mapped_as_it_is(&mut self, text: &str, mapped: bool) -> Result<(), OutputError> {
        let map = &self.properties.character_map;
        if map.is_empty() || !mapped {
            return self.verbatim(text);
        }
        for character in text.chars() {
            match map.binary_search_by_key(&character, |&(known, _)| known) {
                Ok(place) => self.verbatim(&map[place].1)?,
                Err(_) => self.verbatim(character.encode_utf8(&mut [0; 4]))?,
            }
            self.check(0)?;
        }
        Ok(())
    }

    /// Writes text as it is.
    ///
    /// Errors: what neither XML nor the encoding has.
    fn verbatim(&mut self, text: &str) -> Result<(), OutputError> {
        if self.format != Format::Text
            && let Some(character) = no_character(text)
        {
            return Err(OutputError::Character(u32::from(character)));
        }
        if let Some(character) = self.repertoire.lacks(text) {
            return Err(OutputError::NotInEncoding(character));
        }
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Writes text in a CDATA section, or at the end of the one that was just written.
    fn cdata(&mut self, text: &str) -> Result<(), OutputError> {
        if let Some(character) = no_character(text) {
            return Err(OutputError::Character(u32::from(character)));
        }
        if self.cdata_end == self.out.len() {
            self.out.truncate(self.out.len() - CDATA_END.len());
        } else {
            self.out.extend_from_slice(CDATA);
        }
        for character in text.chars() {
            if !self.repertoire.has(character) || character == '\r' {
                // There are no references in sections, so this one stands between two.
                self.out.extend_from_slice(CDATA_END);
                number(character, self.out);
                self.out.extend_from_slice(CDATA);
                continue;
            }
            if character == '>' && self.out.ends_with(b"]]") {
                self.out.extend_from_slice(CDATA_END);
                self.out.extend_from_slice(CDATA);
            }
            self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.out.extend_from_slice(CDATA_END);
        self.cdata_end = self.out.len();
        self.check(0)
    }
}

/// The first character that XML does not have, if there is one.
fn no_character(text: &str) -> Option<char> {
    let odd = |&byte: &u8| !((b' '..0xEF).contains(&byte) || matches!(byte, b'\t' | b'\n' | b'\r'));
    if !text.as_bytes().iter().fold(false, |any, byte| any | odd(byte)) {
        return None;
    }
    text.chars().find(|&character| {
        matches!(character, '\u{0}'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
    })
}

pub(super) fn is_space(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}
