//! Declarations that say something about the whole: output, white space, decimal formats, modes, character maps.

use std::collections::HashMap;

use super::Compiler;
use super::declarations::Declaration;
use super::element::{Attribute, Element};
use super::here::Here;
use super::problems::Made;
use crate::output::OutputProperties;
use crate::program::{DecimalFormat, ExpandedName, NoMatch, StripRule, StripTest};

/// What these declarations say together.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) output: OutputProperties,
    pub(super) strip: Vec<StripRule>,
    pub(super) decimal_formats: Vec<(ExpandedName, DecimalFormat)>,
    /// Which attribute of which decimal format was set by which precedence, and to what.
    formats_set: HashMap<(ExpandedName, &'static str), (u32, String)>,
    /// Which attribute of the output was set by which precedence, and to what.
    output_set: HashMap<String, (u32, String)>,
    /// What was said of which name test, by which precedence.
    strip_set: HashMap<StripTest, (u32, bool)>,
    character_maps: Vec<(ExpandedName, u32, CharacterMap)>,
    /// The character maps that the output uses.
    maps_used: Vec<(ExpandedName, crate::program::At)>,
}

/// `xsl:character-map`
#[derive(Default)]
struct CharacterMap {
    uses: Vec<(ExpandedName, crate::program::At)>,
    characters: Vec<(char, String)>,
}

