//! The machine that runs a program.

mod arrange;
mod block;
mod content;
mod depending;
mod documents;
mod elements;
mod failure;
mod frame;
mod globals;
mod host;
mod keys;
mod loops;
mod maps;
mod matching;
mod number;
mod receiver;
mod rules;
mod select;
mod services;
mod store;
mod templates;
mod try_catch;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::{Document, NodeId};
use myelin_xpath::{Context, Expression, Item, Limits as XpathLimits, Meter, NameTable, Node, NodeRef, Value};

use crate::error::Error;
use crate::options::{Form, Message, Options, Outcome as Told};
use crate::output::{Finished, Method, Output, OutputProperties};
use crate::program::{CallTarget, ParameterId, Program, Scope};
use documents::Documents;
use failure::{Failure, Outcome};
use frame::Stack;
use globals::Global;
use keys::Indexes;

pub(crate) use failure::place;
pub(crate) use loops::Group;
use receiver::{Late, Receiver};
pub(crate) use rules::Rules;
use select::item;
use store::{Shelf, Store};

/// Instructions between two questions whether the time is over.
const BREATH: u64 = 1_024;

/// How many messages are kept.
const MESSAGES: usize = 1_000;

/// One transformation under way. What changes is in cells, as expressions call back into it.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    options: &'a Options<'a>,
    /// The source as a node: the document node of what is seen.
    source: NodeRef<'a>,
    stack: Stack<'a>,
    globals: RefCell<Vec<Global<'a>>>,
    shelf: Shelf<'a, Document>,
    /// Expressions that were compiled while running.
    expressions: Shelf<'a, Expression>,
    dynamic: RefCell<Vec<(String, &'a Scope, &'a Expression)>>,
    /// What these call.
    declared: RefCell<Vec<(CallTarget, &'a Scope)>>,
    /// The numbers that `generate-id()` tells documents apart by; the source has 0.
    numbered: RefCell<HashMap<*const Document, u32>>,
    documents: Documents<'a>,
    keys: RefCell<Indexes>,
    names: NameTable<'a>,
    tables: rules::Tables<'a>,
    positions: matching::Positions<'a>,
    counted: number::Counted<'a>,
    meter: Meter,
    instructions: Cell<u64>,
    depth: Cell<u32>,
    /// How many parts of the stack were made beside the thread's own.
    stacks: Cell<u64>,
    /// The mode that templates are looked for in by `mode="#current"`, and the rule that is running.
    mode: Cell<u32>,
    rule: Cell<Option<rules::Running>>,
    tunnel: RefCell<Rc<Vec<(ParameterId, Value<'a>)>>>,
    group: RefCell<Option<Rc<Group<'a>>>>,
    captures: RefCell<Option<Rc<Vec<String>>>>,
    /// What `xsl:break`, `func:result` and tail calls leave for whoever takes them up.
    left: RefCell<frame::Left<'a>>,
    /// Why a call from an expression failed: expressions can hand on no more than its text.
    failed: RefCell<Option<Box<Failure>>>,
    messages: RefCell<Vec<Message>>,
}

/// What instructions work on.
#[derive(Clone)]
pub(crate) struct Focus<'a> {
    pub(crate) item: Option<Item<'a>>,
    /// Counts from 1.
    pub(crate) position: u64,
    pub(crate) size: u64,
}

/// Transforms a document.
pub(crate) fn transform(
    program: &Program,
    document: &mut Document,
    source: NodeId,
    options: &Options<'_>,
    out: &mut Vec<u8>,
) -> Result<Told, Box<Error>> {
    let mut view = document.see(source);
    if !program.strip.is_empty() {
        documents::strip(program, document, &mut view);
    }
    let length = out.len();
    let result = run(program, document, options, out);
    document.restore(view);
    if result.is_err() {
        out.truncate(length);
    }
    result
}

fn run(program: &Program, document: &Document, options: &Options<'_>, out: &mut Vec<u8>) -> Result<Told, Box<Error>> {
    let parameters = globals::compile(options.parameters).map_err(|failure| failure.into_error(program, Vec::new()))?;
    let stores = (Store::new(), Store::new());
    let machine = Machine::new(program, document, options, &stores);
    let ended = machine.start(&parameters, out);
    let messages = machine.messages.take();
    match ended {
        Ok(Finished { root, loose_text }) => Ok(Told { messages, root, loose_text }),
        Err(failure) => Err(Box::new(failure.into_error(program, messages))),
    }
}

