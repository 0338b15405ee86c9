//! What a body is read as: the form that its content type stands for.

use std::borrow::Cow;

use myelin_json::convert::Unconverted;
use myelin_xml::{Refusal, encoding};

use super::mime::parameter;
use super::rendering::Form;
use super::{Json, Tree, Way, form_data, package, wrapped};
use crate::endpoint::Charset;
use crate::exchange::{Content, Format};
use crate::fault::Fault;

/// Why a body is not what its content type says.
#[derive(Debug)]
pub(crate) enum Unreadable {
    Xml(myelin_xml::Error),
    Json(myelin_json::Error),
    /// The parts of it, or their heads.
    Multipart(&'static str),
    /// What it stands for has no place where it would have to stand.
    Refused(Refusal),
}

impl From<Refusal> for Unreadable {
    fn from(refusal: Refusal) -> Unreadable {
        Unreadable::Refused(refusal)
    }
}

impl From<myelin_xml::Error> for Unreadable {
    fn from(error: myelin_xml::Error) -> Unreadable {
        Unreadable::Xml(error)
    }
}

impl From<Unconverted> for Unreadable {
    fn from(error: Unconverted) -> Unreadable {
        match error {
            Unconverted::Json(error) => Unreadable::Json(error),
            Unconverted::Xml(error) => Unreadable::Xml(error),
        }
    }
}

impl From<myelin_json::Error> for Unreadable {
    fn from(error: myelin_json::Error) -> Unreadable {
        Unreadable::Json(error)
    }
}

impl Unreadable {
    /// The fault that it is of whoever sent the body.
    pub(crate) fn fault(self, is_response: bool) -> Box<Fault> {
        match self {
            Unreadable::Xml(error) => Fault::unreadable(is_response, format!("not well-formed XML: {error}")),
            Unreadable::Json(error) => Fault::unreadable(is_response, format!("not JSON: {error}")),
            Unreadable::Multipart(error) => {
                Fault::unreadable(is_response, format!("not the parts that its type says: {error}"))
            }
            Unreadable::Refused(refusal) => refusal.into(),
        }
    }
}

/// Builds the form that a content type stands for.
///
/// `query` are the parameters of the request, which are fields of a form, too.
/// Errors: the sender's, with the bytes it sent.
pub(super) fn build(bytes: Vec<u8>, content: &Content, query: &str) -> Result<Form, (Unreadable, Vec<u8>)> {
    let document = match content.format {
        _ if bytes.is_empty() => return Ok(Form::Tree(Box::new(Tree::empty()))),
        Format::Json => {
            let json = Json::read(bytes).map_err(|(error, bytes)| (error.into(), bytes))?;
            return Ok(Form::Json(Box::new(json)));
        }
        Format::Soap11 | Format::Soap12 | Format::Pox | Format::None | Format::Other => {
            let tree = Tree::read(bytes, content.charset()).map_err(|(error, bytes)| (error.into(), bytes))?;
            return Ok(Form::Tree(Box::new(tree)));
        }
        Format::Related => return Ok(Form::Tree(Box::new(package::read(bytes, content.whole_type())?))),
        Format::Form => {
            let charset = content.charset().and_then(Charset::of).unwrap_or(Charset::Utf8);
            wrapped::of_form(query, &text(&bytes, content), charset)
        }
        Format::Text => wrapped::of_text(&text(&bytes, content)),
        Format::Binary => wrapped::of_bytes(&bytes),
        Format::FormData => match form_data::read(&bytes, content.whole_type()) {
            Ok(document) => Ok(document),
            Err(error) => return Err((error, bytes)),
        },
    };
    let way = match content.format {
        Format::Form => Way::Form,
        Format::FormData => Way::FormData(parameter(content.whole_type(), "boundary").unwrap_or_default().into()),
        Format::Text => Way::Text,
        _ => Way::Binary,
    };
    match document {
        Ok(document) => Ok(Form::Tree(Box::new(Tree::standing_for(document, Some(bytes), way)))),
        Err(refusal) => Err((refusal.into(), bytes)),
    }
}

/// Bytes as text, in the character set that they say; what is none is replaced.
fn text(bytes: &[u8], content: &Content) -> String {
    let utf8 = encoding::decode(content.charset(), bytes);
    let utf8 = utf8.map_or_else(|_| Cow::Borrowed(bytes), |(utf8, _)| utf8);
    String::from_utf8_lossy(&utf8).into_owned()
}
