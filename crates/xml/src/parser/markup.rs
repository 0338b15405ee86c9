//! Comments, instructions, the XML declaration, and the document type that is refused or skipped.

use std::ops::Range;

use super::Parser;
use super::resume::Doctype;
use super::stage::{Stage, begins};
use super::stop::{Stop, bad, forbidden, malformed};
use super::text::characters;
use super::token::{DeclarationParts, Token};
use crate::characters::{is_space, name_error};
use crate::error::{ErrorKind, Limit};
use crate::options::{DeclaredEncoding, DoctypePolicy};
use crate::value;

/// An XML declaration that is longer is not kept for the next document.
const KEPT_BYTES: usize = 128;

impl Parser {
    #[inline(never)]
    pub(super) fn comment(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        match begins(window, start, b"<!--") {
            Some(true) => {}
            Some(false) => return malformed(window, start + 1, "a tag, a comment or an instruction"),
            None => return Err(Stop::Starved("a comment")),
        }
        let inner = start + "<!--".len();
        let Some(length) = memchr::memmem::find(&window[inner..], b"--") else { return Err(Stop::Starved("-->")) };
        let end = inner + length;
        match window.get(end + 2) {
            Some(b'>') => {}
            Some(_) => return forbidden("-- in a comment, expected -->", end),
            None => return Err(Stop::Starved("'>'")),
        }
        characters(window, inner, end)?;
        self.at = end + "-->".len();
        Ok(Token::Comment { range: start..self.at })
    }

    #[inline(never)]
    pub(super) fn instruction(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        let inner = start + "<?".len();
        let Some(length) = memchr::memmem::find(&window[inner..], b"?>") else { return Err(Stop::Starved("?>")) };
        let end = inner + length;
        let (target, _) = instruction_parts(&window[inner..end]);
        let name = value::text(target);
        let colon = if self.options.namespaces { name.find(':') } else { None };
        if let Some(place) = name_error(name).or(colon) {
            return malformed(window, inner + place, "the name of an instruction");
        }
        if name.eq_ignore_ascii_case("xml") {
            return forbidden("an XML declaration that is not at the very start", start);
        }
        characters(window, inner + target.len(), end)?;
        self.at = end + "?>".len();
        Ok(Token::Instruction { range: start..self.at })
    }

