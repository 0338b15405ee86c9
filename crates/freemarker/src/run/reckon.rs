//! Operators: sums, comparisons, ranges, and what stands at an index.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::error::{Error, Trouble};
use crate::machine::Run;
use crate::syntax::{Comparison, Expression, RangeKind, Sign};
use crate::value::{Range, Value, expected};

impl<'m> Run<'_, 'm> {
    pub(super) fn indexed(&mut self, base: &Value<'m>, index: &Value<'m>) -> Result<Option<Value<'m>>, Trouble> {
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

    pub(super) fn range(
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

    pub(super) fn compare(&self, comparison: Comparison, left: &Value<'m>, right: &Value<'m>) -> Result<bool, Trouble> {
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
}

fn incomparable(left: &Value<'_>, right: &Value<'_>) -> Trouble {
    Trouble::wrong(format!("{} and {} cannot be compared", left.name(), right.name()))
}

fn letter(text: &str, index: usize) -> Option<char> {
    text.chars().nth(index)
}
