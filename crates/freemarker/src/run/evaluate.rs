//! What expressions give.

use std::rc::Rc;

use regex::Regex;

use crate::builtin::Input;
use crate::error::{Error, ErrorKind, Trouble};
use crate::machine::Run;
use crate::machine::{Frame, Kind, Position};
use crate::moment::{Moment, Part};
use crate::names::Symbol;
use crate::parse::Parser;
use crate::pattern::regex;
use crate::stack::with_enough;
use crate::syntax::{BuiltinCall, Expression, ExpressionKind as Is, LoopQuestion, Special};
use crate::value::{Hash, Text, Value, expected};

/// So many patterns that came up in a run are kept for it; one may take a megabyte.
const PATTERNS_KEPT: usize = 32;

/// A value, or that there is none.
type Evaluated<'m> = Result<Option<Value<'m>>, Box<Error>>;

impl<'r, 'm> Run<'r, 'm> {
    /// What must be there.
    pub(crate) fn value(&mut self, expression: &Expression) -> Result<Value<'m>, Box<Error>> {
        match self.evaluate(expression)? {
            Some(value) => Ok(value),
            None => {
                let what = self.described(expression);
                self.fail(expression, Trouble::missing(format!("{what} is not there, or is null")))
            }
        }
    }

    /// What may be missing at its end; in brackets, anywhere.
    pub(crate) fn tolerant(&mut self, expression: &Expression) -> Evaluated<'m> {
        let Is::Group(inner) = &expression.kind else { return self.evaluate(expression) };
        let (frame, calls) = (self.frame.clone(), self.calls);
        match self.tolerant(inner) {
            Err(error) if error.kind == ErrorKind::Missing => {
                (self.frame, self.calls) = (frame, calls);
                Ok(None)
            }
            other => other,
        }
    }

    pub(super) fn condition(&mut self, expression: &Expression) -> Result<bool, Box<Error>> {
        match self.value(expression)? {
            Value::Boolean(boolean) => Ok(boolean),
            other => self.fail(expression, expected("a boolean", &other)),
        }
    }

    /// What an expression gives, or that nothing is there.
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> Evaluated<'m> {
        self.spend(1).or_else(|trouble| self.fail(expression, trouble))?;
        Ok(Some(match &expression.kind {
            Is::Text(text) => Value::Text(Text::Shared(text.clone())),
            Is::Number(number) => Value::Number(*number),
            Is::Boolean(boolean) => Value::Boolean(*boolean),
            Is::Variable(symbol) => return Ok(self.variable(*symbol)),
            _ => return with_enough(|| self.compound(expression)),
        }))
    }

    fn compound(&mut self, expression: &Expression) -> Evaluated<'m> {
        Ok(Some(match &expression.kind {
            Is::Join(parts) => {
                let mut text = String::new();
                for part in parts {
                    let piece = self.text_of(part)?;
                    text.push_str(&piece);
                    self.spend_bytes(text.len()).or_else(|trouble| self.fail(part, trouble))?;
                }
                text.into()
            }
            Is::List(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(Some(self.value(item)?));
                }
                Value::list(values)
            }
            Is::Hash(members) => {
                let mut hash = Hash::default();
                for (name, value) in members {
                    let name = self.text_of(name)?;
                    hash.put(name, Some(self.value(value)?));
                }
                Value::Hash(Rc::new(hash))
            }
            Is::Range(start, end, kind) => self.range(start, end.as_deref(), *kind)?,
            Is::Special(special) => return Ok(self.special(*special)),
            Is::Member(base, name) => {
                let base = self.value(base)?;
                return self.member(&base, name).or_else(|trouble| self.fail(expression, trouble));
            }
            Is::Index(base, index) => {
                let base = self.value(base)?;
                let index = self.value(index)?;
                return self.indexed(&base, &index).or_else(|trouble| self.fail(expression, trouble));
            }
            Is::Call(callee, arguments) => {
                let callee = self.value(callee)?;
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.evaluate(argument)?);
                }
                return self.function(&callee, values).or_else(|trouble| self.fail(expression, trouble));
            }
            Is::Builtin(call) => return self.builtin(call, expression),
            Is::Loop(symbol, question, arguments) => {
                return self.loop_question(*symbol, *question, arguments, expression);
            }
            Is::Then(parts) => {
                let [condition, yes, no] = &**parts;
                return if self.condition(condition)? { self.evaluate(yes) } else { self.evaluate(no) };
            }
            Is::Switch(subject, arguments) => return self.choose(subject, arguments, expression),
            Is::Default(subject, default) => match (self.tolerant(subject)?, default) {
                (Some(value), _) => value,
                (None, Some(default)) => return self.evaluate(default),
                (None, None) => Value::Nothing,
            },
            Is::Exists(subject) => Value::Boolean(self.tolerant(subject)?.is_some()),
            Is::Group(inner) => return self.evaluate(inner),
            Is::Not(inner) => Value::Boolean(!self.condition(inner)?),
            Is::Negate(inner) => match self.value(inner)? {
                Value::Number(number) => Value::Number(number.negated()),
                other => return self.fail(inner, expected("a number", &other)),
            },
            Is::Plus(inner) => match self.value(inner)? {
                Value::Number(number) => Value::Number(number),
                other => return self.fail(inner, expected("a number", &other)),
            },
            Is::Reckon(sign, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.reckon(*sign, &left, &right).or_else(|trouble| self.fail(expression, trouble))?
            }
            Is::Compare(comparison, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let compared = self.compare(*comparison, &left, &right);
                Value::Boolean(compared.or_else(|trouble| self.fail(expression, trouble))?)
            }
            Is::And(left, right) => Value::Boolean(self.condition(left)? && self.condition(right)?),
            Is::Or(left, right) => Value::Boolean(self.condition(left)? || self.condition(right)?),
            Is::Lambda(..) => return self.fail(expression, Trouble::wrong("a function with -> is no value")),
            Is::Escaped(symbol, parts) => {
                let [inner, with] = &**parts;
                let value = self.evaluate(inner)?;
                return self.with_variable(*symbol, value, with);
            }
            // `evaluate` has these.
            Is::Text(_) | Is::Number(_) | Is::Boolean(_) | Is::Variable(_) => return self.evaluate(expression),
        }))
    }

    /// An expression with a variable of its own.
    pub(crate) fn with_variable(
        &mut self,
        symbol: Symbol,
        value: Option<Value<'m>>,
        expression: &Expression,
    ) -> Evaluated<'m> {
        let outer = self.enter(Kind::Plain, vec![(symbol, value)]);
        let result = self.evaluate(expression);
        self.frame = outer;
        result
    }

    /// Puts variables in front of the others; what is returned is the frame to go back to.
    pub(super) fn enter(
        &mut self,
        kind: Kind<'r, 'm>,
        variables: Vec<(Symbol, Option<Value<'m>>)>,
    ) -> Option<Rc<Frame<'r, 'm>>> {
        let outer = self.frame.take();
        self.frame = Some(Frame::new(outer.clone(), kind, variables));
        outer
    }

    /// The variables of the macro or function that runs.
    pub(super) fn call_frame(&self) -> Option<Rc<Frame<'r, 'm>>> {
        Frame::find(self.frame.as_ref(), |frame| match frame.kind {
            Kind::Call(_) => Some(Rc::clone(frame)),
            _ => None,
        })
    }

    /// How far the innermost loop is, or the one with that variable.
    pub(super) fn position(&self, variable: Option<Symbol>) -> Option<Position> {
        Frame::find(self.frame.as_ref(), |frame| match &frame.kind {
            Kind::Loop(position) if variable.is_none_or(|variable| variable == position.variable) => {
                Some(position.clone())
            }
            _ => None,
        })
    }

    fn variable(&self, symbol: Symbol) -> Option<Value<'m>> {
        let index = symbol as usize;
        let of = |values: &[Option<Value<'m>>]| values.get(index).cloned().flatten();
        Frame::find(self.frame.as_ref(), |frame| frame.get(symbol))
            .or_else(|| of(&self.variables))
            .or_else(|| of(&self.globals))
            .or_else(|| of(&self.data))
            .or_else(|| self.late(symbol))
    }

    /// What a name stands for that came up in `?eval`, and the old ways to ask how far a loop is.
    fn late(&self, symbol: Symbol) -> Option<Value<'m>> {
        let name = self.name(symbol);
        if symbol as usize >= self.data.len() {
            return self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        }
        let position = |ending: &str| {
            let variable = self.template.names.find(name.strip_suffix(ending)?)?;
            self.position(Some(variable))
        };
        let index = position("_index").map(|position| Value::Number(position.index.get().into()));
        index.or_else(|| position("_has_next").map(|position| Value::Boolean(position.has_next())))
    }

    fn special(&self, special: Special) -> Option<Value<'m>> {
        let shared = |name: &str| Text::Shared(name.into());
        let given = self.given.iter().map(|(name, value)| (shared(name), Some(value.clone())));
        Some(match special {
            Special::Now => Value::Moment(Moment { millis: self.options.now, part: Part::Both }),
            Special::DataModel => Value::Hash(Rc::new(given.collect())),
            Special::Globals | Special::Vars => {
                let variables: &[_] = if special == Special::Vars { &self.variables } else { &[] };
                let assigned = self.globals.iter().enumerate().chain(variables.iter().enumerate());
                let assigned = assigned.filter(|(_, value)| value.is_some());
                let assigned = assigned.map(|(symbol, value)| (shared(self.name(symbol as Symbol)), value.clone()));
                Value::Hash(Rc::new(given.chain(assigned).collect()))
            }
            Special::Error => return self.error.clone().map(Value::from),
            Special::Locale => Value::text("en_US"),
        })
    }

    pub(super) fn name(&self, symbol: Symbol) -> &str {
        self.names.as_ref().unwrap_or(&self.template.names).name(symbol)
    }

    /// What an expression is called in a fault: as it is written, where that is short.
    fn described(&self, expression: &Expression) -> String {
        match &expression.kind {
            Is::Variable(symbol) => self.name(*symbol).to_owned(),
            Is::Member(base, name) => format!("{}.{name}", with_enough(|| self.described(base))),
            Is::Index(base, _) => format!("{}[…]", with_enough(|| self.described(base))),
            Is::Group(inner) => with_enough(|| self.described(inner)),
            Is::Builtin(call) => format!("{}?{}", with_enough(|| self.described(&call.subject)), call.builtin.name),
            _ => "the value".to_owned(),
        }
    }

    pub(super) fn member(&mut self, base: &Value<'m>, name: &str) -> Result<Option<Value<'m>>, Trouble> {
        if let Value::Object(object) = base {
            self.spend(object.cost(name))?;
        }
        base.member(name)
    }

    fn builtin(&mut self, call: &BuiltinCall, expression: &Expression) -> Evaluated<'m> {
        use crate::builtin::Takes;
        let builtin = call.builtin;
        let subject = match builtin.takes {
            Takes::Missing => self.tolerant(&call.subject)?,
            _ => Some(self.value(&call.subject)?),
        };
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            if !matches!(argument.kind, Is::Lambda(..)) {
                arguments.push(self.value(argument)?);
            }
        }
        let subject_is_missing = subject.is_none();
        let input = Input { subject: subject.unwrap_or(Value::Nothing), subject_is_missing, arguments, call };
        (builtin.run)(self, &input).or_else(|trouble| self.fail(expression, trouble))
    }

    /// What a lambda, or a function, gives for a value.
    pub(crate) fn apply(&mut self, input: &Input<'_, 'm>, value: Option<Value<'m>>) -> Result<Value<'m>, Trouble> {
        let given = match input.call.arguments.first().map(|argument| &argument.kind) {
            Some(Is::Lambda(symbol, body)) => self.with_variable(*symbol, value, body)?,
            _ => match input.arguments.first() {
                Some(function) => self.function(function, vec![value])?,
                None => None,
            },
        };
        given.ok_or_else(|| Trouble::missing("what the function gives is not there, or is null"))
    }

    fn loop_question(
        &mut self,
        symbol: Symbol,
        question: LoopQuestion,
        arguments: &[Expression],
        expression: &Expression,
    ) -> Evaluated<'m> {
        let Some(position) = self.position(Some(symbol)) else {
            let name = self.name(symbol).to_owned();
            return self.fail(expression, Trouble::wrong(format!("{name} is not the variable of a loop")));
        };
        let index = position.index.get();
        let is_odd = index.is_multiple_of(2);
        Ok(Some(match question {
            LoopQuestion::Index => Value::Number(index.into()),
            LoopQuestion::Counter => Value::Number((index + 1).into()),
            LoopQuestion::HasNext => Value::Boolean(position.has_next()),
            LoopQuestion::IsFirst => Value::Boolean(index == 0),
            LoopQuestion::IsLast => Value::Boolean(!position.has_next()),
            LoopQuestion::IsOdd => Value::Boolean(is_odd),
            LoopQuestion::IsEven => Value::Boolean(!is_odd),
            LoopQuestion::Parity => Value::text(if is_odd { "odd" } else { "even" }),
            LoopQuestion::ParityCap => Value::text(if is_odd { "Odd" } else { "Even" }),
            LoopQuestion::Cycle => match arguments.get(index % arguments.len().max(1)) {
                Some(argument) => return self.evaluate(argument),
                None => return self.fail(expression, Trouble::wrong("?item_cycle needs values")),
            },
        }))
    }

    fn choose(&mut self, subject: &Expression, arguments: &[Expression], expression: &Expression) -> Evaluated<'m> {
        let subject = self.value(subject)?;
        let mut arguments = arguments.iter();
        while let Some(case) = arguments.next() {
            // A last one alone is what is left for all others.
            let Some(result) = arguments.next() else { return self.evaluate(case) };
            let candidate = self.value(case)?;
            if self.is_equal(&subject, &candidate).or_else(|trouble| self.fail(case, trouble))? {
                return self.evaluate(result);
            }
        }
        self.fail(expression, Trouble::wrong("no case of ?switch is the value, and there is no default"))
    }

    /// Reads and evaluates a text as an expression.
    pub(crate) fn evaluate_text(&mut self, text: &str, at: u32) -> Result<Option<Value<'m>>, Trouble> {
        self.spend_bytes(text.len())?;
        if self.calls >= super::CALLS {
            return Err(Trouble::limit("?eval goes too deep"));
        }
        let mut names = self.names.take().unwrap_or_else(|| self.template.names.clone());
        let mut parser = Parser::inside(text, 0..text.len(), at, 0, &mut names);
        let parsed = parser.expression().and_then(|expression| parser.finish().map(|()| expression));
        self.names = Some(names);
        match parsed {
            Ok(expression) => {
                self.calls += 1;
                let value = self.evaluate(&expression);
                self.calls -= 1;
                Ok(value?)
            }
            Err((_, _, message)) => Err(Trouble::wrong(format!("the text of ?eval is no expression: {message}"))),
        }
    }

    /// A pattern that came up while running, compiled once.
    pub(crate) fn pattern(&mut self, pattern: &str, flags: &str) -> Result<Regex, Trouble> {
        let key = (pattern.to_owned(), flags.to_owned());
        if let Some(known) = self.patterns.get(&key) {
            return Ok(known.clone());
        }
        // Compiling costs far more than what else is done in a step.
        self.spend(1000 + pattern.len() as u64)?;
        let compiled = regex(pattern, flags).map_err(Trouble::wrong)?;
        if self.patterns.len() == PATTERNS_KEPT {
            self.patterns.clear();
        }
        self.patterns.insert(key, compiled.clone());
        Ok(compiled)
    }
}
