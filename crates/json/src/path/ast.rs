//! What a path is made of: steps, with filters and functions that hold paths themselves.

use regex::Regex;

use crate::value::Value;

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// `$`
    Document,
    /// `@`: what a filter looks at.
    Item,
}

#[derive(Debug, Clone)]
pub(super) enum Token {
    /// `.name`, `['name']`, `['a','b']`
    Names(Vec<String>),
    /// `[0]`, `[0,-1]`
    Indexes(Vec<i32>),
    /// `[1:2]`, one of them may be missing.
    Slice(Option<i32>, Option<i32>),
    /// `.*`, `[*]`
    Wildcard,
    /// `[?(…)]`
    Filter(Expression),
    /// `..`
    Scan,
    /// `.length()`, always the last.
    Function(Function),
    /// `[#0]`, `[#0:2]`: to be filled before the path is run.
    Open(Open),
}

/// A compiled path.
#[derive(Debug, Clone)]
pub struct Path {
    pub(super) text: String,
    pub(super) origin: Origin,
    pub(super) tokens: Vec<Token>,
}

impl Path {
    /// The text it was compiled from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it leads to at most one thing; otherwise its result is a list.
    pub fn is_definite(&self) -> bool {
        let last = self.tokens.len().wrapping_sub(1);
        if self.gathers() {
            return true;
        }
        self.tokens.iter().enumerate().all(|(index, token)| match token {
            Token::Names(names) => names.len() == 1 || index == last,
            Token::Indexes(indexes) => indexes.len() == 1,
            Token::Function(_) => true,
            Token::Slice(..) | Token::Wildcard | Token::Filter(_) | Token::Scan | Token::Open(_) => false,
        })
    }

    /// Whether a function at the end takes everything the path finds at once, as it does where the path begins with `..`.
    pub(super) fn gathers(&self) -> bool {
        matches!(self.tokens.as_slice(), [Token::Scan, .., Token::Function(_)])
    }

    /// The steps of a path that a stream can follow: names and indexes from the front; `None` for any other.
    pub(crate) fn steps(&self) -> Option<Vec<Step<'_>>> {
        let steps = self.tokens.iter().map(|token| match token {
            Token::Names(names) if names.len() == 1 => Some(Step::Name(&names[0])),
            Token::Indexes(indexes) if indexes.len() == 1 => u32::try_from(indexes[0]).ok().map(Step::Index),
            _ => None,
        });
        steps.collect()
    }
}

/// A step that a stream can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step<'a> {
    /// Into the member of that key.
    Name(&'a str),
    /// Into the element of that position.
    Index(u32),
}

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Or(Vec<Expression>),
    And(Vec<Expression>),
    Not(Box<Expression>),
    Exists(Box<Path>),
    Compare(Operand, Operator, Operand),
}

#[derive(Debug, Clone)]
pub(super) enum Operand {
    Path(Box<Path>),
    Text(String),
    Number(String),
    Boolean(bool),
    Null,
    Json(Box<Value>),
    Pattern(Box<Regex>),
    /// To be filled before the path is run.
    Hole(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    /// Equal and of the same type.
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Match,
    In,
    NotIn,
    SubsetOf,
    AnyOf,
    NoneOf,
    Contains,
    Size,
    Empty,
}

impl Operator {
    pub(super) fn named(name: &str) -> Option<Operator> {
        Some(match name.to_ascii_lowercase().as_str() {
            "==" => Operator::Equal,
            "!=" => Operator::Unequal,
            "===" => Operator::Same,
            "!==" => Operator::NotSame,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "=~" => Operator::Match,
            "in" => Operator::In,
            "nin" => Operator::NotIn,
            "subsetof" => Operator::SubsetOf,
            "anyof" => Operator::AnyOf,
            "noneof" => Operator::NoneOf,
            "contains" => Operator::Contains,
            "size" => Operator::Size,
            "empty" => Operator::Empty,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionKind {
    Length,
    Keys,
    Min,
    Max,
    Sum,
    Average,
    Deviation,
    First,
    Last,
    Index,
    Concat,
    Append,
}

#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) kind: FunctionKind,
    pub(super) arguments: Vec<Argument>,
}

#[derive(Debug, Clone)]
pub(super) enum Argument {
    Json(Value),
    Path(Path),
}

/// One end of a slice, or one of several places.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position {
    Index(i32),
    Hole(usize),
}

/// Places of which some may be known later.
#[derive(Debug, Clone)]
pub(super) enum Open {
    /// `[#0]`, `[#0,1]`
    Places(Vec<Position>),
    /// `[#0:1]`
    Slice(Option<Position>, Option<Position>),
}
