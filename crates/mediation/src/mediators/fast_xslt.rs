//! `<fastXSLT>`: a whole message becomes what a stylesheet makes of it.

use std::sync::Arc;

use myelin_xslt::Form;

use super::xslt::{Key, nothing};
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Mediator, Spec, Step};
use crate::stylesheet::{Job, Owner};

pub(super) const SPEC: Spec = Spec { element: "fastXSLT", doc: DOC, build };

const DOC: &str = r#"
Replaces the whole message by what a stylesheet makes of it: of SOAP the envelope, of plain XML its root element.

- `key` (required): as in `xslt`.

The result is sent as `xsl:output` says, whatever it is, with the content type of the message
and the character set of the result.

    <fastXSLT key="quote"/>
"#;

struct FastXslt {
    key: Key,
    need: Need,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let key = Key::read(element, &[], loader)?;
    let need = key.expression().into_iter().fold(Need::built(), Need::and);
    Ok(Box::new(FastXslt { key, need }))
}

impl FastXslt {
    /// What is to be done for this message.
    fn begin(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Job> {
        let sheet = Arc::clone(self.key.sheet(exchange, scene)?);
        let tree = exchange.tree_mut()?;
        if tree.is_empty() {
            return Err(nothing());
        }
        let source = match tree.is_plain() {
            true => tree.envelope().payload(tree.document()).ok_or_else(nothing)?,
            false => tree.document().document_node(),
        };
        let document = tree.hand_out();
        let out = Vec::with_capacity(document.source().len());
        let (owner, form, parameters) = (Owner::Message, Form::Document, Vec::new());
        Ok(Job { sheet, document, owner, source, form, parameters, out })
    }
}

impl Mediator for FastXslt {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| match self.begin(exchange, scene) {
            Ok(job) => job.run(exchange, scene, |exchange, product| {
                exchange.set_bytes(product.out);
                exchange.set_charset(product.sheet.charset());
                Ok(())
            }),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}
