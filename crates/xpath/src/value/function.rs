//! Values that can be called: maps, arrays and functions (XPath 3.1 §2.1, Data Model §2.9).

use std::fmt;
use std::rc::Rc;

use super::tree::{Levels, Tree};
use super::{Atomic, Item, Value, key};
use crate::ast::{Callee, Expr, InlineFunction};
use crate::environment::Version;
use crate::error::Error;
use crate::types::Signature;

/// Maps, arrays and functions within each other deeper than this are refused: they are gone through by recursion.
const LEVELS: u16 = 200;

/// A value that can be called.
#[derive(Clone, Debug)]
pub enum FunctionItem<'a> {
    /// A map, which gives the value of a key.
    Map(Map<'a>),
    /// An array, which gives the member at a position.
    Array(Array<'a>),
    /// Any other function.
    Closure(Rc<Closure<'a>>),
}

impl FunctionItem<'_> {
    /// How many arguments it takes.
    pub fn arity(&self) -> usize {
        match self {
            FunctionItem::Map(_) | FunctionItem::Array(_) => 1,
            FunctionItem::Closure(closure) => closure.arity,
        }
    }

    fn levels(&self) -> u16 {
        match self {
            FunctionItem::Map(map) => map.entries.levels() + 1,
            FunctionItem::Array(array) => array.members.levels() + 1,
            FunctionItem::Closure(closure) => closure.levels,
        }
    }
}

/// As an expression would make it, save for functions, of which only the number of arguments is shown, and for nodes,
/// which are shown as their texts; at most so many items, as they may share what is inside them.
impl fmt::Display for FunctionItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_function(self, &mut 1_000_000, f)
    }
}

fn write_function(function: &FunctionItem<'_>, left: &mut u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match function {
        FunctionItem::Map(map) => {
            f.write_str("map{")?;
            for (index, (key, value)) in map.entries().enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                write_atomic(key, f)?;
                f.write_str(":")?;
                write_value(value, left, f)?;
            }
            f.write_str("}")
        }
        FunctionItem::Array(array) => {
            f.write_str("[")?;
            for (index, member) in array.members().enumerate() {
                f.write_str(if index == 0 { "" } else { "," })?;
                write_value(member, left, f)?;
            }
            f.write_str("]")
        }
        FunctionItem::Closure(closure) => write!(f, "function#{}", closure.arity),
    }
}

fn write_value(value: &Value<'_>, left: &mut u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let one = value.len() == 1;
    f.write_str(if one { "" } else { "(" })?;
    for (index, item) in value.items().enumerate() {
        f.write_str(if index == 0 { "" } else { "," })?;
        if *left == 0 {
            f.write_str("…")?;
            break;
        }
        *left -= 1;
        match item {
            Item::Function(function) => write_function(&function, left, f)?,
            Item::Atomic(atomic) => write_atomic(&atomic, f)?,
            Item::Node(node) => write_atomic(&Atomic::untyped(node.string_value()), f)?,
        }
    }
    f.write_str(if one { "" } else { ")" })
}

fn write_atomic(atomic: &Atomic<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match atomic {
        Atomic::Boolean(truth) => write!(f, "{truth}()"),
        number if number.is_numeric() => f.write_str(&number.text(Version::V3)),
        other => write!(f, "\"{}\"", other.text(Version::V3).replace('"', "\"\"")),
    }
}

impl Levels for Value<'_> {
    fn levels(&self) -> u16 {
        let of = |item: &Item<'_>| match item {
            Item::Function(function) => function.levels(),
            Item::Node(_) | Item::Atomic(_) => 0,
        };
        match self {
            Value::Item(item) => of(item),
            Value::Nodes(..) => 0,
            Value::Items(items) => items.iter().map(of).max().unwrap_or(0),
        }
    }
}

impl Levels for (Atomic<'_>, Value<'_>) {
    fn levels(&self) -> u16 {
        self.1.levels()
    }
}

