//! From stylesheet modules to a program.
//!
//! All modules are read first ([`modules`]), then everything that has a name gets a number ([`declarations`]), then
//! each declaration is compiled; problems are collected all along, so that an author sees them together.

mod accumulators;
mod block;
mod braces;
mod compiler;
mod declarations;
mod element;
mod environment;
mod expressions;
mod frame;
mod functions;
mod here;
mod index;
mod instructions;
pub(crate) mod late;
mod literal;
mod loaded;
mod module;
mod modules;
mod numbered;
mod overrides;
mod problems;
mod sets;
mod settings;
mod specs;
mod statics;
mod templates;
#[cfg(test)]
mod tests;
mod texts;
mod variables;

use std::rc::Rc;

use crate::error::Problem;
use crate::name::ExpandedName;
use crate::options::Parameter;
use crate::program::{Binding, Call, CallTarget, Global, Program, Template};
use crate::resolver::Resolver;
use compiler::Compiler;
use element::XSLT;
use frame::Frame;
use index::Declaration;
use problems::{Made, Problems};
pub(crate) use specs::offers;
use statics::Statics;

/// Compiles a stylesheet with all its modules; also gives warnings.
pub(crate) fn compile(
    source: &[u8],
    uri: &str,
    resolver: &dyn Resolver,
    parameters: &[Parameter],
) -> Result<(Program, Vec<Problem>), Vec<Problem>> {
    let mut problems = Problems::default();
    let mut statics = Statics::new(offers, parameters);
    let Ok(loaded) = modules::load(source, uri, resolver, &mut problems, &mut statics) else {
        return Err(problems.finish().err().unwrap_or_default());
    };
    let mut compiler = Compiler::new(&loaded, problems, statics, resolver);
    let program = compiler.program();
    let files = compiler.problems.files.clone();
    let warnings = compiler.problems.finish()?;
    // Whoever gave no program has said why.
    let program = program.map_err(|_| Vec::new())?;
    Ok((Program { files, ..program }, warnings))
}

impl<'s> Compiler<'s> {
    /// Compiles all declarations.
    fn program(&mut self) -> Made<Program> {
        let loaded = self.loaded;
        let all = loaded.declarations.iter().enumerate().map(|(order, found)| {
            let (element, here) = (loaded.element(found), Rc::clone(&found.here));
            let (precedence, imports_from) = (found.precedence, found.imports_from);
            (Declaration { element, here, precedence, imports_from, order: order as u32 }, found.simplified)
        });
        let declarations = self.index(all.collect());
        let mut settings = self.settings(&declarations.others);
        settings.output.set_stylesheet_version(loaded.version);
        self.overrides.finish(&mut self.problems);
        let globals: Vec<_> =
            declarations.globals.iter().map(|(name, declaration)| self.global(name, declaration)).collect();
        let sets = declarations.attribute_sets.iter();
        let attribute_sets: Vec<_> = sets.map(|(name, parts)| self.attribute_set(name.clone(), parts)).collect();
        let accumulators: Vec<_> =
            declarations.accumulators.iter().map(|(name, declaration)| self.accumulator(name, declaration)).collect();
        let keys: Vec<_> = declarations.keys.iter().map(|(name, all)| self.key(name.clone(), all)).collect();
        let functions: Vec<_> = declarations.functions.iter().map(|one| self.function_declaration(one)).collect();
        let mut templates: Vec<Made<Template>> = Vec::new();
        for (number, declaration) in declarations.templates.iter().enumerate() {
            templates.push(self.template_declaration(declaration, number as u32));
        }
        for declaration in &declarations.simplified {
            templates.push(self.simplified_template(declaration, templates.len() as u32));
        }
        let attribute_sets = attribute_sets.into_iter().collect::<Made<Vec<_>>>()?;
        self.check_circles(&attribute_sets, &declarations.attribute_sets);
        let templates = templates.into_iter().collect::<Made<Vec<_>>>()?;
        let default_mode = self.modes.number(loaded.default_mode.clone());
        self.check_calls(&templates);
        Ok(Program {
            files: Vec::new(),
            sources: self.sources(),
            modes: self.finished_modes(),
            default_mode,
            initial_template: self.index.templates.get(&ExpandedName::new(XSLT, "initial-template")).copied(),
            templates,
            globals: globals.into_iter().collect::<Made<_>>()?,
            functions: functions.into_iter().collect::<Made<_>>()?,
            attribute_sets,
            keys: keys.into_iter().collect::<Made<_>>()?,
            decimal_formats: settings.decimal_formats,
            calls: std::mem::take(&mut self.calls),
            names: std::mem::take(&mut self.names).into_list(),
            scopes: std::mem::take(&mut self.scopes),
            parameters: std::mem::take(&mut self.parameters).into_list(),
            output: settings.output,
            outputs: settings.outputs,
            context: settings.context,
            accumulators: accumulators.into_iter().collect::<Made<_>>()?,
            strip: settings.strip,
            compatible: loaded.version < 2.0,
            asks_for_last: self.asks_for_last,
            unescaped: self.unescaped,
        })
    }

