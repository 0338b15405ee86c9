//! How JSON is read: the options, the tokens, and what strings mean.

use std::borrow::Cow;

use myelin_json::{Event, Reader, Step};
use myelin_xpath::{Atomic, Error, FunctionItem, Item, Map};

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
pub(super) struct Options {
    pub(super) duplicates: Duplicates,
    /// Whether what XML cannot hold, and the backslash, stay as JSON escapes them.
    pub(super) escape: bool,
}

impl Options {
    pub(super) fn of(call: &Call<'_, '_>) -> Result<Options, Error> {
        let mut options = Options { duplicates: Duplicates::Retain, escape: false };
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
        Ok(options)
    }
}

/// The only item of an option, if it is given.
fn option<'a>(options: &Map<'a>, name: &str) -> Option<Option<Item<'a>>> {
    let value = options.get(&Atomic::from(name))?;
    Some(value.get(0).filter(|_| value.len() == 1))
}

/// Tells the tokens of a text one by one.
pub(super) fn events(
    call: &Call<'_, '_>,
    text: &str,
    mut sink: impl FnMut(Event<'_>) -> Result<(), Error>,
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

/// What a string or key means.
pub(super) fn meaning<'t>(event: &Event<'t>, options: &Options) -> Cow<'t, str> {
    let text = event.text();
    let special = |letter: char| is_foreign(letter) || (options.escape && (letter == '\\' || letter.is_control()));
    if !text.contains(special) {
        return text;
    }
    let mut written = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            letter if !special(letter) => written.push(letter),
            letter if options.escape => escape(letter, &mut written),
            _ => written.push('\u{fffd}'),
        }
    }
    written.into()
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
