//! A compiled program as a text for people: tables of rules by mode, and instructions with their places.
//!
//! Behind each expression stands how it runs: `direct` without the evaluator, because its shape is a common one, or
//! `evaluated`.

mod instruction;

use std::fmt::{self, Write as _};

use crate::name::ExpandedName;
use crate::pattern::{Class, Pattern};
use crate::program::{
    AttributeSet, Block, Global, Mode, NoMatch, ParameterId, Program, Template, TemplateParameter, UserFunction,
};
use crate::scope::At;

/// The program as a text; one line for each rule and each instruction.
pub(crate) fn explain(program: &Program) -> String {
    let mut writer = Writer { program, text: String::new(), depth: 0 };
    writer.program();
    writer.text
}

/// What has been written so far.
struct Writer<'p> {
    program: &'p Program,
    text: String,
    /// How far lines are moved in.
    depth: usize,
}

impl<'p> Writer<'p> {
    fn program(&mut self) {
        for (index, file) in self.program.files.iter().enumerate() {
            let number = if index == 0 { String::new() } else { format!(" {}", index + 1) };
            self.plain(format_args!("module{number}: {file}"));
        }
        self.plain(format_args!(
            "output: {}",
            self.program
                .output
                .method
                .map_or("as the first element has it".to_owned(), |method| format!("{method:?}").to_lowercase()),
        ));
        for mode in &self.program.modes {
            self.mode(mode);
        }
        for global in &self.program.globals {
            self.global(global);
        }
        for key in &self.program.keys {
            for definition in &key.definitions {
                self.text.push('\n');
                self.line(definition.at, format_args!("key {}", key.name));
                self.inside(|writer| writer.binding("value", &definition.value));
            }
        }
        for set in &self.program.attribute_sets {
            self.attribute_set(set);
        }
        for function in &self.program.functions {
            self.function(function);
        }
        for (number, template) in self.program.templates.iter().enumerate() {
            self.template(number, template);
        }
    }

    /// Which template is for which node, the best first.
    fn mode(&mut self, mode: &Mode) {
        let name = mode.name.as_ref().map_or_else(|| "without a name".to_owned(), ToString::to_string);
        let rules = mode.rules.all();
        let otherwise = match mode.on_no_match {
            NoMatch::TextOnlyCopy => "go on with the children, copy text",
            NoMatch::ShallowCopy => "copy the node and go on within it",
            NoMatch::DeepCopy => "copy the node with all within it",
            NoMatch::ShallowSkip => "go on with the children",
            NoMatch::DeepSkip => "nothing",
            NoMatch::Fail => "an error",
        };
        self.plain(format_args!("\nmode {name}: {}, otherwise {otherwise}", Count(rules.len(), "rule")));
        for rule in rules {
            let class = self.class(&rule.pattern);
            let template = &self.program.templates[rule.template as usize];
            let how = if rule.pattern.is_only_its_class() { "at once" } else { "after a test" };
            let title = self.title(rule.template as usize, template);
            let (priority, precedence) = (rule.priority, rule.precedence);
            self.plain(format_args!("  {class}: {title}, {how}, priority {priority}, precedence {precedence}"));
        }
    }

    /// By what a rule is found.
    fn class(&self, pattern: &Pattern) -> String {
        let name = |number: u32| self.program.names.get(number as usize).map_or_else(String::new, ToString::to_string);
        match pattern.class() {
            Class::Document => "document".to_owned(),
            Class::ElementNamed(number) => format!("element {}", name(number)),
            Class::AttributeNamed(number) => format!("attribute {}", name(number)),
            Class::Element => "any element".to_owned(),
            Class::Attribute => "any attribute".to_owned(),
            Class::Text => "text".to_owned(),
            Class::Comment => "comment".to_owned(),
            Class::Instruction => "processing instruction".to_owned(),
            Class::Child => "any child".to_owned(),
            Class::Any => "any item".to_owned(),
        }
    }

    fn global(&mut self, global: &Global) {
        self.text.push('\n');
        let word = if global.parameter { "parameter" } else { "variable" };
        self.line(global.at, format_args!("{word} ${}{}", global.name, Typed(global.kind.as_ref())));
        self.inside(|writer| writer.binding("value", &global.value));
    }

    fn attribute_set(&mut self, set: &AttributeSet) {
        self.plain(format_args!("\nattribute set {}", set.name));
        for part in &set.parts {
            self.inside(|writer| {
                for used in &part.uses {
                    let name = &writer.program.attribute_sets[*used as usize].name;
                    writer.plain(format_args!("uses {name}"));
                }
                writer.block(&part.body);
            });
        }
    }

    fn function(&mut self, function: &UserFunction) {
        self.text.push('\n');
        let result = Typed(function.result.as_ref());
        let (name, parameters) = (&function.name, Count(function.parameters.len(), "parameter"));
        self.line(
            function.at,
            format_args!("function {name}{result}, {parameters}, {}", Count(function.frame as usize, "slot")),
        );
        self.inside(|writer| writer.block(&function.body));
    }

    fn template(&mut self, number: usize, template: &Template) {
        self.text.push('\n');
        let title = self.title(number, template);
        let result = Typed(template.result.as_ref());
        self.line(template.at, format_args!("{title}{result}, {}", Count(template.frame as usize, "slot")));
        self.inside(|writer| {
            for parameter in &template.parameters {
                writer.template_parameter(parameter);
            }
            writer.block(&template.body);
        });
    }

    fn template_parameter(&mut self, parameter: &TemplateParameter) {
        let name = self.parameter(parameter.name);
        let tunnel = if parameter.tunnel { ", tunnel" } else { "" };
        let required = if parameter.required { ", required" } else { "" };
        let (slot, kind) = (parameter.slot, Typed(parameter.kind.as_ref()));
        self.line(parameter.at, format_args!("param ${name} in slot {slot}{kind}{tunnel}{required}"));
        self.inside(|writer| writer.binding("default", &parameter.default));
    }

    /// The number of a template with what people call it by.
    fn title(&self, number: usize, template: &Template) -> String {
        let mut title = format!("template {number}");
        if let Some(name) = &template.name {
            let _ = write!(title, " {name}");
        }
        if let Some(matched) = &template.matched {
            let _ = write!(title, " match={matched:?}");
        }
        title
    }

    fn parameter(&self, number: ParameterId) -> &'p ExpandedName {
        &self.program.parameters[number.0 as usize]
    }

    fn block(&mut self, block: &Block) {
        for instruction in block {
            self.instruction(instruction);
        }
    }

    /// Writes what belongs to the line before.
    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// A line with its place: line and column, behind the number of the module if it is not the first.
    fn line(&mut self, at: At, text: fmt::Arguments<'_>) {
        let place = match at.file {
            0 => format!("{}:{}", at.line, at.column),
            file => format!("{}/{}:{}", file + 1, at.line, at.column),
        };
        let _ = writeln!(self.text, "{place:>10}  {:indent$}{text}", "", indent = self.depth * 2);
    }

    /// A line without a place.
    fn plain(&mut self, text: fmt::Arguments<'_>) {
        let _ = match self.depth {
            0 => writeln!(self.text, "{text}"),
            depth => writeln!(self.text, "{:12}{:indent$}{text}", "", "", indent = depth * 2),
        };
    }
}

/// ` as xs:string`, where there is a type.
struct Typed<'t>(Option<&'t myelin_xpath::types::SequenceType>);

impl fmt::Display for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |kind| write!(f, " as {kind}"))
    }
}

/// So many of something.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests;
