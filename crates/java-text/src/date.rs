//! Dates and times by patterns, as Java's `SimpleDateFormat` and `DateTimeFormatter` write and read them in English.
//!
//! Both have nearly the same letters, and differ in what some of them mean, in what they refuse, and in how they read.
//! What is read are [`Fields`]; each class makes a date of them by rules of its own.

mod date_time;
mod fields;
mod http;
mod read;
mod write;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use date_time::{DateTime, Time, Zone};
pub use fields::Fields;
pub use http::parse_http;
pub use read::zone;

/// The pattern of Java's short date and time in the US locale, which `SYSTEM_DATE` has without an argument.
pub const SHORT: &str = "M/d/yy, h:mm a";

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    class: Class,
}

/// Whose pattern it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// `java.text.SimpleDateFormat`
    Simple,
    /// `java.time.format.DateTimeFormatter`
    Formatter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
    /// From here to the end of the optional part, so many parts behind.
    Optional(usize),
}

/// What becomes of a part of a pattern that Java refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Refused,
    Text,
}

impl Pattern {
    /// Compiles a pattern of `SimpleDateFormat`.
    ///
    /// Errors: a sentence that says what is wrong with it; its author's.
    pub fn simple(pattern: &str) -> Result<Pattern, String> {
        compile(pattern, Class::Simple, Unknown::Refused)
    }

    /// Compiles a pattern of `SimpleDateFormat`; letters that mean nothing there, and an apostrophe that is not closed,
    /// are text.
    pub fn lenient(pattern: &str) -> Pattern {
        let refused = |_| Pattern { parts: vec![Part::Text(pattern.to_owned())], class: Class::Simple };
        compile(pattern, Class::Simple, Unknown::Text).unwrap_or_else(refused)
    }

    /// Compiles a pattern of `DateTimeFormatter`.
    ///
    /// Errors: a sentence that says what is wrong with it; its author's.
    /// Source: `java.time.format.DateTimeFormatterBuilder.appendPattern`.
    pub fn formatter(pattern: &str) -> Result<Pattern, String> {
        compile(pattern, Class::Formatter, Unknown::Refused)
    }
}

/// Writes a time in UTC by a pattern of `SimpleDateFormat`, as [`Pattern::lenient`] takes it.
pub fn format(time: SystemTime, pattern: &str) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let stamp = DateTime::of_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Pattern::lenient(pattern).write(&DateTime { zone: Some(Zone::Utc), ..stamp }).unwrap_or_default()
}

fn compile(pattern: &str, class: Class, unknown: Unknown) -> Result<Pattern, String> {
    let (mut parts, mut open, mut rest) = (Vec::new(), Vec::new(), pattern);
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        match letter {
            'A'..='Z' | 'a'..='z' => {
                let count = rest.bytes().take_while(|&next| char::from(next) == letter).count();
                match check(letter, count, class) {
                    Ok(()) => parts.push(Part::Field(letter, count)),
                    Err(_) if unknown == Unknown::Text => parts.push(Part::Text(rest[..count].to_owned())),
                    Err(message) => return Err(message),
                }
                rest = &rest[count..];
                continue;
            }
            '\'' => {
                let (text, behind) = match quoted(behind) {
                    Some(quoted) => quoted,
                    None if unknown == Unknown::Text => (behind.to_owned(), ""),
                    None => return Err("an apostrophe is not closed".to_owned()),
                };
                parts.push(Part::Text(text));
                rest = behind;
                continue;
            }
            '[' if class == Class::Formatter => {
                open.push(parts.len());
                parts.push(Part::Optional(0));
            }
            ']' if class == Class::Formatter => {
                let start = open.pop().ok_or("a `]` closes nothing")?;
                parts[start] = Part::Optional(parts.len() - start - 1);
            }
            '{' | '}' | '#' if class == Class::Formatter => return Err(format!("`{letter}` is reserved")),
            other => match parts.last_mut() {
                Some(Part::Text(text)) => text.push(other),
                _ => parts.push(Part::Text(other.to_string())),
            },
        }
        rest = behind;
    }
    // What is not closed ends with the pattern.
    for start in open {
        parts[start] = Part::Optional(parts.len() - start - 1);
    }
    Ok(Pattern { parts, class })
}

/// Which letters there are, and how often each may stand.
fn check(letter: char, count: usize, class: Class) -> Result<(), String> {
    let most = match (class, letter) {
        (
            Class::Simple,
            'G' | 'y' | 'Y' | 'M' | 'L' | 'w' | 'W' | 'D' | 'd' | 'F' | 'E' | 'u' | 'a' | 'H' | 'k' | 'K' | 'h' | 'm'
            | 's' | 'S' | 'z' | 'Z',
        ) => usize::MAX,
        (Class::Simple, 'X') => 3,
        (Class::Formatter, 'G' | 'M' | 'L' | 'E' | 'Q' | 'q' | 'X' | 'x' | 'Z') => 5,
        (Class::Formatter, 'u' | 'y' | 'Y' | 'A' | 'n' | 'N') => 19,
        (Class::Formatter, 'S') => 9,
        (Class::Formatter, 'd' | 'h' | 'H' | 'k' | 'K' | 'm' | 's' | 'w' | 'V') => 2,
        (Class::Formatter, 'D') => 3,
        (Class::Formatter, 'a' | 'W' | 'F') => 1,
        (Class::Formatter, 'c') if count == 2 => return Err("`cc` is no letter of a pattern".to_owned()),
        (Class::Formatter, 'e' | 'c') => 5,
        (Class::Formatter, 'z' | 'O') => 4,
        _ => return Err(format!("`{letter}` is no letter of a pattern; text stands between apostrophes")),
    };
    if count <= most { Ok(()) } else { Err(format!("too many letters `{letter}`: at most {most}")) }
}

/// The text up to the closing apostrophe, and what follows it; two apostrophes are one.
fn quoted(text: &str) -> Option<(String, &str)> {
    if let Some(behind) = text.strip_prefix('\'') {
        return Some(("'".to_owned(), behind));
    }
    let (mut inside, mut rest) = (String::new(), text);
    loop {
        let (part, behind) = rest.split_once('\'')?;
        inside.push_str(part);
        match behind.strip_prefix('\'') {
            Some(further) => {
                inside.push('\'');
                rest = further;
            }
            None => return Some((inside, behind)),
        }
    }
}

#[cfg(test)]
mod tests;
