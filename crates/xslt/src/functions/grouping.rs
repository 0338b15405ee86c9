//! What an instruction around the expression works on: groups, and what a regular expression captured.

use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, Error, Value, Version};

use super::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("current-group", 0, 0, |call| outside(call, call.machine.group(), "XTDE1061")),
    Function::own("current-grouping-key", 0, 0, |call| outside(call, call.machine.grouping_key(), "XTDE1071")),
    Function::own("regex-group", 1, 1, regex_group),
    Function::own("current-merge-group", 0, 1, |call| {
        let source = if call.count() == 1 { Some(call.text(0)?) } else { None };
        call.machine.merge_group(source.as_deref())
    }),
    Function::own("current-merge-key", 0, 0, |call| call.machine.merge_key()),
    Function::own("accumulator-before", 1, 1, |call| accumulated(call, false)),
    Function::own("accumulator-after", 1, 1, |call| accumulated(call, true)),
];

/// Outside of a group there is nothing in 2.0, and 3.0 refuses to ask.
fn outside<'a>(call: &Call<'_, 'a>, value: Option<Value<'a>>, code: &'static str) -> Result<Value<'a>, Error> {
    match value {
        Some(value) => Ok(value),
        None if call.version() < Version::V3 => Ok(Value::EMPTY),
        None => Err(Error::value(code, "no group is worked on here, or it has no key")),
    }
}

/// The value of the accumulator with a name, at the context item.
fn accumulated<'a>(call: &Call<'_, 'a>, behind: bool) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = call.scope.expand(&written).ok_or_else(|| {
        Error::value("XTDE3340", format!("{written:?} is no name, or its prefix stands for no namespace"))
    })?;
    call.machine.accumulated(&name, call.item, behind)
}

fn regex_group<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let captured = match call.typed(0, T::Integer)? {
        Some(Atomic::Integer(group, _)) => usize::try_from(group).ok().and_then(|group| call.machine.captured(group)),
        _ => None,
    };
    call.built(captured.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, fails};

    #[test]
    fn nothing_is_grouped_outside_of_groups() {
        check("regex-group(1)", "first");
        check("regex-group(2)", "");
        check("regex-group(-1)", "");
        fails("current-group()", "XTDE1061");
    }
}
