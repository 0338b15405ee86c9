//! Functions on texts (XPath 1.0 §4.2, Functions and Operators §5).

use std::borrow::Cow;

use super::call::{CODEPOINTS, wrong_type};
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::cast::collapse;
use crate::value::number::{is_space, round};
use crate::value::{Atomic, Item, Value};

use Returns::{Any, Boolean, Number, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("concat", 2, 255, Text, concat),
    Function::new("string", 0, 1, Text, string).or_context(),
    Function::new("contains", 2, 3, Boolean, |call| pair(call, |text, part| text.contains(part))),
    Function::new("starts-with", 2, 3, Boolean, |call| pair(call, |text, part| text.starts_with(part))),
    Function::new("ends-with", 2, 3, Boolean, |call| pair(call, |text, part| text.ends_with(part))),
    Function::new("contains-token", 2, 3, Boolean, contains_token),
    Function::new("substring-before", 2, 3, Text, |call| slice(call, |text, part| 0..text.find(part).unwrap_or(0))),
    Function::new("substring-after", 2, 3, Text, |call| {
        slice(call, |text, part| text.find(part).map_or(text.len(), |at| at + part.len())..text.len())
    }),
    Function::new("substring", 2, 3, Text, substring),
    Function::new("string-length", 0, 1, Number, string_length).or_context(),
    Function::new("normalize-space", 0, 1, Text, normalize_space).or_context(),
    Function::new("normalize-unicode", 1, 2, Text, normalize_unicode),
    Function::new("translate", 3, 3, Text, translate),
    Function::new("upper-case", 1, 1, Text, |call| call.built(call.text(0)?.to_uppercase())),
    Function::new("lower-case", 1, 1, Text, |call| call.built(call.text(0)?.to_lowercase())),
    Function::new("string-join", 1, 2, Text, string_join),
    Function::new("codepoints-to-string", 1, 1, Text, codepoints_to_string),
    Function::new("string-to-codepoints", 1, 1, Any, string_to_codepoints),
    Function::new("compare", 2, 3, Number, compare),
    Function::new("codepoint-equal", 2, 2, Any, codepoint_equal),
    Function::new("default-collation", 0, 0, Text, |_| Ok(Value::from(CODEPOINTS))),
];

fn concat<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut text = call.any_text(0)?.into_owned();
    for index in 1..call.count() {
        let part = call.any_text(index)?;
        call.run.build(part.len())?;
        text.push_str(&part);
    }
    Ok(Value::from(text))
}

fn string<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    match call.item(0)? {
        None => Ok(Value::from("")),
        Some(Item::Function(_)) => Err(Error::value("FOTY0014", "a map, an array or another function has no text")),
        Some(item) => call.built(call.run.item_text(item)?),
    }
}

fn pair<'a>(call: &Call<'_, 'a>, holds: fn(&str, &str) -> bool) -> Result<Value<'a>, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    Ok(Value::from(holds(&collation.key(&text), &collation.key(&part))))
}

fn contains_token<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (token, collation) = (call.text(1)?, call.collation(2)?);
    let token = collation.key(token.trim_matches(is_space));
    let mut found = false;
    call.each_atomic(0, |atomic| {
        let text = atomic.text(call.run.version);
        found |= collation.key(&text).split(is_space).any(|word| !word.is_empty() && word == token);
        Ok(())
    })?;
    Ok(Value::from(found))
}

/// A part of the first argument, found by the second; borrowed as the text was.
fn slice<'a>(call: &Call<'_, 'a>, range: fn(&str, &str) -> std::ops::Range<usize>) -> Result<Value<'a>, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    let range = range(&collation.key(&text), &collation.key(&part));
    call.built(part_of(text, range))
}

fn part_of(text: Cow<'_, str>, range: std::ops::Range<usize>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    }
}

/// Characters from a position counted from 1; position and length are rounded, NaN and infinities included.
fn substring<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let first = round(call.required_double(1)?);
    let behind = if call.count() == 3 { first + round(call.required_double(2)?) } else { f64::INFINITY };
    let wanted = |index: usize| (index + 1) as f64 >= first && ((index + 1) as f64) < behind;
    let mut range = None;
    for (index, (at, letter)) in text.char_indices().enumerate() {
        if wanted(index) {
            let start = range.as_ref().map_or(at, |range: &std::ops::Range<usize>| range.start);
            range = Some(start..at + letter.len_utf8());
        } else if range.is_some() {
            break;
        }
    }
    call.built(part_of(text, range.unwrap_or(0..0)))
}

