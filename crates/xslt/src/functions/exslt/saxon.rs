//! What stylesheets know from Saxon 6 and libxslt: expressions in texts, and lines of the source.

use myelin_xpath::{Error, Value};

use super::SAXON;
use crate::functions::function::Body;
use crate::functions::{Call, Function};

const fn function(name: &'static str, least: u8, run: Body) -> Function {
    Function { namespace: SAXON, name, least, most: 1, run }
}

pub(in crate::functions) const FUNCTIONS: &[Function] = &[
    // An expression is kept as its text, once it is known to be one.
    function("expression", 1, |call| {
        call.expression(0)?;
        Ok(Value::from(call.any_text(0)))
    }),
    function("eval", 1, evaluate),
    function("evaluate", 1, evaluate),
    function("line-number", 0, line_number),
];

fn evaluate<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let expression = call.expression(0)?;
    call.machine.run(expression, call.item.cloned(), 1, 1)
}

/// The line that a node begins in; -1 for nodes that stand in no source.
fn line_number<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let node = match call.count() {
        0 => Some(call.context_node()?),
        _ => call.nodes(0)?.first().copied(),
    };
    let element = node.and_then(|node| node.node.tree().or_else(|| node.parent()?.node.tree()));
    let line = node.zip(element).and_then(|(node, element)| node.document.location(element));
    Ok(Value::from(line.map_or(-1.0, |(line, _)| line as f64)))
}
