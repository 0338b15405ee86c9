//! Built-ins of sequences and hashes.

use std::cmp::Ordering;

use crate::builtin::{Builtin, Input, Outcome, Takes, lambda, plain, tolerant, with};
use crate::decimal::Decimal;
use crate::error::Trouble;
use crate::machine::Run;
use crate::value::{Value, expected};

pub(super) const SEQUENCE: &[Builtin] = &[
    plain("size", |_, input| {
        let size = input.subject.length().or_else(|| input.subject.members().map(|members| members.len()));
        let size = size.ok_or_else(|| expected("a sequence or a hash with an end", &input.subject))?;
        Ok(Some(Value::Number(size.into())))
    }),
    plain("first", |_, input| match &input.subject {
        Value::Range(_) => Ok(input.subject.item(0)),
        subject if subject.length().is_some() => Ok(subject.item(0)),
        other => Err(expected("a sequence", other)),
    }),
    plain("last", |_, input| match input.subject.length() {
        Some(length) => Ok(length.checked_sub(1).and_then(|last| input.subject.item(last))),
        None => Err(expected("a sequence with an end", &input.subject)),
    }),
    plain("reverse", |run, input| {
        let mut items = input.items(run)?;
        items.reverse();
        Ok(Some(Value::list(items)))
    }),
    plain("sequence", |run, input| Ok(Some(Value::list(input.items(run)?)))),
    plain("keys", |run, input| {
        let members = input.subject.members().ok_or_else(|| expected("a hash", &input.subject))?;
        run.spend(members.len() as u64)?;
        Ok(Some(Value::list(members.iter().map(|(name, _)| Some(Value::Text(name.clone()))).collect())))
    }),
    plain("values", |run, input| {
        let members = input.subject.members().ok_or_else(|| expected("a hash", &input.subject))?;
        run.spend(members.len() as u64)?;
        Ok(Some(Value::list(members.iter().map(|(_, value)| value.clone()).collect())))
    }),
    with("join", 1, 3, |run, input| {
        let separator = input.needed(0, run)?;
        let items = input.items(run)?;
        let mut out = String::new();
        let mut is_first = true;
        // As in FreeMarker, nulls are left out.
        for item in items.iter().flatten() {
            if !is_first {
                out.push_str(&separator);
            }
            is_first = false;
            out.push_str(&run.text(item)?);
            run.check_bytes(out.len())?;
        }
        match (is_first, input.argument(1, run)?, input.argument(2, run)?) {
            (true, Some(empty), _) => out.push_str(&empty),
            (false, _, Some(end)) => out.push_str(&end),
            _ => {}
        }
        run.spend_bytes(out.len())?;
        Ok(Some(out.into()))
    }),
    plain("sort", |run, input| {
        let items = input.items(run)?;
        let keys = items.iter().cloned().map(|item| key(run, item)).collect::<Result<Vec<_>, _>>()?;
        sorted(run, items, keys)
    }),
    with("sort_by", 1, 1, |run, input| {
        let items = input.items(run)?;
        let path = match &input.arguments[0] {
            names @ Value::List(_) => {
                let names = (0..names.length().unwrap_or(0)).filter_map(|index| names.item(index));
                names.map(|name| run.text(&name)).collect::<Result<Vec<_>, _>>()?
            }
            name => vec![run.text(name)?],
        };
        let mut keys = Vec::with_capacity(items.len());
        for item in &items {
            let mut value = item.clone();
            for name in &path {
                value = value.map(|value| value.member(name)).transpose()?.flatten();
            }
            keys.push(key(run, value)?);
        }
        sorted(run, items, keys)
    }),
    with("seq_contains", 1, 1, |run, input| {
        let found = positions(run, input)?.next().is_some();
        Ok(Some(Value::Boolean(found)))
    }),
    with("seq_index_of", 1, 2, |run, input| {
        let from = usize::try_from(input.integer(1)?.unwrap_or(0)).unwrap_or(0);
        let found = positions(run, input)?.find(|&at| at >= from);
        Ok(Some(Value::Number(found.map_or(Decimal::from(-1_i64), Decimal::from))))
    }),
    with("seq_last_index_of", 1, 2, |run, input| {
        let from = usize::try_from(input.integer(1)?.unwrap_or(i64::MAX)).unwrap_or(0);
        let found = positions(run, input)?.filter(|&at| at <= from).last();
        Ok(Some(Value::Number(found.map_or(Decimal::from(-1_i64), Decimal::from))))
    }),
    with("chunk", 1, 2, |run, input| {
        let items = input.items(run)?;
        let size = input.integer(0)?.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
        let size = size.ok_or_else(|| Trouble::wrong("a chunk has one value at least"))?;
        let fill = input.arguments.get(1);
        if fill.is_some() {
            run.spend((size.saturating_sub(items.len() % size)) as u64)?;
        }
        let chunks = items.chunks(size).map(|chunk| {
            let filling = fill.into_iter().flat_map(|fill| std::iter::repeat_n(Some(fill.clone()), size - chunk.len()));
            Some(Value::list(chunk.iter().cloned().chain(filling).collect()))
        });
        Ok(Some(Value::list(chunks.collect())))
    }),
    plain("min", |run, input| extreme(run, input, Ordering::Less)),
    plain("max", |run, input| extreme(run, input, Ordering::Greater)),
    lambda("map", |run, input| {
        let mut mapped = Vec::new();
        for item in input.items(run)? {
            mapped.push(Some(run.apply(input, item)?));
        }
        Ok(Some(Value::list(mapped)))
    }),
    lambda("filter", |run, input| {
        let mut kept = Vec::new();
        for item in input.items(run)? {
            if holds(run, input, item.clone())? {
                kept.push(item);
            }
        }
        Ok(Some(Value::list(kept)))
    }),
    lambda("take_while", |run, input| {
        let mut kept = Vec::new();
        for item in input.items(run)? {
            if !holds(run, input, item.clone())? {
                break;
            }
            kept.push(item);
        }
        Ok(Some(Value::list(kept)))
    }),
    lambda("drop_while", |run, input| {
        let mut kept = Vec::new();
        for item in input.items(run)? {
            if !kept.is_empty() || !holds(run, input, item.clone())? {
                kept.push(item);
            }
        }
        Ok(Some(Value::list(kept)))
    }),
    tolerant("has_content", 0, |run, input| {
        let has = !input.subject_is_missing
            && match &input.subject {
                subject if subject.length().is_some() => subject.length() != Some(0),
                Value::Text(_) | Value::Markup(..) => !input.text(run)?.is_empty(),
                subject if subject.is_hash() => subject.members().is_none_or(|members| !members.is_empty()),
                _ => true,
            };
        Ok(Some(Value::Boolean(has)))
    }),
    tolerant("exists", 0, |_, input| Ok(Some(Value::Boolean(!input.subject_is_missing)))),
    tolerant("if_exists", 0, |_, input| Ok(Some(input.subject.clone()))),
    Builtin {
        name: "default",
        arguments: (1, 9),
        takes: Takes::Missing,
        run: |_, input| match input.subject_is_missing {
            true => Ok(input.arguments.first().cloned()),
            false => Ok(Some(input.subject.clone())),
        },
    },
];

