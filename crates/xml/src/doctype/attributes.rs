//! Declarations of attributes (XML 1.0 §3.3).

use super::declarations::{AttributeDeclaration, AttributeKind, Entity};
use super::expansion::PREDEFINED;
use super::input::{character_at, reference_at};
use super::reader::Reader;
use crate::characters::is_name_character;

impl Reader<'_> {
    /// What stands behind `<!ATTLIST`.
    pub(super) fn attributes(&mut self) -> Result<(), String> {
        self.required_space()?;
        let element = self.name("the name of an element")?;
        loop {
            let spaced = self.space()?;
            if self.eat(">") {
                return Ok(());
            }
            if !spaced {
                return Err(self.expected("white space"));
            }
            let name = self.name("the name of an attribute, or >")?;
            self.required_space()?;
            let kind = self.attribute_kind()?;
            self.required_space()?;
            let default = self.default_value()?;
            let declared = self.dtd.attributes.entry(element.clone()).or_default();
            // The first declaration of a name is the one that counts.
            if declared.iter().all(|known| known.name != name) {
                if declared.len() >= 10_000 {
                    return Err(format!("more than 10000 attributes of <{element}>"));
                }
                declared.push(AttributeDeclaration { name, kind, default });
            }
        }
    }

    fn attribute_kind(&mut self) -> Result<AttributeKind, String> {
        if self.eat("(") {
            self.choice(false)?;
            return Ok(AttributeKind::Tokens);
        }
        let word = self.name("the type of an attribute")?;
        match word.as_str() {
            "CDATA" => Ok(AttributeKind::Text),
            "ID" => Ok(AttributeKind::Id),
            "IDREF" | "IDREFS" => Ok(AttributeKind::References),
            "ENTITY" | "ENTITIES" | "NMTOKEN" | "NMTOKENS" => Ok(AttributeKind::Tokens),
            "NOTATION" => {
                self.required_space()?;
                if !self.eat("(") {
                    return Err(self.expected("("));
                }
                self.choice(true)?;
                Ok(AttributeKind::Tokens)
            }
            _ => Err(format!("{word:?} is no type of an attribute")),
        }
    }

    /// Tokens between `|`, behind `(`.
    fn choice(&mut self, names: bool) -> Result<(), String> {
        loop {
            self.space()?;
            let rest = self.top().rest();
            let length = match names {
                true => super::input::name_at(rest).len(),
                false => rest.find(|letter| !is_name_character(letter)).unwrap_or(rest.len()),
            };
            if length == 0 {
                return Err(self.expected("a value"));
            }
            self.skip(length);
            self.space()?;
            if self.eat(")") {
                return Ok(());
            }
            if !self.eat("|") {
                return Err(self.expected("| or )"));
            }
        }
    }

    /// An entity in a default value has to be declared before, and not elsewhere.
    fn check_value_entity(&self, name: &str) -> Result<(), String> {
        match self.dtd.entities.get(name) {
            None if !PREDEFINED.contains(&name) && !self.dtd.has_externals && !self.has_parameters => {
                Err(format!("the entity &{name}; is not declared before this value"))
            }
            Some(Entity::External { .. } | Entity::Unparsed(_)) => {
                Err(format!("the entity &{name}; is external, and cannot stand in the value of an attribute"))
            }
            _ => Ok(()),
        }
    }

    /// The value where an element has none, as it is written.
    fn default_value(&mut self) -> Result<Option<String>, String> {
        if self.eat("#REQUIRED") || self.eat("#IMPLIED") {
            return Ok(None);
        }
        if self.eat("#FIXED") {
            self.required_space()?;
        }
        let value = self.literal()?;
        let mut rest = value.as_str();
        while let Some(at) = rest.find(['<', '&']) {
            rest = &rest[at..];
            if rest.starts_with('<') {
                return Err("a value of an attribute cannot have a <".to_owned());
            }
            let length = match character_at(rest) {
                Some((_, length)) => Some(length),
                None => reference_at(rest).map(|name| name.len() + 2),
            };
            if let Some(name) = reference_at(rest) {
                self.check_value_entity(name)?;
            }
            match length {
                Some(length) => rest = &rest[length..],
                None => return Err("expected a name and ; behind &".to_owned()),
            }
        }
        Ok(Some(value))
    }
}
