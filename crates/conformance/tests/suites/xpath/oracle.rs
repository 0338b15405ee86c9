//! The same expressions through `xmllint --xpath`, where it is installed: an XPath 1.0 that somebody else wrote.

use std::process::Command;

use myelin_xml::{Document, Options};
use myelin_xpath::{Argument, Context, Declared, Environment, Expression, NoHost, NodeRef};

/// Knows nothing beside the library.
struct Nothing;

impl Environment for Nothing {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        Err(format!("${local} is not known"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

fn run(document: &Document, expression: &str) -> String {
    let compiled = Expression::compile(expression, &mut Nothing).expect(expression);
    let context = Context::new(&NoHost).at(NodeRef::new(document, document.document_node()));
    compiled.text(&context).expect(expression).into_owned()
}

const DOCUMENT: &str =
    r#"<doc a="1"><x b="2"><y>3</y><y c="4">5<z/>6</y></x><!--c--><x><y><y>7</y></y><?p q?></x><w>8</w></doc>"#;

const AXES: [&str; 12] = [
    "child",
    "descendant",
    "descendant-or-self",
    "attribute",
    "self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "following",
    "following-sibling",
    "preceding",
    "preceding-sibling",
];

/// `xmllint` has its own opinion of what follows an attribute: not the children of its element (§2.2 says: all that
/// comes after it in the document, and it has no descendants).
fn is_contested(expression: &str) -> bool {
    expression.starts_with("//@*/") && expression.contains("/following::")
        || expression.contains("attribute::node()/following::")
        || expression.contains("attribute::*[1]/following::")
}

#[test]
fn xmllint_agrees() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        return myelin_testkit::skip("xmllint is not installed (Debian: libxml2-utils)");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("document.xml");
    std::fs::write(&file, DOCUMENT).expect("written");
    let tree = Document::parse(DOCUMENT.as_bytes().to_vec(), &Options::default()).expect("a document");

    let mut expressions: Vec<String> = Vec::new();
    for first in AXES {
        for second in AXES {
            for test in ["node()", "*", "y"] {
                expressions.push(format!("//y/{first}::node()/{second}::{test}"));
                expressions.push(format!("/doc//{first}::*[1]/{second}::{test}[2]"));
                expressions.push(format!("//@*/{first}::node()[last()]/{second}::{test}[position() < 3]"));
            }
        }
    }
    // One call of xmllint answers them all: the number of nodes, and where each stands.
    let place = |path: &str| {
        format!(
            "concat(count({path}), ' ', string(({path})[1]), ' ', count(({path})[last()]/preceding::node()), ' ', \
             count({path}/ancestor::node()))"
        )
    };
    for expression in expressions.iter().filter(|expression| !is_contested(expression)) {
        let asked = place(expression);
        let output = Command::new("xmllint").arg("--xpath").arg(&asked).arg(&file).output().expect("xmllint runs");
        let theirs = String::from_utf8_lossy(&output.stdout);
        assert_eq!(run(&tree, &asked), theirs.trim_end_matches('\n'), "{asked}");
    }
}
