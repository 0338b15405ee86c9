//! A function of the library: its name, how many arguments it takes, and what it does.

use myelin_xpath::{Error, Value};

use super::call::Call;
use super::exslt;
use crate::name::FUNCTIONS_OF_XPATH;

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

impl Function {
    /// A function that is called without a prefix.
    pub(super) const fn own(name: &'static str, least: u8, most: u8, run: Body) -> Function {
        Function { namespace: "", name, least, most, run }
    }

    /// Its namespace, which is that of XPath's functions for XSLT's own, and its local name.
    pub(crate) fn expanded_name(&self) -> (String, String) {
        let namespace = if self.namespace.is_empty() { FUNCTIONS_OF_XPATH } else { self.namespace };
        (namespace.to_owned(), self.name.to_owned())
    }

    /// Whether an argument is an expression that sees the variables of its place.
    pub(crate) fn sees_variables(&self) -> bool {
        matches!(self.namespace, exslt::DYNAMIC | exslt::SAXON)
    }

    /// Whether it takes so many arguments.
    pub(crate) fn takes(&self, count: usize) -> bool {
        count >= usize::from(self.least) && (self.most == u8::MAX || count <= usize::from(self.most))
    }
}
