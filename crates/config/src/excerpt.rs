//! The line of a file around a place, as it is shown below a problem, without what is secret in it.

use std::ops::Range;
use std::sync::OnceLock;

use myelin_secrets::{MASK, in_configuration};
use unicode_width::UnicodeWidthChar;

/// So many characters of a line are shown; of a longer one, those around the place.
const SHOWN_CHARACTERS: usize = 110;

/// Of a longer line, so many characters before the place are shown.
const SHOWN_BEFORE: usize = 60;

/// The mark in the place of the part that is cut off a long line.
const CUT: char = '…';

/// A tab is shown as so many blanks.
const TAB: &str = "    ";

/// The line around a place, ready to be shown: without tabs and other control characters, and with a mask over secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the line, from 1.
    pub line: u32,
    /// The line, or the part of it around the place.
    pub text: String,
    /// The character of `text` at which the place is, from 1.
    pub column: u32,
    /// How many characters from there on belong to what is meant; at least 1.
    pub length: u32,
}

impl Excerpt {
    /// The line of a text that a range of bytes begins in; what of the range is in this line is what is meant.
    pub fn of(text: &str, range: Range<usize>) -> Option<Excerpt> {
        let start = text.get(..range.start)?.rfind('\n').map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length);
        let line = text[..start].matches('\n').count() as u32 + 1;
        let whole = text[start..end].trim_end_matches('\r');
        let inside = |at: usize| at.clamp(start, start + whole.len()) - start;
        let secrets = in_configuration(text).into_iter().filter(|secret| secret.start < end && secret.end > start);
        let secrets = secrets.map(|secret| inside(secret.start)..inside(secret.end));
        Some(window(whole, inside(range.start)..inside(range.end), secrets, line))
    }

    /// The line, and a second one with carets under the place; both end in a line end.
    pub fn to_text(&self) -> String {
        let number = self.line.to_string();
        let blanks = " ".repeat(number.len());
        let width = |text: &mut dyn Iterator<Item = char>| text.map(|it| it.width().unwrap_or(1)).sum::<usize>();
        let before = self.column as usize - 1;
        let cells = width(&mut self.text.chars().take(before));
        let marked = width(&mut self.text.chars().skip(before).take(self.length as usize)).max(1);
        format!("{number} | {}\n{blanks} | {}{}\n", self.text, " ".repeat(cells), "^".repeat(marked))
    }
}

/// The text of a file, of which lines are shown.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    text: &'a str,
    secrets: &'a OnceLock<Vec<Range<usize>>>,
}

impl<'a> Shown<'a> {
    /// Of a text; the place for its secrets is kept beside it, so that they are looked for once.
    pub(crate) fn new(text: &'a str, secrets: &'a OnceLock<Vec<Range<usize>>>) -> Shown<'a> {
        Shown { text, secrets }
    }

    /// The line around a place; `None` where the text has no such line.
    pub(crate) fn excerpt(&self, line: u32, column: u32) -> Option<Excerpt> {
        let bytes = self.text.as_bytes();
        let start = match line.checked_sub(2) {
            None if line == 0 => return None,
            None => 0,
            Some(before) => memchr::memchr_iter(b'\n', bytes).nth(before as usize)? + 1,
        };
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let whole = self.text.get(start..end)?.trim_end_matches('\r');
        let at = whole.char_indices().nth((column as usize).saturating_sub(1)).map_or(whole.len(), |(at, _)| at);
        let secrets = self.secrets.get_or_init(|| in_configuration(self.text));
        let first = secrets.partition_point(|secret| secret.end <= start);
        let here = secrets[first..].iter().take_while(|secret| secret.start < start + whole.len());
        let here = here.map(|secret| secret.start.max(start) - start..secret.end.min(start + whole.len()) - start);
        Some(window(whole, at..at + meant(&whole[at..]), here, line))
    }
}

/// The part of a line around what is meant, with a mask over each of the secrets.
fn window(line: &str, meant: Range<usize>, secrets: impl Iterator<Item = Range<usize>>, number: u32) -> Excerpt {
    let at = meant.start;
    let is_long = line.chars().nth(SHOWN_CHARACTERS).is_some();
    let start = match is_long {
        true => line[..at].char_indices().rev().nth(SHOWN_BEFORE - 1).map_or(0, |(start, _)| start),
        false => 0,
    };
    let end = line[start..].char_indices().nth(SHOWN_CHARACTERS).map_or(line.len(), |(end, _)| start + end);
    let mut shown = Text::default();
    if start > 0 {
        shown.text.push(CUT);
    }
    let marked = at..meant.end.min(end).max(at);
    let mut next = start;
    for secret in secrets {
        let (from, to) = (secret.start.max(next).min(end), secret.end.min(end));
        if to <= from {
            continue;
        }
        shown.push(line, next..from, &marked);
        shown.mask(from..to, &marked);
        next = to;
    }
    shown.push(line, next..end, &marked);
    if end < line.len() {
        shown.text.push(CUT);
    }
    let length = shown.text.chars().count();
    let column = shown.column.unwrap_or(length);
    Excerpt { line: number, text: shown.text, column: column as u32 + 1, length: shown.length.max(1) }
}

