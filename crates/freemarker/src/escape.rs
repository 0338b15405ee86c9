//! Output formats, and how a text is escaped for them.

/// A language that the output is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HTML.
    Html,
    /// XML, and XHTML.
    Xml,
}

impl Format {
    /// Escapes a text.
    pub(crate) fn escape(self, text: &str, out: &mut String) {
        for letter in text.chars() {
            match letter {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' if self == Format::Xml => out.push_str("&apos;"),
                '\'' => out.push_str("&#39;"),
                other => out.push(other),
            }
        }
    }
}

/// The format of that name: the inner `None` for one that needs no escaping, the outer for one that is not offered.
pub(crate) fn format(name: &str) -> Option<Option<Format>> {
    Some(match name {
        "HTML" => Some(Format::Html),
        "XML" | "XHTML" => Some(Format::Xml),
        "undefined" | "plainText" | "JSON" | "JavaScript" | "CSS" => None,
        _ => return None,
    })
}

/// A text as it stands in a string of JavaScript, or of JSON.
///
/// What could end a script, or begin a comment of the page around it, is broken up.
pub(crate) fn script(text: &str, json: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + 8);
    for (at, letter) in text.char_indices() {
        let before = at.checked_sub(1).map(|index| bytes[index]);
        let is_dangerous = match letter {
            '/' => matches!(before, None | Some(b'<')),
            '>' => match before {
                None => true,
                Some(b']' | b'-') => at == 1 || bytes[at - 2] == bytes[at - 1],
                _ => false,
            },
            '<' => matches!(bytes.get(at + 1), None | Some(b'!' | b'?')),
            _ => false,
        };
        let is_control = matches!(letter, '\0'..' ' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}');
        match letter {
            '"' => out.push_str("\\\""),
            '\'' if !json => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if is_dangerous => out.push_str("\\/"),
            '>' if is_dangerous && !json => out.push_str("\\>"),
            other if is_control || is_dangerous => {
                let number = u32::from(other);
                match json || number > 0xff {
                    true => out.push_str(&format!("\\u{number:04X}")),
                    false => out.push_str(&format!("\\x{number:02X}")),
                }
            }
            other => out.push(other),
        }
    }
    out
}
