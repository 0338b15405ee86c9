//! EXSLT's dynamic expressions: compiled while a stylesheet runs, seeing the namespaces, functions and
//! variables of their place, within the limits that hold for all.

use std::borrow::Cow;
use std::collections::HashSet;

use myelin_xpath::{Atomic, Error, Expression, Item, Value};

use super::sets::identity;
use super::strings::elements;
use super::{COMMON, DYNAMIC};
use crate::functions::function::Body;
use crate::functions::{Call, Function};

const fn function(name: &'static str, count: u8, run: Body) -> Function {
    Function { namespace: DYNAMIC, name, least: count, most: count, run }
}

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    function("evaluate", 1, evaluate),
    function("min", 2, |call| Ok(Value::from(extreme(call, f64::lt)?))),
    function("max", 2, |call| Ok(Value::from(extreme(call, f64::gt)?))),
    function("sum", 2, |call| Ok(Value::from(numbers(call)?.into_iter().sum::<f64>()))),
    function("map", 2, map),
    function("closure", 2, closure),
];

/// The expression in an argument; `None` for what is none, for which EXSLT wants an empty node-set.
fn expression<'a>(call: &Call<'_, 'a>, index: usize) -> Result<Option<&'a Expression>, Error> {
    match call.expression(index) {
        Ok(expression) => Ok(Some(expression)),
        Err(Error::Value { code, .. }) if code.starts_with("XPST") => Ok(None),
        Err(other) => Err(other),
    }
}

fn evaluate<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    match expression(call, 0)? {
        Some(expression) => call.machine.run(expression, call.item.cloned(), 1, 1),
        None => Ok(Value::EMPTY),
    }
}

/// What the expression gives for each node of the first argument.
fn each<'a>(call: &Call<'_, 'a>) -> Result<Vec<Value<'a>>, Error> {
    let Some(expression) = expression(call, 1)? else { return Ok(Vec::new()) };
    let nodes = call.nodes(0)?;
    let size = nodes.len() as u64;
    let run = |(position, node)| call.machine.run(expression, Some(Item::Node(node)), position, size);
    (1..).zip(nodes).map(run).collect()
}

fn numbers(call: &Call<'_, '_>) -> Result<Vec<f64>, Error> {
    Ok(each(call)?.iter().map(Value::number).collect())
}

/// NaN where there is nothing, or something that is no number.
fn extreme(call: &Call<'_, '_>, before: fn(&f64, &f64) -> bool) -> Result<f64, Error> {
    let numbers = numbers(call)?;
    if numbers.iter().any(|number| number.is_nan()) {
        return Ok(f64::NAN);
    }
    Ok(numbers
        .into_iter()
        .reduce(|best, number| if before(&number, &best) { number } else { best })
        .unwrap_or(f64::NAN))
}

/// Nodes joined to one set; anything else becomes an element of EXSLT's that is named for its type.
fn map<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut found = Vec::new();
    let mut made: Vec<(&str, Cow<'_, str>)> = Vec::new();
    for value in each(call)? {
        if value.is_nodes() {
            found.extend(value.into_items());
            continue;
        }
        made.extend(value.into_items().map(|item| match item {
            Item::Atomic(Atomic::Boolean(holds)) => ("boolean", if holds { "true" } else { "" }.into()),
            Item::Atomic(atomic) if atomic.is_numeric() => ("number", atomic.into_text(call.version())),
            other => ("string", other.into_text(call.version())),
        }));
    }
    // Nodes of several documents come in any order: what is made of one kind, as nearly always all is, shares one.
    for kind in made.chunk_by(|(one, _), (other, _)| one == other) {
        let nodes = elements(call, ("exsl", kind[0].0, COMMON), kind.iter().map(|(_, text)| &**text))?;
        found.extend(nodes.into_items());
    }
    Value::from_items(found).in_document_order()
}

/// The nodes that the expression leads to from the first argument, from those again, and so on.
fn closure<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(expression) = expression(call, 1)? else { return Ok(Value::EMPTY) };
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut level = call.nodes(0)?;
    while !level.is_empty() {
        let size = level.len() as u64;
        let mut next = Vec::new();
        for (position, node) in (1..).zip(level) {
            let reached = call.machine.run(expression, Some(Item::Node(node)), position, size)?;
            let Some(reached) = reached.as_nodes() else { return Ok(Value::EMPTY) };
            next.extend(reached.into_iter().filter(|node| seen.insert(identity(node))));
        }
        found.extend(next.iter().copied().map(Item::Node));
        level = next;
    }
    Value::from_items(found).in_document_order()
}

#[cfg(test)]
mod tests {
    use crate::functions::testing::{check_in, fails};

    #[test]
    fn expressions_in_texts_are_evaluated() {
        let xml = "<x><e>1 + 1</e><e>count(//e)</e></x>";
        check_in(xml, "dyn:evaluate(/x/e[1])", "2");
        check_in(xml, "dyn:evaluate('math:max(//n) + count(//e)')", "NaN");
        check_in(xml, "count(dyn:evaluate('//e['))", "0");
        check_in(xml, "dyn:sum(//e, 'string-length(.)')", "15");
        check_in(xml, "dyn:max(//e, 'position()')", "2");
        check_in(xml, "dyn:min(//none, '1')", "NaN");
        check_in(xml, "string-join(dyn:map(//e, 'string-length(.)'), '|')", "5|10");
        check_in(xml, "name(dyn:map(//e, 'true()')[2])", "exsl:boolean");
        check_in("<a><b><c/></b></a>", "count(dyn:closure(/a, '*'))", "2");
        check_in("<a>3</a>", "saxon:eval(saxon:expression('a * 2'))", "6");
        check_in("<a>\n<b/></a>", "saxon:line-number(//b)", "2");
    }

    #[test]
    fn functions_that_are_not_there_are_refused() {
        fails("saxon:evaluate('nothing()')", "XPST0017");
        fails("saxon:evaluate('$x')", "XPST0008");
    }
}
