//! W3C XML Schema.

use std::fs;
use std::path::Path;

use myelin_soap::escaped;
use uppsala::{Document, Parser, ValidationError, XsdValidator};

use crate::schemas::{Complaint, Schema};

/// How deep a document may be nested that is checked: each level takes a part of a stack.
const DEPTH: u32 = 256;

/// How deep one may be that is checked on the stack that there is.
const SHALLOW: u32 = 32;

/// The stack for deeper ones, in bytes; without optimisation a level takes more than eight kilobytes.
const STACK_BYTES: usize = 16 << 20;

/// How many complaints are told of one document.
const COMPLAINTS: usize = 20;

/// How long a document may be that takes no time, where no pattern tries back and forth.
const PROMPT_BYTES: usize = 32 * 1024;

/// The library looks for the place of each complaint from the start of the document on. With more complaints than so
/// many bytes are looked through for, they are told without their places.
const PLACES_BYTES: usize = 32 << 20;

/// In a shorter document the places of all complaints are found in no time.
const SHORT_BYTES: usize = 4 * 1024;

/// The namespace of schemas.
pub(crate) const NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// One of the schemas that count together, as a file in the folder of all.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The name of the file.
    pub file: String,
    /// What it declares things in; empty for none.
    pub namespace: String,
}

/// A compiled schema, with all that it includes and imports.
pub(super) struct XmlSchema {
    validator: XsdValidator,
    /// Whether one of its patterns may try back and forth.
    backtracks: bool,
}

impl XmlSchema {
    /// Compiles schemas that lie in a folder, with what they refer to by the names of files there.
    ///
    /// Errors: a sentence that says what is wrong with them; the configuration's.
    pub(super) fn compile(folder: &Path, parts: &[Part]) -> Result<XmlSchema, String> {
        let mut top = format!("<xs:schema xmlns:xs=\"{NAMESPACE}\">");
        for Part { file, namespace } in parts {
            top.push_str(&match namespace.as_str() {
                "" => format!("<xs:include schemaLocation=\"{file}\"/>"),
                uri => format!("<xs:import namespace=\"{}\" schemaLocation=\"{file}\"/>", escaped(uri)),
            });
        }
        top.push_str("</xs:schema>");
        let document = Parser::new().parse(&top).map_err(|error| error.to_string())?;
        let validator = XsdValidator::from_schema_with_base_path(&document, Some(folder));
        Ok(XmlSchema { validator: validator.map_err(|error| error.to_string())?, backtracks: backtracks(folder)? })
    }
}

