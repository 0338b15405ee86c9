//! The syntax tree of an expression, its names resolved: what the evaluator runs and the automaton compiles from.

use crate::function::{Body, Function};
pub use crate::node_test::{Axis, NameTest, NodeTest};
use crate::pattern::Pattern;
use crate::types::{AtomicType, SequenceType};

/// An expression or a part of one.
///
/// Errors: none; what stands here has been checked when it was compiled.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A text between quotes.
    Text(String),
    /// A number of XPath 1.0, and one with an exponent of later versions.
    Number(f64),
    /// A number without point, in version 2.0 and later.
    Integer(i64),
    /// A number with a point as it is written, in version 2.0 and later.
    Decimal(String),
    /// The regular expression of `matches()`, `replace()` or `tokenize()`, where it is a literal.
    Pattern(Box<Pattern>),
    /// A variable of the host, by the host's slot.
    Variable(u32),
    /// A variable that `for`, `let`, `some` or `every` binds: how many bindings around it came before.
    Local(u32),
    /// `.`
    Context,
    /// The item that the whole expression started from: `current()` of XSLT.
    Current,
    /// The document node (or the root of the tree) that the context node belongs to.
    Root,
    /// Steps from where `start` leads.
    Path(Box<Path>),
    /// An operand that is no step, with predicates: `(…)[1]`, `$x[@id]`.
    Filter(Box<Expr>, Vec<Predicate>),
    /// `(a, b)`; `()` where it is empty.
    Sequence(Vec<Expr>),
    /// A function of this library.
    Call(&'static Function, Vec<Expr>),
    /// A function of the host, by the host's slot.
    HostCall(u32, Vec<Expr>),
    /// At least two operands, in the order written; chains are flattened.
    Or(Vec<Expr>),
    /// At least two operands, in the order written; chains are flattened.
    And(Vec<Expr>),
    /// At least two operands whose nodes are joined in document order; chains are flattened.
    Union(Vec<Expr>),
    /// `intersect`
    Intersect(Box<[Expr; 2]>),
    /// `except`
    Except(Box<[Expr; 2]>),
    /// `=`, `<` …: true as soon as one pair of items compares true.
    General(Comparison, Box<[Expr; 2]>, Written),
    /// `eq`, `lt` …: one item with one item.
    Single(Comparison, Box<[Expr; 2]>, Written),
    /// `is`, `<<`, `>>`
    Nodes(NodeComparison, Box<[Expr; 2]>),
    /// `+`, `div` …
    Arithmetic(Arithmetic, Box<[Expr; 2]>),
    /// Unary minus.
    Negate(Box<Expr>),
    /// Unary plus.
    Plus(Box<Expr>),
    /// `a to b`
    Range(Box<[Expr; 2]>),
    /// Condition, then, else.
    If(Box<[Expr; 3]>),
    /// `for $x in …`: the binding, then what is given for each item.
    For(Box<Binding>, Box<Expr>),
    /// `let $x := …`: the binding, then what is given.
    Let(Box<Binding>, Box<Expr>),
    /// `some $x in …`: the binding, then the condition.
    Some(Box<Binding>, Box<Expr>),
    /// `every $x in …`: the binding, then the condition.
    Every(Box<Binding>, Box<Expr>),
    /// `a ! b`
    Map(Box<[Expr; 2]>),
    /// `instance of`
    InstanceOf(Box<Expr>, SequenceType),
    /// `treat as`
    Treat(Box<Expr>, SequenceType),
    /// `castable as`; true: an empty sequence will do.
    Castable(Box<Expr>, AtomicType, bool),
    /// `cast as`, and the constructors `xs:…()`; true: an empty sequence will do.
    Cast(Box<Expr>, AtomicType, bool),
    /// `map { key : value, … }`
    MapOf(Vec<(Expr, Expr)>),
    /// `[ member, … ]`
    Members(Vec<Expr>),
    /// `array { … }`: each item a member.
    ArrayOf(Box<Expr>),
    /// `a ? key`; without a key `a ? *`.
    Lookup(Box<Expr>, Option<Box<Expr>>),
    /// `function($x) { … }`
    Inline(Box<InlineFunction>),
    /// `name#1`: a function with so many arguments.
    Named(Callee, usize),
    /// A value that is called with arguments; those that are `?` are left to be given later.
    Apply(Box<Expr>, Vec<Option<Expr>>),
}