/// What is shown so far, and where the place is in it.
#[derive(Default)]
struct Text {
    text: String,
    /// How many characters stand before the place, once it was met.
    column: Option<usize>,
    length: u32,
}

impl Text {
    fn push(&mut self, line: &str, range: Range<usize>, marked: &Range<usize>) {
        for (offset, character) in line[range.clone()].char_indices() {
            let offset = range.start + offset;
            self.meet(offset..offset + 1, marked);
            match character {
                '\t' => self.text.push_str(TAB),
                // Such a character could change what a terminal shows, or the order in which it shows it.
                _ if character.is_control() || is_bidirectional(character) => self.text.push('\u{fffd}'),
                _ => self.text.push(character),
            }
            self.length += u32::from(marked.contains(&offset));
        }
    }

    fn mask(&mut self, range: Range<usize>, marked: &Range<usize>) {
        self.meet(range, marked);
        self.text.push_str(MASK);
    }

    /// Notes where the place is, if it is in what is shown next.
    fn meet(&mut self, range: Range<usize>, marked: &Range<usize>) {
        if self.column.is_none() && range.contains(&marked.start) {
            self.column = Some(self.text.chars().count());
        }
    }
}

/// How many bytes of what stands at a place belong to it: a name, or the beginning of a tag.
fn meant(text: &str) -> usize {
    let begin = if text.starts_with("</") { 2 } else { usize::from(text.starts_with('<')) };
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | ':');
    begin + text[begin..].find(|character| !is_name(character)).unwrap_or(text.len() - begin)
}

/// Whether a character changes the direction of what is shown.
fn is_bidirectional(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, line: u32, column: u32) -> Option<Excerpt> {
        Shown::new(text, &OnceLock::new()).excerpt(line, column)
    }

    fn check(text: &str, line: u32, column: u32, expected: &str) {
        assert_eq!(excerpt(text, line, column).unwrap().to_text(), expected);
    }

    #[test]
    fn a_line_is_shown_with_carets_under_what_is_meant() {
        check("<a>\n  <inSequnce/>\n</a>", 2, 3, "2 |   <inSequnce/>\n  |   ^^^^^^^^^^\n");
        check("<a b='1'\r\n   kye='x'>\r\n", 2, 4, "2 |    kye='x'>\n  |    ^^^\n");
        check("\t<a\tkye='x'/>", 1, 5, "1 |     <a    kye='x'/>\n  |           ^^^\n");
        check("<a b='日本' kye=''/>", 1, 11, "1 | <a b='日本' kye=''/>\n  |             ^^^\n");
        check("<a>\n</b>", 2, 1, "2 | </b>\n  | ^^^\n");
        check("<a", 1, 3, "1 | <a\n  |   ^\n");
        check("", 1, 1, "1 | \n  | ^\n");
    }

    #[test]
    fn a_range_is_marked_as_far_as_its_line_goes() {
        let shown = |text: &str, range| Excerpt::of(text, range).unwrap().to_text();
        assert_eq!(shown("a = 1\nb = \"x y\"\r\n", 10..15), "2 | b = \"x y\"\n  |     ^^^^^\n");
        assert_eq!(shown("a = [\n1]", 4..8), "1 | a = [\n  |     ^\n");
        assert_eq!(shown("password = 'hush'\n", 11..17), "1 | password = '****'\n  |            ^^\n");
        assert_eq!(shown("a", 1..1), "1 | a\n  |  ^\n");
        assert_eq!(Excerpt::of("a", 2..3), None);
    }

    #[test]
    fn what_could_steer_a_terminal_is_not_shown() {
        check("<a \u{1b}[31m\u{202e}b=''/>", 1, 1, "1 | <a \u{fffd}[31m\u{fffd}b=''/>\n  | ^^\n");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let line = format!("{}<inSequnce/>{}", "é".repeat(100_000), "b".repeat(100_000));
        let shown = excerpt(&line, 1, 100_001).unwrap();
        assert_eq!(shown.text, format!("…{}<inSequnce/>{}…", "é".repeat(60), "b".repeat(38)));
        assert_eq!((shown.column, shown.length), (62, 10));
        let start = excerpt(&line, 1, 1).unwrap();
        assert!(start.text.starts_with('é') && start.text.ends_with('…') && start.column == 1, "{start:?}");
        let end = excerpt(&line, 1, 300_000).unwrap();
        assert!(end.text.starts_with('…') && end.text.ends_with('b') && end.column == 62, "{end:?}");
    }

    #[test]
    fn a_secret_is_masked_also_where_the_place_is_in_it() {
        check("<a password='hush' kye='1'/>", 1, 20, "1 | <a password='****' kye='1'/>\n  |                    ^^^\n");
        check("<a password='hush'/>", 1, 16, "1 | <a password='****'/>\n  |              ^\n");
        check("<password>\n hush\n and hush</password>", 3, 2, "3 | ****</password>\n  | ^\n");
    }

    #[test]
    fn a_line_that_is_not_there_has_no_excerpt() {
        assert_eq!(excerpt("<a/>", 2, 1), None);
        assert_eq!(excerpt("<a/>", 0, 0), None);
        assert_eq!(excerpt("<a/>\n", 2, 9).unwrap().text, "");
    }
}
