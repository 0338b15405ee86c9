//! What expressions give.

use std::cmp::Ordering;
use std::rc::Rc;

use regex::Regex;

use super::Run;
use super::frame::{Frame, Kind, Position};
use crate::builtins::Input;
use crate::error::{Error, ErrorKind, Trouble};
use crate::moment::{Moment, Part};
use crate::parse::{Parser, regex};
use crate::stack::with_enough;
use crate::syntax::{
    BuiltinCall, Comparison, Expression, ExpressionKind as Is, LoopQuestion, RangeKind, Sign, Special, Symbol,
};
use crate::value::{Hash, Range, Text, Value, expected};

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

    fn member(&mut self, base: &Value<'m>, name: &str) -> Result<Option<Value<'m>>, Trouble> {
        if let Value::Object(object) = base {
            self.spend(object.cost(name))?;
        }
        base.member(name)
    }

    fn indexed(&mut self, base: &Value<'m>, index: &Value<'m>) -> Result<Option<Value<'m>>, Trouble> {
        match index {
            Value::Number(number) => {
                let Some(index) = number.as_integer() else { return Err(Trouble::wrong("the index is too large")) };
                if let (Value::Text(text), false) = (base, base.is_hash()) {
                    let letter = usize::try_from(index).ok().and_then(|index| letter(text, index));
                    let outside =
                        || Trouble::wrong(format!("there is no letter {index} in a text of {} bytes", text.len()));
                    return letter.map(|letter| Some(letter.to_string().into())).ok_or_else(outside);
                }
                if base.length().is_none() && !matches!(base, Value::Range(_)) {
                    return Err(expected("a sequence or a text", base));
                }
                Ok(usize::try_from(index).ok().and_then(|index| base.item(index)))
            }
            Value::Range(range) => self.sliced(base, *range).map(Some),
            index => {
                let name = self.text(index)?;
                self.member(base, &name)
            }
        }
    }

    /// The part of a sequence or text that a range says.
    fn sliced(&mut self, base: &Value<'m>, range: Range) -> Result<Value<'m>, Trouble> {
        let text = match base {
            Value::Text(text) => Some(text.clone()),
            _ if base.length().is_none() => Some(self.text(base)?),
            _ => None,
        };
        let letters: Option<Vec<char>> = text.map(|text| text.chars().collect());
        let length = letters.as_ref().map(Vec::len).or_else(|| base.length()).unwrap_or(0);
        self.spend(length as u64)?;
        let outside = || Trouble::wrong(format!("the slice reaches out of what has a length of {length}"));
        let count = match range.length {
            Some(count) if range.is_cut => {
                count.min(length.saturating_sub(usize::try_from(range.start).unwrap_or(length)))
            }
            Some(count) => count,
            None => length.checked_sub(usize::try_from(range.start).map_err(|_| outside())?).ok_or_else(outside)?,
        };
        let count = match letters.is_some() && range.step < 0 {
            false => count,
            // As in FreeMarker: a text has nothing from one letter to the one before.
            true if count <= 2 => 0,
            true => return Err(Trouble::wrong("the slice of a text goes forward")),
        };
        let mut indices = Vec::with_capacity(count.min(length));
        for at in 0..count {
            let index = range.start.checked_add(range.step * at as i64).and_then(|index| usize::try_from(index).ok());
            indices.push(index.filter(|&index| index < length).ok_or_else(outside)?);
        }
        Ok(match letters {
            Some(letters) => indices.into_iter().map(|index| letters[index]).collect::<String>().into(),
            None => Value::list(indices.into_iter().map(|index| base.item(index)).collect()),
        })
    }

    fn range(
        &mut self,
        start: &Expression,
        end: Option<&Expression>,
        kind: RangeKind,
    ) -> Result<Value<'m>, Box<Error>> {
        let start_number = self.integer(start)?;
        let Some(end) = end else {
            return Ok(Value::Range(Range { start: start_number, step: 1, length: None, is_cut: false }));
        };
        let end_number = self.integer(end)?;
        let distance = match kind {
            RangeKind::Length => end_number,
            _ => end_number.saturating_sub(start_number),
        };
        let step = if distance < 0 { -1 } else { 1 };
        let length = distance.unsigned_abs().saturating_add(u64::from(kind == RangeKind::Inclusive));
        let length = usize::try_from(length).ok();
        Ok(Value::Range(Range { start: start_number, step, length, is_cut: kind == RangeKind::Length }))
    }

    fn integer(&mut self, expression: &Expression) -> Result<i64, Box<Error>> {
        match self.value(expression)? {
            Value::Number(number) => match number.as_integer() {
                Some(integer) => Ok(integer),
                None => self.fail(expression, Trouble::wrong("the number is too large here")),
            },
            other => self.fail(expression, expected("a number", &other)),
        }
    }

    pub(super) fn reckon(&mut self, sign: Sign, left: &Value<'m>, right: &Value<'m>) -> Result<Value<'m>, Trouble> {
        if let (Value::Number(left), Value::Number(right)) = (left, right) {
            return Ok(Value::Number(match sign {
                Sign::Add => left.add(*right)?,
                Sign::Subtract => left.subtract(*right)?,
                Sign::Multiply => left.multiply(*right)?,
                Sign::Divide => left.divide(*right)?,
                Sign::Remainder => left.remainder(*right)?,
            }));
        }
        if sign != Sign::Add {
            let wrong = if matches!(left, Value::Number(_)) { right } else { left };
            return Err(expected("a number", wrong));
        }
        if let (Some(first), Some(second), false) = (left.length(), right.length(), matches!(left, Value::Nothing)) {
            self.spend((first + second) as u64)?;
            let of = |value: &Value<'m>, length| (0..length).map(|index| value.item(index)).collect::<Vec<_>>();
            let mut items = of(left, first);
            items.extend(of(right, second));
            return Ok(Value::list(items));
        }
        if left.is_hash() && right.is_hash() && !matches!((left, right), (Value::Nothing, Value::Nothing)) {
            let (Some(first), Some(second)) = (left.members(), right.members()) else {
                return Err(Trouble::wrong("the members of one of these cannot be listed"));
            };
            self.spend((first.len() + second.len()) as u64)?;
            return Ok(Value::Hash(Rc::new(first.iter().chain(second.iter()).cloned().collect())));
        }
        self.joined(left, right)
    }

    fn joined(&mut self, left: &Value<'m>, right: &Value<'m>) -> Result<Value<'m>, Trouble> {
        let format = match (left, right) {
            (Value::Markup(_, format), _) | (_, Value::Markup(_, format)) => Some(*format),
            _ => None,
        };
        let mut text = self.printed(left, format)?.to_string();
        text.push_str(&self.printed(right, format)?);
        self.spend_bytes(text.len())?;
        Ok(match format {
            Some(format) => Value::Markup(text.into(), format),
            None => text.into(),
        })
    }

    /// Something that has a text as that text.
    fn scalar(&self, value: &Value<'m>) -> Result<Value<'m>, Trouble> {
        match value {
            Value::Object(_) | Value::Nothing => Ok(Value::Text(self.text(value)?)),
            other => Ok(other.clone()),
        }
    }

    pub(crate) fn is_equal(&self, left: &Value<'m>, right: &Value<'m>) -> Result<bool, Trouble> {
        let (left, right) = (self.scalar(left)?, self.scalar(right)?);
        Ok(match (&left, &right) {
            (Value::Text(left), Value::Text(right)) => **left == **right,
            (Value::Number(left), Value::Number(right)) => left == right,
            (Value::Boolean(left), Value::Boolean(right)) => left == right,
            (Value::Moment(left), Value::Moment(right)) if left.part == right.part => left.millis == right.millis,
            _ => return Err(incomparable(&left, &right)),
        })
    }

    fn compare(&self, comparison: Comparison, left: &Value<'m>, right: &Value<'m>) -> Result<bool, Trouble> {
        let is = |wanted: &[Ordering], found: Ordering| wanted.contains(&found);
        let wanted: &[Ordering] = match comparison {
            Comparison::Equal => return self.is_equal(left, right),
            Comparison::NotEqual => return self.is_equal(left, right).map(|equal| !equal),
            Comparison::Less => &[Ordering::Less],
            Comparison::LessOrEqual => &[Ordering::Less, Ordering::Equal],
            Comparison::Greater => &[Ordering::Greater],
            Comparison::GreaterOrEqual => &[Ordering::Greater, Ordering::Equal],
        };
        match (left, right) {
            (Value::Number(left), Value::Number(right)) => Ok(is(wanted, left.cmp(right))),
            (Value::Moment(left), Value::Moment(right)) if left.part == right.part => {
                Ok(is(wanted, left.millis.cmp(&right.millis)))
            }
            _ => Err(incomparable(left, right)),
        }
    }

    fn builtin(&mut self, call: &BuiltinCall, expression: &Expression) -> Evaluated<'m> {
        use crate::builtins::Takes;
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
        self.patterns.insert(key, compiled.clone());
        Ok(compiled)
    }
}

fn incomparable(left: &Value<'_>, right: &Value<'_>) -> Trouble {
    Trouble::wrong(format!("{} and {} cannot be compared", left.name(), right.name()))
}

fn letter(text: &str, index: usize) -> Option<char> {
    text.chars().nth(index)
}
