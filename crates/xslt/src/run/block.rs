//! Runs blocks: one instruction after the other.

use myelin_xpath::{Value, Version};

use super::content::Typed;
use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::Flow;
use super::machine::{MESSAGES, Machine};
use super::receiver::Receiver;
use crate::options;
use crate::program::{Block, Instruction, Kind, Message, ModeUse, Variable};
use crate::scope::At;

impl<'a> Machine<'a> {
    /// Runs what stands in a block inside others: a stylesheet may have hundreds of them inside each other.
    pub(super) fn run(
        &'a self,
        block: &'a [Instruction],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        self.with_stack(|| self.steps(block, focus, out))
    }

    /// Runs one instruction after the other, for those who have seen to the stack.
    pub(super) fn steps(
        &'a self,
        block: &'a [Instruction],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let mut rest = block.iter();
        while let Some(instruction) = rest.next() {
            self.count()?;
            self.file.set(instruction.at.file);
            let flow = match &instruction.kind {
                // A block that is chosen last runs in place of the one it stands in.
                Kind::If(..) | Kind::Choose(_) if rest.len() == 0 => self.chosen(instruction, focus).map(|chosen| {
                    rest = chosen.iter();
                    Flow::Next
                }),
                _ => self.step(instruction, focus, out),
            };
            match flow {
                Ok(Flow::Next) => {}
                Ok(flow) => return Ok(flow),
                Err(mut failure) => {
                    failure.at(instruction.at, || focus.path());
                    return Err(failure);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// The block of a condition that holds; none, and of instructions without conditions: an empty one.
    fn chosen(&'a self, instruction: &'a Instruction, focus: &Focus<'a>) -> Outcome<&'a [Instruction]> {
        match &instruction.kind {
            Kind::If(condition, block) => Ok(if self.holds(condition, focus)? { block } else { &[] }),
            Kind::Choose(choose) => {
                for (condition, block) in &choose.branches {
                    if self.holds(condition, focus)? {
                        return Ok(block);
                    }
                }
                Ok(&choose.otherwise)
            }
            _ => Ok(&[]),
        }
    }

    /// Runs a block that has nothing behind it to go on to: breaks and calls end within it.
    pub(super) fn run_inside(&'a self, block: &'a Block, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        self.run(block, focus, out).map(drop)
    }

    /// Runs an instruction. What is rare stands apart, and what is larger in functions of its own: blocks run within
    /// each other, and each takes the stack that this needs.
    #[inline(never)]
    fn step(&'a self, instruction: &'a Instruction, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        match &instruction.kind {
            Kind::Text(text, false) => out.text(text)?,
            Kind::Text(text, true) => out.raw_text(text)?,
            Kind::ValueOf(content, raw) => self.value_of(content, *raw, focus, out)?,
            Kind::Literal(element) => return self.literal(element, focus, out),
            Kind::ApplyTemplates(apply) => {
                let mode = match apply.mode {
                    ModeUse::Mode(mode) => mode,
                    ModeUse::Current => self.mode.get(),
                };
                self.apply_templates(apply, mode, focus, out)?;
            }
            Kind::CallTemplate(call) => return self.call_template(call, focus, out),
            Kind::ForEach(for_each) => return self.for_each(for_each, focus, out),
            Kind::If(..) | Kind::Choose(_) => return self.run(self.chosen(instruction, focus)?, focus, out),
            Kind::Variable(variable) => {
                let value = self.new_value(variable, focus)?;
                self.assign(variable.slot, value);
            }
            Kind::Copy(copy) => return self.copy(copy, focus, out),
            Kind::CopyOf(select, namespaces) => self.copy_of(select, *namespaces, focus, out)?,
            Kind::Element(element) => return self.element(element, focus, out),
            Kind::Attribute(attribute) => self.attribute(attribute, focus, out)?,
            _ => return self.rare_step(instruction, focus, out),
        }
        Ok(Flow::Next)
    }

    #[inline(never)]
    fn rare_step(
        &'a self,
        instruction: &'a Instruction,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        match &instruction.kind {
            Kind::Sequence(select) => {
                let value = self.select(select, focus)?;
                out.give(value, select.expr.version())?;
            }
            Kind::Namespace(parts) => {
                let (prefix, uri) = &**parts;
                let prefix = self.avt(prefix, focus)?;
                let uri = self.content(uri, focus)?;
                self.namespace(prefix.trim(), &uri, out)?;
            }
            Kind::Comment(content) => out.comment(&self.content(content, focus)?)?,
            Kind::ProcessingInstruction(parts) => {
                let (target, content) = &**parts;
                let target = self.avt(target, focus)?;
                let data = self.content(content, focus)?;
                self.processing_instruction(target.trim(), &data, out)?;
            }
            Kind::Document(block) => self.document(block, focus, out)?,
            Kind::ApplyImports(parameters) => self.apply_imports(parameters, focus, out)?,
            Kind::NextMatch(parameters) => self.next_match(parameters, focus, out)?,
            Kind::Number(number) => self.number(number, focus, out)?,
            Kind::Message(message) => self.message(message, instruction.at, focus)?,
            Kind::ForEachGroup(group) => return self.for_each_group(group, focus, out),
            Kind::AnalyzeString(analyze) => self.analyze_string(analyze, focus, out)?,
            Kind::PerformSort(parts) => self.perform_sort(&parts.0, &parts.1, focus, out)?,
            Kind::Iterate(iterate) => return self.iterate(iterate, focus, out),
            Kind::Break(binding) => {
                let value = self.bind(binding, focus)?;
                self.left.borrow_mut().value = Some(value);
                return Ok(Flow::Break);
            }
            Kind::NextIteration(parameters) => {
                let values: Outcome<Vec<_>> = parameters.iter().map(|new| self.passed(new, focus)).collect();
                for (parameter, value) in parameters.iter().zip(values?) {
                    self.assign(parameter.slot, value);
                }
                return Ok(Flow::Continue);
            }
            Kind::Return(binding) => {
                let value = self.bind(binding, focus)?;
                self.left.borrow_mut().value = Some(value);
                return Ok(Flow::Return);
            }
            Kind::Try(try_) => return self.try_catch(try_, focus, out),
            Kind::Assert(parts) => {
                let (condition, message) = &**parts;
                if !self.holds(condition, focus)? {
                    return Err(self.ended_by(message, "XTMM9001", instruction.at, focus)?);
                }
            }
            Kind::WherePopulated(block) => self.where_populated(block, focus, out)?,
            Kind::Depending(parts) => return self.depending(parts, focus, out),
            Kind::Map(block) => {
                let map = self.map(block, focus)?;
                out.give(map, Version::V3)?;
            }
            Kind::MapEntry(entry) => {
                let map = self.map_entry(&entry.0, &entry.1, focus)?;
                out.give(map, Version::V3)?;
            }
            Kind::CopyAccumulating(copy) => self.copy_accumulating(&copy.0, copy.1, focus, out)?,
            Kind::ResultDocument(result) => self.result_document(result, focus)?,
            Kind::SourceDocument(source) => return self.source_document(source, focus, out),
            Kind::Evaluate(evaluate) => {
                let value = self.evaluate_text(evaluate, focus)?;
                out.give(value, Version::V3)?;
            }
            Kind::Merge(merge) => return self.merge(merge, focus, out),
            Kind::Fail(code, message) => return Err(Failure::new(*code, &**message)),
            // Those that `step` runs itself.
            Kind::Text(..)
            | Kind::ValueOf(..)
            | Kind::Literal(_)
            | Kind::ApplyTemplates(_)
            | Kind::CallTemplate(_)
            | Kind::ForEach(_)
            | Kind::If(..)
            | Kind::Choose(_)
            | Kind::Variable(_)
            | Kind::Copy(_)
            | Kind::CopyOf(..)
            | Kind::Element(_)
            | Kind::Attribute(_) => {}
        }
        Ok(Flow::Next)
    }

    /// What a parameter of a loop is set to for its next round.
    fn passed(&'a self, parameter: &'a Variable, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let value = self.bind_aside(&parameter.value, focus)?;
        self.convert(value, parameter.kind.as_ref(), Typed::PASSED)
    }

    /// What a variable is set to.
    #[inline(never)]
    fn new_value(&'a self, variable: &'a Variable, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let value = self.bind_aside(&variable.value, focus)?;
        self.convert(value, variable.kind.as_ref(), Typed::VARIABLE)
    }

    /// `xsl:message` (XSLT 1.0 §13).
    fn message(&'a self, message: &'a Message, at: At, focus: &Focus<'a>) -> Outcome<()> {
        let terminate = self.avt(&message.terminate, focus)?;
        match terminate.trim() {
            "yes" | "true" | "1" => Err(self.ended_by(message, "XTMM9000", at, focus)?),
            // What goes wrong in what a message says is no reason to stop (XSLT 3.0 §23.1).
            "no" | "false" | "0" => match self.guarded(|| self.message_text(message, at, focus)) {
                Err(failure) if failure.is_limit() || self.program.compatible => Err(failure),
                Err(failure) => self.say(Value::from(failure.message), at).map(drop),
                Ok(_) => Ok(()),
            },
            other => Err(Failure::new("XTDE0030", format!("terminate must be yes or no, not {other:?}"))),
        }
    }

    /// What a message says, which is kept for the caller.
    fn message_text(&'a self, message: &'a Message, at: At, focus: &Focus<'a>) -> Outcome<String> {
        let value = self.bind(&message.content, focus)?;
        self.say(value, at)
    }

    fn say(&'a self, value: Value<'a>, at: At) -> Outcome<String> {
        let text = self.as_xml(value)?;
        let mut messages = self.messages.borrow_mut();
        if messages.len() < MESSAGES {
            self.build(text.len())?;
            messages.push(options::Message { text: text.clone(), place: super::failure::place(self.program, at) });
        }
        Ok(text)
    }

    /// The failure that a message or assertion is.
    fn ended_by(
        &'a self,
        message: &'a Message,
        code: &'static str,
        at: At,
        focus: &Focus<'a>,
    ) -> Outcome<Box<Failure>> {
        let value = self.bind(&message.content, focus)?;
        let text = self.say(value.clone(), at)?;
        let code = match &message.code {
            None => code.to_owned(),
            Some(avt) => {
                let written = self.avt(avt, focus)?;
                self.error_code(written.trim(), message.scope).unwrap_or_else(|| code.to_owned())
            }
        };
        let text = if text.is_empty() { "the stylesheet ended the transformation".to_owned() } else { text };
        let mut failure = Failure::new(code, text);
        self.error_value.replace(value);
        failure.carries_value = true;
        Ok(failure)
    }
}
