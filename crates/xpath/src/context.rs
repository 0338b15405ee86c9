//! What an expression runs with: the context item, the host, and limits.

use std::cell::Cell;

use myelin_xml::Document;

use crate::error::Error;
use crate::names::NameTable;
use crate::value::{Item, Moment, NodeRef, Value};

/// What a running expression asks its host for; `'a`: as long as the evaluation and its values.
pub trait Host<'a> {
    /// The value of the variable with that slot (see [`Environment::variable`](crate::Environment::variable)).
    ///
    /// Errors: the host's own, such as [`Error::Host`]; they end the evaluation.
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error>;

    /// The text that a variable holds, if it holds one and nothing else: who asks for a text needs no copy of the value.
    fn variable_text(&'a self, _: u32) -> Option<&'a str> {
        None
    }

    /// The base URI of a node; `None`: the host knows nothing of where documents come from.
    fn base_uri(&'a self, _: NodeRef<'a>) -> Option<Option<String>> {
        None
    }

    /// The URI that a document was read from.
    fn document_uri(&'a self, _: &'a Document) -> Option<String> {
        None
    }

    /// Is told the value that an error carries which `error()` is about to raise.
    fn raises(&'a self, _: Value<'a>) {}

    /// Calls a function that is a value: one that was named, and not called where it was; `item` is the context item where
    /// it was named.
    ///
    /// Errors: as [`call`](Host::call).
    fn call_value(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.call(slot, arguments, item)
    }

    /// Calls the function with that slot (see [`Declared::Function`](crate::Declared::Function)); `item` is the context
    /// item where it is called.
    ///
    /// Errors: the host's own, such as [`Error::Host`]; they end the evaluation.
    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error>;

    /// The slot of a function of the host by its name, for `function-lookup()`; `None`: there is none with so many
    /// arguments.
    fn find_function(&'a self, _namespace: &str, _local: &str, _arity: usize) -> Option<u32> {
        None
    }

    /// What functions of another host run with whose values came here (see [`Value::of_host`]); `None`: there is no host
    /// of that number.
    fn other(&'a self, _host: u32) -> Option<SharedContext<'a>> {
        None
    }

    /// The namespace and the local name of a function of the host; `None`: it has no name.
    fn function_name(&'a self, _slot: u32) -> Option<(String, String)> {
        None
    }
}

/// A host without variables and functions.
pub struct NoHost;

impl<'a> Host<'a> for NoHost {
    fn variable(&'a self, _: u32) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
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

/// What evaluations have used, for a host that bounds several of them as one.
#[derive(Debug, Default)]
pub struct Meter {
    steps: Cell<u64>,
    bytes: Cell<u64>,
}

impl Meter {
    /// What is left of `limits` after all evaluations so far.
    #[inline]
    pub fn rest_of(&self, limits: Limits) -> Limits {
        Limits {
            steps: limits.steps.saturating_sub(self.steps.get()),
            bytes: limits.bytes.saturating_sub(self.bytes.get()),
        }
    }

    /// Counts nodes and items that are looked at.
    #[inline]
    pub(crate) fn step(&self, count: u64, limits: Limits) -> Result<(), Error> {
        let steps = self.steps.get().saturating_add(count);
        if steps > limits.steps {
            return Err(Error::Steps(limits.steps));
        }
        self.steps.set(steps);
        Ok(())
    }

    /// Counts bytes that are built.
    #[inline]
    pub(crate) fn build(&self, bytes: u64, limits: Limits) -> Result<(), Error> {
        let bytes = self.bytes.get().saturating_add(bytes);
        if bytes > limits.bytes {
            return Err(Error::Bytes(limits.bytes));
        }
        self.bytes.set(bytes);
        Ok(())
    }

    /// Adds what somebody used.
    #[inline]
    pub fn add(&self, steps: u64, bytes: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.bytes.set(self.bytes.get().saturating_add(bytes));
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
    pub host: &'a (dyn Host<'a> + 'a),
    /// How much it may do, together with what the meter has counted before.
    pub limits: Limits,
    /// `current-dateTime()`, with the zone that is taken where a date has none; `None`: asking is an error.
    pub now: Option<Moment>,
    /// What [`Declared::Current`](crate::Declared::Current) gives; `None`: the same as `item`.
    pub current: Option<Item<'a>>,
    /// Where is counted what the evaluation uses; `None`: nobody else uses any of it.
    pub meter: Option<&'a Meter>,
    /// The numbers of names that the environment numbered (see [`Environment::name`](crate::Environment::name)).
    pub names: Option<&'a NameTable<'a>>,
}

/// What several evaluations have in common: all of a [`Context`] but what each starts from.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "`Context` says it")]
pub struct SharedContext<'a> {
    pub host: &'a (dyn Host<'a> + 'a),
    pub limits: Limits,
    pub now: Option<Moment>,
    pub meter: Option<&'a Meter>,
    pub names: Option<&'a NameTable<'a>>,
}

/// What an evaluation starts from; each as [`Context`] has it.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "`Context` says it")]
pub struct Start<'s, 'a> {
    pub item: Option<&'s Item<'a>>,
    pub position: u64,
    pub size: u64,
    pub current: Option<&'s Item<'a>>,
}

impl<'a> Context<'a> {
    /// What it has in common with others, and what is its own.
    #[inline]
    pub(crate) fn parts(&self) -> (SharedContext<'a>, Start<'_, 'a>) {
        let Context { host, limits, now, meter, names, .. } = *self;
        let (item, current) = (self.item.as_ref(), self.current.as_ref());
        let start = Start { item, position: self.position, size: self.size, current };
        (SharedContext { host, limits, now, meter, names }, start)
    }

    /// A context without an item, with the usual limits.
    pub fn new(host: &'a (dyn Host<'a> + 'a)) -> Context<'a> {
        Context {
            item: None,
            position: 1,
            size: 1,
            host,
            limits: Limits::default(),
            now: None,
            current: None,
            meter: None,
            names: None,
        }
    }

    /// The same with this node as the only context item.
    #[must_use]
    pub fn at(self, node: NodeRef<'a>) -> Context<'a> {
        Context { item: Some(Item::Node(node)), position: 1, size: 1, ..self }
    }
}
