//! Functions that a stylesheet declares: `xsl:function` (XSLT 2.0 §10.3) and EXSLT's `func:function`.

use std::rc::Rc;

use super::compiler::Compiler;
use super::element::Element;
use super::frame::Frame;
use super::here::Here;
use super::index::{Declaration, Declarations, KnownFunction};
use super::problems::Made;
use crate::name::ExpandedName;
use crate::program::{Binding, FunctionParameter, Kind, UserFunction};

impl<'s> Compiler<'s> {
    /// Gives a function its number; one of higher precedence takes the number of the one it overrides.
    pub(super) fn index_function(&mut self, declaration: Declaration<'s>, into: &mut Declarations<'s>) -> Made<()> {
        let element = declaration.element;
        let name = self.named(element, &declaration.here)?;
        if name.namespace.is_empty() {
            let message = "the name of a function needs a prefix, with a namespace of your own";
            return Err(self.problems.error(element.at(), "XTSE0740", message));
        }
        if element.xslt().is_some() {
            self.check_function_attributes(element)?;
        }
        let most = element.elements().filter(|child| child.is("param")).count();
        // All parameters of a func:function have a default, if only an empty one.
        let least = if element.xslt().is_some() { most } else { 0 };
        self.say_once(("XTSE0770", name.clone(), most.to_string()), &declaration);
        let known = self.index.functions.entry(name).or_default();
        if let Some(same) = known.iter().find(|known| known.most == most) {
            into.functions[same.function as usize] = declaration;
            return Ok(());
        }
        let function = into.functions.len() as u32;
        known.push(KnownFunction { function, least, most });
        into.functions.push(declaration);
        Ok(())
    }

    /// What a function says of itself that makes no difference here, and can be wrong all the same.
    fn check_function_attributes(&mut self, element: Element<'s>) -> Made<()> {
        let overrides = element.attribute("override").map(|_| self.flag(element, "override")).transpose()?;
        let extensions = element.attribute("override-extension-function");
        let extensions = extensions.map(|_| self.flag(element, "override-extension-function")).transpose()?;
        if overrides.is_some() && extensions.is_some() && overrides != extensions {
            let message = "override and override-extension-function do not say the same";
            return Err(self.problems.error(element.at(), "XTSE0020", message));
        }
        for (local, words) in [
            ("visibility", &["public", "private", "final", "abstract"][..]),
            ("new-each-time", &["yes", "true", "1", "no", "false", "0", "maybe"][..]),
        ] {
            if let Some(attribute) = element.attribute(local) {
                self.one_of(&attribute, words)?;
            }
        }
        self.flag(element, "cache")?;
        self.flag(element, "identity-sensitive")?;
        if element.attribute("visibility").is_some_and(|word| word.trimmed() == "abstract") {
            let message = "what is abstract needs a package that makes it concrete: there are none here";
            return Err(self.problems.error(element.at(), "XTSE3080", message));
        }
        Ok(())
    }

    pub(super) fn function_declaration(&mut self, declaration: &Declaration<'s>) -> Made<UserFunction> {
        let Declaration { element, here, .. } = declaration;
        self.frame = Frame::default();
        let exslt = element.xslt().is_none();
        let name = self.named(*element, here)?;
        let result = self.kind(*element, here);
        let (parts, rest) = self.split(*element, here, |local| local == "param");
        let mut names: Vec<ExpandedName> = Vec::with_capacity(parts.len());
        let mut parameters = Vec::with_capacity(parts.len());
        for (part, inner) in parts {
            let bound = self.bound(part, &inner);
            if !exslt && (part.attribute("select").is_some() || self.has_content(part, &inner)) {
                let message = "a parameter of a function has no default: each call passes all of them";
                self.problems.error(part.at(), "XTSE0760", message);
            }
            if !exslt
                && let Some(required) = part.attribute("required")
                && !self.flag(part, "required")?
            {
                let message = "a parameter of a function is required";
                self.problems.error(required.at(), "XTSE0020", message);
            }
            let Ok(name) = self.named(part, &inner) else { continue };
            if names.contains(&name) {
                self.problems.error(part.at(), "XTSE0580", format!("the parameter {name} is declared twice"));
            }
            self.frame.declare(name.clone());
            names.push(name);
            parameters.push(bound.map(|(value, kind)| FunctionParameter { kind, default: exslt.then_some(value) }));
        }
        let body = self.block_of(rest, here);
        Ok(UserFunction {
            name,
            parameters: parameters.into_iter().collect::<Made<_>>()?,
            frame: self.frame.size(),
            body,
            result: result?,
            public: element.attribute("visibility").is_some_and(|word| matches!(word.trimmed(), "public" | "final")),
            keeps_context: exslt,
            at: element.at(),
        })
    }

    /// `func:result`
    pub(super) fn function_result(&mut self, element: Element<'s>, here: &Rc<Here>) -> Made<Kind> {
        let binding = match element.attribute("select") {
            Some(select) => self.select(&select, here).map(Binding::Select),
            None if self.has_content(element, here) => Ok(Binding::Tree(self.block(element, here))),
            None => Ok(Binding::EmptyText),
        };
        binding.map(Kind::Return)
    }
}
