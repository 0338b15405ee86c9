//! The machine that runs a program.

mod arrange;
mod block;
mod caches;
mod content;
mod depending;
mod documents;
mod elements;
mod failure;
mod focus;
mod frame;
mod globals;
mod host;
mod keys;
mod loading;
mod loops;
mod machine;
mod maps;
mod matching;
mod number;
mod receiver;
mod rules;
mod select;
mod services;
mod store;
mod templates;
mod try_catch;

use std::borrow::Cow;

use myelin_xml::{Document, NodeId};
use myelin_xpath::Expression;

use crate::error::Error;
use crate::options::{Form, Options, Outcome as Told};
use crate::output::{Finished, Method, Output, OutputProperties};
use crate::program::Program;
use failure::Outcome;
pub(crate) use failure::place;
use focus::Focus;
use machine::{Machine, Stores};
use receiver::Receiver;

/// Transforms a document.
pub(crate) fn transform(
    program: &Program,
    document: &mut Document,
    source: NodeId,
    options: &Options<'_>,
    out: &mut Vec<u8>,
) -> Result<Told, Box<Error>> {
    let mut view = document.see(source);
    if !program.strip.is_empty() {
        documents::strip(program, document, &mut view);
    }
    let length = out.len();
    let result = run(program, document, options, out);
    document.restore(view);
    if result.is_err() {
        out.truncate(length);
    }
    result
}

fn run(program: &Program, document: &Document, options: &Options<'_>, out: &mut Vec<u8>) -> Result<Told, Box<Error>> {
    let parameters = globals::compile(options.parameters).map_err(|failure| failure.into_error(program, Vec::new()))?;
    let stores = Stores::new();
    let machine = Machine::new(program, document, options, &stores);
    let ended = machine.start(&parameters, out);
    let messages = machine.messages.take();
    match ended {
        Ok(Finished { root, loose_text }) => Ok(Told { messages, root, loose_text }),
        Err(failure) => Err(Box::new(failure.into_error(program, messages))),
    }
}

impl<'a> Machine<'a> {
    fn start(&'a self, parameters: &'a [Option<Expression>], out: &mut Vec<u8>) -> Outcome<Finished> {
        self.set_parameters(parameters)?;
        let (properties, around) = self.form();
        let output = Output::bytes(&properties, around.as_deref(), self.options.limits.output_bytes, out);
        let mut receiver = Receiver::new(output, self.late());
        let focus = Focus::on(self.source, 1, 1);
        self.begin(&focus, &mut receiver)?;
        Ok(receiver.into_output().finish()?)
    }

    /// How the result is written, and what prefixes mean around it where it becomes part of a document.
    fn form(&self) -> (Cow<'a, OutputProperties>, Option<Bindings<'a>>) {
        let own = &self.program.output;
        let around = match self.options.form {
            Form::Document => return (Cow::Borrowed(own), None),
            Form::Element => Vec::new(),
            // What the view shows as in scope above its root.
            Form::InPlace => self.source.document.namespaces_in_scope(self.source.document.document_node()),
        };
        let properties = match own.method {
            Some(Method::Xml | Method::Text) => Cow::Borrowed(own),
            _ => Cow::Owned(OutputProperties { method: Some(Method::Xml), ..own.clone() }),
        };
        (properties, Some(around))
    }
}

/// Prefixes and their namespaces.
type Bindings<'a> = Vec<(&'a str, &'a str)>;