fn string_length<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    Ok(call.whole(call.text(0)?.chars().count() as u64))
}

fn normalize_space<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let normal = match call.text(0)? {
        Cow::Borrowed(text) => collapse(text),
        Cow::Owned(text) => Cow::Owned(collapse(&text).into_owned()),
    };
    call.built(normal)
}

/// Only texts that all forms leave alone: the tables for the others are larger than all the rest of this library.
fn normalize_unicode<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let form = if call.count() == 2 { call.required_text(1)?.trim().to_uppercase() } else { "NFC".to_owned() };
    match form.as_str() {
        "" => call.built(text),
        "NFC" | "NFD" | "NFKC" | "NFKD" if text.is_ascii() => call.built(text),
        // Up to here a composed text has no other form.
        "NFC" if text.chars().all(|letter| letter < '\u{300}') => call.built(text),
        "NFC" | "NFD" | "NFKC" | "NFKD" => {
            Err(Error::value("FOCH0003", format!("normalize-unicode(): {form} is offered for plain texts only")))
        }
        _ => Err(Error::value("FOCH0003", format!("normalize-unicode(): there is no form {form:?}"))),
    }
}

fn translate<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let (from, to) = (call.required_text(1)?, call.required_text(2)?);
    let mut to = to.chars();
    let mut table: Vec<(char, Option<char>)> = Vec::new();
    for letter in from.chars() {
        let becomes = to.next();
        table.push((letter, becomes));
    }
    // Sorted, so that a long text and a long table do not multiply; of one letter the first entry counts.
    table.sort_by_key(|(letter, _)| *letter);
    table.dedup_by_key(|(letter, _)| *letter);
    let replaced = text.chars().filter_map(|letter| match table.binary_search_by_key(&letter, |(known, _)| *known) {
        Ok(index) => table[index].1,
        Err(_) => Some(letter),
    });
    call.built(replaced.collect::<String>())
}

fn string_join<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let separator = if call.count() == 2 { call.required_text(1)? } else { Cow::Borrowed("") };
    let mut joined: Option<String> = None;
    call.each_atomic(0, |atomic| {
        let part = atomic.into_text(call.run.version);
        call.run.build(part.len() + separator.len())?;
        match &mut joined {
            None => joined = Some(part.into_owned()),
            Some(joined) => {
                joined.push_str(&separator);
                joined.push_str(&part);
            }
        }
        Ok(())
    })?;
    Ok(Value::from(joined.unwrap_or_default()))
}

fn codepoints_to_string<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut text = String::new();
    call.each_atomic(0, |atomic| {
        let number = crate::value::whole(&atomic, call.run.version)?;
        let letter = u32::try_from(number).ok().and_then(char::from_u32).filter(|letter| is_xml(*letter));
        let Some(letter) = letter else {
            return Err(Error::value("FOCH0001", format!("{number} is no character of XML")));
        };
        call.run.build(letter.len_utf8())?;
        text.push(letter);
        Ok(())
    })?;
    Ok(Value::from(text))
}

/// Char of XML 1.0 §2.2.
pub(super) fn is_xml(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

fn string_to_codepoints<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    call.run.build(text.len() * size_of::<Item<'_>>())?;
    let v1 = call.is_v1();
    let codepoint = |letter: char| match v1 {
        true => Atomic::from(f64::from(u32::from(letter))),
        false => Atomic::from(i64::from(u32::from(letter))),
    };
    Ok(Value::from_items(text.chars().map(|letter| Item::Atomic(codepoint(letter))).collect()))
}

fn compare<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let collation = call.collation(2)?;
    let (Some(left), Some(right)) = (call.optional_text(0)?, call.optional_text(1)?) else { return Ok(Value::EMPTY) };
    let order = collation.key(&left).cmp(&collation.key(&right)) as i64;
    Ok(if call.is_v1() { Value::from(order as f64) } else { Value::from(order) })
}

fn codepoint_equal<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (Some(left), Some(right)) = (call.atomic(0)?, call.atomic(1)?) else { return Ok(Value::EMPTY) };
    match (&left, &right) {
        (Atomic::Text(left, _), Atomic::Text(right, _)) => Ok(Value::from(left == right)),
        (Atomic::Text(..), other) | (other, _) => Err(wrong_type("a text", other)),
    }
}
