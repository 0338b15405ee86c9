//! Where a pattern matches in a text, and the text cut there.

use super::{Pattern, Pay};
use crate::error::Error;

/// How much a search of the host's may do.
const EFFORT: u64 = 10_000_000;

/// The matches of a pattern in a text, one after the other.
pub(super) struct Matches<'p, 't> {
    pattern: &'p Pattern,
    text: &'t str,
    /// Where the last match ended.
    end: Option<usize>,
    /// Where the next search begins; `None`: there is none.
    search: Option<usize>,
    places: super::Places,
}

impl<'p, 't> Matches<'p, 't> {
    pub(super) fn new(pattern: &'p Pattern, text: &'t str) -> Matches<'p, 't> {
        Matches { pattern, text, end: None, search: Some(0), places: pattern.places() }
    }

    /// Begin and end of the next match.
    pub(super) fn next(&mut self, pay: Pay<'_>) -> Result<Option<(usize, usize)>, Error> {
        while let Some(start) = self.search {
            let Some((begin, end)) = self.pattern.find(self.text, start, &mut self.places, pay)? else {
                self.search = None;
                break;
            };
            self.search = match begin == end {
                false => Some(end),
                true => self.text[end..].chars().next().map(|letter| end + letter.len_utf8()),
            };
            // Nothing, right behind a match, is no match of its own.
            if begin == end && self.end == Some(begin) {
                continue;
            }
            self.end = Some(end);
            return Ok(Some((begin, end)));
        }
        Ok(None)
    }

    /// The text of a group of the last match; of one that took part in no way the empty text.
    pub(super) fn group(&self, group: usize) -> &'t str {
        self.places.get(group).map_or("", |(begin, end)| &self.text[begin..end])
    }
}

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
        Segments { matches: Matches::new(pattern, text), done: 0, found: None, effort: EFFORT }
    }
}

impl<'t> Iterator for Segments<'_, 't> {
    type Item = Result<Segment<'t>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(groups) = self.found.take() {
            return Some(Ok(Segment::Match(groups)));
        }
        let text = self.matches.text;
        let effort = &mut self.effort;
        let found = self.matches.next(&mut |steps| match effort.checked_sub(steps) {
            Some(left) => {
                *effort = left;
                Ok(())
            }
            None => Err(Error::value("XPDY0130", "a pattern with back-references has too many ways to match")),
        });
        let (begin, end) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                let rest = &text[self.done..];
                self.done = text.len();
                return (!rest.is_empty()).then_some(Ok(Segment::Between(rest)));
            }
            Err(error) => {
                self.matches.search = None;
                self.done = text.len();
                return Some(Err(error));
            }
        };
        let between = &text[self.done..begin];
        self.done = end;
        let groups = (0..self.matches.pattern.groups()).map(|group| self.matches.group(group)).collect();
        if between.is_empty() {
            return Some(Ok(Segment::Match(groups)));
        }
        self.found = Some(groups);
        Some(Ok(Segment::Between(between)))
    }
}
