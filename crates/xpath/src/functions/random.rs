//! `random-number-generator()` (Functions and Operators §4.8).

use crate::ast::Callee;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::function::Body;
use crate::value::{Atomic, FunctionItem, Item, Map, Value};

use Returns::Any;

pub(super) const FUNCTIONS: &[Function] = &[Function::new("random-number-generator", 0, 1, Any, |call| {
    let seed = if call.count() == 0 { None } else { call.atomic(0)? };
    let state = match seed {
        // The same whenever it is asked for in one evaluation, as the standard wants it.
        None => call.run.context.now.map_or(0, |now| now.timeline() as u64 ^ 0x5DEE_CE66),
        Some(seed) => hashed(seed.text(call.run.version).as_bytes()),
    };
    generator(call, state)
})];

/// What the entries of a generator call; no expression can name them.
static NEXT: Function = Function::new("random-next", 1, 1, Any, |call| generator(call, state(call)?));
static PERMUTE: Function = Function::new("random-permute", 2, 2, Any, permute);

/// FNV-1a.
fn hashed(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// One step of SplitMix64: the next state, and a number made of it.
fn step(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut number = state;
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, number ^ (number >> 31))
}

fn state(call: &Call<'_, '_>) -> Result<u64, Error> {
    call.integer(0).map(|state| state as u64)
}

/// `map{'number': …, 'next': function() {…}, 'permute': function($items) {…}}`
fn generator<'a>(call: &Call<'_, 'a>, before: u64) -> Result<Value<'a>, Error> {
    let (state, number) = step(before);
    let number = (number >> 11) as f64 / (1_u64 << 53) as f64;
    let known = |state: u64| Some(Value::from(Atomic::from(state as i64)));
    let partial = |function: &'static Function, arguments: Vec<Option<Value<'a>>>| {
        let open = arguments.iter().filter(|argument| argument.is_none()).count();
        let callee = Callee::Library(function);
        let function = call.run.named(callee, arguments.len(), call.focus)?;
        FunctionItem::closure(Body::Partial { function, arguments }, open)
            .map(|function| Value::Item(Item::Function(function)))
    };
    let entries = [
        ("number", Value::from(number)),
        ("next", partial(&NEXT, vec![known(state)])?),
        ("permute", partial(&PERMUTE, vec![known(before), None])?),
    ];
    let mut map = Map::EMPTY;
    for (name, value) in entries {
        map = call.run.put(&map, Atomic::from(name), value)?;
    }
    Ok(Value::Item(Item::Function(FunctionItem::Map(map))))
}

/// The items in another order, in which each order is as likely as any other (Fisher and Yates).
fn permute<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut state = state(call)?;
    let mut items: Vec<Item<'a>> = Vec::new();
    call.gather(&mut items, call.value(1)?)?;
    for last in (1..items.len()).rev() {
        let (next, number) = step(state);
        state = next;
        items.swap(last, (number % (last as u64 + 1)) as usize);
    }
    Ok(Value::from_items(items))
}