impl<'s> Compiler<'s> {
    /// Compiles these declarations, which come with ascending precedence.
    pub(super) fn settings(&mut self, declarations: &[Declaration<'s>]) -> Settings {
        let mut settings = Settings::default();
        settings.decimal_formats.push((ExpandedName::default(), DecimalFormat::default()));
        for declaration in declarations {
            let _: Made<()> = match declaration.element.xslt() {
                Some("output") => self.output(declaration, &mut settings),
                Some("strip-space") => self.strip(declaration, true, &mut settings),
                Some("preserve-space") => self.strip(declaration, false, &mut settings),
                Some("decimal-format") => self.decimal_format(declaration, &mut settings),
                Some("mode") => self.mode_declaration(declaration),
                Some("character-map") => self.character_map(declaration, &mut settings),
                _ => Ok(()),
            };
        }
        self.check_decimal_formats(&settings, declarations);
        self.apply_character_maps(&mut settings);
        settings
    }

    /// `xsl:output`
    fn output(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        // One with a name is for xsl:result-document, of which there is none.
        if self.attribute(*element, "name").is_some() {
            return Ok(());
        }
        let mut result = Ok(());
        for attribute in element.attributes().filter(|attribute| attribute.name().namespace.is_empty()) {
            let local = attribute.name().local;
            match local {
                "use-character-maps" => {
                    let at = attribute.at();
                    let names = self.qnames(&attribute, here)?;
                    settings.maps_used.extend(names.into_iter().map(|name| (name, at)));
                }
                "cdata-section-elements" | "suppress-indentation" => {
                    for name in self.element_names(&attribute, here)? {
                        match local {
                            "cdata-section-elements" => settings.output.add_cdata_section_element(name),
                            _ => settings.output.add_suppressed_indentation(name),
                        }
                    }
                }
                _ if super::here::STANDARD.contains(&local) && local != "version" => {}
                _ => result = result.and(self.output_property(&attribute, *precedence, here, settings)),
            }
        }
        result
    }

    fn output_property(
        &mut self,
        attribute: &Attribute<'s>,
        precedence: u32,
        here: &Here,
        settings: &mut Settings,
    ) -> Made<()> {
        let local = attribute.name().local;
        let value = attribute.trimmed().to_owned();
        let before = settings.output_set.insert(local.to_owned(), (precedence, value.clone()));
        // 1.0 lets the last one win.
        let conflict = before.is_some_and(|(before, said)| before == precedence && said != value);
        if conflict && !here.is_backwards() {
            let message = format!("{local} is said twice, and not the same");
            return Err(self.problems.error(attribute.at(), "XTSE1560", message));
        }
        let known = here.is_forwards();
        match settings.output.set(local, &attribute.value) {
            Ok(()) => Ok(()),
            // What is not known does not change what is.
            Err(message) if known => {
                self.problems.warning(attribute.at(), "XTSE0020", message);
                Ok(())
            }
            Err(message) => Err(self.problems.error(attribute.at(), "XTSE0020", message)),
        }
    }

    /// Names of elements: without a prefix they are in the default namespace.
    fn element_names(&mut self, attribute: &Attribute<'s>, here: &Here) -> Made<Vec<ExpandedName>> {
        let mut names = self.qnames(attribute, here)?;
        for (word, name) in attribute.words().zip(&mut names) {
            if !word.contains([':', '{']) {
                name.namespace = here.namespace("").unwrap_or_default().to_owned();
            }
        }
        Ok(names)
    }

    /// `xsl:strip-space` and `xsl:preserve-space`
    fn strip(&mut self, declaration: &Declaration<'s>, strip: bool, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        self.check_empty(*element, here);
        let attribute = self.required(*element, "elements")?;
        for word in attribute.words() {
            let test = match word {
                "*" => StripTest::Any,
                _ => self.strip_test(&attribute, word, here)?,
            };
            let before = settings.strip_set.insert(test.clone(), (*precedence, strip));
            // 1.0 lets the last one win.
            if !here.is_backwards() && before == Some((*precedence, !strip)) {
                let message = format!("{word:?} is to be both stripped and preserved");
                return Err(self.problems.error(attribute.at(), "XTSE0270", message));
            }
            settings.strip.push(StripRule { test, strip, precedence: *precedence });
        }
        Ok(())
    }

    fn strip_test(&mut self, attribute: &Attribute<'s>, word: &str, here: &Here) -> Made<StripTest> {
        if let Some(local) = word.strip_prefix("*:") {
            return Ok(StripTest::Local(local.to_owned()));
        }
        if let Some(before) = word.strip_suffix('*').filter(|before| before.ends_with([':', '}'])) {
            // A name stands in for the star, to be read with its namespace.
            let name = here.name(attribute, &format!("{before}any"), &mut self.problems)?;
            return Ok(StripTest::Namespace(name.namespace));
        }
        let mut name = here.name(attribute, word, &mut self.problems)?;
        if !word.contains([':', '{']) {
            name.namespace.clone_from(&here.default_namespace);
        }
        Ok(StripTest::Name(name))
    }

    /// `xsl:decimal-format`
    fn decimal_format(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        self.check_empty(*element, here);
        let name = match self.attribute(*element, "name") {
            Some(attribute) => self.qname(&attribute, here)?,
            None => ExpandedName::default(),
        };
        let known = settings.decimal_formats.iter().position(|(known, _)| *known == name);
        let index = known.unwrap_or_else(|| {
            settings.decimal_formats.push((name.clone(), DecimalFormat::default()));
            settings.decimal_formats.len() - 1
        });
        for (local, set) in DECIMAL_ATTRIBUTES {
            let Some(attribute) = self.attribute(*element, local) else { continue };
            let value = attribute.value.to_string();
            let before = settings.formats_set.insert((name.clone(), local), (*precedence, value.clone()));
            if before.is_some_and(|(before, said)| before == *precedence && said != value) {
                let message = format!("{local} of this decimal format is said twice, and not the same");
                self.problems.error(attribute.at(), "XTSE1290", message);
            }
            if !set(&mut settings.decimal_formats[index].1, &value) {
                let message = format!("{local}={value:?} is not one character");
                self.problems.error(attribute.at(), "XTSE0020", message);
            }
        }
        let zero = settings.decimal_formats[index].1.zero_digit;
        if !here.is_backwards() && !is_zero(zero) {
            let message = format!("zero-digit={zero:?} is the digit zero of no script");
            self.problems.error(element.at(), "XTSE1295", message);
        }
        Ok(())
    }

    /// The characters that a picture is made of have to differ.
    fn check_decimal_formats(&mut self, settings: &Settings, declarations: &[Declaration<'s>]) {
        for (name, format) in &settings.decimal_formats {
            let mut characters = [
                format.decimal_separator,
                format.grouping_separator,
                format.percent,
                format.per_mille,
                format.zero_digit,
                format.digit,
                format.pattern_separator,
            ];
            characters.sort_unstable();
            if characters.windows(2).all(|pair| pair[0] != pair[1]) {
                continue;
            }
            // The last one is where it went wrong.
            let last = declarations.iter().rev().find(|declaration| {
                declaration.element.is("decimal-format")
                    && match declaration.element.attribute("name") {
                        Some(attribute) => attribute.trimmed().rsplit(':').next() == Some(&name.local),
                        None => name.local.is_empty(),
                    }
            });
            if let Some(declaration) = last {
                let message = "two characters of this decimal format are the same";
                self.problems.error(declaration.element.at(), "XTSE1300", message);
            }
        }
    }

    /// `xsl:mode`
    fn mode_declaration(&mut self, declaration: &Declaration<'s>) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        let name = match self.attribute(*element, "name") {
            Some(attribute) if attribute.trimmed() == "#unnamed" => None,
            Some(attribute) => Some(self.qname(&attribute, here)?),
            None => None,
        };
        let Some(attribute) = self.attribute(*element, "on-no-match") else { return Ok(()) };
        let choice = match attribute.trimmed() {
            "text-only-copy" => NoMatch::TextOnlyCopy,
            "shallow-copy" => NoMatch::ShallowCopy,
            "deep-copy" => NoMatch::DeepCopy,
            "shallow-skip" => NoMatch::ShallowSkip,
            "deep-skip" => NoMatch::DeepSkip,
            "fail" => NoMatch::Fail,
            other => {
                let message = format!(
                    "on-no-match={other:?} is none of text-only-copy, shallow-copy, deep-copy, shallow-skip, \
                     deep-skip and fail"
                );
                return Err(self.problems.error(attribute.at(), "XTSE0020", message));
            }
        };
        self.modes.number(name.clone());
        let before = self.no_match.insert(name, (choice, *precedence));
        if before.is_some_and(|(before, at)| at == *precedence && before != choice) {
            let message = "two declarations of this mode do not say the same";
            return Err(self.problems.error(element.at(), "XTSE0545", message));
        }
        Ok(())
    }

    /// `xsl:character-map`
    fn character_map(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        let name = self.named(*element, here)?;
        let mut map = CharacterMap::default();
        if let Some(attribute) = self.attribute(*element, "use-character-maps") {
            let at = attribute.at();
            map.uses = self.qnames(&attribute, here)?.into_iter().map(|name| (name, at)).collect();
        }
        for child in element.elements() {
            match child.xslt() {
                Some("output-character") => map.characters.push(self.output_character(child)?),
                _ => {
                    let message = format!("<{}> cannot stand in <{}>", child.written(), element.written());
                    return Err(self.problems.error(child.at(), "XTSE0010", message));
                }
            }
        }
        if let Some((_, before, same)) = settings.character_maps.iter_mut().find(|(known, ..)| *known == name) {
            if *before == *precedence {
                let message = format!("there are two character maps with the name {name}");
                return Err(self.problems.error(element.at(), "XTSE1580", message));
            }
            (*before, *same) = (*precedence, map);
            return Ok(());
        }
        settings.character_maps.push((name, *precedence, map));
        Ok(())
    }

    fn output_character(&mut self, element: Element<'s>) -> Made<(char, String)> {
        let character = self.required(element, "character")?;
        let string = self.required(element, "string")?;
        let mut letters = character.value.chars();
        match (letters.next(), letters.next()) {
            (Some(only), None) => Ok((only, string.value.into_owned())),
            _ => {
                let message = format!("character={:?} is not one character", character.value);
                Err(self.problems.error(character.at(), "XTSE0020", message))
            }
        }
    }

    /// Gives the output the characters of the maps it uses; a map comes behind those it uses itself.
    fn apply_character_maps(&mut self, settings: &mut Settings) {
        let mut open = Vec::new();
        for (name, at) in std::mem::take(&mut settings.maps_used) {
            self.apply_character_map(&name, at, settings, &mut open);
        }
    }

    fn apply_character_map(
        &mut self,
        name: &ExpandedName,
        at: crate::program::At,
        settings: &mut Settings,
        open: &mut Vec<ExpandedName>,
    ) {
        let Some((_, _, map)) = settings.character_maps.iter().find(|(known, ..)| known == name) else {
            self.problems.error(at, "XTSE1590", format!("there is no character map with the name {name}"));
            return;
        };
        if open.contains(name) {
            self.problems.error(at, "XTSE1600", format!("the character map {name} uses itself"));
            return;
        }
        let (uses, characters) = (map.uses.clone(), map.characters.clone());
        open.push(name.clone());
        for (used, at) in uses {
            self.apply_character_map(&used, at, settings, open);
        }
        open.pop();
        for (character, text) in characters {
            settings.output.map_character(character, &text);
        }
    }
}

/// Sets one property of a decimal format; false where the value is no character.
type SetDecimal = fn(&mut DecimalFormat, &str) -> bool;

const DECIMAL_ATTRIBUTES: [(&str, SetDecimal); 11] = [
    ("decimal-separator", |format, text| set(&mut format.decimal_separator, text)),
    ("grouping-separator", |format, text| set(&mut format.grouping_separator, text)),
    ("exponent-separator", |format, text| set(&mut format.exponent_separator, text)),
    ("minus-sign", |format, text| set(&mut format.minus_sign, text)),
    ("percent", |format, text| set(&mut format.percent, text)),
    ("per-mille", |format, text| set(&mut format.per_mille, text)),
    ("zero-digit", |format, text| set(&mut format.zero_digit, text)),
    ("digit", |format, text| set(&mut format.digit, text)),
    ("pattern-separator", |format, text| set(&mut format.pattern_separator, text)),
    ("infinity", |format, text| {
        text.clone_into(&mut format.infinity);
        true
    }),
    ("NaN", |format, text| {
        text.clone_into(&mut format.nan);
        true
    }),
];

fn set(place: &mut char, text: &str) -> bool {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(only), None) => {
            *place = only;
            true
        }
        _ => false,
    }
}

/// The zeros of the scripts whose digits Unicode has ten of in a row (category Nd).
fn is_zero(character: char) -> bool {
    const ZEROS: [u32; 37] = [
        0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
        0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
        0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    ];
    ZEROS.contains(&(character as u32)) || (0x104a0..=0x1e950).contains(&(character as u32))
}
