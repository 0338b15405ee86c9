//! Built-ins of texts.

use myelin_java_text::pattern::{self, Replacement, matches};
use myelin_java_text::percent::encoded;

use crate::builtin::{Builtin, Input, Outcome, plain, with};
use crate::decimal::Decimal;
use crate::error::Trouble;
use crate::escape::{Format, script};
use crate::json;
use crate::machine::Run;
use crate::value::{Text, Value};

pub(super) const TEXT: &[Builtin] = &[
    plain("upper_case", |run, input| map(run, input, |text| text.to_uppercase())),
    plain("lower_case", |run, input| map(run, input, |text| text.to_lowercase())),
    plain("cap_first", |run, input| map(run, input, |text| first(text, |letter| letter.to_uppercase().collect()))),
    plain("uncap_first", |run, input| map(run, input, |text| first(text, |letter| letter.to_lowercase().collect()))),
    plain("capitalize", |run, input| map(run, input, capitalized)),
    plain("trim", |run, input| map(run, input, |text| text.trim().to_owned())),
    plain("chop_linebreak", |run, input| {
        map(run, input, |text| {
            let chopped = text.strip_suffix("\r\n").or_else(|| text.strip_suffix(['\n', '\r']));
            chopped.unwrap_or(text).to_owned()
        })
    }),
    plain("length", |run, input| {
        let count = input.text(run)?.encode_utf16().count();
        Ok(Some(Value::Number(count.into())))
    }),
    plain("word_list", |run, input| {
        let words: Vec<_> = input.text(run)?.split_whitespace().map(|word| Some(word.to_owned().into())).collect();
        run.spend(words.len() as u64)?;
        Ok(Some(Value::list(words)))
    }),
    plain("html", |run, input| map(run, input, |text| escaped(text, Format::Html))),
    plain("xhtml", |run, input| map(run, input, |text| escaped(text, Format::Html))),
    plain("xml", |run, input| map(run, input, |text| escaped(text, Format::Xml))),
    plain("js_string", |run, input| map(run, input, |text| script(text, false))),
    plain("json_string", |run, input| map(run, input, |text| script(text, true))),
    plain("j_string", |run, input| map(run, input, java)),
    plain("no_esc", |run, input| Ok(Some(Value::Markup((*input.text(run)?).into(), Format::Xml)))),
    with("url", 0, 1, |run, input| map(run, input, |text| percent(text, ""))),
    with("url_path", 0, 1, |run, input| map(run, input, |text| percent(text, "/"))),
    plain("number", |run, input| {
        if let Value::Number(number) = input.subject {
            return Ok(Some(Value::Number(number)));
        }
        let text = input.text(run)?;
        let number = Decimal::parse(text.trim());
        number
            .map(|number| Some(Value::Number(number)))
            .ok_or_else(|| Trouble::wrong(format!("{:?} is no number", &*text)))
    }),
    plain("boolean", |run, input| match (&input.subject, &*boolean_text(run, input)?) {
        (Value::Boolean(boolean), _) => Ok(Some(Value::Boolean(*boolean))),
        (_, "true") => Ok(Some(Value::Boolean(true))),
        (_, "false") => Ok(Some(Value::Boolean(false))),
        (_, other) => Err(Trouble::wrong(format!("{other:?} is neither true nor false"))),
    }),
    plain("eval", |run, input| {
        let text = input.text(run)?;
        run.evaluate_text(&text, input.call.subject.at)
    }),
    plain("eval_json", |run, input| {
        let text = input.text(run)?;
        run.spend_bytes(text.len())?;
        json::owned(&text).map_err(|message| Trouble::wrong(format!("the text of ?eval_json is no JSON: {message}")))
    }),
    with("contains", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        Ok(Some(Value::Boolean(text.contains(&*part))))
    }),
    with("starts_with", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        Ok(Some(Value::Boolean(text.starts_with(&*part))))
    }),
    with("ends_with", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        Ok(Some(Value::Boolean(text.ends_with(&*part))))
    }),
    with("ensure_starts_with", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        made(run, if text.starts_with(&*part) { text.to_string() } else { format!("{}{}", &*part, &*text) })
    }),
    with("ensure_ends_with", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        made(run, if text.ends_with(&*part) { text.to_string() } else { format!("{}{}", &*text, &*part) })
    }),
    with("remove_beginning", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        made(run, text.strip_prefix(&*part).unwrap_or(&text).to_owned())
    }),
    with("remove_ending", 1, 1, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        made(run, text.strip_suffix(&*part).unwrap_or(&text).to_owned())
    }),
    with("keep_before", 1, 2, |run, input| {
        keep(run, input, |text, part| text.split_once(part).map_or(text, |(before, _)| before))
    }),
    with("keep_after", 1, 2, |run, input| {
        keep(run, input, |text, part| text.split_once(part).map_or("", |(_, after)| after))
    }),
    with("keep_before_last", 1, 2, |run, input| {
        keep(run, input, |text, part| text.rsplit_once(part).map_or(text, |(before, _)| before))
    }),
    with("keep_after_last", 1, 2, |run, input| {
        keep(run, input, |text, part| text.rsplit_once(part).map_or("", |(_, after)| after))
    }),
    with("index_of", 1, 2, |run, input| index_of(run, input, |text, part| text.find(part))),
    with("last_index_of", 1, 2, |run, input| {
        let (text, part) = (input.text(run)?, input.needed(0, run)?);
        let end = match input.integer(1)? {
            Some(from) => (byte_of(&text, from).unwrap_or(text.len()) + part.len()).min(text.len()),
            None => text.len(),
        };
        let found = text.get(..end).unwrap_or(&text).rfind(&*part);
        Ok(Some(Value::Number(found.map_or(Decimal::from(-1_i64), |at| units(&text[..at]).into()))))
    }),
    with("substring", 1, 2, |run, input| {
        let text = input.text(run)?;
        run.spend_bytes(text.len())?;
        let from = input.integer(0)?.unwrap_or(0);
        let length = text.chars().count() as i64;
        let to = input.integer(1)?.unwrap_or(length);
        if from < 0 || to < from || to > length {
            return Err(Trouble::wrong(format!("there is no part from {from} to {to} in a text of {length} letters")));
        }
        made(run, text.chars().skip(from as usize).take((to - from) as usize).collect())
    }),
    with("left_pad", 1, 2, |run, input| pad(run, input, true)),
    with("right_pad", 1, 2, |run, input| pad(run, input, false)),
    with("replace", 2, 3, replace),
    with("split", 1, 2, split),
    with("matches", 1, 2, |run, input| {
        let text = input.text(run)?;
        let flags = input.argument(1, run)?.unwrap_or(Text::Borrowed(""));
        run.spend_bytes(text.len())?;
        let pattern = input.pattern(0, &flags, run)?;
        Ok(Some(Value::Boolean(pattern.is_match(&text))))
    }),
];

