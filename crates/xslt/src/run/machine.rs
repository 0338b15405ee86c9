//! The machine: what a transformation under way knows and keeps, and its limits.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::Document;
use myelin_xpath::{Atomic, Expression, Item, Limits as XpathLimits, Meter, NameTable, NodeRef, SharedContext, Value};

use super::caches::{Counted, Indexes, Positions, Tables};
use super::documents::Documents;
use super::failure::{Failure, Outcome};
use super::frame::{Global, Group, Left, Running, Stack};
use super::kept::{Accumulated, Merged, Results};
use super::store::{Shelf, Store};
use crate::name::ExpandedName;
use crate::options::{Message, Options};
use crate::program::{CallTarget, ParameterId, Program};
use crate::scope::Scope;
use crate::stack::Floor;
use crate::transformation::Delivery;

/// Instructions between two questions whether the time is over.
const BREATH: u64 = 1_024;

/// How many messages are kept.
pub(super) const MESSAGES: usize = 1_000;

/// How much more room than it needs, and as much again, a text may have that is kept.
const SPARE_BYTES: usize = 64;

/// Slots of functions from here on are of expressions that were compiled while running: the index in
/// [`Machine::declared`] plus this.
pub(super) const DYNAMIC: u32 = 1 << 30;

/// One transformation under way. What changes is in cells, as expressions call back into it.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(super) options: &'a Options<'a>,
    /// The source as a node: the document node of what is seen.
    pub(super) source: NodeRef<'a>,
    pub(super) stack: Stack<'a>,
    pub(super) globals: RefCell<Vec<Global<'a>>>,
    pub(super) shelf: Shelf<'a, Document>,
    /// Texts that variables hold.
    texts: Shelf<'a, String>,
    /// Expressions that were compiled while running.
    pub(super) expressions: Shelf<'a, Expression>,
    pub(super) dynamic: RefCell<Vec<Dynamic<'a>>>,
    /// What these call.
    pub(super) declared: RefCell<Vec<(CallTarget, &'a Scope)>>,
    /// The numbers that `generate-id()` tells documents apart by; the source has 0.
    pub(super) numbered: RefCell<HashMap<*const Document, u32>>,
    pub(super) documents: Documents<'a>,
    pub(super) keys: RefCell<Indexes>,
    pub(super) names: NameTable<'a>,
    pub(super) tables: Tables<'a>,
    pub(super) positions: Positions<'a>,
    pub(super) counted: Counted<'a>,
    pub(super) meter: &'a Meter,
    /// What it shares with the transformations inside it and around it.
    pub(super) common: &'a Common<'a>,
    /// Its number among them, once one of its functions may have become another's.
    number: Cell<Option<u32>>,
    /// What all expressions run with, once one ran.
    shared: OnceCell<SharedContext<'a>>,
    pub(super) instructions: &'a Cell<u64>,
    pub(super) depth: &'a Cell<u32>,
    pub(super) floor: &'a Cell<Floor>,
    /// How many parts of the stack were made beside the thread's own.
    pub(super) stacks: &'a Cell<u64>,
    /// The mode that templates are looked for in by `mode="#current"`, and the rule that is running.
    pub(super) mode: Cell<u32>,
    pub(super) rule: Cell<Option<Running>>,
    pub(super) tunnel: RefCell<Rc<Vec<(ParameterId, Value<'a>)>>>,
    pub(super) group: RefCell<Option<Rc<Group<'a>>>>,
    pub(super) captures: RefCell<Option<Rc<Vec<String>>>>,
    /// What `xsl:break`, `func:result` and tail calls leave for whoever takes them up.
    pub(super) left: RefCell<Left<'a>>,
    /// Why a call from an expression failed: expressions can hand on no more than its text.
    pub(super) failed: RefCell<Option<Box<Failure>>>,
    pub(super) messages: RefCell<Vec<Message>>,
    pub(super) results: RefCell<Results>,
    /// Where the result goes that is being written; `None`: nobody knows.
    pub(super) output_uri: RefCell<Option<Rc<str>>>,
    /// Whether what is made is part of a value, and no result.
    pub(super) temporary: Cell<bool>,
    pub(super) merged: RefCell<Option<Rc<Merged<'a>>>>,
    pub(super) accumulated: RefCell<Accumulated<'a>>,
    /// The value that the last error carries which has one.
    pub(super) error_value: RefCell<Value<'a>>,
    /// The module of the instruction that is running.
    pub(super) file: Cell<u32>,
    /// Where trees are from that were made, if that is not the only module.
    pub(super) bases: RefCell<HashMap<*const Document, Base<'a>>>,
    /// Scopes that expressions were compiled in while running.
    pub(super) scopes: Shelf<'a, Scope>,
    /// The item that global variables are worked out for; `None`: there is none.
    pub(super) context_item: Option<Item<'a>>,
    /// How results are handed over.
    pub(super) delivery: Delivery,
    /// Results that are values: each with its URI, or none where it is the transformation's own.
    pub(super) delivered: RefCell<Vec<(Option<String>, Value<'a>)>>,
    /// How many transformations are around this one.
    pub(super) nesting: u32,
    /// Transformations that this one began, with what they run.
    pub(super) nested: Shelf<'a, Nested<'a>>,
    pub(super) machines: Shelf<'a, Machine<'a>>,
    programs: Shelf<'a, Program>,
    /// Their stylesheets, by what was asked for.
    compiled: RefCell<Vec<(String, &'a Program)>>,
}

/// The counters and the stack that a transformation shares with the transformations that it runs by `transform()`.
pub(super) struct Common<'a> {
    meter: Meter,
    instructions: Cell<u64>,
    depth: Cell<u32>,
    floor: Cell<Floor>,
    stacks: Cell<u64>,
    /// Those whose functions became another's.
    machines: RefCell<Vec<&'a Machine<'a>>>,
}

impl Common<'_> {
    pub(super) fn new() -> Self {
        Common {
            meter: Meter::default(),
            instructions: Cell::new(0),
            depth: Cell::new(0),
            floor: Cell::new(Floor::here()),
            stacks: Cell::new(0),
            machines: RefCell::default(),
        }
    }
}

/// What a transformation inside another one runs with.
pub(super) struct Nested<'a> {
    pub(super) options: Options<'a>,
    pub(super) stores: Stores<'a>,
}

