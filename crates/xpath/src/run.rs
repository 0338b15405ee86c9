//! One evaluation of an expression: what it may use, and what a part of it runs with.

use std::cell::Cell;

use crate::ast::Expr;
use crate::context::{Context, Host, Limits};
use crate::environment::Version;
use crate::error::Error;
use crate::names::NameCache;
use crate::pattern::PatternCache;
use crate::value::function::Origin;
use crate::value::{Item, Moment, NodeRef, Value};

/// One evaluation of one expression.
pub(crate) struct Run<'a> {
    pub(crate) host: &'a (dyn Host<'a> + 'a),
    pub(crate) version: Version,
    pub(crate) now: Option<Moment>,
    pub(crate) limits: Limits,
    pub(crate) steps_left: Cell<u64>,
    pub(crate) bytes_left: Cell<u64>,
    pub(crate) names: NameCache<'a>,
    pub(crate) current: Option<Item<'a>>,
    /// The whole expression.
    pub(crate) root: &'a Expr,
    /// Where the stack was when the evaluation began.
    pub(crate) stack: usize,
}

/// Why a walk ends before its end.
pub(crate) enum Stop {
    /// Nothing more of this axis is wanted.
    Axis,
    /// Nothing more at all is wanted.
    Enough,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// Whether a walk goes on.
pub(crate) type Flow = Result<(), Stop>;

/// Makes an ordinary result of a walk that may have been stopped.
pub(crate) fn finish(flow: Flow) -> Result<(), Error> {
    match flow {
        Err(Stop::Failed(error)) => Err(error),
        Ok(()) | Err(Stop::Axis | Stop::Enough) => Ok(()),
    }
}

impl<'a> Run<'a> {
    pub(crate) fn new(root: &'a Expr, version: Version, context: &Context<'a>) -> Run<'a> {
        Run {
            host: context.host,
            version,
            now: context.now,
            limits: context.limits,
            steps_left: Cell::new(context.limits.steps),
            bytes_left: Cell::new(context.limits.bytes),
            names: NameCache::new(context.names),
            current: context.current.as_ref().or(context.item.as_ref()).cloned(),
            root,
            stack: stack_address(),
        }
    }

    /// Runs a part of another expression, which counts as part of this one.
    pub(crate) fn elsewhere<T>(&self, origin: Origin<'a>, evaluate: impl FnOnce(&Run<'a>) -> T) -> T {
        let run = Run {
            host: self.host,
            version: origin.version,
            now: self.now,
            limits: self.limits,
            steps_left: Cell::new(self.steps_left.get()),
            bytes_left: Cell::new(self.bytes_left.get()),
            names: self.names.for_another(),
            current: self.current.clone(),
            root: origin.root,
            stack: self.stack,
        };
        let result = evaluate(&run);
        self.steps_left.set(run.steps_left.get());
        self.bytes_left.set(run.bytes_left.get());
        result
    }

    pub(crate) fn focus<'r>(&self, context: &Context<'a>) -> Focus<'r, 'a> {
        Focus { item: context.item.clone(), position: context.position, size: context.size, locals: None }
    }

    /// The patterns compiled so far.
    pub(crate) fn patterns(&self) -> &PatternCache {
        self.names.patterns()
    }

    /// Counts nodes and items that are looked at.
    #[inline]
    pub(crate) fn step(&self, count: u64) -> Result<(), Error> {
        match self.steps_left.get().checked_sub(count) {
            Some(left) => {
                self.steps_left.set(left);
                Ok(())
            }
            None => Err(Error::Steps(self.limits.steps)),
        }
    }

    /// Counts bytes that are built.
    #[inline]
    pub(crate) fn build(&self, bytes: usize) -> Result<(), Error> {
        match self.bytes_left.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.bytes_left.set(left);
                Ok(())
            }
            None => Err(Error::Bytes(self.limits.bytes)),
        }
    }
}

/// An address near the end of the stack as it is now.
pub(crate) fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// What a part of an expression runs with.
#[derive(Clone)]
pub(crate) struct Focus<'r, 'a> {
    pub(crate) item: Option<Item<'a>>,
    pub(crate) position: u64,
    pub(crate) size: u64,
    pub(crate) locals: Option<&'r Frame<'r, 'a>>,
}

/// Variables that the expression binds, and those bound around them.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'r, 'a> {
    /// The number of the first of them; the others follow it.
    pub(crate) first: u32,
    pub(crate) values: &'r [Value<'a>],
    pub(crate) outer: Option<&'r Frame<'r, 'a>>,
}

impl<'r, 'a> Focus<'r, 'a> {
    /// The focus on one item of several.
    pub(crate) fn on(&self, item: Item<'a>, position: u64, size: u64) -> Focus<'r, 'a> {
        Focus { item: Some(item), position, size, locals: self.locals }
    }

    /// These variables, before those bound around them.
    pub(crate) fn frame<'n>(&self, first: u32, values: &'n [Value<'a>]) -> Frame<'n, 'a>
    where
        'r: 'n,
    {
        Frame { first, values, outer: self.locals }
    }

    /// The same with another chain of variables.
    pub(crate) fn binding<'n>(&self, frame: &'n Frame<'n, 'a>) -> Focus<'n, 'a>
    where
        'r: 'n,
    {
        Focus { item: self.item.clone(), position: self.position, size: self.size, locals: Some(frame) }
    }

    /// The value of a variable by its number.
    pub(crate) fn local(&self, local: u32) -> Option<&Value<'a>> {
        let mut frames = std::iter::successors(self.locals, |frame| frame.outer);
        frames.find_map(|frame| frame.values.get(local.checked_sub(frame.first)? as usize))
    }

    /// The context node.
    pub(crate) fn node(&self) -> Result<NodeRef<'a>, Error> {
        match &self.item {
            Some(Item::Node(node)) => Ok(*node),
            Some(Item::Atomic(_) | Item::Function(_)) => {
                Err(Error::value("XPTY0020", "a path starts from a node, and here is none"))
            }
            None => Err(Error::NoContext),
        }
    }
}
