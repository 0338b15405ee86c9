//! Where a pattern matches in a text.

use super::{Groups, Pattern, Pay, SearchLimit};

/// The matches of a pattern in a text, one after the other.
pub struct Matches<'p, 't> {
    pattern: &'p Pattern,
    text: &'t str,
    /// Where the last match ended.
    end: Option<usize>,
    /// Where the next search begins; `None`: there is none.
    search: Option<usize>,
    /// Whether nothing, right behind a match, is a match of its own.
    adjacent: bool,
    groups: Groups,
}

impl<'p, 't> Matches<'p, 't> {
    /// Those of a pattern in a text.
    pub fn new(pattern: &'p Pattern, text: &'t str) -> Matches<'p, 't> {
        Matches { pattern, text, end: None, search: Some(0), adjacent: false, groups: pattern.no_groups() }
    }

    /// As [`Matches::new`], and nothing is a match of its own right behind one that is something too.
    pub fn adjacent(pattern: &'p Pattern, text: &'t str) -> Matches<'p, 't> {
        Matches { adjacent: true, ..Matches::new(pattern, text) }
    }

    /// The text that is searched.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The pattern that is looked for.
    pub fn pattern(&self) -> &'p Pattern {
        self.pattern
    }

    /// Ends the search: there is no next match.
    pub fn stop(&mut self) {
        self.search = None;
    }

    /// Begin and end of the next match.
    ///
    /// Errors: as [`Pattern::is_match`].
    pub fn next<E: From<SearchLimit>>(&mut self, pay: Pay<'_, E>) -> Result<Option<(usize, usize)>, E> {
        while let Some(start) = self.search {
            let Some((begin, end)) = self.pattern.find(self.text, start, &mut self.groups, pay)? else {
                self.search = None;
                break;
            };
            self.search = match begin == end {
                false => Some(end),
                true => self.text[end..].chars().next().map(|letter| end + letter.len_utf8()),
            };
            if begin == end && self.end == Some(begin) && !self.adjacent {
                continue;
            }
            self.end = Some(end);
            return Ok(Some((begin, end)));
        }
        Ok(None)
    }

    /// The text of a group of the last match; of one that took part in no way the empty text.
    pub fn group(&self, group: usize) -> &'t str {
        self.groups.get(group).map_or("", |(begin, end)| &self.text[begin..end])
    }
}
