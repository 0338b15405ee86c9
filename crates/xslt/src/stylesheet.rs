//! The public face of a compiled stylesheet.

use std::ops::Range;

use myelin_xml::doctype::DoctypeOptions;
use myelin_xml::{Arena, Document, NodeId, Start};

use crate::error::{Error, Problem};
use crate::options::{Form, Options, Outcome, Parameter};
use crate::output::OutputProperties;
use crate::program::Program;
use crate::resolver::Resolver;
use crate::stream::{self, Source, Streamed, Streaming};
use crate::{compile, explain, run};

/// A stylesheet, compiled: run it as often as you like, on any thread.
pub struct Stylesheet {
    program: Program,
    streaming: Streaming,
    warnings: Vec<Problem>,
}

/// Memory that one transformation needs and the next can use again: one for each thread.
#[derive(Default)]
pub struct Memory {
    stream: stream::Memory,
    arena: Arena,
}

impl Stylesheet {
    /// Compiles a stylesheet with all that it imports and includes.
    ///
    /// Shape: `uri` names it in messages and is the base of what it names.
    /// Errors: the author's, all that were found, each with its place.
    /// Source: XSLT 1.0; of 2.0 and 3.0 what this library has.
    pub fn compile(source: &[u8], uri: &str, resolver: &dyn Resolver) -> Result<Stylesheet, Vec<Problem>> {
        Stylesheet::compile_with(source, uri, resolver, &[])
    }

    /// The same, with values for its static parameters; those it does not declare are ignored.
    ///
    /// Errors: as [`compile`](Stylesheet::compile).
    /// Source: XSLT 3.0 §9.7.
    pub fn compile_with(
        source: &[u8],
        uri: &str,
        resolver: &dyn Resolver,
        parameters: &[Parameter],
    ) -> Result<Stylesheet, Vec<Problem>> {
        let (program, warnings) = compile::compile(source, uri, resolver, parameters)?;
        Ok(Stylesheet { streaming: Streaming::new(&program), program, warnings })
    }

    /// What is doubtful in it and was understood all the same.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How documents with a document type are to be read for this stylesheet: what white space means in them depends on
    /// its version.
    pub fn doctype_options(&self) -> DoctypeOptions {
        self.program.doctype_options()
    }

    /// How its result is written.
    pub fn output(&self) -> &OutputProperties {
        &self.program.output
    }

    /// Whether it may write what is not escaped, so that its result need not be well-formed.
    pub fn may_be_malformed(&self) -> bool {
        self.program.unescaped || !self.program.output.character_map.is_empty()
    }

    /// The program that it was compiled to, for people: whether it needs a tree, which template is for which node, and a
    /// line for each instruction with its place and with how its expressions run.
    pub fn explain(&self) -> String {
        let way = match self.tree_reason() {
            None => "one pass over the message, without a tree, where its children come in this order".to_owned(),
            Some(reason) => format!("a tree, because {reason}"),
        };
        format!("way: {way}\n{}", explain::explain(&self.program))
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
    ) -> Result<Outcome, Box<Error>> {
        run::transform(&self.program, document, source, options, out)
    }

    /// Transforms a whole document in UTF-8, and appends the result to `out`: in one pass over its bytes where that is
    /// enough, otherwise by way of a tree.
    ///
    /// Errors: as [`transform`](Stylesheet::transform), and `XML` for what is not well-formed, the sender's; `source` is
    /// afterwards as it was.
    pub fn transform_bytes(
        &self,
        source: &mut Vec<u8>,
        options: &Options<'_>,
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, Box<Error>> {
        if options.form == Form::Document
            && let Some(streamed) = self.stream(source, Source::Document, options, memory, out)?
        {
            return Ok(outcome(streamed).1);
        }
        let arena = std::mem::take(&mut memory.arena);
        let mut document =
            Document::take(source, &myelin_xml::Options::default(), arena).map_err(|error| malformed(&error))?;
        let top = document.document_node();
        let result = self.transform(&mut document, top, options, out);
        (*source, memory.arena) = document.into_parts();
        result
    }

    /// Transforms one element of a document in UTF-8 as [`Form::InPlace`] has it, in one pass over the bytes of the whole
    /// document; `None`: one pass is not enough, or there is no such element, and `out` is as it was.
    ///
    /// Shape: the source is the first element for which `is_source` says so, asked with the depth of each, which counts
    /// from 1. Also gives where it stands.
    /// Errors: as [`transform_bytes`](Stylesheet::transform_bytes).
    pub fn transform_element(
        &self,
        document: &[u8],
        is_source: &mut dyn FnMut(usize, &Start<'_>) -> bool,
        options: &Options<'_>,
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) -> Result<Option<(Range<usize>, Outcome)>, Box<Error>> {
        let streamed = self.stream(document, Source::Element(is_source), options, memory, out)?;
        Ok(streamed.map(outcome))
    }

    /// Why the stylesheet cannot run in one pass; `None`: it can, with messages whose children come in its order.
    pub fn tree_reason(&self) -> Option<String> {
        let reason = self.streaming.plan.as_ref().err()?;
        Some(match reason.at.map(|at| run::place(&self.program, at)) {
            Some(place) => format!("{place}: {}", reason.what),
            None => reason.what.clone(),
        })
    }

    fn stream(
        &self,
        source: &[u8],
        which: Source<'_>,
        options: &Options<'_>,
        memory: &mut Memory,
        out: &mut Vec<u8>,
    ) -> Result<Option<Streamed>, Box<Error>> {
        let begins_elsewhere = self.program.default_mode != 0 || options.initial_mode.is_some();
        let named = options.initial_template.is_some() || options.initial_function.is_some();
        if begins_elsewhere || named || options.fails_on_multiple_match {
            return Ok(None);
        }
        let (output, limit) = (&self.program.output, options.limits.output_bytes);
        let streamed = self.streaming.run(output, source, which, limit, &mut memory.stream, out);
        streamed.map_err(|error| malformed(&error))
    }
}

/// What a pass tells, and where its source stands.
fn outcome(streamed: Streamed) -> (Range<usize>, Outcome) {
    let Streamed { source, root, loose_text } = streamed;
    (source, Outcome { root, loose_text, ..Outcome::default() })
}

fn malformed(error: &myelin_xml::Error) -> Box<Error> {
    let message = format!("the source is not well-formed: {error}");
    Box::new(Error {
        code: "XML".to_owned(),
        message,
        place: None,
        trail: Vec::new(),
        node: None,
        messages: Vec::new(),
    })
}