impl Expr {
    /// Whether it gives a number whatever it is run with: a double, in version 1.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Expr::Number(_) | Expr::Call(Function { body: Body::Count(_), .. }, _))
    }

    /// Whether it gives its items one by one, so that whoever wants the first needs not wait for the last.
    pub(crate) fn gives_items(&self) -> bool {
        use Expr::{Filter, For, Lookup, Map, Path, Range, Sequence};
        matches!(self, Path(_) | Sequence(_) | Range(_) | For(..) | Map(_) | Filter(..) | Lookup(..))
    }
}

/// A function that an expression has inside it.
#[derive(Clone, Debug)]
pub struct InlineFunction {
    /// The types of its parameters; they are the variables [`Expr::Local`] from 0 on.
    pub parameters: Vec<SequenceType>,
    /// The type of what it gives.
    pub result: SequenceType,
    /// What it gives; it has no context.
    pub body: Expr,
    /// The variables around it that it uses, as they are written there: [`Expr::Local`], or [`Expr::Variable`] where the
    /// host's slot will mean another variable later. Inside they are numbered from [`CAPTURED`] on.
    pub captured: Vec<Expr>,
}

/// The number of the first variable that a function takes from what is around it.
pub const CAPTURED: u32 = 1 << 31;

/// A function with a name.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A function of this library.
    Library(&'static Function),
    /// A function of the host, by the host's slot.
    Host(u32),
    /// `xs:…`: a cast.
    Cast(AtomicType),
}

/// What a variable is bound to.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The number by which [`Expr::Local`] names it.
    pub local: u32,
    /// Its value, or the items it takes one after the other.
    pub value: Expr,
}

/// Steps from a start.
#[derive(Clone, Debug)]
pub struct Path {
    /// [`Expr::Root`] for an absolute path, [`Expr::Context`] for a relative one, or any other operand.
    pub start: Expr,
    /// At least one.
    pub steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug)]
pub enum Step {
    /// `axis::test[predicate]…`
    Axis(AxisStep),
    /// Any other operand as a step, as XPath 2.0 allows it: `order/string(id)`.
    Expr(Expr),
}

/// `axis::test[predicate]…`
#[derive(Clone, Debug)]
pub struct AxisStep {
    /// Where it looks.
    pub axis: Axis,
    /// What it takes.
    pub test: NodeTest,
    /// In the order written.
    pub predicates: Vec<Predicate>,
}

/// What stands between brackets.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// As it is written.
    pub expr: Expr,
    /// What is known of it without running it.
    pub kind: PredicateKind,
}

/// What is known of a predicate before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicateKind {
    /// Takes the node at this position, counted from 1: `[3]`, `[position() = 3]`.
    At(u64),
    /// Takes nodes up to and with this position: `[position() <= 3]`, `[position() < 4]`.
    UpTo(u64),
    /// Takes the last node: `[last()]`, `[position() = last()]`.
    Last,
    /// A condition on the node that asks neither for its position nor for the number of nodes.
    Condition,
    /// Its value or its condition may depend on the position, but not on the number of nodes.
    Positional,
    /// Asks for the number of nodes, too.
    Sized,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says it")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Where a comparison stands in the text of its expression, for whoever shows it; in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub(crate) left: u32,
    pub(crate) operator: u32,
    pub(crate) right: u32,
    pub(crate) end: u32,
}

/// How two nodes are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeComparison {
    /// `is`
    Same,
    /// `<<`
    Before,
    /// `>>`
    After,
}

/// Operators that calculate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says it")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
}
