//! `<fastXSLT>`: a whole message becomes what a stylesheet makes of it.

use std::sync::Arc;

use myelin_message::Body;
use myelin_xml::{Document, Options};
use myelin_xslt::Form;

use crate::loader::Loader;
use crate::mediators::xslt::nothing;
use crate::spec::{Built, Spec};
use crate::stylesheets::StylesheetKey;
use crate::stylesheets::{Input, Job, Owner, Product, Sheet};
use myelin_config::element::Element;
use myelin_content::Tree;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};

pub(super) const SPEC: Spec = Spec::new("fastXSLT", DOC, build);

const DOC: &str = r#"
Replaces the whole message by what a stylesheet makes of it; of SOAP, that is the envelope.

- `key` (required): as in `xslt`.

The result is sent as `xsl:output` says, whatever it is, with the content type of the message
and the character set of the result.

    <fastXSLT key="quote"/>
"#;

struct FastXslt {
    key: StylesheetKey,
    /// What it needs where the bytes of the message will do, and where they will not.
    read: Need,
    built: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let key = StylesheetKey::read(element, &[], loader)?;
    let need = |start: Need| key.expression().into_iter().fold(start, Need::and);
    let (read, built) = (need(Need::read()), need(Need::tree()));
    Ok(Box::new(FastXslt { key, read, built }))
}

impl FastXslt {
    /// Transforms the message's bytes, if they are at hand in UTF-8.
    fn on_bytes<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let sheet = match self.key.sheet(exchange, context) {
            Ok(sheet) => Arc::clone(sheet),
            Err(fault) => return Step::Done(exchange, Err(fault)),
        };
        let Some(bytes) = exchange.utf8().map(std::mem::take) else { return self.on_tree(exchange, context) };
        job(sheet, bytes, Owner::Message).run(exchange, context, |exchange, outcome| match outcome {
            Ok(None) => self.on_tree(exchange, context),
            outcome => put(outcome, exchange),
        })
    }

    /// The same for what was changed, is in another encoding, or is not well-formed.
    fn on_tree<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.built, exchange, context, |exchange| match self.text(exchange, context) {
            Ok(job) => job.run(exchange, context, |exchange, outcome| put(outcome, exchange)),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }

    fn text(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Job> {
        let sheet = Arc::clone(self.key.sheet(exchange, context)?);
        match exchange.tree()? {
            tree if tree.is_empty() => Err(nothing()),
            tree => Ok(job(sheet, without_declaration(&tree.text()), Owner::Nobody)),
        }
    }
}

fn job(sheet: Arc<Sheet>, bytes: Vec<u8>, owner: Owner) -> Job {
    Job { sheet, input: Input::Whole(bytes), owner, form: Form::Document, parameters: Vec::new() }
}

/// Makes the result the message's body.
fn put<'a>(outcome: Outcome<Option<Product>>, exchange: &'a mut Exchange) -> Step<'a> {
    let outcome = outcome.and_then(|product| {
        let Product { sheet, out, .. } = product.ok_or_else(Fault::missing)?;
        let format = exchange.content.format;
        let made = if format.is_xml() { None } else { Document::parse(out.clone(), &Options::default()).ok() };
        match made {
            // XML in the place of JSON or a form leaves as that again.
            Some(document) => exchange.message.body = Body::Built(Box::new(Tree::from_document(document))),
            None => exchange.set_bytes(out),
        }
        if format.is_xml() {
            exchange.set_charset(sheet.charset());
        }
        Ok(Flow::Next)
    });
    Step::Done(exchange, outcome)
}

/// The same text with blanks in the place of its XML declaration, which may name another encoding.
fn without_declaration(text: &str) -> Vec<u8> {
    let end = if text.starts_with("<?xml ") { text.find("?>").map_or(0, |at| at + 2) } else { 0 };
    let mut bytes = text.as_bytes().to_vec();
    bytes[..end].fill(b' ');
    bytes
}

impl Mediator for FastXslt {
    fn effect(&self) -> Effect<'_> {
        Effect::changing(self.read.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.read, exchange, context, |exchange| self.on_bytes(exchange, context))
    }
}
