//! How JSON is read: the options, the tokens, and what strings mean.

use std::borrow::Cow;

use myelin_json::text::escape_at;
use myelin_json::{Event, Reader, Step};
use myelin_xpath::{Array, Atomic, Error, Expression, FunctionItem, Item, Map, Value};

use crate::functions::Call;
use crate::functions::documents::is_foreign;

/// The namespace of JSON as XML.
pub(super) const NAMESPACE: &str = "http://www.w3.org/2005/xpath-functions";

/// What happens to a key that an object has twice.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Duplicates {
    Reject,
    First,
    Retain,
}

/// What the second argument asks for.
pub(super) struct Options<'a> {
    pub(super) duplicates: Duplicates,
    /// Whether what XML cannot hold, and the backslash, stay as JSON escapes them.
    pub(super) escape: bool,
    /// What says what stands for that which XML cannot hold, and the expression that calls it.
    fallback: Option<(FunctionItem<'a>, &'a Expression)>,
}

impl<'a> Options<'a> {
    pub(super) fn of(call: &Call<'_, 'a>) -> Result<Options<'a>, Error> {
        let mut options = Options { duplicates: Duplicates::Retain, escape: false, fallback: None };
        if call.count() < 2 {
            return Ok(options);
        }
        let Some(Item::Function(FunctionItem::Map(given))) = call.value(1).get(0) else {
            return Err(Error::value("XPTY0004", "options are a map"));
        };
        let refused =
            |option: &str| Error::value("FOJS0005", format!("the option {option} has a value that says nothing"));
        if let Some(escape) = option(&given, "escape") {
            let Some(Item::Atomic(Atomic::Boolean(escape))) = escape else { return Err(refused("escape")) };
            options.escape = escape;
        }
        if let Some(duplicates) = option(&given, "duplicates") {
            let text = duplicates.map(|item| item.into_text(call.version()));
            options.duplicates = match text.as_deref() {
                Some("reject") => Duplicates::Reject,
                Some("use-first") => Duplicates::First,
                Some("retain") => Duplicates::Retain,
                _ => return Err(refused("duplicates")),
            };
        }
        for name in ["liberal", "validate"] {
            match option(&given, name) {
                None | Some(Some(Item::Atomic(Atomic::Boolean(false)))) => {}
                Some(Some(Item::Atomic(Atomic::Boolean(true)))) if name == "liberal" => {}
                Some(Some(Item::Atomic(Atomic::Boolean(true)))) => {
                    return Err(Error::value("FOJS0004", "json-to-xml(): there are no schemas to validate with"));
                }
                Some(_) => return Err(refused(name)),
            }
        }
        if let Some(fallback) = option(&given, "fallback") {
            let Some(Item::Function(function)) = fallback else { return Err(refused("fallback")) };
            if options.escape {
                return Err(Error::value("FOJS0005", "the options escape and fallback exclude each other"));
            }
            options.fallback = Some((function, call.machine.expression("?1(?2)", call.scope, &[])?));
        }
        Ok(options)
    }

    /// What stands for an escape of what XML cannot hold.
    fn replacement(&self, call: &Call<'_, 'a>, escape: String) -> Result<Cow<'a, str>, Error> {
        let Some((function, calling)) = &self.fallback else { return Ok(Cow::Borrowed("\u{fffd}")) };
        let arguments = Array::new([Value::from(Item::Function(function.clone())), Value::from(escape)])?;
        let given = call.machine.run(calling, Some(Item::Function(FunctionItem::Array(arguments))), 1, 1)?;
        match given.get(0) {
            Some(Item::Atomic(Atomic::Text(text, _))) if given.len() == 1 => Ok(text),
            _ => Err(Error::value("XPTY0004", "the fallback of json-to-xml() gives no text")),
        }
    }
}

/// The only item of an option, if it is given.
fn option<'a>(options: &Map<'a>, name: &str) -> Option<Option<Item<'a>>> {
    let value = options.get(&Atomic::from(name))?;
    Some(value.get(0).filter(|_| value.len() == 1))
}

/// Tells the tokens of a text one by one.
pub(super) fn events<'t>(
    call: &Call<'_, '_>,
    text: &'t str,
    mut sink: impl FnMut(Event<'t>) -> Result<(), Error>,
) -> Result<(), Error> {
    /// What the nodes of a text take, for each of its bytes, at most about.
    const BYTES: usize = 24;
    call.machine.build(text.len() * BYTES)?;
    let mut reader = Reader::new(myelin_json::Options::default());
    loop {
        match reader.next(text.as_bytes(), true) {
            Ok(Step::Event(event)) => sink(event)?,
            Ok(Step::End | Step::More) => return Ok(()),
            Err(error) => return Err(Error::value("FOJS0001", format!("the text is no JSON: {error}"))),
        }
    }
}

/// What a string or key of a text means.
pub(super) fn meaning<'t, 'a>(
    call: &Call<'_, 'a>,
    text: &'t str,
    event: &Event<'t>,
    options: &Options<'a>,
) -> Result<Cow<'t, str>, Error> {
    if !event.escaped && !event.text().contains(is_foreign) {
        return Ok(event.text());
    }
    let range = event.range();
    let mut rest = &text[range.start + 1..range.end - 1];
    let mut written = String::with_capacity(rest.len());
    loop {
        let plain = if event.escaped { rest.find('\\').unwrap_or(rest.len()) } else { rest.len() };
        let (piece, behind) = rest.split_at(plain);
        written.extend(piece.chars().map(|letter| if is_foreign(letter) { '\u{fffd}' } else { letter }));
        if behind.is_empty() {
            return Ok(written.into());
        }
        let (letter, length) = escape_at(behind.as_bytes());
        let (source, behind) = behind.split_at(length);
        // As it stays: the digits are in upper case.
        let kept = || match (letter, source.strip_prefix("\\u")) {
            (_, Some(digits)) => format!("\\u{}", digits.to_uppercase()),
            (Some(letter), None) if !options.escape => format!("\\u{:04X}", u32::from(letter)),
            _ => source.to_owned(),
        };
        match letter.filter(|letter| !is_foreign(*letter)) {
            Some(letter) if options.escape && (letter == '\\' || letter.is_control()) => escape(letter, &mut written),
            Some(letter) => written.push(letter),
            None if options.escape => written.push_str(&kept()),
            None => written.push_str(&options.replacement(call, kept())?),
        }
        rest = behind;
    }
}

/// A character as JSON escapes it.
pub(in crate::functions) fn escape(letter: char, out: &mut String) {
    let short = match letter {
        '"' | '\\' | '/' => letter,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        other => return out.push_str(&format!("\\u{:04X}", u32::from(other))),
    };
    out.extend(['\\', short]);
}
