//! What a running expression asks of the exchange.

use myelin_xpath::{Atomic, Error, Host, Item, NodeRef, Value};

use super::places::Place;
use super::source::{Read, Source};
use super::xpath::Slots;
use crate::exchange::{Exchange, Scene};
use crate::function::Argument;

/// The exchange as an expression sees it.
pub(crate) struct MessageHost<'a> {
    pub(crate) slots: &'a Slots,
    pub(crate) exchange: &'a Exchange,
    pub(crate) scene: &'a Scene<'a>,
}

impl<'a> Host<'a> for MessageHost<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        if let Some(place) = Place::of_slot(slot) {
            // Whoever streams has made a path of it; whoever evaluates has a tree.
            let tree = self.exchange.tree().map_err(|fault| Error::Host(fault.to_string()))?;
            return Ok(place.find(tree).map_or(Value::EMPTY, |node| Value::node(tree.document(), node)));
        }
        let source = self.slots.sources.get(slot as usize - Place::ALL.len());
        if let Some(Source::Parameter(slot)) = source
            && let Some(Argument::Later(expression)) = self.exchange.argument(*slot)
        {
            return expression.value(self.exchange, self.scene).map_err(|fault| Error::Host(fault.to_string()));
        }
        Ok(source.map_or(Value::EMPTY, |source| value(source.read(self.exchange, self.scene))))
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        let function = self.slots.functions.get(slot as usize);
        function.map_or(Ok(Value::EMPTY), |function| function.call(arguments, self.exchange, self.scene))
    }
}

/// What was read, as a value of XPath: what is not set is an empty node-set.
pub(super) fn value(read: Read<'_>) -> Value<'_> {
    let atomic = match read {
        Read::Nothing => return Value::EMPTY,
        Read::Xml(fragment) => return Value::node(&fragment.document, fragment.node),
        Read::List(list) => {
            let nodes = list.iter().map(|fragment| Item::Node(NodeRef::new(&fragment.document, fragment.node)));
            return Value::from_items(nodes.collect());
        }
        Read::Text(std::borrow::Cow::Borrowed(text)) => Atomic::from(text),
        Read::Text(std::borrow::Cow::Owned(text)) => Atomic::from(text),
        Read::Boolean(boolean) => Atomic::Boolean(boolean),
    };
    Value::Item(Item::Atomic(atomic))
}
