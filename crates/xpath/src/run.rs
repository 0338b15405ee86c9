//! One evaluation of an expression: what it may use, and what a part of it runs with.

use crate::ast::Expr;
use crate::context::{Meter, SharedContext};
use crate::environment::Version;
use crate::error::Error;
use crate::names::NameCache;
use crate::pattern::PatternCache;
use crate::value::function::Origin;
use crate::value::{Item, NodeRef, Value};

/// One evaluation of one expression.
pub(crate) struct Run<'r, 'a> {
    /// What the whole expression runs with.
    pub(crate) context: &'r SharedContext<'a>,
    /// What `current()` gives.
    pub(crate) current: Option<&'r Item<'a>>,
    /// Where is counted what it uses.
    meter: &'r Meter,
    pub(crate) version: Version,
    pub(crate) names: NameCache<'a>,
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

impl<'r, 'a> Run<'r, 'a> {
    /// `meter` is that of the context, if it has one.
    #[inline]
    pub(crate) fn new(
        root: &'a Expr,
        version: Version,
        context: &'r SharedContext<'a>,
        current: Option<&'r Item<'a>>,
        meter: &'r Meter,
    ) -> Run<'r, 'a> {
        Run { context, current, meter, version, names: NameCache::new(context.names), root, stack: stack_address() }
    }

    /// Runs a part of another expression, which counts as part of this one.
    pub(crate) fn elsewhere<T>(&self, origin: Origin<'a>, evaluate: impl FnOnce(&Run<'_, 'a>) -> T) -> T {
        evaluate(&Run {
            context: self.context,
            current: self.current,
            meter: self.meter,
            version: origin.version,
            names: self.names.for_another(),
            root: origin.root,
            stack: self.stack,
        })
    }

    /// Runs something with another host, which counts as part of this.
    pub(crate) fn with_host<T>(&self, context: &SharedContext<'a>, evaluate: impl FnOnce(&Run<'_, 'a>) -> T) -> T {
        evaluate(&Run {
            context,
            current: self.current,
            meter: self.meter,
            version: self.version,
            names: NameCache::new(context.names),
            root: self.root,
            stack: self.stack,
        })
    }

    /// The patterns compiled so far.
    pub(crate) fn patterns(&self) -> &PatternCache {
        self.names.patterns()
    }

    /// How many nodes and items may still be looked at.
    pub(crate) fn steps_left(&self) -> u64 {
        self.meter.rest_of(self.context.limits).steps
    }

    /// Counts nodes and items that are looked at.
    #[inline]
    pub(crate) fn step(&self, count: u64) -> Result<(), Error> {
        self.meter.step(count, self.context.limits)
    }

    /// Counts bytes that are built.
    #[inline]
    pub(crate) fn build(&self, bytes: usize) -> Result<(), Error> {
        self.meter.build(bytes as u64, self.context.limits)
    }
}

/// An address near the end of the stack as it is now.
#[inline]
pub(crate) fn stack_address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

/// What a part of an expression runs with.
#[derive(Clone, Copy)]
pub(crate) struct Focus<'r, 'a> {
    pub(crate) item: Option<&'r Item<'a>>,
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
    pub(crate) fn on<'n>(&self, item: &'n Item<'a>, position: u64, size: u64) -> Focus<'n, 'a>
    where
        'r: 'n,
    {
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
        Focus { item: self.item, position: self.position, size: self.size, locals: Some(frame) }
    }

    /// The value of a variable by its number.
    pub(crate) fn local(&self, local: u32) -> Option<&Value<'a>> {
        let mut frames = std::iter::successors(self.locals, |frame| frame.outer);
        frames.find_map(|frame| frame.values.get(local.checked_sub(frame.first)? as usize))
    }

    /// The context node.
    #[inline]
    pub(crate) fn node(&self) -> Result<NodeRef<'a>, Error> {
        match self.item {
            Some(Item::Node(node)) => Ok(*node),
            Some(Item::Atomic(_) | Item::Function(_)) => {
                Err(Error::value("XPTY0020", "a path starts from a node, and here is none"))
            }
            None => Err(Error::NoContext),
        }
    }
}