/// An expression that was compiled while running, and where: it is found by its text and these.
pub(super) struct Dynamic<'a> {
    pub(super) text: String,
    pub(super) scope: &'a Scope,
    pub(super) locals: &'a [(ExpandedName, u32)],
    pub(super) expression: &'a Expression,
}

impl Dynamic<'_> {
    /// Whether it was compiled for the same variables: those of one place are kept once.
    pub(super) fn sees(&self, locals: &[(ExpandedName, u32)]) -> bool {
        std::ptr::eq(self.locals, locals) || (self.locals.is_empty() && locals.is_empty())
    }
}

/// What gives a tree that was made its base URI.
#[derive(Clone, Copy)]
pub(super) enum Base<'a> {
    /// The module whose instructions made it.
    Module(u32),
    /// The node that it is a copy of.
    Original(NodeRef<'a>),
    /// What another transformation knows of it.
    Known(&'a str),
}

/// Where stays what a transformation makes and values refer to.
pub(super) struct Stores<'a> {
    documents: Store<Document>,
    texts: Store<String>,
    expressions: Store<Expression>,
    scopes: Store<Scope>,
    nested: Store<Nested<'a>>,
    machines: Store<Machine<'a>>,
    programs: Store<Program>,
}

impl Stores<'_> {
    pub(super) fn new() -> Self {
        Stores {
            documents: Store::new(),
            texts: Store::new(),
            expressions: Store::new(),
            scopes: Store::new(),
            nested: Store::new(),
            machines: Store::new(),
            programs: Store::new(),
        }
    }
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        program: &'a Program,
        document: &'a Document,
        options: &'a Options<'a>,
        common: &'a Common<'a>,
        Stores { documents, texts, expressions, scopes, nested, machines, programs }: &'a Stores<'a>,
    ) -> Machine<'a> {
        let source = NodeRef::new(document, document.document_node());
        Machine {
            program,
            options,
            source,
            stack: Stack::default(),
            globals: RefCell::new((0..program.globals.len()).map(|_| Global::Unset).collect()),
            shelf: documents.shelf(),
            texts: texts.shelf(),
            expressions: expressions.shelf(),
            dynamic: RefCell::default(),
            declared: RefCell::default(),
            numbered: RefCell::default(),
            documents: Documents::new(options.source_uri.map(|uri| (uri.to_owned(), document))),
            keys: RefCell::default(),
            names: NameTable::new(program.names.len()),
            tables: Tables::new(program.modes.len()),
            positions: Positions::default(),
            counted: Counted::default(),
            meter: &common.meter,
            common,
            number: Cell::new(None),
            shared: OnceCell::new(),
            instructions: &common.instructions,
            depth: &common.depth,
            floor: &common.floor,
            stacks: &common.stacks,
            mode: Cell::new(0),
            rule: Cell::new(None),
            tunnel: RefCell::default(),
            group: RefCell::default(),
            captures: RefCell::default(),
            left: RefCell::default(),
            failed: RefCell::default(),
            messages: RefCell::default(),
            results: RefCell::default(),
            output_uri: RefCell::new(options.output_uri.map(Rc::from)),
            temporary: Cell::new(false),
            merged: RefCell::default(),
            accumulated: RefCell::default(),
            error_value: RefCell::new(Value::EMPTY),
            file: Cell::new(0),
            bases: RefCell::default(),
            scopes: scopes.shelf(),
            context_item: if options.source_is_absent { None } else { Some(Item::Node(source)) },
            delivery: Delivery::Serialized,
            delivered: RefCell::default(),
            nesting: 0,
            nested: nested.shelf(),
            machines: machines.shelf(),
            programs: programs.shelf(),
            compiled: RefCell::default(),
        }
    }

    /// Counts an instruction.
    #[inline]
    pub(super) fn count(&self) -> Outcome<()> {
        let count = self.instructions.get() + 1;
        self.instructions.set(count);
        if count.is_multiple_of(BREATH) { self.breathe(count) } else { Ok(()) }
    }

    #[cold]
    fn breathe(&self, count: u64) -> Outcome<()> {
        let limit = self.options.limits.instructions;
        if count > limit {
            return Err(Failure::limit(format!("more than {limit} instructions were run")));
        }
        if self.options.expired.is_some_and(|expired| expired()) {
            return Err(Failure::limit("the time for the transformation is over"));
        }
        Ok(())
    }

    /// Counts memory that is built and stays.
    pub(crate) fn build(&self, bytes: usize) -> Outcome<()> {
        self.meter.add(0, bytes as u64);
        match self.rest().bytes {
            0 => Err(Failure::limit(format!("more than {} bytes were built", self.options.limits.memory_bytes))),
            _ => Ok(()),
        }
    }

    /// What may be used in all.
    #[inline]
    fn limits(&self) -> XpathLimits {
        let limits = &self.options.limits;
        XpathLimits { steps: limits.instructions, bytes: limits.memory_bytes }
    }

    pub(super) fn rest(&self) -> XpathLimits {
        self.meter.rest_of(self.limits())
    }

    /// What all expressions run with.
    #[inline]
    pub(super) fn shared(&'a self) -> &'a SharedContext<'a> {
        if let Some(shared) = self.shared.get() {
            return shared;
        }
        self.shared.get_or_init(|| SharedContext {
            host: self,
            limits: self.limits(),
            now: self.options.now,
            meter: Some(self.meter),
            names: Some(&self.names),
        })
    }

    /// The number by which the transformations inside this one and around it know it.
    pub(super) fn own_number(&'a self) -> u32 {
        if let Some(number) = self.number.get() {
            return number;
        }
        let mut machines = self.common.machines.borrow_mut();
        machines.push(self);
        let number = machines.len() as u32 - 1;
        self.number.set(Some(number));
        number
    }

    /// What the functions of another transformation run with.
    pub(super) fn context_of(&self, number: u32) -> Option<SharedContext<'a>> {
        let machine = self.common.machines.borrow().get(number as usize).copied()?;
        Some(*machine.shared())
    }

    /// A value as a variable holds it, so that a reference to the variable copies neither a text nor a list.
    #[inline]
    pub(super) fn held(&self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Item(Item::Atomic(Atomic::Text(Cow::Owned(text), kind))) => {
                Atomic::Text(Cow::Borrowed(self.keep_text(text)), kind).into()
            }
            Value::Item(item) => Value::Item(item),
            list => list.shared(),
        }
    }

    /// Keeps a text that was made as long as the transformation runs, as trees are kept.
    ///
    /// Who made it has paid for its bytes, and here is paid for the room around them.
    pub(super) fn keep_text(&self, mut text: String) -> &'a str {
        if text.is_empty() {
            return "";
        }
        // What was cut or replaced may have room for far more than is left of it.
        if text.capacity() > 2 * text.len() + SPARE_BYTES {
            text.shrink_to_fit();
        }
        self.meter.add(0, (size_of::<String>() + text.capacity() - text.len()) as u64);
        self.texts.keep(text)
    }

    /// A stylesheet that was compiled while running, kept under a name of its own.
    pub(super) fn program_named(
        &self,
        name: &str,
        compile: impl FnOnce() -> Outcome<(Program, usize)>,
    ) -> Outcome<&'a Program> {
        if let Some((_, program)) = self.compiled.borrow().iter().find(|(known, _)| known == name) {
            return Ok(program);
        }
        let (program, bytes) = compile()?;
        self.build(bytes + name.len())?;
        let program = self.programs.keep(program);
        self.compiled.borrow_mut().push((name.to_owned(), program));
        Ok(program)
    }

    /// Sets a variable of the frame that is running.
    #[inline]
    pub(super) fn assign(&self, slot: u32, value: Value<'a>) {
        self.stack.set(slot, self.held(value));
    }

    /// Keeps a document that was made, as long as the transformation runs.
    pub(super) fn keep(&self, document: Document) -> Outcome<&'a Document> {
        self.build(size_of::<Document>() + document.size_bytes())?;
        Ok(self.shelf.keep(document))
    }
}
