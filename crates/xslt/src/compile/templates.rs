//! `xsl:template`: its parameters, its body and its rules (XSLT 1.0 §5.3, 2.0 §6).

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::Element;
use super::environment::Surroundings;
use super::frame::Frame;
use super::here::Here;
use super::index::Declaration;
use super::problems::Made;
use crate::pattern::{self, Pattern};
use crate::program::{Block, ContextItem, Instruction, Kind, Rule, Template, Usage};

impl<'s> Compiler<'s> {
    pub(super) fn template_declaration(&mut self, declaration: &Declaration<'s>, number: u32) -> Made<Template> {
        let Declaration { element, here, precedence, imports_from, .. } = declaration;
        self.frame = Frame::default();
        let matched = self.rules_of(declaration, number);
        let name = element.attribute("name").map(|attribute| self.qname(&attribute, here)).transpose();
        let result = self.kind(*element, here);
        let (parts, rest) = self.split(*element, here, |local| matches!(local, "param" | "context-item"));
        let mut parameters = Vec::with_capacity(parts.len());
        let mut context = None;
        for (part, inner) in parts {
            if part.is("param") {
                parameters.push(self.template_parameter(part, &inner));
                continue;
            }
            if context.is_some() || !parameters.is_empty() {
                let message = "<xsl:context-item> stands once, before all parameters";
                self.problems.error(part.at(), "XTSE0010", message);
            }
            let said = self.context_declaration(part, &inner)?;
            if said.usage != Usage::Required && element.attribute("match").is_some() && part.attribute("use").is_some()
            {
                let message = "a template with match=\"…\" always has a context item: use=\"required\" or nothing";
                return Err(self.problems.error(part.at(), "XTSE0020", message));
            }
            context = Some(Box::new(said));
        }
        let mut body = self.block_of(rest, here);
        let result = result?;
        // What it gives is still to be checked where it has a type.
        if result.is_none() {
            mark_tail(&mut body);
        }
        matched?;
        Ok(Template {
            name: name?,
            matched: element.attribute("match").map(|attribute| attribute.value.into()),
            at: element.at(),
            parameters: parameters.into_iter().collect::<Made<_>>()?,
            frame: self.frame.size(),
            body,
            result,
            context,
            precedence: *precedence,
            imports_from: *imports_from,
        })
    }

    /// A literal result element that is a stylesheet: the template for the document node.
    pub(super) fn simplified_template(&mut self, declaration: &Declaration<'s>, number: u32) -> Made<Template> {
        let Declaration { element, here, precedence, imports_from, order } = declaration;
        self.frame = Frame::default();
        let at = element.at();
        let root = pattern::parse("/", &mut Surroundings::new(self, here, at));
        let root = root.map_err(|error| self.problems.error(at, error.code, error.message))?;
        for pattern in root {
            let priority = pattern.priority;
            let rule = Rule { pattern, template: number, priority, precedence: *precedence, order: *order };
            self.rules.push((Some(0), rule));
        }
        let kind = self.literal(*element, here)?;
        Ok(Template {
            name: None,
            matched: Some("/".into()),
            at,
            parameters: Vec::new(),
            frame: self.frame.size(),
            body: [Instruction { at, kind }].into(),
            result: None,
            context: None,
            precedence: *precedence,
            imports_from: *imports_from,
        })
    }

