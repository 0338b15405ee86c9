//! The stylesheet that a document names for itself.

use myelin_xml::{Document, Kind};

/// Types of stylesheets that are of XSLT: registered ones and the one that everybody writes.
const TYPES: [&str; 4] = ["text/xsl", "text/xml", "application/xml", "application/xslt+xml"];

/// What the first `<?xml-stylesheet?>` of a document with a type of XSLT refers to; alternatives are left out.
///
/// Shape: a reference that is relative to the document; `#name` is an element inside it, which
/// [`Stylesheet::compile`](crate::Stylesheet::compile) finds by a URI with that fragment.
/// Source: Associating Style Sheets with XML documents 1.0, second edition.
pub fn associated_stylesheet(document: &Document) -> Option<String> {
    let prolog = document.children(document.document_node()).take_while(|&node| document.kind(node) != Kind::Element);
    let named = |node: &myelin_xml::NodeId| {
        document.kind(*node) == Kind::Instruction && document.qname(*node).local == "xml-stylesheet"
    };
    prolog.filter(named).find_map(|node| {
        let data = document.value(node);
        let kind = pseudo_attribute(&data, "type")?;
        let is_xslt = TYPES.contains(&kind.split(';').next().unwrap_or_default().trim());
        let is_alternative = pseudo_attribute(&data, "alternate").is_some_and(|value| value == "yes");
        pseudo_attribute(&data, "href").filter(|_| is_xslt && !is_alternative)
    })
}

/// The value of `name="value"` in the data of the instruction.
fn pseudo_attribute(data: &str, name: &str) -> Option<String> {
    let mut rest = data;
    loop {
        let (written, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (value, after) = behind[1..].split_once(quote)?;
        if written.trim() == name {
            let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
            return Some(
                plain.iter().fold(value.to_owned(), |text, (reference, letter)| text.replace(reference, letter)),
            );
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(prolog: &str, expected: Option<&str>) {
        let source = format!("{prolog}<a><?xml-stylesheet type='text/xsl' href='late.xsl'?></a>");
        let document = Document::parse(source.into_bytes(), &myelin_xml::Options::default()).expect("a document");
        assert_eq!(associated_stylesheet(&document).as_deref(), expected, "{prolog}");
    }

    #[test]
    fn a_document_names_its_stylesheet() {
        check("", None);
        check("<?xml-stylesheet type=\"text/css\" href=\"a.css\"?>", None);
        check("<?xml-stylesheet href = 'a.xsl?b&amp;c' type='text/xsl'?>", Some("a.xsl?b&c"));
        check(
            "<?xml-stylesheet href='b.xsl' type='text/xsl' alternate='yes'?><?xml-stylesheet type='application/xml; charset=utf-8' href='#s'?>",
            Some("#s"),
        );
        check("<?xml-stylesheet type='text/xsl'?><?xml-stylesheet type?>", None);
    }
}