/// A text that was made, within the bounds of the run.
fn made<'m>(run: &mut Run<'_, 'm>, text: String) -> Outcome<'m> {
    run.spend_bytes(text.len())?;
    Ok(Some(text.into()))
}

fn map<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>, change: impl FnOnce(&str) -> String) -> Outcome<'m> {
    let text = input.text(run)?;
    made(run, change(&text))
}

fn boolean_text<'m>(run: &Run<'_, 'm>, input: &Input<'_, 'm>) -> Result<Text<'m>, Trouble> {
    if let Value::Boolean(_) = input.subject { Ok(Text::Borrowed("")) } else { input.text(run) }
}

fn first(text: &str, change: impl FnOnce(char) -> String) -> String {
    let at = text.find(|letter: char| !letter.is_whitespace()).unwrap_or(text.len());
    let mut letters = text[at..].chars();
    match letters.next() {
        Some(letter) => format!("{}{}{}", &text[..at], change(letter), letters.as_str()),
        None => text.to_owned(),
    }
}

fn capitalized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins = true;
    for letter in text.chars() {
        match begins {
            true => out.extend(letter.to_uppercase()),
            false => out.extend(letter.to_lowercase()),
        }
        begins = letter.is_whitespace();
    }
    out
}

fn escaped(text: &str, format: Format) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    format.escape(text, &mut out);
    out
}

/// A text as it stands in a string of Java.
fn java(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..' ' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            other => out.push(other),
        }
    }
    out
}

/// A text as a part of a URL, in UTF-8.
fn percent(text: &str, kept: &str) -> String {
    encoded(text, |byte| {
        byte.is_ascii_alphanumeric() || b"_-.!~*'()".contains(&byte) || kept.as_bytes().contains(&byte)
    })
    .into_owned()
}

