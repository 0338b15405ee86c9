//! Functions on texts (XPath 1.0 §4.2, Functions and Operators §5).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::call::{CODEPOINTS, wrong_type};
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::cast::collapse;
use crate::value::number::{is_space, round};
use crate::value::{Atomic, Item, Value};

use Returns::{Any, Number};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::text("concat", 2, 255, concat),
    Function::text("string", 0, 1, string).or_context(),
    Function::condition("contains", 2, 3, |call| pair(call, |text, part| text.contains(part))),
    Function::condition("starts-with", 2, 3, |call| pair(call, |text, part| text.starts_with(part))),
    Function::condition("ends-with", 2, 3, |call| pair(call, |text, part| text.ends_with(part))),
    Function::condition("contains-token", 2, 3, contains_token),
    Function::text("substring-before", 2, 3, |call| slice(call, |text, part| 0..text.find(part).unwrap_or(0))),
    Function::text("substring-after", 2, 3, |call| {
        slice(call, |text, part| text.find(part).map_or(text.len(), |at| at + part.len())..text.len())
    }),
    Function::text("substring", 2, 3, substring),
    Function::count("string-length", 0, 1, string_length).or_context(),
    Function::text("normalize-space", 0, 1, normalize_space).or_context(),
    Function::text("normalize-unicode", 1, 2, normalize_unicode),
    Function::text("translate", 3, 3, translate),
    Function::text("upper-case", 1, 1, |call| call.built(call.text(0)?.to_uppercase())),
    Function::text("lower-case", 1, 1, |call| call.built(call.text(0)?.to_lowercase())),
    Function::text("string-join", 1, 2, string_join),
    Function::text("codepoints-to-string", 1, 1, codepoints_to_string),
    Function::new("string-to-codepoints", 1, 1, Any, string_to_codepoints),
    Function::new("compare", 2, 3, Number, compare),
    Function::new("codepoint-equal", 2, 2, Any, codepoint_equal),
    Function::text("default-collation", 0, 0, |_| Ok(Cow::Borrowed(CODEPOINTS))),
];

/// Borrowed where all but one of them are empty.
fn concat<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    let mut text = call.any_text(0)?;
    for index in 1..call.count() {
        let part = call.any_text(index)?;
        if text.is_empty() {
            text = part;
        } else if !part.is_empty() {
            let copied = if let Cow::Borrowed(text) = text { text.len() } else { 0 };
            call.run.build(copied + part.len())?;
            text.to_mut().push_str(&part);
        }
    }
    Ok(text)
}

fn string<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    match call.item(0)? {
        None => Ok(Cow::Borrowed("")),
        Some(Item::Function(_)) => Err(Error::value("FOTY0014", "a map, an array or another function has no text")),
        Some(item) => call.built(call.run.item_text(item)?),
    }
}

fn pair(call: &Call<'_, '_>, holds: fn(&str, &str) -> bool) -> Result<bool, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    Ok(holds(&collation.key(&text), &collation.key(&part)))
}

fn contains_token(call: &Call<'_, '_>) -> Result<bool, Error> {
    let (token, collation) = (call.text(1)?, call.collation(2)?);
    let token = collation.key(token.trim_matches(is_space));
    let mut found = false;
    call.each_atomic(0, |atomic| {
        let text = atomic.text(call.run.version);
        found |= collation.key(&text).split(is_space).any(|word| !word.is_empty() && word == token);
        Ok(())
    })?;
    Ok(found)
}

/// A part of the first argument, found by the second; borrowed as the text was.
fn slice<'a>(call: &Call<'_, 'a>, range: fn(&str, &str) -> Range<usize>) -> Result<Cow<'a, str>, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    let range = range(&collation.key(&text), &collation.key(&part));
    call.built(part_of(text, range))
}

#[inline]
fn part_of(text: Cow<'_, str>, range: Range<usize>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
        Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
    }
}

/// Characters from a position counted from 1; position and length are rounded, NaN and infinities included.
fn substring<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    let text = call.text(0)?;
    let first = round(call.required_double(1)?);
    let behind = if call.count() == 3 { first + round(call.required_double(2)?) } else { f64::INFINITY };
    match text {
        Cow::Borrowed(text) => Ok(Cow::Borrowed(between(text, first, behind))),
        Cow::Owned(text) => call.built(between(&text, first, behind).to_owned()),
    }
}

/// The characters from one position up to another, which are whole numbers, infinite or NaN.
fn between(text: &str, first: f64, behind: f64) -> &str {
    if first.partial_cmp(&behind) != Some(Ordering::Less) {
        return "";
    }
    // What is too small or too large for an index becomes the least or the greatest one.
    let index = |position: f64| (position as i64).saturating_sub(1).max(0) as usize;
    let (skipped, end) = (index(first), index(behind));
    let rest = &text[bytes_of(text, skipped)..];
    &rest[..bytes_of(rest, end - skipped)]
}

/// How many bytes the first so many characters take, or all there are.
#[inline]
fn bytes_of(text: &str, characters: usize) -> usize {
    match text.as_bytes().get(..characters) {
        // There are as many characters as bytes at most.
        None => text.len(),
        Some(begin) if begin.is_ascii() => characters,
        Some(_) => text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at),
    }
}

fn string_length(call: &Call<'_, '_>) -> Result<u64, Error> {
    Ok(call.text(0)?.chars().count() as u64)
}

fn normalize_space<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    let normal = match call.text(0)? {
        Cow::Borrowed(text) => collapse(text),
        Cow::Owned(text) => Cow::Owned(collapse(&text).into_owned()),
    };
    call.built(normal)
}

/// Only texts that all forms leave alone: the tables for the others are larger than all the rest of this library.
fn normalize_unicode<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
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

fn translate<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
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

fn string_join<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
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
    Ok(joined.unwrap_or_default().into())
}

fn codepoints_to_string<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
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
    Ok(text.into())
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
