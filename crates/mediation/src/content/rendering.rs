//! The form in which a body leaves: the one that `messageType` names, else the one that it came in.

use std::any::Any;
use std::sync::Arc;

use myelin_json::convert::Switches;
use myelin_message::Body;
use myelin_soap::Version;

use super::convert::LONG_BYTES;
use super::enclosure::Enclosure;
use super::mime::with_parameter;
use super::{Json, Tree, Unreadable, Way, bring_built};
use crate::apart::apart;
use crate::engine;
use crate::exchange::{Exchange, Format, Scene};
use crate::fault::Outcome;
use crate::identity;

/// A built body, of whichever kind.
pub(super) enum Form {
    Tree(Box<Tree>),
    Json(Box<Json>),
}

/// What a body is to become.
struct Target {
    format: Format,
    /// The type of a body in parts as it came; empty where it came in none.
    whole_type: String,
    /// The package of XML that comes in none.
    enclosure: Enclosure,
    /// A word that is in no body, for what is written in parts.
    boundary: String,
    switches: Arc<Switches>,
}

/// Brings the body of a message that is about to leave into its form.
///
/// Shape: a body that has its form, or that nobody understands, stays as it is, read or not; any other becomes bytes.
/// Errors: faults of whoever sent it, and the bus's where it has no such form; the body is gone then.
pub(crate) async fn take_form(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    if exchange.has_its_form() {
        return Ok(());
    }
    // Few messages are converted: on the heap, that does not make every exchange larger.
    Box::pin(convert(exchange, scene)).await
}

async fn convert(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    bring_built(exchange, scene).await?;
    let Some(form) = Form::take(&mut exchange.message.body)? else { return Ok(()) };
    let format = exchange.wanted_format();
    // A new identifier is in no message that was written before it.
    let boundary = format!("MIMEBoundary_{}", identity::new(scene.transport.now()));
    let whole_type = exchange.content.whole_type().to_owned();
    let enclosure = exchange.enclosure().unwrap_or(Enclosure::SwA);
    let switches = Arc::clone(&scene.bus.settings.json);
    let target = Target { format, whole_type, enclosure, boundary, switches };
    let rendered = match form.size_bytes() <= LONG_BYTES {
        true => form.rendered(&target),
        false => apart(scene, move || form.rendered(&target)).await?,
    };
    let (bytes, whole_type) = rendered.map_err(|error| exchange.unreadable(error))?;
    exchange.take_form(bytes, format, whole_type)
}

impl Form {
    /// Takes the built body out of a message; `None` where none was built.
    pub(super) fn take(body: &mut Body) -> Outcome<Option<Form>> {
        if !matches!(body, Body::Built(_)) {
            return Ok(None);
        }
        let Body::Built(built) = body.take() else { return Err(engine::missing()) };
        let built: Box<dyn Any> = match (built as Box<dyn Any>).downcast::<Tree>() {
            Ok(tree) => return Ok(Some(Form::Tree(tree))),
            Err(other) => other,
        };
        built.downcast::<Json>().map(|json| Some(Form::Json(json))).map_err(|_| engine::missing())
    }

    /// It as the body of a message.
    pub(super) fn into_body(self) -> Body {
        Body::Built(match self {
            Form::Tree(tree) => tree,
            Form::Json(json) => json,
        })
    }

    /// How much there is to convert, about.
    fn size_bytes(&self) -> usize {
        match self {
            Form::Tree(tree) => tree.document().size_bytes(),
            Form::Json(json) => json.value().source().len(),
        }
    }

    /// The bytes of that form, and of one in parts the type.
    ///
    /// Errors: where there are none.
    fn rendered(self, target: &Target) -> Result<(Vec<u8>, Option<String>), Unreadable> {
        match target.format {
            Format::FormData | Format::Related => self.in_parts(target),
            _ => Ok((self.in_one(target)?, None)),
        }
    }

    fn in_parts(self, target: &Target) -> Result<(Vec<u8>, Option<String>), Unreadable> {
        let boundary = target.boundary.as_str();
        let mut tree = self.into_tree(Arc::clone(&target.switches))?;
        match (target.format, tree.way()) {
            (Format::FormData, Way::FormData(_)) | (Format::Related, Way::Package(_))
                if !target.whole_type.is_empty() =>
            {
                // The boundary that came serves as long as nothing that was put in holds it.
                let keeps_boundary = tree.keeps_boundary()?;
                let whole_type = match keeps_boundary {
                    true => target.whole_type.clone(),
                    false => with_parameter(&target.whole_type, "boundary", boundary),
                };
                if !keeps_boundary {
                    tree.rebound(boundary);
                }
                Ok((tree.into_sent()?, Some(whole_type)))
            }
            (Format::Related, _) => {
                tree.write_as(Way::Xml)?;
                let media_type = if tree.is_plain() { "application/xml" } else { tree.envelope().version.media_type() };
                let content_type = format!("{media_type}; charset=UTF-8");
                let bytes = target.enclosure.enclose(&tree.into_sent()?, &content_type, boundary);
                Ok((bytes, Some(target.enclosure.content_type(boundary, &content_type))))
            }
            _ => {
                tree.write_as(Way::FormData(boundary.into()))?;
                Ok((tree.into_sent()?, Some(format!("multipart/form-data; boundary=\"{boundary}\""))))
            }
        }
    }

    fn in_one(self, target: &Target) -> Result<Vec<u8>, Unreadable> {
        let switches = || Arc::clone(&target.switches);
        match target.format {
            Format::Soap11 => Ok(self.into_xml(switches())?.enveloped(Some(Version::Soap11))?.into_sent()?),
            Format::Soap12 => Ok(self.into_xml(switches())?.enveloped(Some(Version::Soap12))?.into_sent()?),
            Format::Pox => Ok(self.into_xml(switches())?.enveloped(None)?.into_sent()?),
            Format::Form => self.written_as(Way::Form, switches()),
            Format::Json => match self {
                Form::Json(json) => Ok(json.into_json()),
                tree => tree.written_as(Way::Json(switches()), switches()),
            },
            Format::Text | Format::Binary => match self {
                Form::Json(json) => Ok(json.into_json()),
                tree => tree.written_as(Way::Text, switches()),
            },
            _ => match self {
                Form::Json(json) => json.into_sent(),
                Form::Tree(tree) => tree.held().map_or_else(|| tree.into_sent(), Ok),
            },
        }
    }

    /// The tree of it, whatever it is written as.
    fn into_tree(self, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        match self {
            Form::Tree(tree) => Ok(tree),
            Form::Json(json) => json.into_tree(switches),
        }
    }

    /// The tree of it, which is sent as XML from now on.
    pub(super) fn into_xml(self, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        let mut tree = self.into_tree(switches)?;
        tree.write_as(Way::Xml)?;
        Ok(tree)
    }

    fn written_as(self, way: Way, switches: Arc<Switches>) -> Result<Vec<u8>, Unreadable> {
        let mut tree = self.into_tree(switches)?;
        tree.write_as(way)?;
        tree.into_sent()
    }
}