    /// `xsl:context-item` and `xsl:global-context-item`.
    pub(super) fn context_declaration(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<ContextItem> {
        self.check_empty(element, here);
        let kind = self.kind(element, here)?;
        let usage = match element.attribute("use") {
            None => Usage::Optional,
            Some(attribute) => match attribute.trimmed() {
                "required" => Usage::Required,
                "optional" => Usage::Optional,
                "absent" => Usage::Absent,
                other => {
                    let message = format!("use={other:?} is none of required, optional and absent");
                    return Err(self.problems.error(attribute.at(), "XTSE0020", message));
                }
            },
        };
        if usage == Usage::Absent && kind.is_some() {
            let code = if element.is("context-item") { "XTSE3088" } else { "XTSE3089" };
            let message = "what is absent has no type: as=\"…\" has to go";
            return Err(self.problems.error(element.at(), code, message));
        }
        Ok(ContextItem { kind, usage })
    }

    /// The rules of a template: one for each alternative of its pattern in each of its modes.
    fn rules_of(&mut self, declaration: &Declaration<'s>, template: u32) -> Made<()> {
        let Declaration { element, here, precedence, order, .. } = declaration;
        let Some(attribute) = element.attribute("match") else {
            return self.check_named(*element, here);
        };
        let patterns = self.patterns(&attribute, here);
        let written = match element.attribute("priority") {
            None => None,
            Some(attribute) => match number(attribute.trimmed()) {
                Some(priority) => Some(priority),
                None => {
                    let message = format!("priority={:?} is no number", attribute.value);
                    return Err(self.problems.error(attribute.at(), "XTSE0530", message));
                }
            },
        };
        let modes = self.modes_of(*element, here)?;
        for pattern in patterns? {
            let priority = written.unwrap_or(pattern.priority);
            let rule = |pattern: Pattern| Rule { pattern, template, priority, precedence: *precedence, order: *order };
            for &mode in &modes {
                self.rules.push((mode, rule(pattern.clone())));
            }
        }
        Ok(())
    }

    /// A template without a pattern needs a name, and nothing that is about patterns.
    fn check_named(&mut self, element: Element<'s>, here: &Here) -> Made<()> {
        if element.attribute("name").is_none() {
            let message = "<xsl:template> needs match=\"…\" or name=\"…\"";
            return Err(self.problems.error(element.at(), "XTSE0500", message));
        }
        for local in ["mode", "priority"] {
            if let Some(attribute) = element.attribute(local) {
                let message = format!("{local}=\"…\" says nothing without match=\"…\"");
                // As with attributes that no element has: 1.0 was taken lightly.
                if here.is_backwards() {
                    self.problems.warning(attribute.at(), "XTSE0500", message);
                    continue;
                }
                return Err(self.problems.error(attribute.at(), "XTSE0500", message));
            }
        }
        Ok(())
    }

    /// The modes of a template; `None`: all.
    fn modes_of(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Vec<Option<u32>>> {
        let Some(attribute) = element.attribute("mode") else {
            return Ok(vec![Some(self.use_mode(here.default_mode.clone(), element.at())?)]);
        };
        let words: Vec<String> = attribute.words().map(str::to_owned).collect();
        if words.is_empty() || (words.len() > 1 && words.iter().any(|word| word == "#all")) {
            let message = format!("mode={:?} is no list of modes, and not #all alone", attribute.value);
            return Err(self.problems.error(attribute.at(), "XTSE0550", message));
        }
        if words[0] == "#all" {
            return Ok(vec![None]);
        }
        let mut modes = Vec::with_capacity(words.len());
        for word in words {
            let mode = Some(self.mode(&attribute.with_value(word), here)?);
            if modes.contains(&mode) {
                let message = format!("mode={:?} names a mode twice", attribute.value);
                return Err(self.problems.error(attribute.at(), "XTSE0550", message));
            }
            modes.push(mode);
        }
        Ok(modes)
    }
}

/// A number with digits, a point and a sign.
fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    if plain { text.parse().ok() } else { None }
}

/// Marks the calls of templates behind which nothing is left to do.
fn mark_tail(body: &mut Block) {
    match body.last_mut().map(|last| &mut last.kind) {
        Some(Kind::CallTemplate(call)) => call.tail = true,
        Some(Kind::If(_, inside)) => mark_tail(inside),
        Some(Kind::Choose(choose)) => {
            choose.branches.iter_mut().for_each(|(_, inside)| mark_tail(inside));
            mark_tail(&mut choose.otherwise);
        }
        _ => {}
    }
}