fn holds<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>, item: Option<Value<'m>>) -> Result<bool, Trouble> {
    match run.apply(input, item)? {
        Value::Boolean(boolean) => Ok(boolean),
        other => Err(expected("a boolean", &other)),
    }
}

/// Where the values are that equal the argument; what cannot be compared with it does not.
fn positions<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>) -> Result<impl Iterator<Item = usize>, Trouble> {
    let wanted = &input.arguments[0];
    let items = input.items(run)?;
    let is_it =
        |item: &Option<Value<'m>>| item.as_ref().is_some_and(|item| run.is_equal(item, wanted).unwrap_or(false));
    let found: Vec<usize> = (0..items.len()).filter(|&at| is_it(&items[at])).collect();
    Ok(found.into_iter())
}

/// What values are sorted by.
#[derive(PartialEq)]
enum Key {
    Number(Decimal),
    Boolean(bool),
    Moment(i64),
    /// Letters regardless of case first; of the same letters, the small one comes first.
    Text(String, String),
}

fn key<'m>(run: &Run<'_, 'm>, value: Option<Value<'m>>) -> Result<Key, Trouble> {
    let value = value.ok_or_else(|| Trouble::missing("something to sort by is not there, or is null"))?;
    Ok(match value {
        Value::Number(number) => Key::Number(number),
        Value::Boolean(boolean) => Key::Boolean(boolean),
        Value::Moment(moment) => Key::Moment(moment.millis),
        other => {
            let text = run.text(&other)?;
            let swap = |letter: char| match letter.is_lowercase() {
                true => letter.to_uppercase().next().unwrap_or(letter),
                false => letter.to_lowercase().next().unwrap_or(letter),
            };
            Key::Text(text.to_lowercase(), text.chars().map(swap).collect())
        }
    })
}

fn order(left: &Key, right: &Key) -> Option<Ordering> {
    match (left, right) {
        (Key::Number(left), Key::Number(right)) => Some(left.cmp(right)),
        (Key::Boolean(left), Key::Boolean(right)) => Some(left.cmp(right)),
        (Key::Moment(left), Key::Moment(right)) => Some(left.cmp(right)),
        (Key::Text(left, exact_left), Key::Text(right, exact_right)) => {
            Some(left.cmp(right).then_with(|| exact_left.cmp(exact_right)))
        }
        _ => None,
    }
}

fn sorted<'m>(run: &mut Run<'_, 'm>, items: Vec<Option<Value<'m>>>, keys: Vec<Key>) -> Outcome<'m> {
    if keys.iter().any(|key| order(&keys[0], key).is_none()) {
        return Err(Trouble::wrong("what is sorted is not all of one kind"));
    }
    run.spend(items.len() as u64 * 4)?;
    let mut pairs: Vec<_> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(left, _), (right, _)| order(left, right).unwrap_or(Ordering::Equal));
    Ok(Some(Value::list(pairs.into_iter().map(|(_, item)| item).collect())))
}

/// The first value that none exceeds; nulls do not count.
fn extreme<'m>(run: &mut Run<'_, 'm>, input: &Input<'_, 'm>, wanted: Ordering) -> Outcome<'m> {
    let mut best: Option<(Key, Value<'m>)> = None;
    for item in input.items(run)?.into_iter().flatten() {
        let new = key(run, Some(item.clone()))?;
        if let Key::Text(..) | Key::Boolean(_) = new {
            return Err(expected("a number or a date", &item));
        }
        let is_better = match &best {
            Some((old, _)) => {
                order(&new, old).ok_or_else(|| Trouble::wrong("not all of these are of one kind"))? == wanted
            }
            None => true,
        };
        if is_better {
            best = Some((new, item));
        }
    }
    Ok(best.map(|(_, item)| item))
}
