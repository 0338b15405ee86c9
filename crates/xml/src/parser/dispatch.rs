//! Which kind of token comes next.

use super::Parser;
use super::stage::{BYTE_ORDER_MARK, Stage, begins};
use super::stop::{Stop, forbidden, malformed};
use super::token::Token;
use crate::characters::is_space;

impl Parser {
    /// The next token, wherever the parser is.
    #[inline]
    pub(super) fn advance(&mut self, input: &[u8], complete: bool) -> Result<Token, Stop> {
        let window = &input[..self.window_end()];
        if self.resume.is_some() && !self.look_further(window, complete && self.seen == input.len()) {
            return Err(Stop::Starved(""));
        }
        match self.stage {
            Stage::Content => self.content(window),
            Stage::Closing => Ok(self.close_empty()),
            _ => self.outside(input),
        }
    }

    /// The next token inside the root element.
    #[inline]
    fn content(&mut self, window: &[u8]) -> Result<Token, Stop> {
        match &window[self.at..] {
            [b'<', b'/', ..] => self.end_tag(window),
            [b'<', b'!', ..] => match begins(window, self.at, b"<![CDATA[") {
                Some(true) => self.cdata(window),
                Some(false) => self.comment(window),
                None => Err(Stop::Starved("a comment or CDATA section")),
            },
            [b'<', b'?', ..] => self.instruction(window),
            [b'<', _, ..] => self.start_tag(window),
            [b'<'] => Err(Stop::Starved("a tag")),
            [_, ..] => self.text(window),
            [] => Err(Stop::Starved("")),
        }
    }

    /// The next token before or behind the root element.
    #[inline(never)]
    fn outside(&mut self, input: &[u8]) -> Result<Token, Stop> {
        if self.stage == Stage::Failed {
            return Err(Stop::Starved(""));
        }
        if self.stage == Stage::Start {
            if self.seen == 0 {
                self.check_utf8(input);
            }
            let begin = &input[..self.limit];
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