impl<'a> Machine<'a> {
    fn new(
        program: &'a Program,
        document: &'a Document,
        options: &'a Options<'a>,
        (store, expressions): &'a (Store<Document>, Store<Expression>),
    ) -> Machine<'a> {
        let source = NodeRef::new(document, document.document_node());
        Machine {
            program,
            options,
            source,
            stack: Stack::default(),
            globals: RefCell::new((0..program.globals.len()).map(|_| Global::Unset).collect()),
            shelf: store.shelf(),
            expressions: expressions.shelf(),
            dynamic: RefCell::default(),
            declared: RefCell::default(),
            numbered: RefCell::default(),
            documents: Documents::new(options.source_uri.map(|uri| (uri.to_owned(), document))),
            keys: RefCell::default(),
            names: NameTable::new(program.names.len()),
            tables: rules::Tables::new(program.modes.len()),
            positions: matching::Positions::default(),
            counted: number::Counted::default(),
            meter: Meter::default(),
            instructions: Cell::new(0),
            depth: Cell::new(0),
            stacks: Cell::new(0),
            mode: Cell::new(0),
            rule: Cell::new(None),
            tunnel: RefCell::default(),
            group: RefCell::default(),
            captures: RefCell::default(),
            left: RefCell::default(),
            failed: RefCell::default(),
            messages: RefCell::default(),
        }
    }

    fn start(&'a self, parameters: &'a [Option<Expression>], out: &mut Vec<u8>) -> Outcome<Finished> {
        self.set_parameters(parameters)?;
        let (properties, around) = self.form();
        let output = Output::bytes(&properties, around.as_deref(), self.options.limits.output_bytes, out);
        let mut receiver = Receiver::new(output, self.late());
        let focus = Focus::on(self.source, 1, 1);
        self.begin(&focus, &mut receiver)?;
        Ok(receiver.into_output().finish()?)
    }

    /// How the result is written, and what prefixes mean around it where it becomes part of a document.
    fn form(&self) -> (Cow<'a, OutputProperties>, Option<Bindings<'a>>) {
        let own = &self.program.output;
        let around = match self.options.form {
            Form::Document => return (Cow::Borrowed(own), None),
            Form::Element => Vec::new(),
            // What the view shows as in scope above its root.
            Form::InPlace => self.source.document.namespaces_in_scope(self.source.document.document_node()),
        };
        let properties = match own.method {
            Some(Method::Xml | Method::Text) => Cow::Borrowed(own),
            _ => Cow::Owned(OutputProperties { method: Some(Method::Xml), ..own.clone() }),
        };
        (properties, Some(around))
    }

    /// What becomes of attributes that come too late.
    fn late(&self) -> Late {
        if self.program.compatible { Late::Ignore } else { Late::Fail }
    }

    /// Counts an instruction.
    #[inline]
    fn count(&self) -> Outcome<()> {
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

    fn rest(&self) -> XpathLimits {
        let limits = self.options.limits;
        self.meter.rest_of(XpathLimits { steps: limits.instructions, bytes: limits.memory_bytes })
    }

    /// The context of an expression.
    fn context(&'a self, focus: &Focus<'a>) -> Context<'a> {
        Context {
            item: focus.item.clone(),
            position: focus.position,
            size: focus.size,
            host: self,
            limits: self.rest(),
            now: self.options.now,
            current: None,
            meter: Some(&self.meter),
            names: Some(&self.names),
        }
    }

    /// Keeps a document that was made, as long as the transformation runs.
    fn keep(&self, document: Document) -> Outcome<&'a Document> {
        self.build(size_of::<Document>() + document.size_bytes())?;
        Ok(self.shelf.keep(document))
    }
}

/// Prefixes and their namespaces.
type Bindings<'a> = Vec<(&'a str, &'a str)>;

impl<'a> Focus<'a> {
    /// A node as one of several.
    #[inline]
    fn on(node: NodeRef<'a>, position: u64, size: u64) -> Focus<'a> {
        Focus { item: Some(Item::Node(node)), position, size }
    }

    fn nothing() -> Focus<'a> {
        Focus { item: None, position: 1, size: 1 }
    }

    /// The context node, if it is one that a tree holds.
    #[inline]
    fn tree(&self) -> Option<(&'a Document, NodeId)> {
        match &self.item {
            Some(Item::Node(NodeRef { document, node: Node::Tree(node) })) => Some((document, *node)),
            _ => None,
        }
    }

    fn node(&self) -> Option<NodeRef<'a>> {
        self.item.as_ref().and_then(Item::node)
    }

    /// A path to the context node, for people.
    fn path(&self) -> Option<String> {
        self.node().map(path)
    }
}

/// How many steps of a path are told.
const PATH: usize = 32;

/// A path to a node: `/a/b[2]/@c`.
fn path(node: NodeRef<'_>) -> String {
    let mut parts = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next {
        next = node.parent();
        let (document, Some(tree)) = (node.document, node.node.tree()) else {
            parts.push("namespace::*".to_owned());
            continue;
        };
        use myelin_xml::Kind;
        let name = document.qname(tree);
        let name =
            if name.prefix.is_empty() { name.local.to_owned() } else { format!("{}:{}", name.prefix, name.local) };
        let test = match document.kind(tree) {
            Kind::Document => continue,
            Kind::Attribute => {
                parts.push(format!("@{name}"));
                continue;
            }
            Kind::Element => name,
            Kind::Text => "text()".to_owned(),
            Kind::Comment => "comment()".to_owned(),
            Kind::Instruction => format!("processing-instruction({name})"),
        };
        let alike = |other: NodeId| {
            document.kind(other) == document.kind(tree) && document.expanded(other) == document.expanded(tree)
        };
        let before = std::iter::successors(document.previous_sibling(tree), |&node| document.previous_sibling(node));
        let after = std::iter::successors(document.next_sibling(tree), |&node| document.next_sibling(node));
        let position = before.into_iter().filter(|&other| alike(other)).count() + 1;
        let alone = position == 1 && !after.into_iter().any(alike);
        parts.push(if alone { test } else { format!("{test}[{position}]") });
    }
    // Of a deep document its top and the node's surroundings tell enough.
    if parts.len() > PATH {
        parts.splice(PATH / 2..parts.len() - PATH / 2, ["…".to_owned()]);
    }
    parts.reverse();
    format!("/{}", parts.join("/"))
}
