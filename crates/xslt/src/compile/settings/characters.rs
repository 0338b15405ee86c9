//! `xsl:character-map` (XSLT 2.0 §20.1).

use super::super::element::Element;
use super::super::problems::Made;
use super::{CharacterMap, Settings};
use crate::compile::compiler::Compiler;
use crate::compile::index::Declaration;
use crate::name::ExpandedName;
use crate::scope::At;

impl<'s> Compiler<'s> {
    /// `xsl:character-map`
    pub(super) fn character_map(&mut self, declaration: &Declaration<'s>, settings: &mut Settings) -> Made<()> {
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
        settings.character_maps.insert(name, map);
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
    pub(super) fn apply_character_maps(&mut self, settings: &mut Settings) {
        let mut open = Vec::new();
        for (name, at) in std::mem::take(&mut settings.maps_used) {
            self.apply_character_map(&name, at, settings, &mut open);
        }
    }

    fn apply_character_map(
        &mut self,
        name: &ExpandedName,
        at: At,
        settings: &mut Settings,
        open: &mut Vec<ExpandedName>,
    ) {
        let Some(map) = settings.character_maps.get(name) else {
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
