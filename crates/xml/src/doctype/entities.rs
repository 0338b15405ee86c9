//! Declarations of entities (XML 1.0 §4.2, §4.4, §4.5).

use std::rc::Rc;

use super::declarations::{Entity, UnparsedEntity};
use super::input::{character_at, reference_at};
use super::reader::{Parameter, Reader};

impl Reader<'_> {
    /// What stands behind `<!ENTITY`.
    pub(super) fn entity(&mut self) -> Result<(), String> {
        self.required_space()?;
        let is_parameter = self.eat("%");
        if is_parameter {
            self.required_space()?;
        }
        let name = self.name("the name of an entity")?;
        if name.contains(':') {
            return Err(format!("{name:?} is no name of an entity: it has a colon"));
        }
        self.required_space()?;
        let (base, external) = (self.top().uri.clone(), self.top().external);
        if self.top().rest().starts_with(['"', '\'']) {
            let literal = self.literal()?;
            let mut text = String::with_capacity(literal.len());
            self.replacement(&literal, external, 0, &mut text)?;
            self.close()?;
            let text: Rc<str> = text.into();
            // The first declaration of a name is the one that counts.
            if is_parameter {
                self.parameters.entry(name).or_insert(Parameter::Internal(text));
            } else {
                self.dtd.entities.entry(name).or_insert(Entity::Internal(text));
            }
            return Ok(());
        }
        let Some((public, system)) = self.external_id(false)? else {
            return Err(self.expected("the text of an entity, SYSTEM or PUBLIC"));
        };
        if system.contains('#') {
            return Err(format!("{system:?} names a part of a document, which is no entity"));
        }
        let spaced = self.space()?;
        let notation = match !is_parameter && self.top().rest().starts_with("NDATA") {
            true if spaced => {
                self.skip("NDATA".len());
                self.required_space()?;
                Some(self.name("the name of a notation")?)
            }
            true => return Err(self.expected("white space")),
            false => None,
        };
        self.close()?;
        if is_parameter {
            self.parameters.entry(name).or_insert(Parameter::External { public, system, base, read: None });
            return Ok(());
        }
        let entity = match notation {
            Some(notation) => {
                Entity::Unparsed(UnparsedEntity { public, system, base: base.as_ref().to_owned(), notation })
            }
            None => Entity::External { public, system, base },
        };
        self.dtd.entities.entry(name).or_insert(entity);
        Ok(())
    }

    /// The text that an entity stands for, of that between the quotes of its declaration: characters by their numbers and
    /// parameter entities are replaced, other entities are not.
    fn replacement(&mut self, literal: &str, external: bool, depth: usize, text: &mut String) -> Result<(), String> {
        if depth > self.limits.depth {
            return Err(format!("more than {} entities inside each other", self.limits.depth));
        }
        let mut rest = literal;
        while let Some(at) = rest.find(['&', '%']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if rest.starts_with("&#") {
                let Some((letter, length)) = character_at(rest) else {
                    return Err("expected the number of a character and ; behind &#".to_owned());
                };
                text.push(letter);
                rest = &rest[length..];
                continue;
            }
            let Some(name) = reference_at(rest) else {
                return Err(format!("expected a name and ; behind {}", &rest[..1]));
            };
            let length = name.len() + 2;
            if rest.starts_with('&') {
                text.push_str(&rest[..length]);
            } else if !external {
                return Err(format!(
                    "%{name}; stands within a declaration of the document itself, which is not allowed"
                ));
            } else if let Some(((inside, _), is_file)) = self.parameter(name)? {
                match is_file {
                    true => self.replacement(&inside, true, depth + 1, text)?,
                    false => text.push_str(&inside),
                }
            }
            rest = &rest[length..];
        }
        text.push_str(rest);
        Ok(())
    }
}
