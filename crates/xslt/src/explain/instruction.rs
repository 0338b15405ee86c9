//! Instructions and what they hold, a line each.

use super::{Typed, Writer};
use crate::name::QualifiedName;
use crate::program::{
    Avt, AvtPart, Binding, Block, Condition, Content, Expr, GroupBy, Instruction, Kind, Message, ModeUse, Part, Select,
    Shape, Sort, Try, Variable, WithParam,
};

impl Writer<'_> {
    pub(super) fn instruction(&mut self, instruction: &Instruction) {
        let at = instruction.at;
        // First the line itself, then what is inside.
        let text = self.headline(&instruction.kind);
        self.line(at, format_args!("{text}"));
        self.inside(|writer| writer.content_of(&instruction.kind));
    }

    /// The line of an instruction.
    fn headline(&self, kind: &Kind) -> String {
        match kind {
            Kind::Text(text, raw) => format!("text {text:?}{}", unescaped(*raw)),
            Kind::ValueOf(value, raw) => format!("value-of{}{}", content(value), unescaped(*raw)),
            Kind::Literal(element) => {
                format!("<{}>{}", qualified(element.start.name()), self.sets(&element.attribute_sets))
            }
            Kind::Element(element) => format!("element {}{}", avt(&element.name), self.sets(&element.attribute_sets)),
            Kind::Attribute(attribute) => format!("attribute {}{}", avt(&attribute.name), content(&attribute.value)),
            Kind::Namespace(parts) => format!("namespace {}{}", avt(&parts.0), content(&parts.1)),
            Kind::Comment(value) => format!("comment{}", content(value)),
            Kind::ProcessingInstruction(parts) => {
                format!("processing-instruction {}{}", avt(&parts.0), content(&parts.1))
            }
            Kind::Copy(copy) => {
                let selected = copy.select.as_ref().map_or_else(String::new, |value| format!(" {}", select(value)));
                format!("copy{selected}{}", self.sets(&copy.attribute_sets))
            }
            Kind::CopyOf(value, _) => format!("copy-of {}", select(value)),
            Kind::CopyAccumulating(copy) => format!("copy-of {} with accumulators", select(&copy.0)),
            Kind::Sequence(value) => format!("sequence {}", select(value)),
            Kind::Document(_) => "document".to_owned(),
            Kind::ApplyTemplates(apply) => {
                let selected = apply.select.as_ref().map_or_else(|| "children [direct]".to_owned(), select);
                let mode = match apply.mode {
                    ModeUse::Current => " in the current mode".to_owned(),
                    ModeUse::Mode(mode) => match &self.program.modes[mode as usize].name {
                        Some(name) => format!(" in mode {name}"),
                        None => String::new(),
                    },
                };
                format!("apply-templates {selected}{mode}")
            }
            Kind::CallTemplate(call) => {
                let template = &self.program.templates[call.template as usize];
                let tail = if call.tail { ", in place of this one" } else { "" };
                format!("call {}{tail}", self.title(call.template as usize, template))
            }
            Kind::ApplyImports(_) => "apply-imports".to_owned(),
            Kind::NextMatch(_) => "next-match".to_owned(),
            Kind::ForEach(for_each) => format!("for-each {}", select(&for_each.select)),
            Kind::If(test, _) => format!("if {}", condition(test)),
            Kind::Choose(_) => "choose".to_owned(),
            Kind::Variable(variable) => variable_line(variable),
            Kind::Number(number) => match &number.value {
                Some(value) => format!("number {}", evaluated(value)),
                None => format!("number {:?}", number.level).to_lowercase(),
            },
            Kind::Message(message) => format!("message, terminate {}", avt(&message.terminate)),
            Kind::ForEachGroup(group) => {
                let by = match &group.by {
                    GroupBy::Value(key, _) => format!("group-by {}", evaluated(key)),
                    GroupBy::Adjacent(key, _) => format!("group-adjacent {}", evaluated(key)),
                    GroupBy::StartingWith(_) => "group-starting-with".to_owned(),
                    GroupBy::EndingWith(_) => "group-ending-with".to_owned(),
                };
                format!("for-each-group {} {by}", select(&group.select))
            }
            Kind::AnalyzeString(analyze) => {
                format!("analyze-string {} regex {}", evaluated(&analyze.select), avt(&analyze.regex))
            }
            Kind::PerformSort(_) => "perform-sort".to_owned(),
            Kind::Iterate(iterate) => format!("iterate {}", select(&iterate.select)),
            Kind::Break(_) => "break".to_owned(),
            Kind::NextIteration(_) => "next-iteration".to_owned(),
            Kind::Return(_) => "result".to_owned(),
            Kind::Try(_) => "try".to_owned(),
            Kind::Assert(parts) => format!("assert {}", condition(&parts.0)),
            Kind::WherePopulated(_) => "where-populated".to_owned(),
            Kind::Depending(_) => "content that depends on the rest of it".to_owned(),
            Kind::Map(_) => "map".to_owned(),
            Kind::MapEntry(entry) => format!("map-entry {}", evaluated(&entry.0)),
            Kind::ResultDocument(result) => {
                format!(
                    "result-document{}",
                    result.href.as_ref().map_or_else(String::new, |href| format!(" {}", avt(href)))
                )
            }
            Kind::SourceDocument(source) => format!("source-document {}", avt(&source.href)),
            Kind::Evaluate(evaluate) => format!("evaluate {}", evaluated(&evaluate.expression)),
            Kind::Merge(_) => "merge".to_owned(),
            Kind::Fail(code, message) => format!("error {code}: {message}"),
        }
    }

    /// What stands inside an instruction.
    fn content_of(&mut self, kind: &Kind) {
        match kind {
            Kind::ValueOf(value, _) | Kind::Comment(value) => self.content_block(value),
            Kind::Attribute(attribute) => self.content_block(&attribute.value),
            Kind::Namespace(parts) | Kind::ProcessingInstruction(parts) => self.content_block(&parts.1),
            Kind::Literal(element) => {
                for attribute in &element.attributes {
                    let line = format!("@{} = {}", qualified(&attribute.name), avt(&attribute.value));
                    self.plain(format_args!("{line}"));
                }
                self.block(&element.body);
            }
            Kind::Element(element) => self.block(&element.body),
            Kind::Copy(copy) => self.block(&copy.body),
            Kind::Document(body) | Kind::If(_, body) | Kind::WherePopulated(body) | Kind::Map(body) => self.block(body),
            Kind::ApplyTemplates(apply) => {
                self.sorts(&apply.sorts);
                self.with_params(&apply.parameters);
            }
            Kind::CallTemplate(call) => self.with_params(&call.parameters),
            Kind::ApplyImports(parameters) | Kind::NextMatch(parameters) => self.with_params(parameters),
            Kind::ForEach(for_each) => {
                self.sorts(&for_each.sorts);
                self.block(&for_each.body);
            }
            Kind::Choose(choose) => {
                for (test, body) in &choose.branches {
                    self.part(&format!("when {}", condition(test)), body);
                }
                self.part("otherwise", &choose.otherwise);
            }
            Kind::Variable(variable) => self.binding("value", &variable.value),
            Kind::Message(message) => self.message(message),
            Kind::Assert(parts) => self.message(&parts.1),
            Kind::ForEachGroup(group) => {
                self.sorts(&group.sorts);
                self.block(&group.body);
            }
            Kind::AnalyzeString(analyze) => {
                self.part("matching", &analyze.matching);
                self.part("other", &analyze.other);
            }
            Kind::PerformSort(parts) => {
                self.binding("items", &parts.0);
                self.sorts(&parts.1);
            }
            Kind::Iterate(iterate) => {
                for parameter in &iterate.parameters {
                    let line = variable_line(parameter);
                    self.plain(format_args!("{line}"));
                    self.inside(|writer| writer.binding("first", &parameter.value));
                }
                self.block(&iterate.body);
                self.binding("on completion", &iterate.on_completion);
            }
            Kind::Break(value) | Kind::Return(value) => self.binding("value", value),
            Kind::NextIteration(values) => {
                for new in values {
                    self.binding(&variable_line(new), &new.value);
                }
            }
            Kind::Try(try_) => self.try_catch(try_),
            Kind::Depending(parts) => {
                for part in parts {
                    match part {
                        Part::Always(block) => self.block(block),
                        Part::OnEmpty(value) => self.binding("if empty", value),
                        Part::OnNonEmpty(value) => self.binding("if not empty", value),
                    }
                }
            }
            Kind::MapEntry(entry) => self.binding("value", &entry.1),
            Kind::ResultDocument(result) => self.block(&result.body),
            Kind::SourceDocument(source) => self.block(&source.body),
            Kind::Evaluate(evaluate) => self.with_params(&evaluate.parameters),
            Kind::Merge(merge) => {
                for source in &merge.sources {
                    let line = format!("source {}", select(&source.select));
                    self.plain(format_args!("{line}"));
                    self.sorts(&source.keys);
                }
                self.block(&merge.body);
            }
            Kind::Text(..)
            | Kind::CopyOf(..)
            | Kind::CopyAccumulating(_)
            | Kind::Sequence(_)
            | Kind::Number(_)
            | Kind::Fail(..) => {}
        }
    }

    /// What something is bound to; nothing where that is nothing.
    pub(super) fn binding(&mut self, what: &str, binding: &Binding) {
        match binding {
            Binding::Select(value) => self.plain(format_args!("{what}: {}", select(value))),
            Binding::Tree(block) => self.part(&format!("{what}: a tree"), block),
            Binding::Sequence(block) => self.part(&format!("{what}: a sequence"), block),
            Binding::EmptyText => self.plain(format_args!("{what}: \"\"")),
            Binding::EmptySequence => {}
        }
    }

    /// A part of an instruction, unless it is empty.
    fn part(&mut self, what: &str, block: &Block) {
        if !block.is_empty() {
            self.plain(format_args!("{what}"));
            self.inside(|writer| writer.block(block));
        }
    }

    fn content_block(&mut self, content: &Content) {
        if let Content::Block(block, _) = content {
            self.block(block);
        }
    }

    fn message(&mut self, message: &Message) {
        self.binding("text", &message.content);
    }

    fn try_catch(&mut self, try_: &Try) {
        self.binding("body", &try_.body);
        for catch in &try_.catches {
            self.binding("catch", &catch.body);
        }
    }

    fn sorts(&mut self, sorts: &[Sort]) {
        for sort in sorts {
            let order = sort.order.as_ref().map_or_else(String::new, |order| format!(" {}", avt(order)));
            let kind = sort.data_type.as_ref().map_or_else(String::new, |kind| format!(" as {}", avt(kind)));
            self.binding(&format!("sort{order}{kind}"), &sort.key);
        }
    }

    fn with_params(&mut self, parameters: &[WithParam]) {
        for parameter in parameters {
            let tunnel = if parameter.tunnel { ", tunnel" } else { "" };
            let what = format!("with ${}{}{tunnel}", self.parameter(parameter.name), Typed(parameter.kind.as_ref()));
            self.binding(&what, &parameter.value);
        }
    }

    fn sets(&self, sets: &[u32]) -> String {
        let names = sets.iter().map(|set| format!(" with {}", self.program.attribute_sets[*set as usize].name));
        names.collect()
    }
}

