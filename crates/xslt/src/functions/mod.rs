//! The functions that expressions of a stylesheet call beside those of XPath: XSLT's own and EXSLT's.
//!
//! A function is declared in the file that holds it, in a family of its namespace.

mod call;

pub(crate) use call::Call;

use myelin_xpath::{Error, Value};

/// A function of the library.
#[derive(Debug)]
pub(crate) struct Function {
    /// Empty: XSLT's own, which are called without a prefix.
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    /// The fewest arguments it takes.
    pub(crate) least: u8,
    /// The most arguments it takes; 255: any number.
    pub(crate) most: u8,
    pub(crate) run: Body,
}

/// What a function does.
pub(crate) type Body = for<'c, 'a> fn(&Call<'c, 'a>) -> Result<Value<'a>, Error>;

const FAMILIES: [&[Function]; 0] = [];

/// The function of that name.
pub(crate) fn find(namespace: &str, name: &str) -> Option<&'static Function> {
    FAMILIES.into_iter().flatten().find(|function| function.name == name && function.namespace == namespace)
}