fn bounded(levels: u16) -> Result<(), Error> {
    match levels < LEVELS {
        true => Ok(()),
        false => Err(Error::value(
            "XPDY0130",
            format!("maps, arrays and functions stand within each other deeper than {LEVELS}"),
        )),
    }
}

/// Values by keys; the keys are in an order of their own, numbers before texts.
///
/// Source: XPath 3.1 §3.11.1, Functions and Operators §17.1.
#[derive(Clone, Debug)]
pub struct Map<'a> {
    entries: Tree<(Atomic<'a>, Value<'a>)>,
}

impl<'a> Map<'a> {
    /// The map without entries.
    pub const EMPTY: Map<'static> = Map { entries: Tree::EMPTY };

    /// How many entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find(&self, wanted: &Atomic<'_>) -> Result<usize, usize> {
        self.entries.find(|(known, _)| key::order(known, wanted))
    }

    /// The value of a key.
    pub fn get(&self, key: &Atomic<'_>) -> Option<&Value<'a>> {
        let rank = self.find(key).ok()?;
        self.entries.get(rank).map(|(_, value)| value)
    }

    /// With an entry more, instead of the one with that key if there is one.
    ///
    /// Errors: `XPDY0130` where maps, arrays and functions stand within each other too deeply.
    pub fn with(&self, key: Atomic<'a>, value: Value<'a>) -> Result<Map<'a>, Error> {
        let found = self.find(&key);
        let entry = (key, value.shared());
        bounded(entry.levels())?;
        let entries = match found {
            Ok(rank) => self.entries.replace(rank, entry),
            Err(rank) => self.entries.insert(rank, entry),
        };
        Ok(Map { entries })
    }

    /// Without the entry of a key.
    #[must_use]
    pub fn without(&self, key: &Atomic<'_>) -> Map<'a> {
        match self.find(key) {
            Ok(rank) => Map { entries: self.entries.remove(rank) },
            Err(_) => self.clone(),
        }
    }

    /// Keys and values, in the order of the keys.
    pub fn entries(&self) -> impl Iterator<Item = (&Atomic<'a>, &Value<'a>)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

/// Values by position.
///
/// Source: XPath 3.1 §3.11.2, Functions and Operators §17.3.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    members: Tree<Value<'a>>,
}

impl<'a> Array<'a> {
    /// An array of these members.
    ///
    /// Errors: `XPDY0130` where maps, arrays and functions stand within each other too deeply.
    pub fn new(members: impl IntoIterator<Item = Value<'a>>) -> Result<Array<'a>, Error> {
        let members: Tree<Value<'a>> = members.into_iter().map(Value::shared).collect();
        bounded(members.levels())?;
        Ok(Array { members })
    }

    /// How many members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The member at an index, counted from 0.
    pub fn get(&self, index: usize) -> Option<&Value<'a>> {
        self.members.get(index)
    }

    /// With a member more, before the one at an index counted from 0, or at the end.
    ///
    /// Errors: as [`Array::new`].
    pub fn with(&self, index: usize, member: Value<'a>) -> Result<Array<'a>, Error> {
        bounded(member.levels())?;
        Ok(Array { members: self.members.insert(index, member.shared()) })
    }

    /// With another member at an index counted from 0; the same, if there is none.
    ///
    /// Errors: as [`Array::new`].
    pub fn replaced(&self, index: usize, member: Value<'a>) -> Result<Array<'a>, Error> {
        bounded(member.levels())?;
        Ok(Array { members: self.members.replace(index, member.shared()) })
    }

    /// Without the member at an index, counted from 0.
    #[must_use]
    pub fn without(&self, index: usize) -> Array<'a> {
        Array { members: self.members.remove(index) }
    }

    /// The members in their order.
    pub fn members(&self) -> impl Iterator<Item = &Value<'a>> {
        self.members.iter()
    }
}

