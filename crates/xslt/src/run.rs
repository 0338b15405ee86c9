//! The machine that runs a program.

mod accumulators;
mod arrange;
mod block;
mod caches;
mod content;
mod depending;
mod documents;
mod elements;
mod evaluation;
mod failure;
mod focus;
mod frame;
mod globals;
mod host;
mod kept;
mod keys;
mod loading;
mod loops;
mod machine;
mod maps;
mod matching;
mod merging;
mod nested;
mod number;
mod receiver;
mod results;
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
use crate::options::{Options, Outcome as Told};
use crate::output::{Finished, Output, OutputProperties};
use crate::program::Program;
pub(crate) use failure::place;
use failure::{Failure, Outcome};
use machine::{Common, Machine, Stores};
use receiver::Receiver;
pub(crate) use store::{Shelf, Store};
use templates::Beginning;

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
    let (common, stores) = (Common::new(), Stores::new());
    let machine = Machine::new(program, document, options, &common, &stores);
    let ended = machine.start(&parameters, out);
    let messages = machine.messages.take();
    match ended {
        Ok((Finished { root, loose_text }, output)) => {
            let results = std::mem::take(&mut machine.results.borrow_mut().made);
            Ok(Told { messages, root, loose_text, results, output })
        }
        Err(failure) => Err(Box::new(failure.into_error(program, messages))),
    }
}

impl<'a> Machine<'a> {
    /// Also gives how the result was written, where an instruction said so.
    fn start(
        &'a self,
        parameters: &'a [Option<Expression>],
        out: &mut Vec<u8>,
    ) -> Outcome<(Finished, Option<OutputProperties>)> {
        self.set_parameters(parameters)?;
        let properties = self.in_form(Cow::Borrowed(&self.program.output));
        let around = self.around();
        let limit = self.options.limits.output_bytes;
        let focus = self.first_focus()?;
        let before = out.len();
        let refused = properties.refusal().map(|(code, message)| Failure::new(code, message));
        let (finished, is_untouched) = if properties.is_direct() {
            let output = Output::bytes(&properties, around.as_deref(), limit, out);
            let mut receiver = Receiver::new(output, self.late());
            self.begin(&focus, &Beginning::default(), &mut receiver)?;
            let output = receiver.into_output();
            let is_untouched = output.is_untouched();
            (output.finish()?, is_untouched)
        } else {
            let mut receiver = Receiver::items(self);
            self.begin(&focus, &Beginning::default(), &mut receiver)?;
            let value = receiver.into_items();
            self.write_items(&value, &properties, limit, out)?;
            (Finished::default(), value.is_empty())
        };
        let mut results = self.results.borrow_mut();
        let others = !results.made.is_empty() || results.own.is_some();
        if let Some(own) = results.own.take() {
            if !is_untouched {
                let message = "an xsl:result-document without href writes the result, which has content already";
                return Err(Failure::new("XTDE1490", message));
            }
            out.truncate(before);
            out.extend_from_slice(&own.bytes);
            return Ok((Finished::default(), Some(own.properties)));
        }
        // Where other results were written, none is made of nothing.
        if others && is_untouched {
            out.truncate(before);
            return Ok((Finished::default(), None));
        }
        match refused {
            Some(failure) => Err(failure),
            None => Ok((finished, None)),
        }
    }
}
