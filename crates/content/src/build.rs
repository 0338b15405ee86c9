//! Builds a body: reads its bytes as what its content type says.

use std::borrow::Cow;

use myelin_xml::encoding;

use crate::built_body::BuiltBody;
use crate::charset::Charset;
use crate::format::{Content, Format};
use crate::json::Json;
use crate::mime::parameter;
use crate::output_form::OutputForm;
use crate::tree::Tree;
use crate::unreadable::Unreadable;
use crate::{form_data, package, wrapped};

/// Builds a body: reads its bytes as what its content type says.
///
/// Shape: `query` is the query of the request, whose parameters are fields of a form, too.
/// Errors: the sender's, with the bytes it sent.
pub fn build(bytes: Vec<u8>, content: &Content, query: &str) -> Result<BuiltBody, (Unreadable, Vec<u8>)> {
    let document = match content.format {
        _ if bytes.is_empty() => return Ok(BuiltBody::Tree(Box::new(Tree::empty()))),
        Format::Json => {
            let json = Json::read(bytes).map_err(|(error, bytes)| (error.into(), bytes))?;
            return Ok(BuiltBody::Json(Box::new(json)));
        }
        Format::Soap11 | Format::Soap12 | Format::Pox | Format::None | Format::Other => {
            let tree = Tree::read(bytes, content.charset()).map_err(|(error, bytes)| (error.into(), bytes))?;
            return Ok(BuiltBody::Tree(Box::new(tree)));
        }
        Format::Related => return Ok(BuiltBody::Tree(Box::new(package::read(bytes, content.whole_type())?))),
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
    let output_form = match content.format {
        Format::Form => OutputForm::Form,
        Format::FormData => {
            OutputForm::FormData(parameter(content.whole_type(), "boundary").unwrap_or_default().into())
        }
        Format::Text => OutputForm::Text,
        _ => OutputForm::Binary,
    };
    match document {
        Ok(document) => Ok(BuiltBody::Tree(Box::new(Tree::converted(document, Some(bytes), output_form)))),
        Err(refusal) => Err((refusal.into(), bytes)),
    }
}

/// Bytes as text, in the character set that they say; what is none is replaced.
fn text(bytes: &[u8], content: &Content) -> String {
    let utf8 = encoding::decode(content.charset(), bytes);
    let utf8 = utf8.map_or_else(|_| Cow::Borrowed(bytes), |(utf8, _)| utf8);
    String::from_utf8_lossy(&utf8).into_owned()
}