fn variable_line(variable: &Variable) -> String {
    format!("variable in slot {}{}", variable.slot, Typed(variable.kind.as_ref()))
}

fn select(select: &Select) -> String {
    shown(&select.expr, &select.shape)
}

fn condition(condition: &Condition) -> String {
    shown(&condition.expr, &condition.shape)
}

/// An expression with how it runs.
fn shown(expr: &Expr, shape: &Shape) -> String {
    match shape {
        Shape::General => evaluated(expr),
        _ => format!("{} [direct]", expr.text),
    }
}

fn evaluated(expr: &Expr) -> String {
    format!("{} [evaluated]", expr.text)
}

/// The expression of a content; nothing where it is a block.
fn content(content: &Content) -> String {
    match content {
        Content::Select(source, _) => format!(" {}", shown(&source.expr, &source.shape)),
        Content::Block(..) => String::new(),
    }
}

fn avt(avt: &Avt) -> String {
    match avt {
        Avt::Constant(text) => format!("{text:?}"),
        Avt::Parts(parts) => {
            let parts = parts.iter().map(|part| match part {
                AvtPart::Text(text) => format!("{text:?}"),
                AvtPart::Value(source) => shown(&source.expr, &source.shape),
            });
            parts.collect::<Vec<_>>().join(" ")
        }
    }
}

fn qualified(name: &QualifiedName) -> String {
    if name.prefix.is_empty() { name.local.clone() } else { format!("{}:{}", name.prefix, name.local) }
}

fn unescaped(raw: bool) -> &'static str {
    if raw { ", not escaped" } else { "" }
}