/// Whether one of the schemas in a folder has a pattern that repeats more than once: the library tries all ways to part a
/// text among repetitions.
fn backtracks(folder: &Path) -> Result<bool, String> {
    for file in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = file.map_err(|error| error.to_string())?.path();
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        let document = Parser::new().parse(&text).map_err(|error| error.to_string())?;
        let mut patterns = document.get_elements_by_tag_name_ns(NAMESPACE, "pattern").into_iter();
        let repeats = |pattern: &str| pattern.matches(['*', '+', '{']).count() > 1;
        if patterns.any(|node| document.get_attribute(node, "value").is_some_and(repeats)) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Schema for XmlSchema {
    fn check(&self, text: &str) -> Result<Vec<Complaint>, String> {
        match Parser::new().with_max_depth(SHALLOW).parse(text) {
            Ok(document) => Ok(self.complaints(document, text)),
            // Too deep, or no XML: the second attempt tells.
            Err(_) => stacker::grow(STACK_BYTES, || {
                let document = Parser::new().with_max_depth(DEPTH).parse(text).map_err(|error| error.to_string())?;
                Ok(self.complaints(document, text))
            }),
        }
    }

    fn prompt_bytes(&self) -> usize {
        if self.backtracks { 0 } else { PROMPT_BYTES }
    }
}

impl XmlSchema {
    fn complaints(&self, document: Document<'_>, text: &str) -> Vec<Complaint> {
        if text.len() <= SHORT_BYTES {
            return told(self.validator.validate(&document), true);
        }
        // Without the text the library looks for no places.
        let found = self.validator.validate(&document.into_static());
        if found.is_empty() || found.len().saturating_mul(text.len()) > PLACES_BYTES {
            return told(found, false);
        }
        match Parser::new().with_max_depth(DEPTH).parse(text) {
            Ok(document) => told(self.validator.validate(&document), true),
            Err(_) => told(found, false),
        }
    }
}

fn told(found: Vec<ValidationError>, with_places: bool) -> Vec<Complaint> {
    let complaint = |error: ValidationError| Complaint {
        message: error.message,
        place: match (error.line, error.column) {
            (Some(line), Some(column)) if with_places => format!("line {line}, column {column}"),
            _ => String::new(),
        },
    };
    found.into_iter().take(COMPLAINTS).map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:o' \
        xmlns='urn:o' elementFormDefault='qualified'>\
        <xs:element name='order'><xs:complexType><xs:sequence>\
        <xs:element name='id' type='xs:int'/><xs:element name='item' maxOccurs='2' type='xs:string'/>\
        </xs:sequence></xs:complexType></xs:element></xs:schema>";

    fn schema(texts: &[(&str, &str)]) -> Result<XmlSchema, String> {
        let folder = tempfile::tempdir().unwrap();
        let part = |(at, (namespace, text)): (usize, &(&str, &str))| {
            let file = format!("{at}.xsd");
            fs::write(folder.path().join(&file), text).unwrap();
            Part { file, namespace: (*namespace).to_owned() }
        };
        let parts: Vec<Part> = texts.iter().enumerate().map(part).collect();
        XmlSchema::compile(folder.path(), &parts)
    }

    #[test]
    fn a_document_is_valid_or_each_complaint_is_told_with_its_place() {
        let schema = schema(&[("urn:o", ORDER)]).unwrap();
        let check = |text: &str| schema.check(text).unwrap();
        assert_eq!(check("<o:order xmlns:o='urn:o'><o:id>1</o:id><o:item>a</o:item></o:order>"), []);
        let found = check("<order xmlns='urn:o'>\n<id>x</id><item/><item/><item/></order>");
        assert!(found.len() >= 2 && found[0].place.starts_with("line "), "{found:?}");
        assert_eq!(check("<other/>").len(), 1);
    }

    #[test]
    fn several_schemas_count_together() {
        let plain =
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a' type='xs:date'/></xs:schema>";
        let schema = schema(&[("urn:o", ORDER), ("", plain)]).unwrap();
        assert_eq!(schema.check("<a>2026-11-21</a>").unwrap(), []);
        assert_eq!(schema.check("<a>x</a>").unwrap().len(), 1);
        assert_eq!(schema.check("<o:order xmlns:o='urn:o'><o:id>1</o:id><o:item/></o:order>").unwrap(), []);
    }

    #[test]
    fn the_places_of_very_many_complaints_are_not_looked_for() {
        let list = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='list'><xs:complexType>\
                    <xs:sequence><xs:element name='n' maxOccurs='unbounded' type='xs:int'/></xs:sequence>\
                    </xs:complexType></xs:element></xs:schema>";
        let schema = schema(&[("", list)]).unwrap();
        let check = |right: usize, wrong: usize| {
            let text = format!("<list>{}{}</list>", "<n>1</n>".repeat(right), "<n>x</n>".repeat(wrong));
            schema.check(&text).unwrap()
        };
        assert_eq!(check(3_000, 0), []);
        assert_eq!(check(3_000, 1)[0].place, format!("line 1, column {}", 7 + 3_000 * 8));
        let many = check(0, 3_000);
        assert!(many.len() == COMPLAINTS && many.iter().all(|complaint| complaint.place.is_empty()), "{many:?}");
    }

    #[test]
    fn only_a_schema_whose_patterns_repeat_once_at_most_is_prompt() {
        let check = |pattern: &str, expected: bool| {
            let text = format!(
                "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a'><xs:simpleType>\
                 <xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType>\
                 </xs:element></xs:schema>"
            );
            assert_eq!(schema(&[("", &text)]).unwrap().prompt_bytes() > 0, expected, "{pattern}");
        };
        check("[A-Z]{3}", true);
        check("[0-9]+", true);
        check("(a*)*b", false);
        check("[a-z]+[a-z]{2,9}", false);
    }

    #[test]
    fn what_is_too_deep_or_no_xml_cannot_be_checked() {
        let schema = schema(&[("urn:o", ORDER)]).unwrap();
        assert!(schema.check("<a>").is_err());
        assert!(schema.check(&("<a>".repeat(10_000) + &"</a>".repeat(10_000))).is_err());
    }

    #[test]
    fn a_document_as_deep_as_may_be_is_checked_on_a_small_stack() {
        let tree = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='a'><xs:complexType>\
                    <xs:sequence><xs:element ref='a' minOccurs='0'/></xs:sequence></xs:complexType></xs:element></xs:schema>";
        let schema = schema(&[("", tree)]).unwrap();
        let depth = DEPTH as usize - 1;
        let text = "<a>".repeat(depth) + &"</a>".repeat(depth);
        let thread = std::thread::Builder::new().stack_size(2 << 20);
        let found = thread.spawn(move || schema.check(&text)).unwrap().join().unwrap();
        assert_eq!(found, Ok(Vec::new()));
    }
}
