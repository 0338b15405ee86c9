//! Where in a document the parser is, and which kind of token stands there.

use super::Parser;
use super::stop::{Stop, forbidden, malformed};
use super::token::Token;
use crate::characters::is_space;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A byte order mark.
    Start,
    /// The XML declaration.
    Declaration,
    /// Comments, instructions, the document type, the root element.
    Prolog,
    /// Anything inside the root element.
    Content,
    /// Comments and instructions.
    Epilog,
    /// Nothing: there was an error.
    Failed,
}

pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

impl Parser {
    /// The next token inside the root element.
    #[inline]
    pub(super) fn content(&mut self, window: &[u8]) -> Result<Token, Stop> {
        match (window.get(self.at), window.get(self.at + 1)) {
            (Some(b'<'), Some(b'/')) => self.end_tag(window),
            (Some(b'<'), Some(b'!')) => match begins(window, self.at, b"<![CDATA[") {
                Some(true) => self.cdata(window),
                Some(false) => self.comment(window),
                None => Err(Stop::Starved("a comment or CDATA section")),
            },
            (Some(b'<'), Some(b'?')) => self.instruction(window),
            (Some(b'<'), Some(_)) => self.start_tag(window),
            (Some(b'<'), None) => Err(Stop::Starved("a tag")),
            (Some(_), _) => self.text(window),
            (None, _) => Err(Stop::Starved("")),
        }
    }

    /// The next token before or behind the root element.
    #[inline(never)]
    pub(super) fn outside(&mut self, input: &[u8]) -> Result<Token, Stop> {
        if self.stage == Stage::Failed {
            return Err(Stop::Starved(""));
        }
        if self.stage == Stage::Start {
            let begin = &input[..self.checked.min(self.options.total_bytes)];
            if begin.is_empty() {
                return Err(Stop::Starved(""));
            }
            if begin.starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            }
            self.stage = Stage::Declaration;
        }
        let window = &input[..self.window_end()];
        if self.stage == Stage::Declaration {
            match (begins(window, self.at, b"<?xml"), window.get(self.at + 5)) {
                (Some(true), Some(byte)) if is_space(*byte) || *byte == b'?' => {
                    return self.declaration(window);
                }
                (Some(true), None) | (None, _) => return Err(Stop::Starved("")),
                _ => self.stage = Stage::Prolog,
            }
        }
        // White space here is no token: the bound of a token counts from behind it.
        while input[..self.window_end()].get(self.at).is_some_and(|&byte| is_space(byte)) {
            self.at += 1;
        }
        let window = &input[..self.window_end()];
        match (window.get(self.at), window.get(self.at + 1)) {
            (Some(b'<'), Some(b'!')) => match begins(window, self.at, b"<!DOCTYPE") {
                Some(true) if self.stage == Stage::Prolog => self.document_type(window),
                Some(true) => forbidden("a document type declaration behind the root element", self.at),
                Some(false) => self.comment(window),
                None => Err(Stop::Starved("a comment")),
            },
            (Some(b'<'), Some(b'?')) => self.instruction(window),
            (Some(b'<'), Some(b'/')) => forbidden("an end tag without an open element", self.at),
            (Some(b'<'), Some(_)) if self.stage == Stage::Prolog => self.start_tag(window),
            (Some(b'<'), Some(_)) => forbidden("a second root element", self.at),
            (Some(b'<'), None) => Err(Stop::Starved("a tag")),
            (Some(_), _) if self.stage == Stage::Prolog => malformed(window, self.at, "'<'"),
            (Some(_), _) => malformed(window, self.at, "the end of the document, a comment or an instruction"),
            (None, _) => Err(Stop::Starved("")),
        }
    }
}

/// Whether `literal` stands at `at`; unknown while the window ends inside it.
#[inline]
pub(super) fn begins(window: &[u8], at: usize, literal: &[u8]) -> Option<bool> {
    let rest = &window[at..];
    if rest.len() >= literal.len() {
        return Some(rest.starts_with(literal));
    }
    if literal.starts_with(rest) { None } else { Some(false) }
}