    /// `xsl:variable` and `xsl:param` below the stylesheet element.
    fn global(&mut self, name: &ExpandedName, declaration: &Declaration<'s>) -> Made<Global> {
        let Declaration { element, here, .. } = declaration;
        self.frame = Frame::default();
        self.defining = Some(name.clone());
        let bound = self.bound(*element, here);
        let parameter = element.is("param");
        let given = self.statics.given(name).filter(|_| parameter && self.says_static(*element)).map(str::to_owned);
        let bound = match (given, element.attribute("name")) {
            (Some(text), Some(attribute)) => {
                let select = self.select(&attribute.with_value(text), here);
                bound.and_then(|(_, kind)| Ok((Binding::Select(select?), kind)))
            }
            _ => bound,
        };
        self.defining = None;
        // One that is static has its value already, or has been missed.
        let required = if parameter { self.is_required(*element, here) } else { Ok(false) };
        let required = required.map(|required| required && !self.says_static(*element));
        if element.attribute("tunnel").is_some() && self.flag(*element, "tunnel")? {
            let message = "a parameter of the stylesheet cannot tunnel";
            self.problems.error(element.at(), "XTSE0020", message);
        }
        let is_static = self.flag(*element, "static")?;
        if let Some(visibility) = element.attribute("visibility") {
            let words = ["public", "private", "final", "abstract"];
            self.one_of(&visibility, if is_static { &words[1..2] } else { &words })?;
        }
        if is_static && !parameter && element.attribute("select").is_none() {
            let message = "what is static needs select=\"…\"";
            self.problems.error(element.at(), "XTSE0010", message);
        }
        if is_static && self.has_content(*element, here) {
            let message = "what is static has no content: select=\"…\" says all";
            self.problems.error(element.at(), "XTSE0010", message);
        }
        let (value, kind) = bound?;
        Ok(Global {
            name: name.clone(),
            value,
            kind,
            // What was decided by a static parameter cannot be undone by another value.
            parameter: parameter && !is_static,
            required: required?,
            frame: self.frame.size(),
            at: element.at(),
        })
    }

    /// Whether a declaration says that it is static.
    fn says_static(&self, element: element::Element<'s>) -> bool {
        element.attribute("static").is_some_and(|word| matches!(word.trimmed(), "yes" | "true" | "1"))
    }

    /// What `xsl:call-template` passes has to be what the template takes (XSLT 2.0 §10.1.1).
    fn check_calls(&mut self, templates: &[Template]) {
        for call in std::mem::take(&mut self.named_calls) {
            let template = &templates[call.template as usize];
            let own = || template.parameters.iter().filter(|parameter| !parameter.tunnel);
            let unknown = call.passed.iter().find(|passed| !own().any(|parameter| parameter.name == **passed));
            if let Some(unknown) = unknown.filter(|_| !call.lenient) {
                let name = &self.parameters.list()[unknown.0 as usize];
                let message = format!("the template has no parameter {name}");
                self.problems.error(call.at, "XTSE0680", message);
            }
            if let Some(missing) = own().find(|parameter| parameter.required && !call.passed.contains(&parameter.name))
            {
                let name = &self.parameters.list()[missing.name.0 as usize];
                let message = format!("the template requires the parameter {name}, which is not passed");
                self.problems.error(call.at, "XTSE0690", message);
            }
        }
    }

    /// The texts of the modules, where the stylesheet may read itself by `document('')`.
    fn sources(&self) -> Vec<Box<str>> {
        let reads = |call: &Call| matches!(&call.target, CallTarget::Library(function) if function.name == "document");
        match self.calls.iter().any(reads) {
            true => self.loaded.modules.iter().map(|module| module.document.source().into()).collect(),
            false => Vec::new(),
        }
    }
}
