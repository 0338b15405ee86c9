//! Entities that a stylesheet declares for texts it writes often: `<!ENTITY nbsp "&#160;">`.
//!
//! The parser expands none, as messages come from strangers. A stylesheet is its author's, so those of its own document
//! type are replaced before it is parsed, with bounds; what another document would have to be read for is refused.

use std::collections::HashMap;

/// A source without references to declared entities, and where its parts come from.
pub(super) struct Expanded {
    pub(super) text: String,
    pieces: Vec<Piece>,
}

/// A stretch of the text.
struct Piece {
    /// Where it begins in the text.
    start: usize,
    /// Where it, or the reference it stands for, begins in the source.
    source: usize,
    /// Whether it is as it was in the source.
    verbatim: bool,
}

enum Entity {
    Text(String),
    /// Declared with `SYSTEM` or `PUBLIC`.
    Elsewhere,
}

/// All that is put in place of references may have so many bytes together.
const BYTES: usize = 4 << 20;

/// Names of entities are not longer than this.
const NAME_BYTES: usize = 256;

/// Entities may refer to each other as deep as this.
const DEPTH: usize = 16;

impl Expanded {
    /// Where a byte of the text comes from in the source.
    pub(super) fn source_offset(&self, offset: usize) -> usize {
        let piece = &self.pieces[self.pieces.partition_point(|piece| piece.start <= offset).saturating_sub(1)];
        if piece.verbatim { piece.source + (offset - piece.start) } else { piece.source }
    }
}

/// Replaces references to what the document type declares; `None`: there is nothing to replace.
///
/// Errors: at which byte, and a sentence for the author.
pub(super) fn expand(source: &str) -> Result<Option<Expanded>, (usize, String)> {
    let Some(doctype) = doctype(source) else { return Ok(None) };
    let (entities, end) = declared(source, doctype);
    if entities.is_empty() {
        return Ok(None);
    }
    let mut expansion = Expansion {
        entities,
        text: source[..end].to_owned(),
        pieces: vec![Piece { start: 0, source: 0, verbatim: true }],
        made: 0,
        state: State::Content,
    };
    let mut at = end;
    while let Some((reference, length)) = expansion.copy_to_reference(&source[at..]) {
        let start = at + reference;
        let name = &source[start + 1..start + length - 1];
        expansion.pieces.push(Piece { start: expansion.text.len(), source: start, verbatim: false });
        expansion.replace(name, 0).map_err(|message| (start, message))?;
        at = start + length;
        expansion.pieces.push(Piece { start: expansion.text.len(), source: at, verbatim: true });
    }
    let Expansion { text, pieces, .. } = expansion;
    Ok(Some(Expanded { text, pieces }))
}

struct Expansion {
    entities: HashMap<String, Entity>,
    text: String,
    pieces: Vec<Piece>,
    /// Bytes put in place of references so far.
    made: usize,
    state: State,
}

/// Where the text ends so far.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Content,
    Tag,
    /// In the value of an attribute, between such quotes.
    Value(u8),
}

impl Expansion {
    /// Copies text up to the next reference to a declared entity; gives its place and its length.
    fn copy_to_reference(&mut self, text: &str) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match (self.state, bytes[at]) {
                (_, b'&') => {
                    let rest = &text[at..];
                    let end = bytes[at..].iter().take(NAME_BYTES).position(|&byte| byte == b';').unwrap_or(0);
                    if end > 1 && self.entities.contains_key(&rest[1..end]) {
                        self.text.push_str(&text[..at]);
                        return Some((at, end + 1));
                    }
                }
                (State::Content, b'<') => match skipped(&text[at..]) {
                    Some(length) => {
                        at += length;
                        continue;
                    }
                    None => self.state = State::Tag,
                },
                (State::Tag, quote @ (b'"' | b'\'')) => self.state = State::Value(quote),
                (State::Tag, b'>') => self.state = State::Content,
                (State::Value(quote), byte) if byte == quote => self.state = State::Tag,
                _ => {}
            }
            at += 1;
        }
        self.text.push_str(text);
        None
    }

    /// Appends what an entity stands for, with what that refers to.
    fn replace(&mut self, name: &str, depth: usize) -> Result<(), String> {
        let Some(Entity::Text(text)) = self.entities.get(name) else {
            return Err(format!(
                "the entity &{name}; stands for another document, which is not read: xsl:include reads one"
            ));
        };
        self.made += text.len() + 1;
        if depth > DEPTH || self.made > BYTES {
            return Err(format!("the entity &{name}; stands for more than {BYTES} bytes, or for itself"));
        }
        // Within a value its quotes are characters like others.
        let text = match self.state {
            State::Value(b'"') => text.replace('"', "&#34;"),
            State::Value(_) => text.replace('\'', "&#39;"),
            _ => text.clone(),
        };
        let mut at = 0;
        while let Some((reference, length)) = self.copy_to_reference(&text[at..]) {
            let start = at + reference;
            self.replace(&text[start + 1..start + length - 1], depth + 1)?;
            at = start + length;
        }
        Ok(())
    }
}

/// Where the document type begins.
fn doctype(source: &str) -> Option<usize> {
    let mut at = source.len() - source.trim_start_matches('\u{feff}').len();
    loop {
        at += source[at..].len() - source[at..].trim_start().len();
        if source[at..].starts_with("<!DOCTYPE") {
            return Some(at);
        }
        at += skipped(&source[at..])?;
    }
}