/// What of a text is kept, by a part of it or a pattern.
fn keep<'m>(
    run: &mut Run<'_, 'm>,
    input: &Input<'_, 'm>,
    plain: impl for<'t> Fn(&'t str, &str) -> &'t str,
) -> Outcome<'m> {
    let (text, part) = (input.text(run)?, input.needed(0, run)?);
    let flags = input.argument(1, run)?.unwrap_or(Text::Borrowed(""));
    if !flags.is_empty() {
        return Err(Trouble::wrong(format!("the flags {:?} are not offered here", &*flags)));
    }
    made(run, plain(&text, &part).to_owned())
}

/// How many letters, as Java counts them.
fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Where the letter of that number begins; `None` behind the end.
fn byte_of(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).unwrap_or(0);
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(index)
}

fn index_of<'m>(
    run: &mut Run<'_, 'm>,
    input: &Input<'_, 'm>,
    find: impl Fn(&str, &str) -> Option<usize>,
) -> Outcome<'m> {
    let (text, part) = (input.text(run)?, input.needed(0, run)?);
    run.spend_bytes(text.len())?;
    let start = input.integer(1)?.map_or(Some(0), |from| byte_of(&text, from));
    let found = start.and_then(|start| find(&text[start..], &part).map(|at| units(&text[..start + at])));
    Ok(Some(Value::Number(found.map_or(Decimal::from(-1_i64), Decimal::from))))
}

fn pad<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>, left: bool) -> Outcome<'m> {
    let text = input.text(run)?;
    let width = usize::try_from(input.integer(0)?.unwrap_or(0)).unwrap_or(0);
    run.spend_bytes(width)?;
    let fill = input.argument(1, run)?.unwrap_or(Text::Borrowed(" "));
    let fill: Vec<char> = fill.chars().collect();
    if fill.is_empty() {
        return Err(Trouble::wrong("nothing is there to fill up with"));
    }
    let there = text.chars().count();
    let missing = width.saturating_sub(there);
    // As in FreeMarker, what fills up is cut as if it began where the whole text does.
    let filling = |from: usize| (from..from + missing).map(|index| fill[index % fill.len()]).collect::<String>();
    made(run, if left { format!("{}{}", filling(0), &*text) } else { format!("{}{}", &*text, filling(there)) })
}

fn replace<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>) -> Outcome<'m> {
    let (text, from, to) = (input.text(run)?, input.needed(0, run)?, input.needed(1, run)?);
    let flags = input.argument(2, run)?.unwrap_or(Text::Borrowed(""));
    let once = flags.contains('f');
    run.spend_bytes(text.len())?;
    if flags.contains(['r', 'i']) {
        let pattern = match flags.contains('r') {
            true => input.pattern(0, &flags, run)?,
            false => run.pattern(&regex::escape(&from), &flags)?,
        };
        let replacement = match flags.contains('r') {
            true => Replacement::java(&to, &pattern).map_err(Trouble::wrong)?,
            false => Replacement::literal(&to),
        };
        let mut out = String::new();
        let mut done = 0;
        for captures in matches(&pattern, &text).take(if once { 1 } else { usize::MAX }) {
            let whole = captures.get_match();
            out.push_str(&text[done..whole.start()]);
            replacement.push(&mut out, |group| captures.get(group).map_or("", |group| group.as_str()));
            done = whole.end();
            // A short text with many matches may become a long one: that is seen on the way.
            run.spend(1)?;
            run.check_bytes(out.len())?;
        }
        out.push_str(&text[done..]);
        return made(run, out);
    }
    let count = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&*from).count() };
    let count = if once { count.min(1) } else { count };
    // How long it becomes is known before it is made.
    run.spend_bytes(text.len().saturating_add(count.saturating_mul(to.len())))?;
    made(run, text.replacen(&*from, &to, count))
}

fn split<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>) -> Outcome<'m> {
    let (text, part) = (input.text(run)?, input.needed(0, run)?);
    let flags = input.argument(1, run)?.unwrap_or(Text::Borrowed(""));
    run.spend_bytes(text.len())?;
    let mut parts: Vec<&str> = if flags.contains(['r', 'i']) {
        let pattern = match flags.contains('r') {
            true => input.pattern(0, &flags, run)?,
            false => run.pattern(&regex::escape(&part), &flags)?,
        };
        pattern::split(&pattern, &text)
    } else if part.is_empty() {
        return Err(Trouble::wrong("nothing is there to split at"));
    } else {
        text.split(&*part).collect()
    };
    run.spend(parts.len() as u64)?;
    Ok(Some(Value::list(parts.drain(..).map(|part| Some(part.to_owned().into())).collect())))
}
