//! A text cut by a pattern: its matches and what lies between them.

use super::Pattern;
use crate::error::Error;

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
/// Errors: those of the search, which end it.
pub struct Segments<'p, 't> {
    pub(super) pattern: &'p Pattern,
    pub(super) text: &'t str,
    /// Up to here everything has been given.
    pub(super) done: usize,
    /// Where the next search begins; `None`: there is none.
    pub(super) search: Option<usize>,
    /// A match that comes behind what has just been given.
    pub(super) found: Option<Vec<&'t str>>,
}

impl<'t> Iterator for Segments<'_, 't> {
    type Item = Result<Segment<'t>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(groups) = self.found.take() {
            return Some(Ok(Segment::Match(groups)));
        }
        while let Some(start) = self.search {
            let Some(captures) = self.pattern.regex.captures_at(self.text, start) else {
                self.search = None;
                break;
            };
            let whole = captures.get(0)?;
            self.search = match whole.is_empty() {
                false => Some(whole.end()),
                true => self.text[whole.end()..].chars().next().map(|letter| whole.end() + letter.len_utf8()),
            };
            // Nothing, right behind a match, is no match of its own.
            if whole.is_empty() && start > 0 && whole.start() == self.done {
                continue;
            }
            let between = &self.text[self.done..whole.start()];
            self.done = whole.end();
            let groups = captures.iter().map(|group| group.map_or("", |group| group.as_str())).collect();
            if between.is_empty() {
                return Some(Ok(Segment::Match(groups)));
            }
            self.found = Some(groups);
            return Some(Ok(Segment::Between(between)));
        }
        let rest = &self.text[self.done..];
        self.done = self.text.len();
        (!rest.is_empty()).then_some(Ok(Segment::Between(rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_apart_and_all_of_it_is_there() {
        let check = |pattern: &str, text: &str, expected: &str| {
            let pattern = Pattern::new(pattern, "").expect(pattern);
            let shown: Result<Vec<_>, _> = pattern
                .segments(text)
                .map(|segment| {
                    segment.map(|segment| match segment {
                        Segment::Between(text) => text.to_owned(),
                        Segment::Match(groups) => format!("<{}>", groups.join(",")),
                    })
                })
                .collect();
            assert_eq!(shown.expect(text).concat(), expected, "{text}");
        };
        check("b", "abbc", "a<b><b>c");
        check("(a)(x)?", "zaaz", "z<a,a,><a,a,>z");
        check("x", "abc", "abc");
        check("x", "", "");
        check("b*", "abbc", "<>a<bb>c<>");
        check("[0-9]+", "1 22", "<1> <22>");
    }
}
