//! Maps, arrays and functions: made, looked into, called (XPath 3.1 §3.1.5, §3.1.6, §3.11).

use std::sync::LazyLock;

use crate::ast::{CAPTURED, Callee, Expr};
use crate::environment::Version;
use crate::error::Error;
use crate::function::{Call, Function, MOST_ARGUMENTS};
use crate::run::{Flow, Focus, Frame, Run, stack_address};
use crate::types::SequenceType;
use crate::value::cast::cast;
use crate::value::function::{Body, Origin, out_of_bounds};
use crate::value::{Array, Atomic, Closure, FunctionItem, Item, Map, Value, convert, whole};

/// How much of the thread's stack an evaluation may have taken when it calls a function that is a value.
///
/// What the function's body takes comes on top of it, and that is bounded by the depth of an expression.
const STACK_BYTES: usize = 512 * 1024;

/// The arguments of a call whose values are known already: the first so many variables.
static ARGUMENTS: LazyLock<Vec<Expr>> = LazyLock::new(|| (0..MOST_ARGUMENTS as u32).map(Expr::Local).collect());

/// One argument, and the context for the one left out behind it.
static CONTEXT: [Expr; 2] = [Expr::Local(0), Expr::Context];

impl<'a> Run<'_, 'a> {
    /// Makes a map, an array or a function.
    pub(super) fn constructed(&self, expr: &'a Expr, focus: &Focus<'_, 'a>) -> Result<Value<'a>, Error> {
        let function = match expr {
            Expr::MapOf(entries) => self.map_of(entries, focus)?,
            Expr::Members(members) => {
                let members: Result<Vec<_>, _> = members.iter().map(|member| self.value(member, focus)).collect();
                FunctionItem::Array(Array::new(members?)?)
            }
            Expr::ArrayOf(inside) => {
                let value = self.value(inside, focus)?;
                self.build(value.len() * size_of::<Value<'_>>())?;
                FunctionItem::Array(Array::new(value.into_items().map(Value::Item))?)
            }
            Expr::Inline(function) => {
                let captured: Result<Vec<_>, _> = function
                    .captured
                    .iter()
                    .map(|variable| Ok::<_, Error>(self.value(variable, focus)?.shared()))
                    .collect();
                let origin = Origin { root: self.root, version: self.version };
                FunctionItem::closure(
                    Body::Inline { function, captured: captured?, origin },
                    function.parameters.len(),
                )?
            }
            Expr::Named(callee, arity) => self.named(*callee, *arity, focus)?,
            _ => return Err(Error::NoContext),
        };
        self.build(size_of::<Value<'_>>())?;
        Ok(Value::Item(Item::Function(function)))
    }

    fn map_of(&self, entries: &'a [(Expr, Expr)], focus: &Focus<'_, 'a>) -> Result<FunctionItem<'a>, Error> {
        let mut map = Map::EMPTY;
        for (key, value) in entries {
            let key = self.operand(key, focus)?.ok_or_else(|| Error::value("XPTY0004", "a key of a map is missing"))?;
            if map.get(&key).is_some() {
                let shown = key.text(self.version);
                return Err(Error::value("XQDY0137", format!("the key {shown:?} is in the map twice")));
            }
            map = self.put(&map, key, self.value(value, focus)?)?;
        }
        Ok(FunctionItem::Map(map))
    }

    /// A map with an entry more, paid for.
    pub(crate) fn put(&self, map: &Map<'a>, key: Atomic<'a>, value: Value<'a>) -> Result<Map<'a>, Error> {
        self.grown(map.len())?;
        map.with(key, value)
    }

    /// Pays for one more entry or member where there are so many: the way to it is copied.
    pub(crate) fn grown(&self, count: usize) -> Result<(), Error> {
        let levels = (count + 1).ilog2() as usize + 1;
        self.step(levels as u64)?;
        self.build(levels * size_of::<[usize; 6]>() + size_of::<(Atomic<'_>, Value<'_>)>())
    }

    /// A function of the library or the host, with the focus it is named in.
    pub(crate) fn named(&self, callee: Callee, arity: usize, focus: &Focus<'_, 'a>) -> Result<FunctionItem<'a>, Error> {
        let item = match callee {
            Callee::Library(function) if looks_around(function, arity) => focus.item.cloned(),
            Callee::Host(_) => focus.item.cloned(),
            _ => None,
        };
        FunctionItem::closure(Body::Named { callee, item, position: focus.position, size: focus.size }, arity)
    }

    /// `function(argument, ?)`: a call, or a function with fewer parameters.
    pub(super) fn applied(
        &self,
        function: &'a Expr,
        arguments: &'a [Option<Expr>],
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let function = self.function(self.value(function, focus)?)?;
        if function.arity() != arguments.len() {
            return Err(wrong_arity(&function, arguments.len()));
        }
        let value =
            |argument: &'a Option<Expr>| argument.as_ref().map(|argument| self.value(argument, focus)).transpose();
        let given: Result<Vec<Option<Value<'a>>>, Error> = arguments.iter().map(value).collect();
        let given = given?;
        let open = given.iter().filter(|argument| argument.is_none()).count();
        if open == 0 {
            return self.call(&function, given.into_iter().flatten().collect());
        }
        let arguments = given.into_iter().map(|argument| argument.map(Value::shared)).collect();
        FunctionItem::closure(Body::Partial { function, arguments }, open)
            .map(|function| Value::Item(Item::Function(function)))
    }

    /// The only item of a value, which must be a function.
    pub(crate) fn function(&self, value: Value<'a>) -> Result<FunctionItem<'a>, Error> {
        match (value.len(), value.first()) {
            (1, Some(Item::Function(function))) => Ok(function),
            _ => Err(Error::value("XPTY0004", "a function is wanted here, and there is something else")),
        }
    }

    /// What a function gives for arguments.
    ///
    /// Errors: `XPTY0004` where it takes more or fewer of them; [`Error::Depth`] where functions have called each
    /// other too deeply; those of what it does.
    pub(crate) fn call(&self, function: &FunctionItem<'a>, arguments: Vec<Value<'a>>) -> Result<Value<'a>, Error> {
        self.step(1)?;
        if self.stack.abs_diff(stack_address()) > STACK_BYTES {
            return Err(Error::Depth);
        }
        if function.arity() != arguments.len() {
            return Err(wrong_arity(function, arguments.len()));
        }
        match function {
            FunctionItem::Map(map) => Ok(map.get(&self.key(arguments)?).cloned().unwrap_or(Value::EMPTY)),
            FunctionItem::Array(array) => self.member(array, &self.key(arguments)?).cloned(),
            FunctionItem::Closure(closure) => self.run_closure(closure, arguments),
        }
    }

    /// The only argument of a map or an array.
    fn key(&self, mut arguments: Vec<Value<'a>>) -> Result<Atomic<'a>, Error> {
        let key = self.only_atomic(&arguments.pop().unwrap_or(Value::EMPTY))?;
        key.ok_or_else(|| Error::value("XPTY0004", "a key is missing"))
    }

    /// The member of an array at a position that is counted from 1.
    pub(crate) fn member<'v>(&self, array: &'v Array<'a>, position: &Atomic<'a>) -> Result<&'v Value<'a>, Error> {
        let position = whole(position, self.version)?;
        let member = usize::try_from(position - 1).ok().and_then(|index| array.get(index));
        member.ok_or_else(|| out_of_bounds(position, array.len()))
    }

    fn run_closure(&self, closure: &Closure<'a>, arguments: Vec<Value<'a>>) -> Result<Value<'a>, Error> {
        match &closure.body {
            Body::Inline { function, captured, origin } => {
                let mut values = Vec::with_capacity(arguments.len());
                for (argument, wanted) in arguments.into_iter().zip(&function.parameters) {
                    values.push(self.converted(argument, wanted)?.shared());
                }
                let around = Frame { first: CAPTURED, values: captured, outer: None };
                let frame = Frame { first: 0, values: &values, outer: Some(&around) };
                let focus = Focus { item: None, position: 0, size: 0, locals: Some(&frame) };
                let value = if std::ptr::eq(origin.root, self.root) {
                    self.value(&function.body, &focus)?
                } else {
                    // The names of another expression have numbers of their own.
                    self.elsewhere(*origin, |run| run.value(&function.body, &focus))?
                };
                self.converted(value, &function.result)
            }
            Body::Named { callee, item, position, size } => match callee {
                Callee::Library(function) => {
                    let frame = Frame { first: 0, values: &arguments, outer: None };
                    let focus = Focus { item: item.as_ref(), position: *position, size: *size, locals: Some(&frame) };
                    let given: &'a [Expr] = match arguments.len() {
                        0 if function.defaults_to_context && function.least == 0 => &CONTEXT[1..],
                        1 if function.defaults_to_context && function.least == 1 => &CONTEXT,
                        count => &ARGUMENTS[..count],
                    };
                    Call::new(self, &focus, given).value_of(function)
                }
                Callee::Host(slot) => self.context.host.call_value(*slot, &arguments, item.as_ref()),
                Callee::Cast(target) => {
                    let argument = arguments.into_iter().next().unwrap_or(Value::EMPTY);
                    match self.only_atomic(&argument)? {
                        Some(atomic) => cast(atomic, *target, self.version).map(Value::from),
                        None => Ok(Value::EMPTY),
                    }
                }
            },
            Body::Partial { function, arguments: given } => {
                let mut open = arguments.into_iter();
                let all = given.iter().map(|known| known.clone().or_else(|| open.next()).unwrap_or(Value::EMPTY));
                self.call(function, all.collect())
            }
            Body::Foreign { function, host } => match self.context.host.other(*host) {
                Some(context) => self.with_host(&context, |run| run.call(function, arguments)),
                None => Err(Error::Host("the function belongs to something that has ended".to_owned())),
            },
            Body::Coerced { function, signature } => {
                let arguments = arguments.into_iter().zip(&signature.parameters);
                let converted: Result<Vec<_>, _> =
                    arguments.map(|(argument, wanted)| self.converted(argument, wanted)).collect();
                self.converted(self.call(function, converted?)?, &signature.result)
            }
        }
    }

    /// A value as a parameter of that type takes it.
    fn converted(&self, value: Value<'a>, wanted: &SequenceType) -> Result<Value<'a>, Error> {
        if *wanted == SequenceType::ANY {
            return Ok(value);
        }
        convert::converted(value, wanted, self.version, &|value| self.atomized(value))
    }

    /// `base ? key`, for each item of the base and each key.
    pub(super) fn lookup(
        &self,
        base: &'a Expr,
        key: Option<&'a Expr>,
        focus: &Focus<'_, 'a>,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Flow {
        let keys = match key {
            None => None,
            Some(key) => Some(self.atomics(&self.value(key, focus)?)?),
        };
        for item in self.value(base, focus)?.into_items() {
            self.step(1)?;
            match (item, &keys) {
                (Item::Function(FunctionItem::Map(map)), None) => {
                    map.entries().try_for_each(|(_, value)| self.hand_out(value, sink))?;
                }
                (Item::Function(FunctionItem::Array(array)), None) => {
                    array.members().try_for_each(|member| self.hand_out(member, sink))?;
                }
                (Item::Function(FunctionItem::Map(map)), Some(keys)) => {
                    keys.iter().filter_map(|key| map.get(key)).try_for_each(|value| self.hand_out(value, sink))?;
                }
                (Item::Function(FunctionItem::Array(array)), Some(keys)) => {
                    for key in keys {
                        if !matches!(key, Atomic::Integer(..)) && self.version != Version::V1 {
                            return Err(Error::value("XPTY0004", "an array is looked into by whole numbers").into());
                        }
                        self.hand_out(self.member(&array, key)?, sink)?;
                    }
                }
                _ => {
                    return Err(Error::value(
                        "XPTY0004",
                        "`?` looks into maps and arrays, and there is something else",
                    )
                    .into());
                }
            }
        }
        Ok(())
    }

    fn hand_out(&self, value: &Value<'a>, sink: &mut dyn FnMut(Item<'a>) -> Flow) -> Flow {
        value.items().try_for_each(|item| {
            self.step(1)?;
            sink(item)
        })
    }
}

/// Whether a function with so many arguments asks for the focus.
fn looks_around(function: &Function, arity: usize) -> bool {
    (function.defaults_to_context && arity == usize::from(function.least))
        || matches!(function.name, "position" | "last")
}

fn wrong_arity(function: &FunctionItem<'_>, given: usize) -> Error {
    Error::value("XPTY0004", format!("a function of {} arguments is called with {given}", function.arity()))
}
