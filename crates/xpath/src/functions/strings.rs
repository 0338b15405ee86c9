//! Functions on texts (XPath 1.0 §4.2, Functions and Operators §5).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use super::call::wrong_type;
use crate::collation::{CODEPOINT, Collation};
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::types::AtomicType;
use crate::value::cast::collapse;
use crate::value::number::{is_space, round};
use crate::value::{Atomic, Item, Value};

use Returns::{Any, Number};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::text("concat", 2, 255, concat),
    Function::text("string", 0, 1, string).or_context(),
    Function::condition("contains", 2, 3, |call| {
        pair(call, |it, text, part, step| it.find(text, part, step).map(|found| found.is_some()))
    }),
    Function::condition("starts-with", 2, 3, |call| pair(call, Collation::starts)),
    Function::condition("ends-with", 2, 3, |call| pair(call, Collation::ends)),
    Function::condition("contains-token", 2, 3, contains_token),
    Function::text("substring-before", 2, 3, |call| slice(call, |_, found| 0..found.map_or(0, |found| found.start))),
    Function::text("substring-after", 2, 3, |call| {
        slice(call, |text, found| found.map_or(text.len(), |found| found.end)..text.len())
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
    Function::new("collation-key", 1, 2, Any, |call| {
        let (text, collation) = (call.required_text(0)?, call.collation(1)?);
        let key = collation.key(&text);
        call.run.build(key.len())?;
        Ok(Value::from(Atomic::Binary(key.into(), AtomicType::Base64Binary)))
    }),
    Function::new("codepoint-equal", 2, 2, Any, codepoint_equal),
    Function::new("default-language", 0, 0, Any, |_| {
        Ok(Value::from(Atomic::Text(Cow::Borrowed("en"), AtomicType::Language)))
    }),
    Function::text("default-collation", 0, 0, |_| Ok(Cow::Borrowed(CODEPOINT))),
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

/// A question about a text and a part of it; the last argument counts what is looked at.
type Asked = fn(&Collation, &str, &str, &mut dyn FnMut() -> Result<(), Error>) -> Result<bool, Error>;

fn pair(call: &Call<'_, '_>, holds: Asked) -> Result<bool, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    holds(&collation, &text, &part, &mut || call.run.step(1))
}

fn contains_token(call: &Call<'_, '_>) -> Result<bool, Error> {
    let (token, collation) = (call.required_text(1)?, call.collation(2)?);
    let token = token.trim_matches(is_space);
    let mut found = false;
    call.each_atomic(0, |atomic| {
        let text = atomic.text(call.run.version);
        let is_token = |word: &str| !word.is_empty() && collation.compare(word, token).is_eq();
        found |= text.split(is_space).any(is_token);
        Ok(())
    })?;
    Ok(found && !token.is_empty())
}

/// A part of the first argument, by where the second stands in it; borrowed as the text was.
fn slice<'a>(
    call: &Call<'_, 'a>,
    range: fn(&str, Option<Range<usize>>) -> Range<usize>,
) -> Result<Cow<'a, str>, Error> {
    let (text, part, collation) = (call.text(0)?, call.text(1)?, call.collation(2)?);
    // By a collation an empty part may be equal to what has no weight; it stands at the beginning all the same.
    let found = if part.is_empty() { Some(0..0) } else { collation.find(&text, &part, &mut || call.run.step(1))? };
    let range = range(&text, found);
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

/// The forms of Unicode; a text that is in the form already is borrowed as it was (§5.4.6).
fn normalize_unicode<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    let text = call.text(0)?;
    let form = if call.count() == 2 { call.required_text(1)?.trim().to_uppercase() } else { "NFC".to_owned() };
    let normal = match form.as_str() {
        "" => None,
        "NFC" => Some(ComposingNormalizerBorrowed::new_nfc().normalize(&text).into_owned()),
        "NFKC" => Some(ComposingNormalizerBorrowed::new_nfkc().normalize(&text).into_owned()),
        "NFD" => Some(DecomposingNormalizerBorrowed::new_nfd().normalize(&text).into_owned()),
        "NFKD" => Some(DecomposingNormalizerBorrowed::new_nfkd().normalize(&text).into_owned()),
        _ => return Err(Error::value("FOCH0003", format!("normalize-unicode(): there is no form {form:?}"))),
    };
    match normal {
        Some(normal) if normal != text => call.built(normal),
        _ => call.built(text),
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
    let order = collation.compare(&left, &right) as i64;
    Ok(if call.is_v1() { Value::from(order as f64) } else { Value::from(order) })
}

fn codepoint_equal<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let (Some(left), Some(right)) = (call.atomic(0)?, call.atomic(1)?) else { return Ok(Value::EMPTY) };
    match (&left, &right) {
        (Atomic::Text(left, _), Atomic::Text(right, _)) => Ok(Value::from(left == right)),
        (Atomic::Text(..), other) | (other, _) => Err(wrong_type("a text", other)),
    }
}
