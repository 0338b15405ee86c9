//! Java's property files: `name = value`, a line each.
//!
//! Source: `java.util.Properties`.

use std::collections::HashMap;

/// The properties in a text; of one that is there twice the last.
pub fn parse(text: &str) -> HashMap<String, String> {
    let mut properties = HashMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        // An odd number of backslashes at the end of a line takes the next one in.
        while line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
            line.pop();
            line.push_str(lines.next().unwrap_or_default().trim_start());
        }
        let (name, value) = split(&line);
        properties.insert(unescaped(name), unescaped(value));
    }
    properties
}

/// A line at its first `=`, `:` or blank, with the blanks around that.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.char_indices().find(|(_, character)| {
        let ends = !escaped && matches!(character, '=' | ':' | ' ' | '\t' | '\u{c}');
        escaped = !escaped && *character == '\\';
        ends
    });
    let Some((end, _)) = end else { return (line, "") };
    let rest = line[end..].trim_start();
    (&line[..end], rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            result.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('f') => result.push('\u{c}'),
            Some('u') => {
                let digits = characters.as_str().get(..4).unwrap_or_default();
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 4).and_then(char::from_u32);
                if let Some(code) = code {
                    result.push(code);
                    characters = characters.as_str()[4..].chars();
                }
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_java_does() {
        let text = "# a comment\n! another\n\na=1\nb : two words \n  c three\nd\\ e\\=f=\\u00e9\\n\\q\ng=one\\\n   two\nh\na=2\n\
                    i=\\u12\nj=x\\\\\nk=\\";
        let found = parse(text);
        let check = |name: &str, value: &str| assert_eq!(found.get(name).map(String::as_str), Some(value), "{name}");
        check("a", "2");
        check("b", "two words ");
        check("c", "three");
        check("d e=f", "é\nq");
        check("g", "onetwo");
        check("h", "");
        check("i", "12");
        check("j", "x\\");
        check("k", "");
        assert_eq!(found.len(), 9);
    }
}
