//! `xsl:attribute-set` and `xsl:key` (XSLT 1.0 §7.1.4 and §12.2).

use super::compiler::Compiler;
use super::element::{Child, Element};
use super::frame::Frame;
use super::here::{CODEPOINT, Here};
use super::index::Declaration;
use super::problems::Made;
use crate::name::ExpandedName;
use crate::program::{AttributeSet, AttributeSetPart, Binding, Key, KeyDefinition};

impl<'s> Compiler<'s> {
    pub(super) fn attribute_set(&mut self, name: ExpandedName, declarations: &[Declaration<'s>]) -> Made<AttributeSet> {
        let parts: Vec<_> = declarations.iter().map(|declaration| self.attribute_set_part(declaration)).collect();
        Ok(AttributeSet { name, parts: parts.into_iter().collect::<Made<_>>()? })
    }

    fn attribute_set_part(&mut self, declaration: &Declaration<'s>) -> Made<AttributeSetPart> {
        let Declaration { element, here, .. } = declaration;
        self.frame = Frame::default();
        let uses = self.used_sets(*element, "", here);
        for child in element.children(here) {
            match child {
                Child::Element(inner) if inner.is("attribute") || inner.is("fallback") => {}
                Child::Text(text) if !here.keeps(&text.value) => {}
                other => self.refuse_rest(*element, &[other]),
            }
        }
        let body = self.block(*element, here);
        Ok(AttributeSetPart { uses: uses?, frame: self.frame.size(), body })
    }

    /// The attribute sets that an element uses, by number.
    pub(super) fn used_sets(&mut self, element: Element<'s>, namespace: &str, here: &Here) -> Made<Vec<u32>> {
        let Some(attribute) = element.attribute_in(namespace, "use-attribute-sets") else { return Ok(Vec::new()) };
        let names = self.qnames(&attribute, here)?;
        let mut used = Vec::with_capacity(names.len());
        for name in names {
            match self.index.attribute_sets.get(&name) {
                Some(&set) => used.push(set),
                None => {
                    let message = format!("there is no attribute set with the name {name}");
                    // XSLT 1.0 does not call it an error, and processors of 1.0 go on without the set.
                    if here.is_backwards() {
                        self.problems.warning(attribute.at(), "XTSE0710", message);
                        continue;
                    }
                    return Err(self.problems.error(attribute.at(), "XTSE0710", message));
                }
            }
        }
        Ok(used)
    }

    /// Refuses attribute sets that use themselves.
    pub(super) fn check_circles(
        &mut self,
        sets: &[AttributeSet],
        declarations: &[(ExpandedName, Vec<Declaration<'s>>)],
    ) {
        /// What is known of a set: nothing, that its uses are being followed, or that they come to an end.
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Unknown,
            Open,
            Sound,
        }
        let uses = |set: u32| sets[set as usize].parts.iter().flat_map(|part| part.uses.iter().copied());
        let mut states = vec![State::Unknown; sets.len()];
        for first in 0..sets.len() as u32 {
            let mut way = vec![(first, uses(first).collect::<Vec<u32>>())];
            if states[first as usize] == State::Unknown {
                states[first as usize] = State::Open;
            } else {
                continue;
            }
            while let Some((set, rest)) = way.last_mut() {
                let Some(next) = rest.pop() else {
                    states[*set as usize] = State::Sound;
                    way.pop();
                    continue;
                };
                match states[next as usize] {
                    State::Sound => {}
                    State::Open => {
                        let name = &sets[next as usize].name;
                        let at = declarations[next as usize].1[0].element.at();
                        self.problems.error(at, "XTSE0720", format!("the attribute set {name} uses itself"));
                    }
                    State::Unknown => {
                        states[next as usize] = State::Open;
                        way.push((next, uses(next).collect()));
                    }
                }
            }
        }
    }

    pub(super) fn key(&mut self, name: ExpandedName, declarations: &[Declaration<'s>]) -> Made<Key> {
        let definitions: Vec<_> = declarations.iter().map(|declaration| self.key_definition(declaration)).collect();
        let mut composite = Vec::with_capacity(declarations.len());
        for Declaration { element, .. } in declarations {
            composite.push(self.flag(*element, "composite")?);
            if composite[0] != composite[composite.len() - 1] {
                let message = format!("composite is not the same for all keys with the name {name}");
                return Err(self.problems.error(element.at(), "XTSE1222", message));
            }
        }
        let composite = composite.first().is_some_and(|first| *first);
        Ok(Key { name, composite, definitions: definitions.into_iter().collect::<Made<_>>()? })
    }

    fn key_definition(&mut self, declaration: &Declaration<'s>) -> Made<KeyDefinition> {
        let Declaration { element, here, .. } = declaration;
        self.frame = Frame::default();
        if let Some(collation) = element.attribute("collation").filter(|uri| uri.trimmed() != CODEPOINT) {
            let message = format!("the only collation of keys that is offered is {CODEPOINT}");
            return Err(self.problems.error(collation.at(), "XTSE1210", message));
        }
        let matched = self.required(*element, "match").and_then(|attribute| self.patterns(&attribute, here));
        let value = match element.attribute("use") {
            Some(attribute) => {
                self.refuse_content(*element, here, "XTSE1205");
                self.select(&attribute, here).map(Binding::Select)
            }
            None if self.has_content(*element, here) => Ok(Binding::Sequence(self.block(*element, here))),
            None => {
                let message = "<xsl:key> needs use=\"…\" or content";
                Err(self.problems.error(element.at(), "XTSE1205", message))
            }
        };
        Ok(KeyDefinition { patterns: matched?, value: value?, frame: self.frame.size(), at: element.at() })
    }
}
