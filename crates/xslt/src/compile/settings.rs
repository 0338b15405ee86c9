//! Declarations that say something about the whole: output, white space, modes, decimal formats, character maps.

mod characters;
mod decimal;

use myelin_java_text::decimal_format::Symbols;

use super::compiler::Compiler;
use super::element::{Attribute, Element};
use super::here::Here;
use super::index::Declaration;
use super::problems::Made;
use super::specs;
use crate::name::ExpandedName;
use crate::output::OutputProperties;
use crate::program::{Avt, ContextItem, NoMatch, StripRule, StripTest};
use crate::resolver::Wanted;
use crate::scope::At;

/// What these declarations say together.
#[derive(Default)]
pub(super) struct Settings {
    pub(super) output: OutputProperties,
    /// Those with a name.
    pub(super) outputs: Vec<(ExpandedName, OutputProperties)>,
    pub(super) context: Option<ContextItem>,
    pub(super) strip: Vec<StripRule>,
    pub(super) decimal_formats: Vec<(ExpandedName, Symbols)>,
    /// The character maps that each output uses.
    maps_used: Vec<(Option<usize>, ExpandedName, At)>,
}

impl Settings {
    /// What the output of that number says; `None`: the one without a name.
    fn output_of(&mut self, which: Option<usize>) -> &mut OutputProperties {
        match which.and_then(|index| self.outputs.get_mut(index)) {
            Some((_, properties)) => properties,
            None => &mut self.output,
        }
    }
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
                    let context = self.context_declaration(declaration.element, &declaration.here);
                    context.map(|context| {
                        let subject = ("XTSE3087", ExpandedName::default(), String::new());
                        let (element, said) = (declaration.element, declaration.order.to_string());
                        self.overrides.say(subject, said, declaration.precedence, || {
                            (element.at(), "two <xsl:global-context-item> do not say the same".to_owned())
                        });
                        settings.context = Some(context);
                    })
                }
                Some("mode") => self.mode_declaration(declaration),
                Some("character-map") => self.character_map(declaration),
                _ => Ok(()),
            };
        }
        self.check_decimal_formats(&settings, declarations);
        self.apply_character_maps(&mut settings);
        self.check_character_maps(declarations);
        settings
    }

    /// `xsl:output`
    fn output(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        let which = match element.attribute("name") {
            None => None,
            Some(_) => {
                let name = self.named(*element, here)?;
                let known = settings.outputs.iter().position(|(known, _)| *known == name);
                Some(known.unwrap_or_else(|| {
                    settings.outputs.push((name, OutputProperties::default()));
                    settings.outputs.len() - 1
                }))
            }
        };
        if let Some(attribute) = element.attribute("parameter-document") {
            self.parameter_document(&attribute, here, settings.output_of(which))?;
        }
        let mut result = Ok(());
        for attribute in element.attributes().filter(|attribute| attribute.name().namespace.is_empty()) {
            let local = attribute.name().local;
            match local {
                "use-character-maps" => {
                    let at = attribute.at();
                    let names = self.qnames(&attribute, here)?;
                    settings.maps_used.extend(names.into_iter().map(|name| (which, name, at)));
                }
                "cdata-section-elements" | "suppress-indentation" => {
                    let names = self.element_names(&attribute, here)?;
                    settings.output_of(which).add_names(local, names);
                }
                "name" | "parameter-document" => {}
                // What the element does not have has been told.
                _ if !specs::find("output").is_some_and(|spec| spec.has_attribute(local)) => {}
                // A method with a prefix is another processor's.
                "method" if attribute.value.contains(':') => {
                    let message = format!("the method {} is not known: as if it were not there", attribute.trimmed());
                    self.problems.warning(attribute.at(), "XTSE1570", message);
                }
                _ => result = result.and(self.output_property(&attribute, *precedence, here, which, settings)),
            }
        }
        result
    }

    fn output_property(
        &mut self,
        attribute: &Attribute<'s>,
        precedence: u32,
        here: &Here,
        which: Option<usize>,
        settings: &mut Settings,
    ) -> Made<()> {
        let local = attribute.name().local;
        // 1.0 lets the last one win.
        if !here.is_backwards() {
            let name = which.map(|index| settings.outputs[index].0.clone()).unwrap_or_default();
            let subject = ("XTSE1560", name, local.to_owned());
            self.overrides.say(subject, attribute.trimmed(), precedence, || {
                (attribute.at(), format!("{local} is said twice, and not the same"))
            });
        }
        match settings.output_of(which).set(local, &attribute.value) {
            Ok(()) => Ok(()),
            // What is not known does not change what is.
            Err(message) if here.is_forwards() => {
                self.problems.warning(attribute.at(), "XTSE0020", message);
                Ok(())
            }
            Err(message) => {
                let code = if local == "method" { "XTSE1570" } else { "XTSE0020" };
                Err(self.problems.error(attribute.at(), code, message))
            }
        }
    }

    /// Refuses a value that is none of some words.
    pub(super) fn one_of(&mut self, attribute: &Attribute<'s>, words: &[&str]) -> Made<()> {
        if words.contains(&attribute.trimmed()) {
            return Ok(());
        }
        let message = format!("{}={:?} is none of {}", attribute.written(), attribute.value, words.join(", "));
        Err(self.problems.error(attribute.at(), "XTSE0020", message))
    }

    /// `parameter-document`: what another document says of the output.
    fn parameter_document(
        &mut self,
        attribute: &Attribute<'s>,
        here: &Here,
        properties: &mut OutputProperties,
    ) -> Made<()> {
        let read = self.resolver.resolve(attribute.trimmed(), &here.base, Wanted::Document);
        let read = read.and_then(|resource| crate::output::parameters::read(&resource.bytes));
        let applied = read
            .map_err(|message| ("XTSE0020", message))
            .and_then(|document| crate::output::parameters::apply(&document, properties));
        applied.map_err(|(code, message)| self.problems.error(attribute.at(), code, message))
    }

    /// Refuses what an attribute of `xsl:result-document` says, where it is known now.
    pub(super) fn check_output(&mut self, element: Element<'s>, name: &str, value: &Avt, here: &Here) -> Made<()> {
        let Avt::Constant(text) = value else { return Ok(()) };
        if matches!(name, "cdata-section-elements" | "suppress-indentation") || (name == "method" && text.contains(':'))
        {
            return Ok(());
        }
        match OutputProperties::default().set(name, text) {
            Err(message) if !here.is_forwards() => Err(self.problems.error(element.at(), "XTSE0020", message)),
            _ => Ok(()),
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
        self.modes.number(name.clone());
        self.declared_modes.insert(name.clone());
        for local in ["streamable", "warning-on-no-match", "warning-on-multiple-match"] {
            self.flag(*element, local)?;
        }
        if let Some(attribute) = element.attribute("visibility") {
            if name.is_none() && attribute.trimmed() != "private" {
                let message = "the mode without a name is private";
                return Err(self.problems.error(attribute.at(), "XTSE0020", message));
            }
            self.one_of(&attribute, &["public", "private", "final"])?;
        }
        let said = |compiler: &mut Self, attribute: &Attribute<'s>| {
            let local = attribute.name().local;
            let words: Vec<&str> = attribute.words().collect();
            let subject = ("XTSE0545", name.clone().unwrap_or_default(), local.to_owned());
            compiler.overrides.say(subject, words.join(" "), *precedence, || {
                (element.at(), format!("two declarations of this mode do not say the same of {local}"))
            });
        };
        if let Some(attribute) = element.attribute("typed") {
            let words = ["yes", "true", "1", "no", "false", "0", "strict", "lax", "unspecified"];
            self.one_of(&attribute, &words)?;
            let typed = matches!(attribute.trimmed(), "yes" | "true" | "1" | "strict");
            self.typed.insert(name.clone(), typed);
            said(self, &attribute);
        }
        if let Some(attribute) = element.attribute("on-multiple-match") {
            self.one_of(&attribute, &["use-last", "fail"])?;
            self.fails_on_multiple.insert(name.clone(), attribute.trimmed() == "fail");
            said(self, &attribute);
        }
        if let Some(attribute) = element.attribute("use-accumulators") {
            let used = self.used_accumulators(*element, here)?;
            self.mode_accumulators.insert(name.clone(), used);
            said(self, &attribute);
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
        said(self, &attribute);
        self.no_match.insert(name, choice);
        Ok(())
    }
}
