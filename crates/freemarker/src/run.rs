//! One run of a template: instructions in order, with the variables that they see.

mod call;
mod evaluate;
mod list;
mod print;
mod reckon;

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Trouble};
use crate::formats::Formats;
use crate::machine::{Frame, Kind, Options, Run};
use crate::names::Symbol;
use crate::stack::with_enough;
use crate::syntax::{Block, Expression, Instruction, Operator, Setting, Target, Template};
use crate::value::Value;

/// After so many steps it is asked whether the time is over.
const STEPS_BETWEEN: u64 = 4096;

/// So many macros and functions may call each other.
const CALLS: usize = 200;

/// Sequences and hashes that are kept may lie in each other as deep as this.
const DEPTH: usize = 1000;

/// So many bytes are copied in one step.
const BYTES_A_STEP: usize = 32;

/// How the instructions around go on.
enum Signal<'m> {
    Next,
    Break,
    Continue,
    Return(Option<Value<'m>>),
}

type Ran<'m> = Result<Signal<'m>, Box<Error>>;

impl<'r, 'm> Run<'r, 'm> {
    pub(crate) fn new(template: &'r Template, given: &'r [(&'r str, Value<'m>)], options: &'r Options<'r>) -> Self {
        let count = template.names.len();
        let mut run = Run {
            template,
            options,
            given,
            data: vec![None; count],
            globals: vec![None; count],
            variables: vec![None; count],
            frame: None,
            out: String::new(),
            steps: 0,
            calls: 0,
            formats: Formats::default(),
            names: None,
            patterns: HashMap::new(),
            error: None,
        };
        for (name, value) in given {
            if let Some(symbol) = template.names.find(name) {
                run.data[symbol as usize] = Some(value.clone());
            }
        }
        for (index, callable) in template.callables.iter().enumerate() {
            run.variables[callable.name as usize] = Some(Value::Callable(index));
        }
        run
    }

    pub(crate) fn whole(mut self) -> Result<String, Box<Error>> {
        let template = self.template;
        self.block(&template.block)?;
        Ok(self.out)
    }

    /// Counts what something costs.
    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Trouble> {
        let before = self.steps / STEPS_BETWEEN;
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.options.limits.steps {
            return Err(Trouble::limit(format!("the template takes more than {} steps", self.options.limits.steps)));
        }
        if self.steps / STEPS_BETWEEN != before && self.options.expired.is_some_and(|expired| expired()) {
            return Err(Trouble::limit("the template takes too long"));
        }
        Ok(())
    }

