//! What an expression runs with: the context item, the host, and limits.

use crate::error::Error;
use crate::value::{Item, Moment, NodeRef, Value};

/// What a running expression asks its host for.
pub trait Host {
    /// The value of the variable with that slot (see [`Environment::variable`](crate::Environment::variable)).
    ///
    /// Errors: the host's own, such as [`Error::Host`]; they end the evaluation.
    fn variable(&self, slot: u32) -> Result<Value<'_>, Error>;

    /// Calls the function with that slot (see [`Declared::Function`](crate::Declared::Function)).
    ///
    /// Errors: the host's own, such as [`Error::Host`]; they end the evaluation.
    fn call(&self, slot: u32, arguments: &[Value<'_>]) -> Result<Value<'_>, Error>;
}

/// A host without variables and functions.
pub struct NoHost;

impl Host for NoHost {
    fn variable(&self, _: u32) -> Result<Value<'_>, Error> {
        Ok(Value::EMPTY)
    }

    fn call(&self, _: u32, _: &[Value<'_>]) -> Result<Value<'_>, Error> {
        Ok(Value::EMPTY)
    }
}

/// How much an evaluation may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes and items looked at, however often.
    pub steps: u64,
    /// Bytes of text and of lists that are built.
    pub bytes: u64,
}

impl Default for Limits {
    /// Ten million steps, which is half a second or less, and 64 MiB.
    fn default() -> Limits {
        Limits { steps: 10_000_000, bytes: 64 * 1024 * 1024 }
    }
}

/// What an expression runs with.
#[derive(Clone)]
pub struct Context<'a> {
    /// `.`; `None`: there is none, and asking for it is an error.
    pub item: Option<Item<'a>>,
    /// `position()`; counts from 1.
    pub position: u64,
    /// `last()`
    pub size: u64,
    /// Where variables and functions come from that are not of this library.
    pub host: &'a (dyn Host + 'a),
    /// How much it may do.
    pub limits: Limits,
    /// `current-dateTime()`, with the zone that is taken where a date has none; `None`: asking is an error.
    pub now: Option<Moment>,
}

impl<'a> Context<'a> {
    /// A context without an item, with the usual limits.
    pub fn new(host: &'a (dyn Host + 'a)) -> Context<'a> {
        Context { item: None, position: 1, size: 1, host, limits: Limits::default(), now: None }
    }

    /// The same with this node as the only context item.
    #[must_use]
    pub fn at(self, node: NodeRef<'a>) -> Context<'a> {
        Context { item: Some(Item::Node(node)), position: 1, size: 1, ..self }
    }
}
