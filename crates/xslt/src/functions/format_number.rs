//! `format-number()`: by the pictures of later versions, or by the patterns of JDK 1.1 that 1.0 refers to.

mod digits;
mod jdk;
mod picture;

use myelin_xpath::{Atomic, Error, Value, Version};

use super::{Call, Function};
use crate::numbering::{DigitPattern, in_script};
use crate::program::DecimalFormat;
use digits::Digits;

pub(super) const FUNCTIONS: &[Function] = &[Function::own("format-number", 2, 3, format_number)];

/// One side of a picture: how a number is written that is not negative, or one that is.
#[derive(Clone, Debug, PartialEq)]
struct SubPicture {
    prefix: String,
    suffix: String,
    /// How many places the point is moved: 2 for percent, 3 for per mille.
    shift: usize,
    whole: DigitPattern,
    least_fraction: usize,
    most_fraction: usize,
    /// Separators stand behind so many digits of the fraction.
    fraction_groups: Vec<usize>,
    /// The fewest digits of an exponent, where there is one, and how many digits the number has before its point then.
    exponent: Option<(usize, usize)>,
    /// Whether the point is written where no fraction follows it.
    bare_point: bool,
    /// Whether halves are rounded to the even neighbour.
    to_even: bool,
}

fn format_number<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let picture = call.text(1)?;
    let format = decimal_format(call)?;
    let Some(digits) = number(call)? else { return call.built(format.nan.clone()) };
    let refused = |what: String| {
        let code = if call.version() == Version::V3 { "FODF1310" } else { "XTDE1310" };
        Error::value(code, format!("the picture {picture:?} of format-number(): {what}"))
    };
    let parsed = match call.is_v1() {
        true => jdk::parse(&picture, format),
        false => picture::parse(&picture, format),
    };
    let (positive, negative) = parsed.map_err(refused)?;
    let side = if digits.negative { &negative } else { &positive };
    call.built(side.write(digits, format))
}

fn decimal_format<'a>(call: &Call<'_, 'a>) -> Result<&'a DecimalFormat, Error> {
    let formats = &call.machine.program().decimal_formats;
    let written = if call.count() == 3 { call.optional_text(2)? } else { None };
    let found = match &written {
        None => formats.first(),
        Some(written) => {
            let name = call.scope.expand(written);
            formats.iter().find(|(known, _)| Some(known) == name.as_ref())
        }
    };
    found.map(|(_, format)| format).ok_or_else(|| {
        let code = if call.version() == Version::V3 { "FODF1280" } else { "XTDE1280" };
        let written = written.unwrap_or_default();
        Error::value(code, format!("format-number(): there is no xsl:decimal-format with the name {written:?}"))
    })
}

/// The number to be written; `None` for what is none.
fn number(call: &Call<'_, '_>) -> Result<Option<Digits>, Error> {
    if call.is_v1() {
        return Ok(Digits::of_double(call.any_number(0)));
    }
    Ok(match call.atomic(0)? {
        None => None,
        Some(Atomic::Integer(number, _)) => Some(Digits::of_text(&number.to_string())),
        Some(Atomic::Decimal(number)) => Some(Digits::of_text(&number.to_string())),
        Some(Atomic::Float(number)) if number.is_finite() => Some(Digits::of_text(&number.to_string())),
        Some(other) if other.is_numeric() => Digits::of_double(other.number()),
        Some(Atomic::Text(text, _)) => Digits::of_double(Atomic::from(text).number()),
        Some(other) => return Err(super::call::wrong_type("a number", &other)),
    })
}

impl SubPicture {
    fn write(&self, mut digits: Digits, format: &DecimalFormat) -> String {
        let mut text = self.prefix.clone();
        if digits.infinite {
            text.push_str(&format.infinity);
        } else {
            digits.shift(self.shift as i32);
            let exponent = self.exponent.map(|(least, whole)| (least, digits.normalize(whole)));
            digits.round(self.most_fraction, self.to_even);
            self.write_digits(&digits, format, &mut text);
            if let Some((least, exponent)) = exponent {
                text.push(format.exponent_separator);
                if exponent < 0 {
                    text.push(format.minus_sign);
                }
                let size = exponent.unsigned_abs().to_string();
                let padding = std::iter::repeat_n(b'0', least.saturating_sub(size.len()));
                text.extend(padding.chain(size.bytes()).map(|digit| in_script(format.zero_digit, digit)));
            }
        }
        text.push_str(&self.suffix);
        text
    }

    fn write_digits(&self, digits: &Digits, format: &DecimalFormat, text: &mut String) {
        let whole = digits.whole.trim_start_matches('0');
        let fraction = digits.fraction.trim_end_matches('0');
        let length = fraction.len().max(self.least_fraction);
        if whole.is_empty() && length == 0 && self.whole.least() == 0 {
            // Something has to stand there.
            text.push(format.zero_digit);
        } else {
            text.push_str(&self.whole.write(whole));
        }
        if length > 0 || self.bare_point {
            text.push(format.decimal_separator);
        }
        let padding = std::iter::repeat_n(b'0', length - fraction.len());
        let mut groups = self.fraction_groups.iter().peekable();
        for (index, digit) in fraction.bytes().chain(padding).enumerate() {
            if groups.next_if(|group| **group == index).is_some() {
                text.push(format.grouping_separator);
            }
            text.push(in_script(format.zero_digit, digit));
        }
    }
}

#[cfg(test)]
mod tests;
