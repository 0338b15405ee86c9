//! A text with its references replaced and its default values written out.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::declarations::{AttributeDeclaration, AttributeKind, Dtd, Entity};
use super::input::{character_at, markup_length, name_at, reference_at};
use super::place::Pieces;
use super::reader::{Budget, Failure, Read};
use super::{DoctypeOptions, ElementSpace, Externals};
use crate::characters::is_space;

/// What is at work.
pub(super) struct Expansion<'d> {
    source: &'d str,
    /// Where the document type ends.
    start: usize,
    dtd: &'d Dtd,
    /// Whether start tags need a closer look.
    looks_at_attributes: bool,
    externals: &'d dyn Externals,
    limits: &'d DoctypeOptions,
    budget: Budget,
    text: String,
    pieces: Pieces,
    /// Bytes that were added so far.
    made: usize,
    /// How many bytes may be added.
    bound: usize,
    /// Of each element that is open, whether white space in it is left out.
    open: Vec<bool>,
    /// The reference in the document that is worked on.
    anchor: usize,
    /// External entities that were read.
    read: HashMap<String, Read>,
    bases: Vec<(Range<usize>, String)>,
    /// Whether the text differs from the source.
    changed: bool,
}

/// A text is no XML from here on: the parser will say what is wrong.
struct Broken;

/// How one piece of markup went.
enum Step {
    To(usize),
    Broken,
}

/// Entities that need no declaration.
pub(super) const PREDEFINED: [&str; 5] = ["amp", "lt", "gt", "quot", "apos"];

