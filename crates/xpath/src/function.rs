//! A function of the library, and a call of it.

use std::borrow::Cow;

use crate::ast::Expr;
use crate::environment::Version;
use crate::error::Error;
use crate::run::{Focus, Run};
use crate::types::AtomicType;
use crate::value::{Atomic, Value};

/// A function that expressions can call.
#[derive(Debug)]
pub struct Function {
    /// Its local name.
    pub name: &'static str,
    /// The namespace it is in.
    pub library: Library,
    /// The fewest arguments it takes.
    pub least: u8,
    /// The most arguments it takes; 255: any number.
    pub most: u8,
    /// Whether the context item stands for an argument left out at the end; the syntax tree has it written out then.
    pub defaults_to_context: bool,
    /// What it gives.
    pub returns: Returns,
    pub(crate) body: Body,
}

/// What a function does. It asks its call for the arguments in the form it needs them, and gives its result in the form
/// it has, so that whoever wants a text, a count or a condition gets it without a value around it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    Value(ToValue),
    Text(ToText),
    Condition(ToCondition),
    /// A text that is an address: `xs:anyURI` in later versions.
    Address(ToText),
    /// A number that is whole and not negative: a double in version 1, an integer later.
    Count(ToCount),
}

pub(crate) type ToValue = for<'c, 'r, 'a> fn(&'c Call<'r, 'a>) -> Result<Value<'a>, Error>;
pub(crate) type ToText = for<'c, 'r, 'a> fn(&'c Call<'r, 'a>) -> Result<Cow<'a, str>, Error>;
pub(crate) type ToCondition = for<'c, 'r, 'a> fn(&'c Call<'r, 'a>) -> Result<bool, Error>;
pub(crate) type ToCount = for<'c, 'r, 'a> fn(&'c Call<'r, 'a>) -> Result<u64, Error>;

impl Function {
    pub(crate) const fn new(name: &'static str, least: u8, most: u8, returns: Returns, run: ToValue) -> Function {
        Function::of(name, least, most, returns, Body::Value(run))
    }

    /// A function that gives a text.
    pub(crate) const fn text(name: &'static str, least: u8, most: u8, run: ToText) -> Function {
        Function::of(name, least, most, Returns::Text, Body::Text(run))
    }

    /// A function that gives an address.
    pub(crate) const fn address(name: &'static str, least: u8, most: u8, run: ToText) -> Function {
        Function::of(name, least, most, Returns::Text, Body::Address(run))
    }

    /// A function that gives true or false.
    pub(crate) const fn condition(name: &'static str, least: u8, most: u8, run: ToCondition) -> Function {
        Function::of(name, least, most, Returns::Boolean, Body::Condition(run))
    }

    /// A function that counts something.
    pub(crate) const fn count(name: &'static str, least: u8, most: u8, run: ToCount) -> Function {
        Function::of(name, least, most, Returns::Number, Body::Count(run))
    }

    const fn of(name: &'static str, least: u8, most: u8, returns: Returns, body: Body) -> Function {
        Function { name, library: Library::Core, least, most, defaults_to_context: false, returns, body }
    }

    /// The same, with the context item for an argument left out.
    pub(crate) const fn or_context(self) -> Function {
        Function { defaults_to_context: true, ..self }
    }
}

/// The namespaces of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `http://www.w3.org/2005/xpath-functions`, and every name without a prefix.
    Core,
    /// `http://www.w3.org/2005/xpath-functions/math`
    Math,
    /// `http://www.w3.org/2005/xpath-functions/map`
    Map,
    /// `http://www.w3.org/2005/xpath-functions/array`
    Array,
}

impl Library {
    const ALL: [(Library, &str, &str); 4] = [
        (Library::Core, "fn", "http://www.w3.org/2005/xpath-functions"),
        (Library::Math, "math", "http://www.w3.org/2005/xpath-functions/math"),
        (Library::Map, "map", "http://www.w3.org/2005/xpath-functions/map"),
        (Library::Array, "array", "http://www.w3.org/2005/xpath-functions/array"),
    ];

    /// Its namespace.
    pub fn namespace(self) -> &'static str {
        Library::ALL[self as usize].2
    }

    /// Its usual prefix, which expressions can use without declaring it.
    pub fn prefix(self) -> &'static str {
        Library::ALL[self as usize].1
    }

    /// The library whose usual prefix this is.
    pub(crate) fn of_prefix(prefix: &str) -> Option<Library> {
        Library::ALL.into_iter().find(|(_, usual, _)| *usual == prefix).map(|(library, ..)| library)
    }

    /// The library with that namespace.
    ///
    /// Drafts of the functions' specification had a year and a month in it; configurations still use them.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Library> {
        let draft = namespace.starts_with("http://www.w3.org/") && namespace.ends_with("/xpath-functions");
        let known = Library::ALL.into_iter().find(|(.., known)| *known == namespace).map(|(library, ..)| library);
        known.or(draft.then_some(Library::Core))
    }
}

/// The most arguments with which a function can be a value.
pub(crate) const MOST_ARGUMENTS: usize = 1_024;

/// What a function gives, as far as analysis wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says it")]
pub enum Returns {
    Boolean,
    Text,
    Number,
    Nodes,
    Any,
}

/// A call of a function while an expression runs.
pub(crate) struct Call<'r, 'a> {
    pub(crate) run: &'r Run<'r, 'a>,
    pub(crate) focus: &'r Focus<'r, 'a>,
    pub(crate) arguments: &'a [Expr],
}

impl<'r, 'a> Call<'r, 'a> {
    #[inline]
    pub(crate) fn new(run: &'r Run<'r, 'a>, focus: &'r Focus<'r, 'a>, arguments: &'a [Expr]) -> Call<'r, 'a> {
        Call { run, focus, arguments }
    }

    /// What the function gives, as a value.
    #[inline]
    pub(crate) fn value_of(&self, function: &Function) -> Result<Value<'a>, Error> {
        match function.body {
            Body::Value(run) => run(self),
            Body::Text(run) => run(self).map(Value::from),
            Body::Condition(run) => run(self).map(Value::from),
            Body::Address(run) if self.run.version == Version::V1 => run(self).map(Value::from),
            Body::Address(run) => run(self).map(|address| Atomic::Text(address, AtomicType::AnyUri).into()),
            Body::Count(run) => run(self).map(|count| self.whole(count).into()),
        }
    }

    /// A count as a number: a double in version 1.
    pub(crate) fn whole(&self, count: u64) -> Atomic<'a> {
        match self.run.version {
            Version::V1 => Atomic::from(count as f64),
            _ => Atomic::from(count as i64),
        }
    }
}
