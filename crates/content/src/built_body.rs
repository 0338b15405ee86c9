//! A built body, and how it is rendered: in the format that `messageType` names, else in the one it came in.

use std::any::Any;
use std::sync::Arc;

use myelin_json::convert::Switches;
use myelin_message::Body;
use myelin_soap::Version;

use crate::enclosure::Enclosure;
use crate::format::Format;
use crate::json::Json;
use crate::mime::with_parameter;
use crate::output_form::OutputForm;
use crate::tree::Tree;
use crate::unreadable::Unreadable;

/// A built body.
pub enum BuiltBody {
    /// XML, or what is worked on as XML: forms, text, bytes and packages.
    Tree(Box<Tree>),
    /// JSON.
    Json(Box<Json>),
}

/// Why a built body cannot be taken: it is neither a [`Tree`] nor [`Json`].
#[derive(Clone, Copy, Debug)]
pub struct UnknownForm;

/// What a body is to be rendered as.
pub struct Rendering {
    /// The format of its bytes.
    pub format: Format,
    /// The content type of a body in parts as it came; empty where it came in none.
    pub whole_type: String,
    /// The package around XML that came in none.
    pub enclosure: Enclosure,
    /// A boundary that stands in no body, for formats in parts.
    pub boundary: String,
    /// How JSON and XML are converted into each other.
    pub switches: Arc<Switches>,
}

impl BuiltBody {
    /// Takes the built body out of a message; `None` where none was built.
    ///
    /// Errors: [`UnknownForm`], ours; the body is gone then.
    pub fn take(body: &mut Body) -> Result<Option<BuiltBody>, UnknownForm> {
        if !matches!(body, Body::Built(_)) {
            return Ok(None);
        }
        let Body::Built(built) = body.take() else { return Err(UnknownForm) };
        let built: Box<dyn Any> = match (built as Box<dyn Any>).downcast::<Tree>() {
            Ok(tree) => return Ok(Some(BuiltBody::Tree(tree))),
            Err(other) => other,
        };
        built.downcast::<Json>().map(|json| Some(BuiltBody::Json(json))).map_err(|_| UnknownForm)
    }

    /// Makes it the body of a message again.
    pub fn into_body(self) -> Body {
        Body::Built(match self {
            BuiltBody::Tree(tree) => tree,
            BuiltBody::Json(json) => json,
        })
    }

    /// About how many bytes of memory it takes, with its other form where that was made.
    pub fn memory_bytes(&self) -> usize {
        match self {
            BuiltBody::Tree(tree) => tree.memory_bytes(),
            BuiltBody::Json(json) => json.memory_bytes(),
        }
    }

    /// How many bytes of memory its other form takes at most, with the text between the two.
    pub fn conversion_bytes(&self) -> usize {
        match self {
            BuiltBody::Tree(tree) => tree.conversion_bytes(),
            BuiltBody::Json(json) => json.conversion_bytes(),
        }
    }

    /// About how many bytes there are to convert.
    pub fn size_bytes(&self) -> usize {
        match self {
            BuiltBody::Tree(tree) => tree.document().size_bytes(),
            BuiltBody::Json(json) => json.value().source().len(),
        }
    }

    /// Renders the body.
    ///
    /// Shape: the bytes, and of a format in parts its content type.
    /// Errors: the sender's, where its body cannot be in that format.
    pub fn render(self, rendering: &Rendering) -> Result<(Vec<u8>, Option<String>), Unreadable> {
        match rendering.format {
            Format::FormData | Format::Related => self.in_parts(rendering),
            _ => Ok((self.in_one(rendering)?, None)),
        }
    }

    fn in_parts(self, rendering: &Rendering) -> Result<(Vec<u8>, Option<String>), Unreadable> {
        let boundary = rendering.boundary.as_str();
        let mut tree = self.into_tree(Arc::clone(&rendering.switches))?;
        match (rendering.format, tree.output_form()) {
            (Format::FormData, OutputForm::FormData(_)) | (Format::Related, OutputForm::Package(_))
                if !rendering.whole_type.is_empty() =>
            {
                // The boundary that came stays as long as it stands in nothing that was added.
                let keeps_boundary = tree.keeps_boundary()?;
                let whole_type = match keeps_boundary {
                    true => rendering.whole_type.clone(),
                    false => with_parameter(&rendering.whole_type, "boundary", boundary),
                };
                if !keeps_boundary {
                    tree.set_boundary(boundary);
                }
                Ok((tree.into_sent()?, Some(whole_type)))
            }
            (Format::Related, _) => {
                tree.write_as(OutputForm::Xml)?;
                let media_type = if tree.is_plain() { "application/xml" } else { tree.envelope().version.media_type() };
                let content_type = format!("{media_type}; charset=UTF-8");
                let bytes = rendering.enclosure.enclose(&tree.into_sent()?, &content_type, boundary);
                Ok((bytes, Some(rendering.enclosure.content_type(boundary, &content_type))))
            }
            _ => {
                tree.write_as(OutputForm::FormData(boundary.into()))?;
                Ok((tree.into_sent()?, Some(format!("multipart/form-data; boundary=\"{boundary}\""))))
            }
        }
    }

    fn in_one(self, rendering: &Rendering) -> Result<Vec<u8>, Unreadable> {
        let switches = || Arc::clone(&rendering.switches);
        match rendering.format {
            Format::Soap11 => Ok(self.into_xml(switches())?.enveloped(Some(Version::Soap11))?.into_sent()?),
            Format::Soap12 => Ok(self.into_xml(switches())?.enveloped(Some(Version::Soap12))?.into_sent()?),
            Format::Pox => Ok(self.into_xml(switches())?.enveloped(None)?.into_sent()?),
            Format::Form => self.written_as(OutputForm::Form, switches()),
            Format::Json => match self {
                BuiltBody::Json(json) => Ok(json.into_json()),
                tree => tree.written_as(OutputForm::Json(switches()), switches()),
            },
            Format::Text | Format::Binary => match self {
                BuiltBody::Json(json) => Ok(json.into_json()),
                tree => tree.written_as(OutputForm::Text, switches()),
            },
            _ => match self {
                BuiltBody::Json(json) => json.into_sent(),
                BuiltBody::Tree(tree) => tree.wrapped_bytes().map_or_else(|| tree.into_sent(), Ok),
            },
        }
    }

    /// The body as a tree, which keeps its output form.
    fn into_tree(self, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        match self {
            BuiltBody::Tree(tree) => Ok(tree),
            BuiltBody::Json(json) => json.into_tree(switches),
        }
    }

    /// The body as a tree that is sent as XML from now on.
    ///
    /// Errors: the sender's, where its JSON is deeper or larger than XML may be, or its package has no room.
    pub fn into_xml(self, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        let mut tree = self.into_tree(switches)?;
        tree.write_as(OutputForm::Xml)?;
        Ok(tree)
    }

    fn written_as(self, way: OutputForm, switches: Arc<Switches>) -> Result<Vec<u8>, Unreadable> {
        let mut tree = self.into_tree(switches)?;
        tree.write_as(way)?;
        tree.into_sent()
    }

    /// The tree, where it was made before.
    pub fn cached_tree(&mut self) -> Option<&mut Tree> {
        match self {
            BuiltBody::Tree(tree) => Some(tree),
            BuiltBody::Json(json) => json.cached_tree(),
        }
    }

    /// The JSON, where it was made before.
    pub fn cached_json(&mut self) -> Option<&mut Json> {
        match self {
            BuiltBody::Tree(tree) => tree.cached_json(),
            BuiltBody::Json(json) => Some(json),
        }
    }
}
