//! Functions with regular expressions (Functions and Operators §5.6).

use std::borrow::Cow;

use myelin_java_text::pattern::Replacement;
use myelin_java_text::pattern::xpath::Matches;

use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::cast::collapse;
use crate::value::{Item, Value};

use Returns::Any;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::condition("matches", 2, 3, matches),
    Function::text("replace", 3, 4, replace),
    Function::new("tokenize", 1, 3, Any, tokenize),
];

/// Where the functions take a pattern and its flags: the arguments' indices.
pub(crate) fn pattern_arguments(function: &Function) -> Option<(usize, usize)> {
    match function.name {
        "matches" | "tokenize" => Some((1, 2)),
        "replace" => Some((1, 3)),
        _ => None,
    }
}

fn matches(call: &Call<'_, '_>) -> Result<bool, Error> {
    let text = call.text(0)?;
    call.pattern(1, 2)?.0.is_match(&text, &mut |steps| call.run.step(steps))
}

fn replace<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    let text = call.text(0)?;
    let pattern = call.pattern(1, 3)?;
    let replacement = call.required_text(2)?;
    pattern.refuse_empty()?;
    let replacement = match pattern.0.is_literal() {
        true => Replacement::literal(&replacement),
        false => Replacement::xpath(&replacement, pattern.0.groups()).ok_or_else(|| {
            let message =
                format!("the replacement {replacement:?}: `$` stands before a digit, `\\` before `$` or `\\`");
            Error::value("FORX0004", message)
        })?,
    };
    let mut pay = |steps| call.run.step(steps);
    let mut matches = Matches::new(&pattern.0, &text);
    let Some(mut found) = matches.next(&mut pay)? else {
        drop(matches);
        return call.built(text);
    };
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        let (begin, end) = found;
        let before = result.len();
        result.push_str(&text[done..begin]);
        replacement.push(&mut result, |group| matches.group(group));
        call.run.build(result.len() - before)?;
        done = end;
        match matches.next(&mut pay)? {
            Some(next) => found = next,
            None => break,
        }
    }
    call.run.build(text.len() - done)?;
    result.push_str(&text[done..]);
    Ok(result.into())
}

fn tokenize<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let mut tokens = Vec::new();
    let mut push = |token: &str| {
        call.run.build(token.len() + size_of::<Item<'_>>())?;
        tokens.push(Item::Atomic(token.to_owned().into()));
        Ok::<_, Error>(())
    };
    if call.count() == 1 {
        // The words between white space, which never are empty (§5.6.5).
        collapse(&text).split(' ').filter(|word| !word.is_empty()).try_for_each(push)?;
        return Ok(Value::from_items(tokens));
    }
    let pattern = call.pattern(1, 2)?;
    pattern.refuse_empty()?;
    if !text.is_empty() {
        let (mut matches, mut done) = (Matches::new(&pattern.0, &text), 0);
        while let Some((begin, end)) = matches.next(&mut |steps| call.run.step(steps))? {
            push(&text[done..begin])?;
            done = end;
        }
        push(&text[done..])?;
    }
    Ok(Value::from_items(tokens))
}
