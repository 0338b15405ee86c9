//! Declarations that say something about the whole: output, white space, modes, decimal formats, character maps.

mod characters;
mod decimal;

use std::collections::HashMap;

use myelin_java_text::decimal_format::Symbols;

use super::compiler::Compiler;
use super::element::Attribute;
use super::here::Here;
use super::index::Declaration;
use super::problems::Made;
use super::specs;
use crate::name::ExpandedName;
use crate::output::OutputProperties;
use crate::program::{NoMatch, StripRule, StripTest};
use crate::scope::At;

/// What these declarations say together.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) output: OutputProperties,
    pub(super) strip: Vec<StripRule>,
    pub(super) decimal_formats: Vec<(ExpandedName, Symbols)>,
    character_maps: HashMap<ExpandedName, CharacterMap>,
    /// The character maps that the output uses.
    maps_used: Vec<(ExpandedName, At)>,
}

/// `xsl:character-map`
#[derive(Default)]
struct CharacterMap {
    uses: Vec<(ExpandedName, At)>,
    characters: Vec<(char, String)>,
}

impl<'s> Compiler<'s> {
    /// Compiles these declarations, which come with ascending precedence.
    pub(super) fn settings(&mut self, declarations: &[Declaration<'s>]) -> Settings {
        let mut settings = Settings::default();
        settings.decimal_formats.push((ExpandedName::default(), Symbols::default()));
        for declaration in declarations {
            let _: Made<()> = match declaration.element.xslt() {
                Some("output") => self.output(declaration, &mut settings),
                Some("strip-space") => self.strip(declaration, true, &mut settings),
                Some("preserve-space") => self.strip(declaration, false, &mut settings),
                Some("decimal-format") => self.decimal_format(declaration, &mut settings),
                Some("global-context-item") => {
                    self.unchecked_item(declaration.element);
                    Ok(())
                }
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
        if element.attribute("name").is_some() {
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
                // What the element does not have has been told.
                _ if !specs::find("output").is_some_and(|spec| spec.has_attribute(local)) => {}
                // A method with a prefix is another processor's.
                "method" if attribute.value.contains(':') => {
                    let message = format!("the method {} is not known: as if it were not there", attribute.trimmed());
                    self.problems.warning(attribute.at(), "XTSE1570", message);
                }
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
        // 1.0 lets the last one win.
        if !here.is_backwards() {
            let subject = ("XTSE1560", ExpandedName::default(), local.to_owned());
            self.overrides.say(subject, attribute.trimmed(), precedence, || {
                (attribute.at(), format!("{local} is said twice, and not the same"))
            });
        }
        match settings.output.set(local, &attribute.value) {
            Ok(()) => Ok(()),
            // What is not known does not change what is.
            Err(message) if here.is_forwards() => {
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
            // 1.0 lets the last one win.
            if !here.is_backwards() {
                let subject = ("XTSE0270", ExpandedName::default(), format!("{test:?}"));
                self.overrides.say(subject, strip.to_string(), *precedence, || {
                    (attribute.at(), format!("{word:?} is to be both stripped and preserved"))
                });
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

    /// `xsl:mode`
    fn mode_declaration(&mut self, declaration: &Declaration<'s>) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        let name = match element.attribute("name") {
            Some(attribute) if attribute.trimmed() == "#unnamed" => None,
            Some(attribute) => Some(self.qname(&attribute, here)?),
            None => None,
        };
        for (local, taken) in [("typed", ["no", "unspecified"]), ("on-multiple-match", ["use-last", ""])] {
            if let Some(attribute) = element.attribute(local).filter(|word| !taken.contains(&word.trimmed())) {
                let message = format!("{local}={:?} is not offered", attribute.value);
                self.problems.error(attribute.at(), "XTSE0010", message);
            }
        }
        let Some(attribute) = element.attribute("on-no-match") else { return Ok(()) };
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
        let subject = ("XTSE0545", name.clone().unwrap_or_default(), "on-no-match".to_owned());
        self.overrides.say(subject, attribute.trimmed(), *precedence, || {
            (element.at(), "two declarations of this mode do not say the same".to_owned())
        });
        self.no_match.insert(name, choice);
        Ok(())
    }
}
