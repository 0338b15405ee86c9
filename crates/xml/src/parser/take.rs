//! What becomes of tokens: one of them is kept, or all are handed on as events.

use std::ops::ControlFlow;

use super::Parser;
use super::token::Token;
use crate::event::Event;
use crate::handler::Handler;

/// Takes the tokens of a document.
///
/// Methods are inlined wherever a token is made, so that nobody has to look which kind of token it is.
pub(super) trait TakeToken {
    fn take(&mut self, parser: &Parser, token: Token, input: &[u8]) -> ControlFlow<()>;
}

/// Keeps the first.
impl TakeToken for Option<Token> {
    #[inline(always)]
    fn take(&mut self, _: &Parser, token: Token, _: &[u8]) -> ControlFlow<()> {
        *self = Some(token);
        ControlFlow::Break(())
    }
}

/// Hands them on.
pub(super) struct Handing<'h, H>(pub(super) &'h mut H);

impl<H: Handler> TakeToken for Handing<'_, H> {
    #[inline(always)]
    fn take(&mut self, parser: &Parser, token: Token, input: &[u8]) -> ControlFlow<()> {
        match parser.event(token, input) {
            Event::Start(start) => self.0.start(start),
            Event::End(end) => self.0.end(end),
            Event::Text(text) => self.0.text(text),
            event => self.0.other(event),
        }
    }
}
