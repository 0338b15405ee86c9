//! What a hole of a text stands in: seen from the text in front of it, which need not be well-formed before it is filled.

/// What a text with holes is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mediators) enum Language {
    Xml,
    Json,
    Text,
}

/// What a hole stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mediators) enum Around {
    Nothing,
    /// The value of an XML attribute, or a string of JSON.
    Quotes,
}

/// Where reading a text with holes has come to.
pub(in crate::mediators) struct Surroundings {
    language: Language,
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

impl Surroundings {
    pub(in crate::mediators) fn new(language: Language) -> Surroundings {
        Surroundings { language, state: State::Outside }
    }

    /// What a hole here stands in.
    pub(in crate::mediators) fn around(&self) -> Around {
        if matches!(self.state, State::Quotes(_) | State::Escape) { Around::Quotes } else { Around::Nothing }
    }

    /// Goes on behind a text.
    pub(in crate::mediators) fn pass(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.bytes().next() {
            let (state, length) = match (self.state, first) {
                (State::Quotes(quote), _) if first == quote => (self.behind_quotes(), 1),
                (State::Quotes(_), b'\\') if self.language == Language::Json => (State::Escape, 1),
                (State::Escape, _) => (State::Quotes(b'"'), 1),
                (State::Outside, b'"') if self.language == Language::Json => (State::Quotes(b'"'), 1),
                (State::Outside, b'<') if self.language == Language::Xml => opened(rest),
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
        if self.language == Language::Xml { State::Tag } else { State::Outside }
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

    fn check(language: Language, text: &str, expected: &[Around]) {
        let mut surroundings = Surroundings::new(language);
        let found: Vec<Around> = text
            .split('$')
            .map(|part| {
                surroundings.pass(part);
                surroundings.around()
            })
            .collect();
        assert_eq!(found[..found.len() - 1], *expected, "{text}");
    }

    #[test]
    fn attributes_of_xml_are_quotes_and_nothing_else_is() {
        use Around::{Nothing, Quotes};
        check(Language::Xml, "<a b='$' c=\"é'$\">$ '$'</a>", &[Quotes, Quotes, Nothing, Nothing]);
        check(
            Language::Xml,
            "<!-- <a b='$ --><![CDATA[<a b='$]]><?p a='$?><a b='$'/>$",
            &[Nothing, Nothing, Nothing, Quotes, Nothing],
        );
        check(Language::Xml, "$<a $>$", &[Nothing, Nothing, Nothing]);
    }

    #[test]
    fn strings_of_json_are_quotes() {
        use Around::{Nothing, Quotes};
        check(Language::Json, r#"{"a": $, "é$": "\"$", "b": '$'}"#, &[Nothing, Quotes, Quotes, Nothing]);
        check(Language::Text, "\"$\"", &[Nothing]);
    }
}
