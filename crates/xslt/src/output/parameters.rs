//! A document that says how a result is written: `output:serialization-parameters`.
//!
//! Source: XSLT and XQuery Serialization 3.1 §3.1.

use myelin_xml::{DoctypePolicy, Document, Kind, NodeId, Options, encoding};

use super::OutputProperties;
use crate::name::ExpandedName;

const OUTPUT: &str = "http://www.w3.org/2010/xslt-xquery-serialization";

/// Reads such a document.
///
/// Errors: a sentence for whoever wrote it.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, String> {
    let (text, declared_encoding) = encoding::decode(None, bytes).map_err(|error| error.to_string())?;
    let options = Options { declared_encoding, doctype: DoctypePolicy::Skip, ..Options::default() };
    Document::parse(text.into_owned(), &options).map_err(|error| error.to_string())
}

/// Lets properties be as a document says.
///
/// Errors: a code and a sentence; `SEPM0017` where the document is not as it should be.
pub(crate) fn apply(document: &Document, properties: &mut OutputProperties) -> Result<(), (&'static str, String)> {
    let refused = |message: String| ("SEPM0017", message);
    let root = document.root_element().filter(|root| {
        let name = document.qname(*root);
        name.namespace == OUTPUT && name.local == "serialization-parameters"
    });
    let root = root.ok_or_else(|| refused("the document is no output:serialization-parameters".to_owned()))?;
    let mut seen: Vec<&str> = Vec::new();
    for child in document.children(root).filter(|child| document.kind(*child) == Kind::Element) {
        let name = document.qname(child);
        if name.namespace.is_empty() {
            return Err(refused(format!("<{}> is in no namespace", name.local)));
        }
        // What others say of theirs is read over.
        if name.namespace != OUTPUT {
            continue;
        }
        if seen.contains(&name.local) {
            return Err(("SEPM0019", format!("<{}> is there twice", name.local)));
        }
        seen.push(name.local);
        parameter(document, child, name.local, properties)?;
    }
    Ok(())
}

fn parameter(
    document: &Document,
    element: NodeId,
    local: &str,
    properties: &mut OutputProperties,
) -> Result<(), (&'static str, String)> {
    let refused = |message: String| ("SEPM0017", message);
    if local == "use-character-maps" {
        let mut characters: Vec<char> = Vec::new();
        for map in document.children(element).filter(|map| document.kind(*map) == Kind::Element) {
            let text = |name| document.attribute(map, "", name);
            let (Some(character), Some(text)) = (text("character"), text("map-string")) else {
                return Err(refused("a character map needs character and map-string".to_owned()));
            };
            let mut letters = character.chars();
            let (Some(character), None) = (letters.next(), letters.next()) else {
                return Err(refused("a character map is for one character".to_owned()));
            };
            if characters.contains(&character) {
                return Err(("SEPM0018", format!("the character {character:?} is mapped twice")));
            }
            characters.push(character);
            properties.map_character(character, &text);
        }
        return Ok(());
    }
    let value = document.attribute(element, "", "value");
    let value = value.ok_or_else(|| refused(format!("<{local}> needs a value")))?;
    if matches!(local, "cdata-section-elements" | "suppress-indentation") {
        let names: Option<Vec<ExpandedName>> =
            value.split_ascii_whitespace().map(|word| name_of(document, element, word)).collect();
        let names = names.ok_or_else(|| refused(format!("{value:?} is no list of names")))?;
        properties.add_names(local, names);
        return Ok(());
    }
    if local == "method" && value.contains(':') {
        return Ok(());
    }
    properties.set(local, &value).map_err(refused)
}

/// A name as it stands in a document; without a prefix it is in the default namespace.
fn name_of(document: &Document, element: NodeId, word: &str) -> Option<ExpandedName> {
    if word.starts_with("Q{") {
        return ExpandedName::parse(word);
    }
    let (prefix, local) = word.split_once(':').unwrap_or(("", word));
    let namespace = match document.lookup_namespace(element, prefix) {
        Some(namespace) => namespace,
        None if prefix.is_empty() => "",
        None => return None,
    };
    myelin_xml::is_ncname(local).then(|| ExpandedName::new(namespace, local))
}
