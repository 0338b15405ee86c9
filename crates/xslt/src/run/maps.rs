//! `xsl:map` and `xsl:map-entry` (XSLT 3.0 §21.3).

use myelin_xpath::{FunctionItem, Item, Map, Value};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{Binding, Block, Expr};

impl<'a> Machine<'a> {
    /// The maps that a block makes, as one.
    pub(super) fn map(&'a self, block: &'a Block, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let mut receiver = Receiver::items(self);
        self.run_inside(block, focus, &mut receiver)?;
        let mut joined = Map::EMPTY;
        for item in receiver.into_items().into_items() {
            let Item::Function(FunctionItem::Map(map)) = item else {
                return Err(Failure::new(
                    "XTTE3375",
                    "what stands in xsl:map has to make maps, and makes something else",
                ));
            };
            for (key, value) in map.entries() {
                if joined.get(key).is_some() {
                    let key = key.text(myelin_xpath::Version::V3);
                    return Err(Failure::new("XTDE3365", format!("the key {key:?} is there twice")));
                }
                joined = joined.with(key.clone(), value.clone())?;
            }
        }
        Ok(Value::from(joined))
    }

    /// A map with one entry.
    pub(super) fn map_entry(&'a self, key: &'a Expr, value: &'a Binding, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let keys = self.evaluate(key, focus)?.atomized()?;
        let mut items = keys.into_items();
        let (Some(Item::Atomic(key)), None) = (items.next(), items.next()) else {
            return Err(Failure::new("XPTY0004", "the key of a map has to be one atomic value"));
        };
        let value = self.bind(value, focus)?;
        Ok(Value::from(Map::EMPTY.with(key, value)?))
    }
}
