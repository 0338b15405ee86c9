//! What takes the place of a match: text, and groups of the match.

use regex::Regex;

/// A replacement, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// A text that is meant as it is written.
    pub fn literal(text: &str) -> Replacement {
        Replacement(vec![Piece::Text(text.to_owned())])
    }

    /// Java's: `$1` and `${name}` stand for groups, and a backslash makes the next letter stand for itself.
    ///
    /// Errors: a sentence that says what stands for nothing; its author's.
    /// Source: `java.util.regex.Matcher.appendReplacement`.
    pub fn java(text: &str, regex: &Regex) -> Result<Replacement, String> {
        read(text, |begin| match begin {
            Begin::Escape(behind) => {
                let letter = behind.chars().next().ok_or("a replacement ends with a backslash")?;
                Ok((Item::Letter(letter), &behind[letter.len_utf8()..]))
            }
            Begin::Group(behind) => {
                if let Some((name, behind)) = named(behind) {
                    let group = regex.capture_names().position(|known| known == Some(name));
                    return group
                        .map(|group| (Item::Group(group), behind))
                        .ok_or_else(|| format!("there is no group {name:?}"));
                }
                let (group, behind) = number(behind, regex.captures_len())
                    .ok_or("a dollar sign in a replacement stands before a group; \\$ is the sign itself")?;
                match group < regex.captures_len() {
                    true => Ok((Item::Group(group), behind)),
                    false => Err(format!("there is no group {group}")),
                }
            }
        })
    }

    /// The same, but what Java refuses stands for nothing: a group that there is not, a sign at the end.
    pub fn lenient(text: &str, regex: &Regex) -> Replacement {
        let read = read(text, |begin| {
            let (item, behind) = match begin {
                Begin::Escape(behind) => match behind.chars().next() {
                    Some(letter) => (Item::Letter(letter), &behind[letter.len_utf8()..]),
                    None => (Item::Nothing, behind),
                },
                Begin::Group(behind) => match named(behind) {
                    Some((name, behind)) => {
                        let group = regex.capture_names().position(|known| known == Some(name));
                        (group.map_or(Item::Nothing, Item::Group), behind)
                    }
                    None => match number(behind, regex.captures_len()) {
                        Some((group, behind)) => (Item::Group(group), behind),
                        None => (Item::Nothing, behind),
                    },
                },
            };
            Ok::<_, String>((item, behind))
        });
        read.unwrap_or_else(|_| Replacement(Vec::new()))
    }

    /// XPath's: `$1` stands for a group, of which there are so many with the whole match; `\$` and `\\` for themselves.
    ///
    /// `None`: a sign stands before something else.
    /// Source: Functions and Operators §5.6.4.
    pub fn xpath(text: &str, groups: usize) -> Option<Replacement> {
        let read: Result<Replacement, ()> = read(text, |begin| match begin {
            Begin::Escape(behind) => {
                let letter = behind.chars().next().filter(|letter| matches!(letter, '$' | '\\')).ok_or(())?;
                Ok((Item::Letter(letter), &behind[1..]))
            }
            Begin::Group(behind) => {
                let (group, behind) = number(behind, groups).ok_or(())?;
                Ok((Item::Group(group), behind))
            }
        });
        read.ok()
    }

    /// Writes it, where `group` gives the text of a group: empty for one that took part in no way, or is none.
    pub fn push<'t>(&self, out: &mut String, group: impl Fn(usize) -> &'t str) {
        for piece in &self.0 {
            out.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Group(number) => group(*number),
            });
        }
    }
}

/// A sign with a meaning, and what stands behind it.
enum Begin<'t> {
    Escape(&'t str),
    Group(&'t str),
}

/// What such a sign stands for.
enum Item {
    Letter(char),
    Group(usize),
    Nothing,
}

fn read<'t, E>(text: &'t str, item: impl Fn(Begin<'t>) -> Result<(Item, &'t str), E>) -> Result<Replacement, E> {
    let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find(['\\', '$']) {
        plain.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (found, behind) = item(match rest[at..].starts_with('$') {
            true => Begin::Group(behind),
            false => Begin::Escape(behind),
        })?;
        match found {
            Item::Letter(letter) => plain.push(letter),
            Item::Group(group) => pieces.extend([Piece::Text(std::mem::take(&mut plain)), Piece::Group(group)]),
            Item::Nothing => {}
        }
        rest = behind;
    }
    plain.push_str(rest);
    pieces.push(Piece::Text(plain));
    Ok(Replacement(pieces))
}

/// `{name}`, and what follows it.
fn named(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('{')?.split_once('}')
}

/// The number that a text begins with, and what follows: of its digits the first, and as many more as there are groups
/// for.
fn number(text: &str, groups: usize) -> Option<(usize, &str)> {
    let mut digits = text.bytes().map_while(|byte| char::from(byte).to_digit(10));
    let mut group = digits.next()? as usize;
    let mut length = 1;
    for digit in digits {
        let longer = group * 10 + digit as usize;
        if longer >= groups {
            break;
        }
        group = longer;
        length += 1;
    }
    Some((group, &text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(replacement: &Replacement, regex: &Regex, text: &str) -> String {
        let found = regex.captures(text).unwrap();
        let mut out = String::new();
        replacement.push(&mut out, |group| found.get(group).map_or("", |group| group.as_str()));
        out
    }

    #[test]
    fn what_java_refuses_may_stand_for_nothing() {
        let check = |pattern: &str, replacement: &str, expected: &str| {
            let regex = Regex::new(pattern).unwrap();
            let made = Replacement::lenient(replacement, &regex);
            assert_eq!(written(&made, &regex, "str:12"), expected, "{replacement}");
        };
        check("^(s)(t)r:", "$2$1", "ts");
        check("^(s)tr:", "$10-", "s0-");
        check("^(?P<a>s)tr:", r"${a}\$\\", r"s$\");
        check("^str:", "$", "");
        check("^str:", "a$x$7${b}\\", "ax");
    }

    #[test]
    fn the_replacements_of_xpath_have_numbers_and_no_names() {
        let regex = Regex::new("(s)(t)").unwrap();
        let check = |replacement: &str, expected: Option<&str>| {
            let made = Replacement::xpath(replacement, 3).map(|made| written(&made, &regex, "st"));
            assert_eq!(made.as_deref(), expected, "{replacement}");
        };
        check("$2$1$0", Some("tsst"));
        check("$12$3", Some("s2"));
        check(r"\$\\", Some(r"$\"));
        check("$x", None);
        check("${a}", None);
        check(r"\n", None);
        check("\\", None);
    }
}
