//! What a stylesheet declares, so that all of it can be referred to before any of it is compiled.

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::{Attribute, EXSLT};
use super::here::Here;
use super::index::{Alias, Declaration, Declarations};
use super::overrides::Subject;
use super::problems::Made;
use super::specs::{self, Role};
use crate::name::ExpandedName;
use crate::program::{Mode, NoMatch, Rules, UsedAccumulators};
use crate::scope::At;

impl<'s> Compiler<'s> {
    /// Sorts the declarations, which come with ascending precedence, and gives numbers to what has a name.
    pub(super) fn index(&mut self, all: Vec<(Declaration<'s>, bool)>) -> Declarations<'s> {
        let mut declarations = Declarations::default();
        for (declaration, simplified) in all {
            if simplified {
                declarations.simplified.push(declaration);
                continue;
            }
            // What is wrong is noted, and the declaration is as if it were not there.
            let _: Made<()> = self.sort_in(declaration, &mut declarations);
        }
        declarations
    }

    fn sort_in(&mut self, declaration: Declaration<'s>, into: &mut Declarations<'s>) -> Made<()> {
        let Declaration { element, here, .. } = &declaration;
        let (element, here) = (*element, Rc::clone(here));
        let Some(local) = element.xslt() else {
            let name = element.name();
            if name.namespace == EXSLT && name.local == "function" {
                return self.index_function(declaration, into);
            }
            // Data of the author's, or what another processor understands.
            return Ok(());
        };
        let known = specs::find(local)
            .is_some_and(|spec| matches!(spec.role, Role::Declaration) || matches!(local, "param" | "variable"));
        if !known {
            if !here.is_forwards() {
                let message = format!("<{}> cannot stand below the stylesheet element", element.written());
                return Err(self.problems.error(element.at(), "XTSE0010", message));
            }
            return Ok(());
        }
        self.check_attributes(element, &here);
        match local {
            "template" => {
                if element.attribute("name").is_some() {
                    let name = self.named(element, &here)?;
                    let number = into.templates.len() as u32;
                    self.say_once(("XTSE0660", name.clone(), String::new()), &declaration);
                    self.index.templates.insert(name, number);
                }
                into.templates.push(declaration);
            }
            "param" | "variable" => {
                let name = self.named(element, &here)?;
                self.say_once(("XTSE0630", name.clone(), String::new()), &declaration);
                match self.index.globals.get(&name) {
                    Some(&number) => into.globals[number as usize].1 = declaration,
                    None => {
                        self.index.globals.insert(name.clone(), into.globals.len() as u32);
                        into.globals.push((name, declaration));
                    }
                }
            }
            "function" => self.index_function(declaration, into)?,
            "attribute-set" => {
                let name = self.named(element, &here)?;
                let next = into.attribute_sets.len() as u32;
                let number = *self.index.attribute_sets.entry(name.clone()).or_insert(next);
                if number == next {
                    into.attribute_sets.push((name, Vec::new()));
                }
                into.attribute_sets[number as usize].1.push(declaration);
            }
            "key" => {
                let name = self.named(element, &here)?;
                match into.keys.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, definitions)) => definitions.push(declaration),
                    None => into.keys.push((name, vec![declaration])),
                }
            }
            "namespace-alias" => self.alias(&declaration)?,
            "accumulator" => {
                let name = self.named(element, &here)?;
                self.say_once(("XTSE3350", name.clone(), String::new()), &declaration);
                match self.index.accumulators.get(&name) {
                    Some(&number) => into.accumulators[number as usize].1 = declaration,
                    None => {
                        self.index.accumulators.insert(name.clone(), into.accumulators.len() as u32);
                        into.accumulators.push((name, declaration));
                    }
                }
            }
            "import-schema" | "use-package" => {
                let code = if local == "import-schema" { "XTSE1650" } else { "XTSE3000" };
                let message = format!("<{}> is not offered: there are no schemas and packages", element.written());
                return Err(self.problems.error(element.at(), code, message));
            }
            _ => into.others.push(declaration),
        }
        Ok(())
    }

    /// Notes a declaration that can only be overridden, not repeated.
    pub(super) fn say_once(&mut self, subject: Subject, declaration: &Declaration<'s>) {
        let Declaration { element, precedence, order, .. } = declaration;
        let message = format!("there are two <{}> with the name {}", element.written(), subject.1);
        self.overrides.say(subject, order.to_string(), *precedence, || (element.at(), message));
    }

    /// `xsl:namespace-alias`
    fn alias(&mut self, declaration: &Declaration<'s>) -> Made<()> {
        let Declaration { element, here, precedence, .. } = declaration;
        let mut namespace = |local| -> Made<(String, String)> {
            let attribute = self.required(*element, local)?;
            let word = attribute.trimmed();
            let prefix = if word == "#default" { "" } else { word };
            match here.namespace(prefix) {
                Some(namespace) => Ok((prefix.to_owned(), namespace.to_owned())),
                None if prefix.is_empty() => Ok((String::new(), String::new())),
                None => {
                    let message = format!("the prefix {prefix:?} is not declared: xmlns:{prefix}=\"…\" is missing");
                    Err(self.problems.error(attribute.at(), "XTSE0812", message))
                }
            }
        };
        let (stylesheet, result) = (namespace("stylesheet-prefix"), namespace("result-prefix"));
        let ((_, stylesheet), (prefix, result)) = (stylesheet?, result?);
        let subject = ("XTSE0810", ExpandedName::default(), stylesheet.clone());
        self.overrides.say(subject, result.clone(), *precedence, || {
            (element.at(), format!("the namespace {stylesheet:?} has two aliases"))
        });
        let alias = Alias { stylesheet, prefix, result };
        match self.aliases.iter_mut().find(|known| known.stylesheet == alias.stylesheet) {
            Some(before) => *before = alias,
            None => self.aliases.push(alias),
        }
        Ok(())
    }

    /// The number of the mode that an attribute names.
    pub(super) fn mode(&mut self, attribute: &Attribute<'s>, here: &Here) -> Made<u32> {
        let name = match attribute.trimmed() {
            "#default" => here.default_mode.clone(),
            "#unnamed" => None,
            other => Some(here.name(attribute, other, &mut self.problems)?),
        };
        self.use_mode(name, attribute.at())
    }

    /// The number of a mode; a package declares those it uses, unless it says that it does not (§6.6.1).
    pub(super) fn use_mode(&mut self, name: Option<ExpandedName>, at: At) -> Made<u32> {
        if self.loaded.declares_modes && !self.declared_modes.contains(&name) {
            let shown = name.as_ref().map_or_else(|| "without a name".to_owned(), ToString::to_string);
            let message = format!("the mode {shown} is not declared, as a package does with <xsl:mode/>");
            return Err(self.problems.error(at, "XTSE3085", message));
        }
        Ok(self.modes.number(name))
    }

    /// The modes with their rules; what `xsl:mode` says of one is set where that is compiled.
    pub(super) fn finished_modes(&mut self) -> Vec<Mode> {
        let rules = std::mem::take(&mut self.rules);
        let mut of_mode: Vec<Vec<_>> = self.modes.list().iter().map(|_| Vec::new()).collect();
        for (mode, rule) in rules {
            match mode {
                Some(mode) => of_mode[mode as usize].push(rule),
                // `#all`, which also means modes that are named further down.
                None => of_mode.iter_mut().for_each(|rules| rules.push(rule.clone())),
            }
        }
        let modes = self.modes.list().iter().zip(of_mode).map(|(name, rules)| Mode {
            name: name.clone(),
            rules: Rules::new(rules),
            on_no_match: self.no_match.get(name).copied().unwrap_or(NoMatch::TextOnlyCopy),
            fails_on_multiple: self.fails_on_multiple.get(name).copied().unwrap_or_default(),
            typed: self.typed.get(name).copied().unwrap_or_default(),
            accumulators: self
                .mode_accumulators
                .remove(name)
                .unwrap_or_else(|| UsedAccumulators::These(Box::default())),
        });
        modes.collect()
    }
}
