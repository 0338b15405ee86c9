//! From Java's syntax of regular expressions to that of the `regex` crate.

use std::borrow::Cow;

/// A pattern of Java's as the `regex` crate reads it.
///
/// Errors: a sentence that says what is not offered.
pub(super) fn translate(java: &str, dot_all: bool) -> Result<String, String> {
    let dot_matches_all = dot_all || java.contains("(?s") || java.contains("(?is") || java.contains("(?ms");
    let mut out = String::with_capacity(java.len() + 16);
    let mut rest = java;
    let mut class_depth = 0_usize;
    // Whether the last item was a repetition, so that a plus behind it would be possessive.
    let mut repeated = false;
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        let was_repeated = std::mem::replace(&mut repeated, false);
        match letter {
            '\\' => {
                rest = escape(behind, class_depth > 0, &mut out)?;
                continue;
            }
            '[' => class_depth += 1,
            ']' if class_depth > 0 => class_depth -= 1,
            _ if class_depth > 0 => {}
            '(' if behind.starts_with('?') => refuse_group(behind)?,
            '.' if !dot_matches_all => {
                out.push_str(r"[^\n\r\u{85}\u{2028}\u{2029}]");
                rest = behind;
                continue;
            }
            '+' if was_repeated => return Err("possessive repetition (`++`, `*+`, `?+`) is not offered".to_owned()),
            '*' | '+' | '?' | '}' => repeated = true,
            _ => {}
        }
        out.push(letter);
        rest = behind;
    }
    Ok(out)
}

/// Java's groups that need backtracking.
fn refuse_group(behind: &str) -> Result<(), String> {
    let refused = [
        ("?=", "look-ahead"),
        ("?!", "look-ahead"),
        ("?<=", "look-behind"),
        ("?<!", "look-behind"),
        ("?>", "an atomic group"),
    ];
    match refused.iter().find(|(start, _)| behind.starts_with(start)) {
        Some((start, name)) => Err(format!("{name} `({start}…)` is not offered in regular expressions")),
        None => Ok(()),
    }
}

/// Translates one escape; gives what follows it.
fn escape<'a>(behind: &'a str, in_class: bool, out: &mut String) -> Result<&'a str, String> {
    let Some(letter) = behind.chars().next() else {
        return Err("not a regular expression: it ends with a backslash".to_owned());
    };
    let rest = &behind[letter.len_utf8()..];
    let class = |inside: &str, outside: &str| if in_class { inside.to_owned() } else { outside.to_owned() };
    match letter {
        'd' => out.push_str(&class("0-9", "[0-9]")),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str(&class("a-zA-Z0-9_", "[a-zA-Z0-9_]")),
        'W' => out.push_str("[^a-zA-Z0-9_]"),
        's' => out.push_str(&class(r" \t\n\x0B\f\r", r"[ \t\n\x0B\f\r]")),
        'S' => out.push_str(r"[^ \t\n\x0B\f\r]"),
        'h' => out.push_str(&class(r" \t\u{A0}", r"[ \t\u{A0}]")),
        'R' if !in_class => out.push_str(r"(?:\r\n|[\n\x0B\f\r\u{85}\u{2028}\u{2029}])"),
        'e' => out.push_str(r"\x1B"),
        // The regex crate reads these two as edges of words.
        '<' | '>' => out.push(letter),
        '1'..='9' | 'k' => return Err("back-references are not offered in regular expressions".to_owned()),
        '0' | 'c' | 'G' | 'Z' | 'X' | 'v' | 'H' | 'V' | 'N' => {
            return Err(format!("`\\{letter}` is not offered in regular expressions"));
        }
        'p' | 'P' => return property(letter, rest, out),
        'Q' => {
            let (inside, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
            out.push_str(&regex::escape(inside));
            return Ok(rest);
        }
        other if other.is_ascii_alphanumeric() || other.is_ascii_punctuation() || other == ' ' => {
            out.push('\\');
            out.push(other);
        }
        other => out.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
    }
    Ok(rest)
}

/// Java's names for ASCII classes; Unicode's own names are the same in both.
fn property<'a>(letter: char, rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    let Some((name, behind)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) else {
        out.push('\\');
        out.push(letter);
        return Ok(rest);
    };
    let ascii = match name {
        "Lower" => "lower",
        "Upper" => "upper",
        "ASCII" => "ascii",
        "Alpha" => "alpha",
        "Digit" => "digit",
        "Alnum" => "alnum",
        "Punct" => "punct",
        "Graph" => "graph",
        "Print" => "print",
        "Blank" => "blank",
        "Cntrl" => "cntrl",
        "XDigit" => "xdigit",
        "Space" => "space",
        _ if name.starts_with("java") => return Err(format!("`\\p{{{name}}}` is not offered in regular expressions")),
        _ => {
            let name: Cow<'_, str> = name.strip_prefix("Is").map_or(name.into(), Into::into);
            out.push_str(&format!("\\{letter}{{{name}}}"));
            return Ok(behind);
        }
    };
    let negation = if letter == 'P' { "^" } else { "" };
    out.push_str(&format!("[[:{negation}{ascii}:]]"));
    Ok(behind)
}
