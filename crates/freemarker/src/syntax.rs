//! A template as it was understood.

use std::sync::Arc;

use regex::Regex;

use crate::builtin::Builtin;
use crate::decimal::Decimal;
use crate::error::Place;
use crate::escape::Format;
use crate::names::{Names, Symbol};

/// A template, fit to be run by any thread, any number of times.
#[derive(Debug)]
pub struct Template {
    pub(crate) block: Block,
    pub(crate) callables: Vec<Callable>,
    pub(crate) names: Names,
    pub(crate) header: Header,
    /// The text, for the places of faults.
    pub(crate) text: Box<str>,
    /// Where its lines begin.
    pub(crate) lines: Vec<u32>,
}

/// What the header says.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// Prefixes and the namespaces they stand for; the prefix `D` is for names without one.
    pub(crate) prefixes: Vec<(String, String)>,
}

/// An expression with where it begins.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) at: u32,
    pub(crate) kind: ExpressionKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ExpressionKind {
    Text(Arc<str>),
    /// A text with `${…}` in it.
    Join(Vec<Expression>),
    Number(Decimal),
    Boolean(bool),
    List(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    Range(Box<Expression>, Option<Box<Expression>>, RangeKind),
    Variable(Symbol),
    /// `.now` and its like.
    Special(Special),
    Member(Box<Expression>, Arc<str>),
    Index(Box<Expression>, Box<Expression>),
    Call(Box<Expression>, Vec<Expression>),
    Builtin(Box<BuiltinCall>),
    /// `x?index` and its like, of a loop's variable.
    Loop(Symbol, LoopQuestion, Vec<Expression>),
    /// `c?then(a, b)`
    Then(Box<[Expression; 3]>),
    /// `v?switch(case, result, …, default)`
    Switch(Box<Expression>, Vec<Expression>),
    /// `x!` and `x!y`
    Default(Box<Expression>, Option<Box<Expression>>),
    /// `x??`
    Exists(Box<Expression>),
    /// `(x)`: what is missing anywhere inside is missing as a whole.
    Group(Box<Expression>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Plus(Box<Expression>),
    Reckon(Sign, Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    /// `x -> y`, where a built-in takes it.
    Lambda(Symbol, Box<Expression>),
    /// The last of these with the first as a variable: what `#escape` makes of an interpolation.
    Escaped(Symbol, Box<[Expression; 2]>),
}

#[derive(Debug, Clone)]
pub(crate) struct BuiltinCall {
    pub(crate) subject: Expression,
    pub(crate) builtin: &'static Builtin,
    pub(crate) arguments: Vec<Expression>,
    /// The pattern, where it is written out in the template.
    pub(crate) regex: Option<Regex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeKind {
    Inclusive,
    Exclusive,
    Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Now,
    Vars,
    DataModel,
    Globals,
    Error,
    Locale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopQuestion {
    Index,
    Counter,
    HasNext,
    IsFirst,
    IsLast,
    IsOdd,
    IsEven,
    Parity,
    ParityCap,
    Cycle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Instructions in order.
pub(crate) type Block = Vec<Instruction>;

#[derive(Debug)]
pub(crate) enum Instruction {
    Text {
        at: u32,
        text: Arc<str>,
    },
    /// Several in the place of one.
    Block(Block),
    Print {
        expression: Expression,
        format: Option<Format>,
    },
    If {
        arms: Vec<(Expression, Block)>,
        otherwise: Block,
    },
    List(Box<List>),
    /// `#items`, within `#list` without variables.
    Items {
        at: u32,
        variables: Vec<Symbol>,
        block: Block,
    },
    Sep(Block),
    Assign {
        target: Target,
        symbol: Symbol,
        operator: Operator,
        value: Expression,
    },
    /// `<#assign x>…</#assign>`
    Capture {
        target: Target,
        symbol: Symbol,
        block: Block,
        format: Option<Format>,
    },
    Switch {
        value: Expression,
        cases: Vec<(Option<Expression>, Block)>,
    },
    Break,
    Continue,
    Return(Option<Expression>),
    Stop {
        at: u32,
        message: Option<Expression>,
    },
    Call(Box<Call>),
    Nested(Vec<Expression>),
    Attempt {
        at: u32,
        block: Block,
        recover: Block,
    },
    Compress {
        at: u32,
        block: Block,
    },
    Setting {
        name: Setting,
        value: Expression,
    },
}

#[derive(Debug)]
pub(crate) struct List {
    pub(crate) sequence: Expression,
    /// The loop's variable, or two for the names and values of a hash; none where `#items` follows.
    pub(crate) variables: Vec<Symbol>,
    pub(crate) block: Block,
    pub(crate) otherwise: Block,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Expression,
    pub(crate) positional: Vec<Expression>,
    pub(crate) named: Vec<(Symbol, Expression)>,
    /// What `#nested` gives to the body.
    pub(crate) variables: Vec<Symbol>,
    pub(crate) body: Option<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Assign,
    Global,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Set,
    Reckon(Sign),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    NumberFormat,
    BooleanFormat,
    DateFormat,
    TimeFormat,
    DateTimeFormat,
    /// One that changes nothing here.
    Ignored,
}

/// A macro, or a function.
#[derive(Debug)]
pub(crate) struct Callable {
    pub(crate) name: Symbol,
    pub(crate) is_function: bool,
    pub(crate) parameters: Vec<(Symbol, Option<Expression>)>,
    /// The parameter that takes what is left over.
    pub(crate) rest: Option<Symbol>,
    pub(crate) body: Block,
}

impl Template {
    pub(crate) fn place(&self, at: u32) -> Place {
        place(&self.text, &self.lines, at as usize)
    }
}

/// The line and column of a byte of a text whose lines begin at these.
pub(crate) fn place(text: &str, lines: &[u32], at: usize) -> Place {
    let line = lines.partition_point(|&start| start as usize <= at).max(1);
    let start = lines[line - 1] as usize;
    let column = text.get(start..at).map_or(0, |before| before.chars().count());
    Place { line: line as u32, column: column as u32 + 1 }
}
