//! What it means that no token was read.

use super::Parser;
use super::place::Place;
use super::resume::Resume;
use super::stage::Stage;
use super::stop::{Fault, Stop};
use crate::error::{Error, ErrorKind, Limit};
use crate::handler::Reached;

impl Parser {
    /// What it means that no token was read: more has to come, the end, or an error;
    /// nothing yet where more of the input can be looked at.
    #[cold]
    #[inline(never)]
    pub(super) fn stopped(&mut self, stop: Stop, input: &[u8], complete: bool) -> Result<Option<Reached>, Error> {
        if let Some(error) = &self.failed {
            return Err(Error::clone(error));
        }
        let window = &input[..self.window_end()];
        let fault = match stop {
            Stop::Bad(fault) => *fault,
            Stop::Starved(_) if self.seen < input.len() && window.len() == self.checked && !self.invalid => {
                self.resume = self.resume.take().or_else(|| Resume::begin(window, self.at));
                self.check_utf8(input);
                return Ok(None);
            }
            Stop::Starved(expected) if self.is_last(window, complete) => {
                if self.at == input.len() && self.stage == Stage::Epilog {
                    return Ok(Some(Reached::End));
                }
                Fault { kind: self.starved(window, input, expected), at: window.len() }
            }
            Stop::Starved(_) => {
                self.resume = self.resume.take().or_else(|| Resume::begin(window, self.at));
                return Ok(Some(Reached::More));
            }
        };
        let mut place = self.place;
        place.pass(&input[..fault.at], self.base == 0);
        let Place { line, column, .. } = place;
        let error = Error { kind: fault.kind, line, column, offset: self.base + fault.at };
        self.failed = Some(Box::new(error.clone()));
        self.stage = Stage::Failed;
        Err(error)
    }

    /// Why the window is not larger.
    fn starved(&self, window: &[u8], input: &[u8], expected: &'static str) -> ErrorKind {
        if window.len() < self.checked {
            let total = self.options.total_bytes;
            return ErrorKind::Limit(match self.base + window.len() == total {
                true => Limit::TotalBytes(total),
                false => Limit::TokenBytes(self.options.token_bytes),
            });
        }
        if window.len() < input.len() {
            return ErrorKind::NotText;
        }
        let expected = match (expected, self.open.last()) {
            ("", None) => "the root element".to_owned(),
            ("", Some(open)) => format!("</{}>", self.names.text(open.raw)),
            (expected, _) => expected.to_owned(),
        };
        ErrorKind::UnexpectedEnd { expected }
    }
}
