//! The machine that runs a program.

mod rules;

use myelin_xml::{Document, NodeId};

use crate::error::Error;
use crate::options::{Options, Outcome};
use crate::program::Program;
pub(crate) use rules::Rules;

/// One transformation under way.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
}

/// Transforms a document.
pub(crate) fn transform(
    _program: &Program,
    _document: &mut Document,
    _source: NodeId,
    _options: &Options<'_>,
    _out: &mut Vec<u8>,
) -> Result<Outcome, Error> {
    Ok(Outcome::default())
}
