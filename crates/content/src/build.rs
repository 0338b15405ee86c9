//! Builds a body: reads its bytes as what its content type says.

use std::borrow::Cow;

use memchr::memchr_iter;
use myelin_json::Value;
use myelin_xml::{Document, Options, encoding};

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

/// How many bytes of memory [`build`] takes at most for the built body, the bytes that came included.
pub fn build_bytes(bytes: &[u8], content: &Content) -> usize {
    let built = match content.format {
        Format::Json => Value::nodes_bytes_of(bytes, &myelin_json::Options::default()),
        Format::Soap11 | Format::Soap12 | Format::Pox | Format::None | Format::Other => {
            Document::nodes_bytes_of(bytes, &Options::default())
        }
        // An element and a text for each field, and a name for each at worst.
        Format::Form => 2 * bytes.len() + memchr_iter(b'&', bytes).count() * 160,
        Format::Text => 2 * bytes.len(),
        // The parts, and Base64 of them.
        Format::Related | Format::FormData | Format::Binary => {
            3 * bytes.len() + Document::nodes_bytes_of(bytes, &Options::default())
        }
    };
    bytes.len() + built
}

/// Bytes as text, in the character set that they say; what is none is replaced.
fn text(bytes: &[u8], content: &Content) -> String {
    let utf8 = encoding::decode(content.charset(), bytes);
    let utf8 = utf8.map_or_else(|_| Cow::Borrowed(bytes), |(utf8, _)| utf8);
    String::from_utf8_lossy(&utf8).into_owned()
}

#[cfg(test)]
mod tests {
    use myelin_json::convert::Switches;

    use super::*;

    /// Memory that a body takes, and that it takes with its other form, in hundredths of a byte for each byte that came.
    fn measured(media_type: &str, body: &str) -> (usize, usize) {
        let content = Content { format: Format::of(Some(media_type.as_bytes())), detail: None, codings: None };
        let estimated = build_bytes(body.as_bytes(), &content);
        let built = build(body.as_bytes().to_vec(), &content, "").map_err(|(error, _)| error).unwrap();
        let switches = Switches::default();
        let alone = built.memory_bytes();
        let bound = alone + built.conversion_bytes();
        match &built {
            BuiltBody::Tree(tree) => drop(tree.json(&switches).unwrap()),
            BuiltBody::Json(json) => drop(json.tree(&switches).unwrap()),
        }
        let both = built.memory_bytes();
        assert!(alone <= estimated + 4_096, "{media_type}: {alone} bytes, expected at most {estimated}");
        assert!(both <= bound + 4_096, "{media_type}: {both} bytes, expected at most {bound}");
        let of_a_byte = |bytes: usize| (bytes - body.len()) * 100 / body.len();
        (of_a_byte(alone), of_a_byte(both))
    }

    /// The table of docs/content.md; a figure that falls is welcome there.
    #[test]
    fn memory_for_a_byte() {
        let check = |media_type: &str, body: &str, expected: (usize, usize)| {
            let measured = measured(media_type, body);
            println!("{media_type} {}…: {measured:?}", &body[..20]);
            assert!(measured.0 <= expected.0 && measured.1 <= expected.1, "{}…: {measured:?}", &body[..20]);
        };
        let many = |begin: &str, piece: &str, end: &str| format!("{begin}{}{end}", piece.repeat(200_000 / piece.len()));
        check("application/json", &many("[0", ",0", "]"), (2_010, 7_500));
        check("application/json", &many("{\"a\":0", ",\"a\":0", "}"), (680, 2_300));
        check("application/xml", &many("<r>", "<a/>", "</r>"), (1_010, 2_300));
        check("application/xml", &many("<r>", "<a b=''/>", "</r>"), (900, 2_100));
        let line = "  <line>\n    <item>A-4711</item>\n    <name>Bearing, deep groove</name>\n    <count>12</count>\n  </line>\n";
        check("text/xml", &many("<order>\n", line, "</order>"), (500, 1_000));
        let line = ",\n  { \"item\": \"A-4711\", \"name\": \"Bearing, deep groove\", \"count\": 12 }";
        check("application/json", &many("[0", line, "]"), (500, 1_000));
    }
}
