//! The public face of a compiled stylesheet.

use myelin_xml::{Document, NodeId};

use crate::error::{Error, Problem};
use crate::options::{Options, Outcome};
use crate::output::OutputProperties;
use crate::program::Program;
use crate::resolver::Resolver;
use crate::{compile, explain, run};

/// A stylesheet, compiled: run it as often as you like, on any thread.
pub struct Stylesheet {
    program: Program,
    warnings: Vec<Problem>,
}

impl Stylesheet {
    /// Compiles a stylesheet with all that it imports and includes.
    ///
    /// Shape: `uri` names it in messages and is the base of what it names.
    /// Errors: the author's, all that were found, each with its place.
    /// Source: XSLT 1.0; of 2.0 and 3.0 what this library has.
    pub fn compile(source: &[u8], uri: &str, resolver: &dyn Resolver) -> Result<Stylesheet, Vec<Problem>> {
        let (program, warnings) = compile::compile(source, uri, resolver)?;
        Ok(Stylesheet { program, warnings })
    }

    /// What is doubtful in it and was understood all the same.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How its result is written.
    pub fn output(&self) -> &OutputProperties {
        &self.program.output
    }

    /// Whether it may write what is not escaped, so that its result need not be well-formed.
    pub fn may_be_malformed(&self) -> bool {
        self.program.unescaped || !self.program.output.character_map.is_empty()
    }

    /// The program that it was compiled to, for people: which template is for which node, and a line for each
    /// instruction with its place and with how its expressions run.
    pub fn explain(&self) -> String {
        explain::explain(&self.program)
    }

    /// Transforms a document, and appends the result to `out`.
    ///
    /// Shape: `source` is the document node, or an element that is then seen as if it were alone in its document.
    /// White space that the stylesheet strips is out of sight while it runs, and the document is afterwards as it was.
    /// Errors: the author's or the data's, with the instruction's place; `out` is then as it was.
    pub fn transform(
        &self,
        document: &mut Document,
        source: NodeId,
        options: &Options<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Error> {
        run::transform(&self.program, document, source, options, out)
    }
}
