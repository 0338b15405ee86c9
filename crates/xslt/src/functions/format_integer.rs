//! `format-integer()` (Functions and Operators §4.6).

use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, Error, Value};

use super::{Call, Function};
use crate::numbering::{Language, Style};

pub(super) const FUNCTIONS: &[Function] = &[Function::own("format-integer", 2, 3, format_integer)];

fn format_integer<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let picture = call.text(1)?;
    let refused =
        |what: String| Error::value("FODF1310", format!("the picture {picture:?} of format-integer(): {what}"));
    let number = match call.typed(0, T::Integer)? {
        Some(Atomic::Integer(number, _)) => number.to_string(),
        Some(Atomic::Large(number, _)) => number.to_string(),
        _ => return Ok(Value::from("")),
    };
    let (primary, modifier) = picture.rsplit_once(';').unwrap_or((&picture, ""));
    if primary.is_empty() {
        return Err(refused("it has nothing that says how".to_owned()));
    }
    let (ordinal, traditional) =
        modifiers(modifier).ok_or_else(|| refused(format!("{modifier:?} is none of `c`, `o`, `a`, `t`")))?;
    let style = Style::parse(primary, traditional).map_err(refused)?.unwrap_or_else(Style::plain);
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number.as_str()),
    };
    let language = if call.count() == 3 { call.optional_text(2)? } else { None };
    let language = Language::find(language.as_deref().unwrap_or("").trim()).unwrap_or_default();
    // What is too large for words and letters is written in digits.
    let written = match (digits.parse(), style) {
        (Ok(number), style) => style.write_in(language, number, ordinal),
        (Err(_), Style::Digits(pattern)) => pattern.write(digits),
        (Err(_), _) => digits.to_owned(),
    };
    call.built(format!("{sign}{written}"))
}

/// The ending of an ordinal where `o` asks for one, and what `a` and `t` say about letters; `c(…)` and `o(…)` name forms of languages
/// other than English. `None`: something else.
fn modifiers(text: &str) -> Option<(Option<&str>, Option<bool>)> {
    let mut rest = text;
    let mut ordinal = None;
    if let Some(behind) = rest.strip_prefix(['c', 'o']) {
        ordinal = rest.starts_with('o').then_some("");
        rest = behind;
        if let Some(inside) = rest.strip_prefix('(') {
            let (form, behind) = inside.rsplit_once(')')?;
            rest = if form.is_empty() { return None } else { behind };
            ordinal = ordinal.map(|_| form);
        }
    }
    match rest {
        "" => Some((ordinal, None)),
        "a" => Some((ordinal, Some(false))),
        "t" => Some((ordinal, Some(true))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, fails};

    #[test]
    fn integers_take_the_form_of_their_picture() {
        check("format-integer(123, '0000')", "0123");
        check("format-integer(123, 'w')", "one hundred and twenty-three");
        check("format-integer(21, '1;o')", "21st");
        check("format-integer(21, '1;o(-e)')", "21st");
        check("format-integer(14, 'Ww;o')", "Fourteenth");
        check("format-integer(7, 'a')", "g");
        check("format-integer(57, 'I')", "LVII");
        check("format-integer(1234, '#;##0;')", "1;234");
        check("format-integer(-1500000, '#,##0')", "-1,500,000");
        check("format-integer((), '1')", "");
        check("format-integer(10, 'i;a')", "r");
        check("format-integer(1, 'Ww;o(-er)', 'de')", "Erster");
        check("format-integer(2, 'Ww;o', 'fr')", "Deuxième");
        check("format-integer(3, '1;o', 'de')", "3.");
        check("format-integer(2025, '一')", "二千二十五");
    }

    #[test]
    fn pictures_that_say_nothing_are_refused() {
        for picture in ["", ";o", "1;x", "0,,0", "1;o()"] {
            fails(&format!("format-integer(1, '{picture}')"), "FODF1310");
        }
    }
}