    /// Counts what it costs to make a text of so many bytes.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<(), Trouble> {
        self.check_bytes(bytes)?;
        self.spend((bytes / BYTES_A_STEP) as u64)
    }

    /// Whether a text may have so many bytes.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<(), Trouble> {
        match self.options.limits.bytes {
            limit if bytes > limit => Err(Trouble::limit(format!("the template makes more than {limit} bytes"))),
            _ => Ok(()),
        }
    }

    pub(crate) fn fail<T>(&self, expression: &Expression, trouble: impl Into<Trouble>) -> Result<T, Box<Error>> {
        Err(trouble.into().at(self.template.place(expression.at)))
    }

    fn place_of(&self, at: u32) -> impl FnOnce(Trouble) -> Box<Error> + use<'r, 'm> {
        let template = self.template;
        move |trouble| trouble.at(template.place(at))
    }

    fn print(&mut self, text: &str) -> Result<(), Trouble> {
        self.check_bytes(self.out.len().saturating_add(text.len()))?;
        self.spend((text.len() / BYTES_A_STEP) as u64)?;
        self.out.push_str(text);
        Ok(())
    }

    fn block(&mut self, block: &'r Block) -> Ran<'m> {
        for instruction in block {
            match self.instruction(instruction)? {
                Signal::Next => {}
                signal => return Ok(signal),
            }
        }
        Ok(Signal::Next)
    }

    fn instruction(&mut self, instruction: &'r Instruction) -> Ran<'m> {
        match instruction {
            Instruction::Text { at, text } => {
                self.spend(1).and_then(|()| self.print(text)).map_err(self.place_of(*at))?;
            }
            Instruction::Block(block) => return with_enough(|| self.block(block)),
            Instruction::Print { expression, format } => {
                let value = self.value(expression)?;
                let text = self.printed(&value, *format);
                let printed = text.and_then(|text| self.print(&text));
                printed.or_else(|trouble| self.fail(expression, trouble))?;
            }
            Instruction::If { arms, otherwise } => {
                for (condition, block) in arms {
                    if self.condition(condition)? {
                        return with_enough(|| self.block(block));
                    }
                }
                return with_enough(|| self.block(otherwise));
            }
            Instruction::List(list) => return with_enough(|| self.list(list)),
            Instruction::Items { at, variables, block } => {
                let pending = Frame::find(self.frame.as_ref(), |frame| match &frame.kind {
                    Kind::Pending(value) => Some(value.clone()),
                    _ => None,
                });
                let value = pending.ok_or_else(|| Trouble::wrong("<#items> stands in no <#list> without a variable"));
                let value = value.map_err(self.place_of(*at))?;
                return with_enough(|| self.items(&value, variables, block, *at));
            }
            Instruction::Sep(block) => {
                let has_next = self.position(None).is_some_and(|position| position.has_next());
                if has_next {
                    return with_enough(|| self.block(block));
                }
            }
            Instruction::Assign { target, symbol, operator, value } => {
                let new = self.assigned(*target, *symbol, *operator, value)?;
                shallow(&new).or_else(|trouble| self.fail(value, trouble))?;
                self.assign(*target, *symbol, new);
            }
            Instruction::Capture { target, symbol, block, format } => {
                let (text, signal) = self.captured(block)?;
                let value = match format {
                    Some(format) => Value::Markup(text.into(), *format),
                    None => text.into(),
                };
                self.assign(*target, *symbol, value);
                return Ok(signal);
            }
            Instruction::Switch { value, cases } => return with_enough(|| self.switch(value, cases)),
            Instruction::Break => return Ok(Signal::Break),
            Instruction::Continue => return Ok(Signal::Continue),
            Instruction::Return(value) => {
                let value = value.as_ref().map(|value| self.evaluate(value)).transpose()?;
                return Ok(Signal::Return(value.flatten()));
            }
            Instruction::Stop { at, message } => {
                let message = message.as_ref().map(|message| self.text_of(message)).transpose()?;
                let said = message.as_deref().unwrap_or("without a word");
                return Err(Trouble::stopped(format!("the template stops: {said}"))).map_err(self.place_of(*at));
            }
            Instruction::Call(call) => return with_enough(|| self.call(call)),
            Instruction::Nested(values) => return with_enough(|| self.nested(values)),
            Instruction::Attempt { at, block, recover } => {
                return with_enough(|| self.attempt(*at, block, recover));
            }
            Instruction::Compress { at, block } => {
                let (text, signal) = with_enough(|| self.captured(block))?;
                self.print(&compressed(&text)).map_err(self.place_of(*at))?;
                return Ok(signal);
            }
            Instruction::Setting { name, value } => {
                let text = self.text_or_boolean(value)?;
                let set = self.set(*name, &text);
                set.or_else(|message| self.fail(value, Trouble::wrong(message)))?;
            }
        }
        Ok(Signal::Next)
    }

    fn assigned(
        &mut self,
        target: Target,
        symbol: Symbol,
        operator: Operator,
        value: &'r Expression,
    ) -> Result<Value<'m>, Box<Error>> {
        let new = self.value(value)?;
        let Operator::Reckon(sign) = operator else { return Ok(new) };
        let old = match target {
            Target::Assign => self.variables[symbol as usize].clone(),
            Target::Global => self.globals[symbol as usize].clone(),
            Target::Local => self.call_frame().and_then(|frame| frame.get(symbol)),
        };
        let Some(old) = old else {
            let name = self.template.names.name(symbol);
            return self.fail(value, Trouble::missing(format!("there is no {name} yet that could be changed")));
        };
        self.reckon(sign, &old, &new).or_else(|trouble| self.fail(value, trouble))
    }

    fn assign(&mut self, target: Target, symbol: Symbol, value: Value<'m>) {
        match target {
            Target::Assign => self.variables[symbol as usize] = Some(value),
            Target::Global => self.globals[symbol as usize] = Some(value),
            Target::Local => {
                if let Some(frame) = self.call_frame() {
                    frame.put(symbol, Some(value));
                }
            }
        }
    }

    /// What a block prints.
    fn captured(&mut self, block: &'r Block) -> Result<(String, Signal<'m>), Box<Error>> {
        let around = std::mem::take(&mut self.out);
        let signal = self.block(block);
        let text = std::mem::replace(&mut self.out, around);
        Ok((text, signal?))
    }

    fn attempt(&mut self, at: u32, block: &'r Block, recover: &'r Block) -> Ran<'m> {
        let (frame, calls) = (self.frame.clone(), self.calls);
        match self.captured(block) {
            Ok((text, signal)) => {
                self.print(&text).map_err(self.place_of(at))?;
                Ok(signal)
            }
            // Nobody recovers from a bound, and from an end that was asked for.
            Err(error) if matches!(error.kind, ErrorKind::Limit | ErrorKind::Stopped) => Err(error),
            Err(error) => {
                (self.frame, self.calls) = (frame, calls);
                let around = self.error.replace(error.to_string());
                let signal = self.block(recover);
                self.error = around;
                signal
            }
        }
    }

    fn set(&mut self, name: Setting, text: &str) -> Result<(), String> {
        let formats = &mut self.formats;
        match name {
            Setting::NumberFormat => formats.number = crate::decimal::Pattern::parse(text)?,
            Setting::BooleanFormat => {
                let (yes, no) = text.split_once(',').ok_or("boolean_format has two words with a comma between")?;
                // FreeMarker's own default means that nobody chose one.
                formats.boolean = (text != "true,false").then(|| (yes.into(), no.into()));
            }
            Setting::DateFormat => formats.date = text.into(),
            Setting::TimeFormat => formats.time = text.into(),
            Setting::DateTimeFormat => formats.both = text.into(),
            Setting::Ignored => {}
        }
        Ok(())
    }
}

/// Refuses to keep values that lie in each other too deep to let go of them again.
fn shallow(value: &Value<'_>) -> Result<(), Trouble> {
    if value.depth() <= DEPTH {
        return Ok(());
    }
    Err(Trouble::limit(format!("sequences and hashes lie in each other more than {DEPTH} deep")))
}

/// White space in runs becomes one blank, or one line break.
fn compressed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(at) = rest.find(char::is_whitespace) {
        out.push_str(&rest[..at]);
        let end = rest[at..].find(|letter: char| !letter.is_whitespace()).map_or(rest.len(), |length| at + length);
        out.push(if rest[at..end].contains(['\n', '\r']) { '\n' } else { ' ' });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
