//! What stands around a placeholder, found from the text in front of it, which need not be well-formed before all
//! placeholders are filled.

/// What a text with placeholders is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    Xml,
    Json,
    Text,
}

/// What stands around a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceholderContext {
    /// The content of an element, or a value of JSON.
    Content,
    /// The value of an XML attribute, or a string of JSON.
    Quoted,
}

/// Reads a text up to a placeholder, to find what stands around it.
pub(crate) struct ContextTracker {
    format: TextFormat,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    /// Between the brackets of a tag.
    Tag,
    /// In quotes that end with this byte.
    Quotes(u8),
    /// In quotes, behind a backslash.
    Escape,
    /// In something that ends with these bytes: a comment, a section of characters, an instruction.
    Until(&'static str),
}

impl ContextTracker {
    pub(crate) fn new(format: TextFormat) -> ContextTracker {
        ContextTracker { format, state: State::Outside }
    }

    /// What stands around a placeholder here.
    pub(crate) fn context(&self) -> PlaceholderContext {
        if matches!(self.state, State::Quotes(_) | State::Escape) {
            PlaceholderContext::Quoted
        } else {
            PlaceholderContext::Content
        }
    }

    /// Reads on to the end of a text.
    pub(crate) fn pass(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            let (state, length) = match (self.state, first) {
                (State::Quotes(quote), _) if first == quote => (self.behind_quotes(), 1),
                (State::Quotes(_), b'\\') if self.format == TextFormat::Json => (State::Escape, 1),
                (State::Escape, _) => (State::Quotes(b'"'), 1),
                (State::Outside, b'"') if self.format == TextFormat::Json => (State::Quotes(b'"'), 1),
                (State::Outside, b'<') if self.format == TextFormat::Xml => opened(rest),
                (State::Tag, b'>') => (State::Outside, 1),
                (State::Tag, quote @ (b'"' | b'\'')) => (State::Quotes(quote), 1),
                (State::Until(end), _) if rest.starts_with(end) => (State::Outside, end.len()),
                (state, _) => (state, 1),
            };
            self.state = state;
            // A byte in the middle of a letter is none of those that count.
            rest = rest.get(length..).unwrap_or_else(|| rest.get(next_letter(rest)..).unwrap_or_default());
        }
    }

    fn behind_quotes(&self) -> State {
        if self.format == TextFormat::Xml { State::Tag } else { State::Outside }
    }
}

fn next_letter(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// What begins with this bracket.
fn opened(text: &str) -> (State, usize) {
    let kinds = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
    match kinds.into_iter().find(|(start, _)| text.starts_with(start)) {
        Some((start, end)) => (State::Until(end), start.len()),
        None => (State::Tag, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: TextFormat, text: &str, expected: &[PlaceholderContext]) {
        let mut tracker = ContextTracker::new(format);
        let found: Vec<PlaceholderContext> = text
            .split('$')
            .map(|part| {
                tracker.pass(part);
                tracker.context()
            })
            .collect();
        assert_eq!(found[..found.len() - 1], *expected, "{text}");
    }

    #[test]
    fn attributes_of_xml_are_quotes_and_nothing_else_is() {
        use PlaceholderContext::{Content, Quoted};
        check(TextFormat::Xml, "<a b='$' c=\"é'$\">$ '$'</a>", &[Quoted, Quoted, Content, Content]);
        check(
            TextFormat::Xml,
            "<!-- <a b='$ --><![CDATA[<a b='$]]><?p a='$?><a b='$'/>$",
            &[Content, Content, Content, Quoted, Content],
        );
        check(TextFormat::Xml, "$<a $>$", &[Content, Content, Content]);
    }

    #[test]
    fn strings_of_json_are_quotes() {
        use PlaceholderContext::{Content, Quoted};
        check(TextFormat::Json, r#"{"a": $, "é$": "\"$", "b": '$'}"#, &[Content, Quoted, Quoted, Content]);
        check(TextFormat::Text, "\"$\"", &[Content]);
    }
}
