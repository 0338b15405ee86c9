//! `xsl:character-map` (XSLT 2.0 §20.1).

use super::super::element::Element;
use super::super::problems::Made;
use super::Settings;
use crate::compile::compiler::CharacterMap;
use crate::compile::compiler::Compiler;
use crate::compile::index::Declaration;
use crate::name::ExpandedName;
use crate::scope::At;

impl<'s> Compiler<'s> {
    /// `xsl:character-map`
    pub(super) fn character_map(&mut self, declaration: &Declaration<'s>) -> Made<()> {
        let Declaration { element, here, .. } = declaration;
        let name = self.named(*element, here)?;
        let mut map = CharacterMap::default();
        if let Some(attribute) = element.attribute("use-character-maps") {
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
        self.say_once(("XTSE1580", name.clone(), String::new()), declaration);
        self.character_maps.insert(name, map);
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

    /// Gives each output the characters of the maps it uses.
    pub(super) fn apply_character_maps(&mut self, settings: &mut Settings) {
        for (which, name, at) in std::mem::take(&mut settings.maps_used) {
            for (character, text) in self.characters_of(&name, at) {
                settings.output_of(which).map_character(character, &text);
            }
        }
    }

    /// Refuses maps that use themselves or what is not there, whether or not an output uses them.
    pub(super) fn check_character_maps(&mut self, declarations: &[Declaration<'s>]) {
        let mark = self.problems.mark();
        for declaration in declarations.iter().filter(|declaration| declaration.element.is("character-map")) {
            let known = self.problems.mark();
            if known > mark {
                return;
            }
            if let Ok(name) = self.named(declaration.element, &declaration.here)
                && self.character_maps.contains_key(&name)
            {
                self.characters_of(&name, declaration.element.at());
            }
        }
    }

    /// The characters of a map; those of the maps that it uses itself come first.
    pub(in crate::compile) fn characters_of(&mut self, name: &ExpandedName, at: At) -> Vec<(char, Box<str>)> {
        let mut characters = Vec::new();
        self.add_characters(name, at, &mut Vec::new(), &mut characters);
        characters
    }

    fn add_characters(
        &mut self,
        name: &ExpandedName,
        at: At,
        open: &mut Vec<ExpandedName>,
        characters: &mut Vec<(char, Box<str>)>,
    ) {
        let Some(map) = self.character_maps.get(name) else {
            self.problems.error(at, "XTSE1590", format!("there is no character map with the name {name}"));
            return;
        };
        if open.contains(name) {
            self.problems.error(at, "XTSE1600", format!("the character map {name} uses itself"));
            return;
        }
        let map = map.clone();
        open.push(name.clone());
        for (used, at) in map.uses {
            self.add_characters(&used, at, open, characters);
        }
        open.pop();
        characters.extend(map.characters.into_iter().map(|(character, text)| (character, text.into_boxed_str())));
    }
}
