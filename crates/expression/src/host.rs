//! What a running expression asks of the exchange.

use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_xpath::{Error, Host, Item, Value};

use crate::bindings::Bindings;
use crate::deferred::expression_of;
use crate::places::MessagePart;
use crate::source::Source;

/// The exchange as an expression sees it.
pub struct MessageHost<'a> {
    /// What the expression's variables and functions mean.
    pub bindings: &'a Bindings,
    /// The exchange that it asks.
    pub exchange: &'a Exchange,
    /// What surrounds the exchange.
    pub context: &'a RequestContext<'a>,
}

impl<'a> Host<'a> for MessageHost<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        if let Some(place) = MessagePart::of_slot(slot) {
            // Whoever streams has made a path of it; whoever evaluates has a tree.
            let tree = self.exchange.tree().map_err(|fault| Error::Host(fault.to_string()))?;
            return Ok(place.find(tree).map_or(Value::EMPTY, |node| Value::node(tree.document(), node)));
        }
        let source = self.bindings.sources.get(slot as usize - MessagePart::ALL.len());
        if let Some(Source::Parameter(slot)) = source
            && let Some(expression) = expression_of(self.exchange.argument(*slot))
        {
            return expression.value(self.exchange, self.context).map_err(|fault| Error::Host(fault.to_string()));
        }
        Ok(source.map_or(Value::EMPTY, |source| source.read(self.exchange, self.context).into()))
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        let function = self.bindings.functions.get(slot as usize);
        function.map_or(Ok(Value::EMPTY), |function| function.call(arguments, self.exchange, self.context))
    }
}
