//! A text cut where a pattern matches.

use myelin_java_text::pattern::xpath::{Matches, SearchLimit};

use super::Pattern;
use crate::error::Error;

/// How much a search of the host's may do.
const EFFORT: u64 = 10_000_000;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// What the pattern does not match; never empty.
    Between(&'t str),
    /// What it matches: the whole match, then its groups in the order of their opening parentheses; a group that took
    /// part in no way is empty.
    Match(Vec<&'t str>),
}

/// The parts of a text, one after the other; see [`Pattern::segments`].
///
/// Errors: `XPDY0130` where a pattern with back-references has too many ways to match; it ends them.
pub struct Segments<'p, 't> {
    matches: Matches<'p, 't>,
    /// Up to here everything has been given.
    done: usize,
    /// A match that comes behind what has just been given.
    found: Option<Vec<&'t str>>,
    effort: u64,
}

impl<'p, 't> Segments<'p, 't> {
    pub(super) fn new(pattern: &'p Pattern, text: &'t str) -> Segments<'p, 't> {
        Segments { matches: Matches::adjacent(&pattern.0, text), done: 0, found: None, effort: EFFORT }
    }
}

impl<'t> Iterator for Segments<'_, 't> {
    type Item = Result<Segment<'t>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(groups) = self.found.take() {
            return Some(Ok(Segment::Match(groups)));
        }
        let text = self.matches.text();
        let effort = &mut self.effort;
        let found = self.matches.next(&mut |steps| match effort.checked_sub(steps) {
            Some(left) => {
                *effort = left;
                Ok(())
            }
            None => Err(Error::from(SearchLimit)),
        });
        let (begin, end) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                let rest = &text[self.done..];
                self.done = text.len();
                return (!rest.is_empty()).then_some(Ok(Segment::Between(rest)));
            }
            Err(error) => {
                self.matches.stop();
                self.done = text.len();
                return Some(Err(error));
            }
        };
        let between = &text[self.done..begin];
        self.done = end;
        let groups = (0..self.matches.pattern().groups()).map(|group| self.matches.group(group)).collect();
        if between.is_empty() {
            return Some(Ok(Segment::Match(groups)));
        }
        self.found = Some(groups);
        Some(Ok(Segment::Between(between)))
    }
}
