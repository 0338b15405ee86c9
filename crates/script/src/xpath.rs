//! XPath for scripts: over a piece of XML that a script holds as text.

use myelin_xml::{Document, Kind, Options, WriteOptions, write};
use myelin_xpath::{
    Argument, Atomic, Context, Declared, Environment, Expression, Item, NoHost, NodeRef, Value, Version,
};

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// Nodes, each with its text, and elements with their XML.
    Nodes(Vec<(String, Option<String>)>),
    Text(String),
    Number(f64),
    Boolean(bool),
}

struct Prefixes<'a>(&'a [(String, String)]);

impl Environment for Prefixes<'_> {
    fn namespace(&self, prefix: &str) -> Option<String> {
        self.0.iter().rev().find(|(known, _)| known == prefix).map(|(_, uri)| uri.clone())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("there is no variable ${local} in an XPath of a script"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

/// Evaluates an expression at the root of a document.
///
/// Errors: a sentence, where either is not well-formed, or the expression cannot be answered.
pub(crate) fn find(xml: &str, expression: &str, prefixes: &[(String, String)]) -> Result<Found, String> {
    let compiled =
        Expression::compile(expression, &mut Prefixes(prefixes)).map_err(|error| format!("{expression}: {error}"))?;
    let document = Document::parse(xml.trim().into(), &Options::default()).map_err(|error| format!("XML: {error}"))?;
    let top = NodeRef { document: &document, node: document.document_node().into() };
    let value = compiled.evaluate(&Context::new(&NoHost).at(top)).map_err(|error| format!("{expression}: {error}"))?;
    Ok(match value.as_nodes() {
        Some(nodes) => Found::Nodes(nodes.into_iter().map(node).collect()),
        None => scalar(value),
    })
}

fn node(node: NodeRef<'_>) -> (String, Option<String>) {
    let element = node.node.tree().filter(|_| node.kind() == Some(Kind::Element));
    let xml = element.map(|element| {
        let mut out = Vec::new();
        write(node.document, element, &WriteOptions::default(), &mut out);
        // The writer copies from texts and writes nothing but UTF-8.
        String::from_utf8(out).unwrap_or_default()
    });
    (node.string_value().into_owned(), xml)
}

fn scalar(value: Value<'_>) -> Found {
    match value.first() {
        Some(Item::Atomic(Atomic::Boolean(boolean))) => Found::Boolean(boolean),
        Some(Item::Atomic(Atomic::Double(number))) => Found::Number(number),
        Some(item @ Item::Atomic(Atomic::Integer(..) | Atomic::Decimal(_) | Atomic::Float(_))) => {
            Found::Number(item.number())
        }
        Some(item) => Found::Text(item.into_text(Version::V1).into_owned()),
        None => Found::Nodes(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_gives_nodes_with_what_is_declared_around_them_or_a_scalar() {
        let xml = "<a:x xmlns:a='urn:a' n='3'><a:y>1</a:y></a:x>";
        let prefixes = [("p".to_owned(), "urn:a".to_owned())];
        let check = |expression: &str, expected: Found| assert_eq!(find(xml, expression, &prefixes), Ok(expected));
        let y = "<a:y xmlns:a=\"urn:a\">1</a:y>".to_owned();
        check("//p:y", Found::Nodes(vec![("1".to_owned(), Some(y))]));
        check("/*/@n", Found::Nodes(vec![("3".to_owned(), None)]));
        check("count(//*)", Found::Number(2.0));
        check("//p:y = 1", Found::Boolean(true));
        check("string(//p:y)", Found::Text("1".to_owned()));
        check("//none", Found::Nodes(Vec::new()));
    }

    #[test]
    fn what_cannot_be_answered_is_said() {
        assert!(find("<a>", "/", &[]).unwrap_err().starts_with("XML: "));
        assert!(find("<a/>", "q:b", &[]).unwrap_err().starts_with("q:b: "));
        assert!(find("<a/>", "$b", &[]).unwrap_err().contains("no variable $b"));
    }
}
