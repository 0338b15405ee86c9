//! Which kind of token comes next.

use std::ops::ControlFlow;

use super::Parser;
use super::stage::{BYTE_ORDER_MARK, Stage, begins};
use super::stop::{Stop, forbidden, malformed};
use super::take::TakeToken;
use super::token::Token;
use crate::characters::is_space;

impl Parser {
    /// Gives the tokens from where the parser is on, until the taker has enough.
    #[inline(always)]
    pub(super) fn advance(&mut self, input: &[u8], complete: bool, taker: &mut impl TakeToken) -> Result<(), Stop> {
        if self.resume.is_some() && !self.look_further(input, complete) {
            return Err(Stop::Starved(""));
        }
        loop {
            let flow = match self.stage {
                Stage::Content => self.content(input, taker)?,
                Stage::Closing => {
                    let token = self.close_empty();
                    taker.take(self, token, input)
                }
                _ => {
                    let token = self.outside(input)?;
                    taker.take(self, token, input)
                }
            };
            if flow.is_break() {
                return Ok(());
            }
        }
    }

    /// Gives the tokens inside the root element.
    #[inline(always)]
    fn content(&mut self, input: &[u8], taker: &mut impl TakeToken) -> Result<ControlFlow<()>, Stop> {
        let checked = &input[..self.limit];
        // Mostly no token that begins here can be too long.
        let is_bounded = checked.len() - self.at <= self.options.token_bytes;
        while self.stage == Stage::Content {
            let window = if is_bounded { checked } else { &input[..self.window_end()] };
            // Plain text and plain tags, which make up most of a message, are read here. Each of the three kinds has a
            // call of `take` of its own, so that the compiler knows the kind there.
            let plain = if window.get(self.at) != Some(&b'<') {
                self.plain_text(window).map(|token| taker.take(self, token, input))
            } else if window.get(self.at + 1) == Some(&b'/') {
                self.plain_end_tag(window).map(|token| taker.take(self, token, input))
            } else {
                self.foreseen_start_tag(window).map(|token| taker.take(self, token, input))
            };
            let flow = match plain {
                Some(flow) => flow,
                None => {
                    let token = self.any(window)?;
                    taker.take(self, token, input)
                }
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The next token inside the root element, whatever it is.
    #[inline(never)]
    fn any(&mut self, window: &[u8]) -> Result<Token, Stop> {
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