    /// The XML declaration, of which `<?xml` is known to stand.
    ///
    /// Source: XML 1.0 productions 23 to 32 and 80.
    pub(super) fn declaration(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        let known = &self.declaration;
        if known.judged == Some(self.options.declared_encoding) && window[start..].starts_with(&known.written) {
            self.at += known.written.len();
            self.stage = Stage::Prolog;
            return Ok(Token::Declaration { range: start..self.at });
        }
        let ends = |&end: &usize| window[..start + end].ends_with(b"?");
        let Some(end) = memchr::memchr_iter(b'>', &window[start..]).find(ends) else {
            return Err(Stop::Starved("?>"));
        };
        let window = &window[..start + end + 1];
        let mut at = start + "<?xml".len();
        let version = pseudo_attribute(window, &mut at, b"version")?;
        let Some(version) = version else { return malformed(window, at, "version=\"1.0\"") };
        let digits = window[version.clone()].strip_prefix(b"1.");
        if !digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
            return forbidden("a version other than 1.0 and its like", version.start);
        }
        let encoding = pseudo_attribute(window, &mut at, b"encoding")?;
        if let Some(encoding) = &encoding {
            let name = &window[encoding.clone()];
            if name.len() > self.options.name_bytes {
                return bad(ErrorKind::Limit(Limit::NameBytes(self.options.name_bytes)), encoding.start);
            }
            let letters = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            if !name.first().is_some_and(u8::is_ascii_alphabetic) || !name.iter().all(letters) {
                return forbidden(
                    "an encoding whose name has other characters than letters, digits, '.', '_' and '-'",
                    encoding.start,
                );
            }
            let name = value::text(name);
            if !self.is_encoding(name) {
                return bad(ErrorKind::WrongEncoding(name.to_owned()), encoding.start);
            }
        }
        let standalone = match pseudo_attribute(window, &mut at, b"standalone")? {
            None => None,
            Some(range) => match &window[range.clone()] {
                b"yes" => Some(true),
                b"no" => Some(false),
                _ => return forbidden("a value of standalone other than yes and no", range.start),
            },
        };
        at = skip_space(window, at..window.len());
        if &window[at..] != b"?>" {
            return malformed(window, at, "?>");
        }
        self.at = window.len();
        self.stage = Stage::Prolog;
        let text = |range: Range<usize>| value::text(&window[range]).to_owned();
        self.declaration = DeclarationParts {
            written: Vec::new(),
            judged: None,
            version: text(version),
            encoding: encoding.map(text),
            standalone,
        };
        if self.at - start <= KEPT_BYTES {
            self.declaration.written = window[start..].to_vec();
            self.declaration.judged = Some(self.options.declared_encoding);
        }
        Ok(Token::Declaration { range: start..self.at })
    }

    /// Whether a document that came as it did may say that it is in this encoding.
    fn is_encoding(&self, name: &str) -> bool {
        let one_of = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        match self.options.declared_encoding {
            DeclaredEncoding::Any => true,
            DeclaredEncoding::Utf8 => one_of(&["UTF-8", "UTF8", "US-ASCII", "ASCII"]),
            DeclaredEncoding::Utf16 => one_of(&["UTF-16", "UTF-16LE", "UTF-16BE", "ISO-10646-UCS-2"]),
        }
    }

    /// The document type, of which `<!DOCTYPE` is known to stand.
    #[inline(never)]
    pub(super) fn document_type(&mut self, window: &[u8]) -> Result<Token, Stop> {
        let start = self.at;
        if self.options.doctype == DoctypePolicy::Refuse {
            return bad(ErrorKind::DoctypeRefused, start);
        }
        if self.doctype {
            return forbidden("a second document type declaration", start);
        }
        let inner = start + "<!DOCTYPE".len();
        let (length, complete) = Doctype::default().skip(&window[inner..]);
        if !complete {
            return Err(Stop::Starved("the end of the document type"));
        }
        characters(window, inner, inner + length)?;
        self.at = inner + length;
        self.doctype = true;
        Ok(Token::Doctype { range: start..self.at })
    }
}

/// Target and data of what stands between `<?` and `?>`.
pub(super) fn instruction_parts(body: &[u8]) -> (&[u8], &[u8]) {
    let end = body.iter().position(|&byte| is_space(byte)).unwrap_or(body.len());
    (&body[..end], &body[skip_space(body, end..body.len())..])
}

/// Reads ` name="value"` if it stands at `at`, and moves behind it; gives the range of the value.
///
/// Shape: `window` ends with the declaration.
fn pseudo_attribute(window: &[u8], at: &mut usize, name: &'static [u8]) -> Result<Option<Range<usize>>, Stop> {
    let start = skip_space(window, *at..window.len());
    if start == *at || !window[start..].starts_with(name) {
        return Ok(None);
    }
    let equals = skip_space(window, start + name.len()..window.len());
    if window.get(equals) != Some(&b'=') {
        return malformed(window, equals, "'='");
    }
    let opening = skip_space(window, equals + 1..window.len());
    let quote = match window.get(opening) {
        Some(&quote @ (b'"' | b'\'')) => quote,
        _ => return malformed(window, opening, "a quote"),
    };
    let value = opening + 1;
    let Some(length) = memchr::memchr(quote, &window[value..]) else {
        return malformed(window, window.len() - "?>".len(), "a closing quote");
    };
    *at = value + length + 1;
    Ok(Some(value..value + length))
}

/// The first place in `range` without white space.
fn skip_space(window: &[u8], range: Range<usize>) -> usize {
    range.clone().find(|&at| !is_space(window[at])).unwrap_or(range.end)
}