/// The length of the comment, instruction or CDATA section that a text begins with.
fn skipped(text: &str) -> Option<usize> {
    let marks = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];
    let (open, close) = marks.into_iter().find(|(open, _)| text.starts_with(open))?;
    let end = text[open.len()..].find(close);
    Some(end.map_or(text.len(), |end| open.len() + end + close.len()))
}

/// The general entities of a document type, and where it ends.
fn declared(source: &str, doctype: usize) -> (HashMap<String, Entity>, usize) {
    let mut entities = HashMap::new();
    let subset = doctype + markup_end(&source[doctype..], b"[>");
    if !source[..subset].ends_with('[') {
        return (entities, subset);
    }
    let mut at = subset;
    while at < source.len() {
        let rest = &source[at..];
        if rest.starts_with(']') {
            at += markup_end(rest, b">");
            break;
        }
        at += if let Some(length) = skipped(rest) {
            length
        } else if rest.starts_with("<!") {
            let length = markup_end(rest, b">");
            if let Some((name, entity)) = rest[..length].strip_prefix("<!ENTITY").and_then(declaration) {
                // The first declaration of a name is the one that counts (XML 1.0 §4.2).
                entities.entry(name).or_insert(entity);
            }
            length
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    (entities, at)
}

/// The length of a text up to and with the first of some characters outside quotes.
fn markup_end(text: &str, ends: &[u8]) -> usize {
    let mut quote = None;
    for (index, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if ends.contains(&byte) => return index + 1,
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None => {}
        }
    }
    text.len()
}

/// What stands behind `<!ENTITY`; none for an entity of document types.
fn declaration(text: &str) -> Option<(String, Entity)> {
    let text = text.trim_start();
    let (name, rest) = text.split_once(|letter: char| letter.is_ascii_whitespace())?;
    if name == "%" {
        return None;
    }
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
    let entity = match quote {
        Some(quote) => Entity::Text(with_characters(rest[1..].split(quote).next()?)),
        None => Entity::Elsewhere,
    };
    Some((name.to_owned(), entity))
}

/// Replaces references to characters by numbers, which a declaration reads at once (XML 1.0 §4.5).
fn with_characters(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = rest.find("&#") {
        text.push_str(&rest[..start]);
        let number = rest[start + 2..].split(';').next().unwrap_or_default();
        let parsed = match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        let character = parsed.ok().and_then(char::from_u32);
        match character {
            Some(character) => text.push(character),
            None => text.push_str("&#"),
        }
        rest = &rest[start + 2..];
        if character.is_some() {
            rest = rest.get(number.len() + 1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declarations: &str, body: &str, expected: &str) {
        let source = format!("<?xml version='1.0'?><!-- <!DOCTYPE --><!DOCTYPE a [{declarations}]>\n{body}");
        let expanded = expand(&source).expect("sound").map_or(source.clone(), |expanded| expanded.text);
        assert_eq!(expanded.split_once("]>\n").expect("a document type").1, expected, "{declarations} {body}");
    }

    #[test]
    fn references_to_declared_entities_are_replaced_in_content_and_values() {
        check("<!ENTITY n '&#160;'>", "<a b='&n;'>&n;&amp;</a>", "<a b='\u{a0}'>\u{a0}&amp;</a>");
        check("<!ENTITY n \"a\"><!ENTITY n 'b'>", "<a>&n;</a>", "<a>a</a>");
        check("<!ENTITY n '<b/>&m;'><!ENTITY m '&#x41;'>", "<a>&n;</a>", "<a><b/>A</a>");
        check("<!ENTITY n 'it&#39;s'>", "<a b='&n;'/>", "<a b='it&#39;s'/>");
        check("<!ENTITY n 'x'>", "<a><!-- &n; --><![CDATA[&n;]]>&m;</a>", "<a><!-- &n; --><![CDATA[&n;]]>&m;</a>");
        check("<!ELEMENT a (#PCDATA)><!-- ]> --><!ENTITY % p 'q'> %p; <!ENTITY n 'x'>", "<a>&n;</a>", "<a>x</a>");
        check("<!ENTITY n 'a&#60;b'>", "<a>&n;</a>", "<a>a<b</a>");
    }

    #[test]
    fn places_are_those_of_the_source() {
        let source = "<!DOCTYPE a [<!ENTITY n 'long text'>]><a>&n;<b/></a>";
        let expanded = expand(source).expect("sound").expect("a reference");
        let place = |text: &str| expanded.source_offset(expanded.text.rfind(text).expect("there"));
        assert_eq!(place("<b/>"), source.find("<b/>").expect("there"));
        assert_eq!(place("text<"), source.rfind("&n;").expect("there"));
        assert_eq!(place("<a>"), source.find("<a>").expect("there"));
    }

    #[test]
    fn bombs_circles_and_other_documents_are_refused() {
        let refused = |declarations: &str| {
            let source = format!("<!DOCTYPE a [{declarations}]><a>&n;</a>");
            expand(&source).err().expect("refused").1
        };
        let bomb: String =
            (0..12).map(|level| format!("<!ENTITY e{level} '{}'>", format!("&e{};", level + 1).repeat(10))).collect();
        assert!(refused(&format!("{bomb}<!ENTITY e12 'x'><!ENTITY n '&e0;'>")).contains("bytes"));
        assert!(refused("<!ENTITY n '&n;'>").contains("itself"));
        assert!(refused("<!ENTITY n SYSTEM 'b.xml'>").contains("another document"));
    }
}