impl<'d> Expansion<'d> {
    pub(super) fn new(
        source: &'d str,
        start: usize,
        dtd: &'d Dtd,
        externals: &'d dyn Externals,
        limits: &'d DoctypeOptions,
        budget: Budget,
    ) -> Expansion<'d> {
        Expansion {
            source,
            start,
            dtd,
            looks_at_attributes: dtd.changes_attributes(),
            externals,
            limits,
            budget,
            text: String::new(),
            pieces: Pieces::default(),
            made: 0,
            bound: limits.expansion_bytes.saturating_add(source.len().saturating_mul(10)),
            open: Vec::new(),
            anchor: 0,
            read: HashMap::new(),
            bases: Vec::new(),
            changed: false,
        }
    }

    /// Whether anything was replaced.
    pub(super) fn run(&mut self) -> Result<bool, Failure> {
        let drops = self.limits.element_space == ElementSpace::Drop && !self.dtd.element_content.is_empty();
        if self.dtd.entities.is_empty() && !self.looks_at_attributes && !drops && self.dtd.unread.is_none() {
            return Ok(false);
        }
        self.text.reserve(self.source.len());
        self.copy(0, self.start, self.source, 0);
        self.content(self.source, self.start, 0, false).map_err(|sentence| (self.anchor, sentence))?;
        Ok(self.changed)
    }

    pub(super) fn finish(self) -> (String, Pieces, Vec<(Range<usize>, String)>) {
        (self.text, self.pieces, self.bases)
    }

    /// Copies a part of a text.
    fn copy(&mut self, from: usize, to: usize, text: &str, level: usize) {
        if from == to {
            return;
        }
        match level {
            0 => self.pieces.add(self.text.len(), from, true),
            _ => self.pieces.add(self.text.len(), self.anchor, false),
        }
        self.text.push_str(&text[from..to]);
    }

    /// Adds what is not in the source.
    fn add(&mut self, text: &str, at: usize, level: usize) {
        self.changed = true;
        self.pieces.add(self.text.len(), if level == 0 { at } else { self.anchor }, false);
        self.text.push_str(text);
    }

    /// Counts bytes that are added for an entity or a default value.
    fn count(&mut self, bytes: usize, name: &str) -> Result<(), String> {
        self.made = self.made.saturating_add(bytes + 1);
        if self.made > self.bound {
            return Err(format!(
                "&{name}; is one too many: entities and default values add more than {} bytes",
                self.bound
            ));
        }
        Ok(())
    }

    /// Copies content from a byte on, with its references replaced. `is_entity`: it must be whole within itself.
    fn content(&mut self, text: &str, from: usize, level: usize, is_entity: bool) -> Result<(), String> {
        let floor = self.open.len();
        let bytes = text.as_bytes();
        let (mut at, mut copied) = (from, from);
        // Where the last markup ended.
        let mut ended = from;
        while let Some(next) = memchr::memchr2(b'<', b'&', &bytes[at..]) {
            at += next;
            let rest = &text[at..];
            if rest.starts_with('&') {
                let Some(name) = reference_at(rest).filter(|name| !PREDEFINED.contains(name)) else {
                    if is_entity && reference_at(rest).is_none() && character_at(rest).is_none() {
                        return Err("an entity has a & that begins no reference".to_owned());
                    }
                    at += 1;
                    continue;
                };
                if self.open.is_empty() && level == 0 {
                    self.anchor = at;
                    return Err(format!("&{name}; cannot stand outside of the root element"));
                }
                self.copy_text(copied, at, text, level);
                if level == 0 {
                    self.anchor = at;
                }
                self.replace(name, level)?;
                at += name.len() + 2;
                copied = at;
                // What stands beside a reference is no white space alone.
                ended = usize::MAX;
                continue;
            }
            if ended < at && self.open.last() == Some(&true) && bytes[ended..at].iter().all(|byte| is_space(*byte)) {
                self.copy_text(copied, ended, text, level);
                self.changed = true;
                copied = at;
            }
            // Outside of all elements nothing but comments, instructions and one element may stand.
            let step = if let Some(length) = markup_length(rest) {
                match is_entity && length == rest.len() && !is_ended(rest) {
                    true => Step::Broken,
                    false => Step::To(at + length),
                }
            } else if rest.starts_with("</") {
                if self.open.len() == floor && is_entity {
                    return Err("an entity has an end tag whose element does not begin in it".to_owned());
                }
                self.open.pop();
                memchr::memchr(b'>', rest.as_bytes()).map_or(Step::Broken, |end| Step::To(at + end + 1))
            } else {
                self.start_tag(text, at, &mut copied, level)?
            };
            match step {
                Step::To(end) => (at, ended) = (end, end),
                Step::Broken if is_entity => return Err("an entity has a tag that is not well formed".to_owned()),
                // The parser says what is wrong.
                Step::Broken => break,
            }
        }
        self.copy_text(copied, text.len(), text, level);
        if is_entity && self.open.len() != floor {
            return Err("an entity has an element that does not end in it".to_owned());
        }
        Ok(())
    }

    /// Copies text and markup; a carriage return that an entity stands for is one and no line end.
    fn copy_text(&mut self, from: usize, to: usize, text: &str, level: usize) {
        if level > 0 && text[from..to].contains('\r') {
            self.add(&text[from..to].replace('\r', "&#13;"), 0, level);
        } else {
            self.copy(from, to, text, level);
        }
    }

    /// Writes what an entity stands for.
    fn replace(&mut self, name: &str, level: usize) -> Result<(), String> {
        if level >= self.limits.depth {
            return Err(format!(
                "&{name}; stands for itself, or is one of more than {} inside each other",
                self.limits.depth
            ));
        }
        self.changed = true;
        let (text, uri) = match self.dtd.entities.get(name) {
            None => return Err(self.undeclared(name)),
            Some(Entity::Unparsed(_)) => return Err(format!("the entity &{name}; is no XML: only attributes name it")),
            Some(Entity::Internal(text)) => (text.clone(), None),
            Some(Entity::External { public, system, base }) => {
                let (text, uri) = match self.read.get(name) {
                    Some(known) => known.clone(),
                    None => {
                        let reference = (public.as_deref(), system.as_str(), &**base);
                        let read = self
                            .budget
                            .read(self.externals, self.limits, reference)
                            .map_err(|reason| format!("the entity &{name}; is not read: {reason}"))?;
                        self.read.insert(name.to_owned(), read.clone());
                        read
                    }
                };
                (text, Some(uri))
            }
        };
        self.count(text.len(), name)?;
        let begin = self.text.len();
        let named = |sentence: String| match &uri {
            Some(uri) if !sentence.starts_with("the entity") => format!("{uri}: {sentence}"),
            _ if sentence.starts_with("an entity") => format!("&{name};: {sentence}"),
            _ => sentence,
        };
        self.content(&text, 0, level + 1, true).map_err(named)?;
        if let Some(uri) = &uri {
            self.bases.push((begin..self.text.len(), uri.as_ref().to_owned()));
        }
        Ok(())
    }

    fn undeclared(&self, name: &str) -> String {
        match &self.dtd.unread {
            Some(reason) => {
                format!("the entity &{name}; is not declared in what was read of the document type: {reason}")
            }
            None => format!("the entity &{name}; is not declared"),
        }
    }

    /// Reads a start tag, and copies it where something in it changes.
    fn start_tag(&mut self, text: &str, at: usize, copied: &mut usize, level: usize) -> Result<Step, String> {
        let element = name_at(&text[at + 1..]);
        if element.is_empty() {
            return Ok(Step::Broken);
        }
        let dtd = self.dtd;
        let declared: &'d [AttributeDeclaration] = match self.looks_at_attributes {
            true => dtd.attributes.get(element).map_or(&[], Vec::as_slice),
            false => &[],
        };
        let mut tag = Tag { text, at: at + 1 + element.len() };
        let mut seen: HashSet<&str> = HashSet::new();
        loop {
            tag.space();
            let rest = &text[tag.at..];
            if rest.starts_with('>') || rest.starts_with("/>") {
                break;
            }
            let Ok((name, value)) = tag.attribute() else { return Ok(Step::Broken) };
            let kind = declared.iter().find(|it| it.name == name).map_or(AttributeKind::Text, |it| it.kind);
            if !declared.is_empty() {
                seen.insert(name);
            }
            let raw = &text[value.clone()];
            if !raw.contains('&') && kind == AttributeKind::Text {
                continue;
            }
            if level == 0 {
                self.anchor = value.start;
            }
            let new = self.value(raw, kind)?;
            if new != raw {
                self.copy_text(*copied, value.start, text, level);
                self.add(&new, value.start, level);
                *copied = value.end;
            }
        }
        for attribute in declared {
            let Some(default) = &attribute.default else { continue };
            if seen.contains(attribute.name.as_str()) {
                continue;
            }
            if level == 0 {
                self.anchor = at;
            }
            let value = self.value(default, attribute.kind)?;
            self.count(attribute.name.len() + value.len() + 4, &attribute.name)?;
            self.copy_text(*copied, tag.at, text, level);
            *copied = tag.at;
            self.add(&format!(" {}=\"{}\"", attribute.name, value.replace('"', "&#34;")), at, level);
        }
        if text[tag.at..].starts_with('>') {
            let drops = self.limits.element_space == ElementSpace::Drop;
            self.open.push(drops && self.dtd.element_content.contains(element));
            return Ok(Step::To(tag.at + 1));
        }
        Ok(Step::To(tag.at + 2))
    }

    /// The value of an attribute without references to declared entities.
    fn value(&mut self, raw: &str, kind: AttributeKind) -> Result<String, String> {
        let mut value = String::with_capacity(raw.len());
        self.value_part(raw, 0, &mut value)?;
        if kind == AttributeKind::Text {
            return Ok(value);
        }
        // Spaces count as such however they are written; other white space that is written by its number does not.
        let value = value.replace("&#32;", " ").replace("&#x20;", " ").replace(['\t', '\n', '\r'], " ");
        Ok(value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
    }

    fn value_part(&mut self, raw: &str, level: usize, value: &mut String) -> Result<(), String> {
        let mut rest = raw;
        while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
            self.value_text(&rest[..at], level, value)?;
            rest = &rest[at..];
            if let Some((_, length)) = character_at(rest) {
                value.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            let Some(name) = reference_at(rest) else {
                // The parser says what is wrong.
                value.push('&');
                rest = &rest[1..];
                continue;
            };
            if PREDEFINED.contains(&name) {
                value.push_str(&rest[..name.len() + 2]);
            } else {
                if level >= self.limits.depth {
                    return Err(format!(
                        "&{name}; stands for itself, or is one of more than {} inside each other",
                        self.limits.depth
                    ));
                }
                let text = match self.dtd.entities.get(name) {
                    None => return Err(self.undeclared(name)),
                    Some(Entity::Internal(text)) => text.clone(),
                    Some(Entity::External { .. } | Entity::Unparsed(_)) => {
                        return Err(format!(
                            "the entity &{name}; is external, and cannot stand in the value of an attribute"
                        ));
                    }
                };
                self.count(text.len(), name)?;
                self.value_part(&text, level + 1, value)?;
            }
            rest = &rest[name.len() + 2..];
        }
        self.value_text(rest, level, value)
    }

    /// Text of a value: what an entity stands for has no quotes, and each white space in it is a space.
    fn value_text(&mut self, text: &str, level: usize, value: &mut String) -> Result<(), String> {
        if level == 0 {
            value.push_str(text);
            return Ok(());
        }
        if text.contains('<') {
            return Err("an entity with a < cannot stand in the value of an attribute".to_owned());
        }
        for letter in text.chars() {
            match letter {
                '"' => value.push_str("&#34;"),
                '\'' => value.push_str("&#39;"),
                '\t' | '\n' | '\r' => value.push(' '),
                other => value.push(other),
            }
        }
        Ok(())
    }
}

/// Whether a comment, an instruction or a CDATA section has its end.
fn is_ended(markup: &str) -> bool {
    match markup.as_bytes().get(1) {
        Some(b'?') => markup.len() >= 4 && markup.ends_with("?>"),
        _ if markup.starts_with("<!--") => markup.len() >= 7 && markup.ends_with("-->"),
        _ => markup.ends_with("]]>"),
    }
}

/// A start tag behind its name.
struct Tag<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tag<'t> {
    fn space(&mut self) {
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|byte| is_space(**byte)).count();
    }

    /// A name, and where its value stands.
    fn attribute(&mut self) -> Result<(&'t str, Range<usize>), Broken> {
        let name = name_at(&self.text[self.at..]);
        self.at += name.len();
        self.space();
        if name.is_empty() || !self.text[self.at..].starts_with('=') {
            return Err(Broken);
        }
        self.at += 1;
        self.space();
        let quote = *self.text.as_bytes().get(self.at).filter(|byte| matches!(byte, b'"' | b'\'')).ok_or(Broken)?;
        let start = self.at + 1;
        let end = start + memchr::memchr(quote, &self.text.as_bytes()[start..]).ok_or(Broken)?;
        self.at = end + 1;
        Ok((name, start..end))
    }
}