/// A function that is a value: of an expression, of the library or of the host.
#[derive(Debug)]
pub struct Closure<'a> {
    pub(crate) body: Body<'a>,
    arity: usize,
    levels: u16,
}

/// What a call runs.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// `function($x) {…}` with the values of the variables around it that it uses.
    Inline { function: &'a InlineFunction, captured: Vec<Value<'a>>, origin: Origin<'a> },
    /// A function with a name, and the focus it was named in.
    Named { callee: Callee, item: Option<Item<'a>>, position: u64, size: u64 },
    /// Another function with some of its arguments.
    Partial { function: FunctionItem<'a>, arguments: Vec<Option<Value<'a>>> },
    /// A function of another host, which runs with that host.
    Foreign { function: FunctionItem<'a>, host: u32 },
    /// Another function whose arguments and results are converted.
    Coerced { function: FunctionItem<'a>, signature: Signature },
}

impl<'a> FunctionItem<'a> {
    /// A function of so many arguments.
    pub(crate) fn closure(body: Body<'a>, arity: usize) -> Result<FunctionItem<'a>, Error> {
        let levels = match &body {
            Body::Inline { captured, .. } => captured.iter().map(Levels::levels).max(),
            Body::Named { item, .. } => item.clone().map(|item| Value::Item(item).levels()),
            Body::Partial { function, arguments } => {
                arguments.iter().flatten().map(Levels::levels).chain([function.levels()]).max()
            }
            Body::Foreign { function, .. } | Body::Coerced { function, .. } => Some(function.levels()),
        };
        let levels = levels.unwrap_or(0);
        bounded(levels)?;
        Ok(FunctionItem::Closure(Rc::new(Closure { body, arity, levels: levels + 1 })))
    }
}

impl<'a> Value<'a> {
    /// The same value for expressions of another host: the functions in it run with the host that they are from, which
    /// the other one knows by this number (see [`Host::other`](crate::Host::other)).
    ///
    /// Errors: `XPDY0130` where maps, arrays and functions stand within each other too deeply.
    pub fn of_host(self, host: u32) -> Result<Value<'a>, Error> {
        if self.levels() == 0 {
            return Ok(self);
        }
        let items = self.into_items().map(|item| match item {
            Item::Function(function) => function.of_host(host).map(Item::Function),
            other => Ok(other),
        });
        Ok(Value::from_items(items.collect::<Result<_, _>>()?))
    }
}

impl<'a> FunctionItem<'a> {
    fn of_host(self, host: u32) -> Result<FunctionItem<'a>, Error> {
        match self {
            FunctionItem::Map(map) => {
                let mut moved = Map::EMPTY;
                for (key, value) in map.entries() {
                    moved = moved.with(key.clone(), value.clone().of_host(host)?)?;
                }
                Ok(FunctionItem::Map(moved))
            }
            FunctionItem::Array(array) => {
                let members: Result<Vec<_>, Error> =
                    array.members().map(|member| member.clone().of_host(host)).collect();
                Ok(FunctionItem::Array(Array::new(members?)?))
            }
            function @ FunctionItem::Closure(_) => {
                let arity = function.arity();
                FunctionItem::closure(Body::Foreign { function, host }, arity)
            }
        }
    }
}

/// Which expression a function was made by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) root: &'a Expr,
    pub(crate) version: Version,
}

pub(crate) fn out_of_bounds(position: i64, count: usize) -> Error {
    Error::value("FOAY0001", format!("an array of {count} members has none at position {position}"))
}

/// A function where one of that signature is wanted: its arguments and results will be converted (§3.1.5.3).
pub(crate) fn coerced<'a>(function: FunctionItem<'a>, signature: &Signature) -> Result<FunctionItem<'a>, Error> {
    let arity = function.arity();
    FunctionItem::closure(Body::Coerced { function, signature: signature.clone() }, arity)
}
