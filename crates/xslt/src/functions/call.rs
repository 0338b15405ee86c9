//! A call of a function of the library.

use myelin_xpath::{Item, Value};

use crate::program::Scope;
use crate::run::Machine;

/// What a function is called with.
pub(crate) struct Call<'c, 'a> {
    pub(crate) machine: &'a Machine<'a>,
    pub(crate) arguments: &'c [Value<'a>],
    /// The context item where it is called.
    pub(crate) item: Option<&'c Item<'a>>,
    /// What is known where it is called: namespaces, base URI, version.
    pub(crate) scope: &'a Scope,
}
