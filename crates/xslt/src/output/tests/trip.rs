//! What is written and read again is what was put together, whichever way it goes.

use myelin_xml::Kind;
use proptest::prelude::*;

use super::*;

/// A piece of a result.
#[derive(Clone, Debug)]
enum Piece {
    Element { name: usize, attributes: Vec<(usize, String)>, namespaces: Vec<usize>, content: Vec<Piece> },
    Literal(usize, Vec<Piece>),
    Text(String),
    Comment(String),
    Instruction(String),
}

/// Names whose prefixes collide in all ways: prefix, local name, namespace.
const NAMES: [(&str, &str, &str); 8] = [
    ("", "a", ""),
    ("", "b", "urn:1"),
    ("p", "a", "urn:1"),
    ("p", "b", "urn:2"),
    ("q", "a", "urn:1"),
    ("ns0", "c", "urn:3"),
    ("", "x", "urn:2"),
    ("q", "b", "urn:3"),
];

fn name(number: usize) -> Name<'static> {
    let (prefix, local, namespace) = NAMES[number];
    Name { prefix, local, namespace }
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let text = "[a-c<>&\"'\\]\\[\\-? \t\n\r\u{e9}\u{85}\u{20ac}\u{1f600}]{0,8}";
    let leaf = prop_oneof![
        text.prop_map(Piece::Text),
        "[a-c\\-> ]{0,6}".prop_map(Piece::Comment),
        "[a-c?> ]{0,6}".prop_map(Piece::Instruction),
    ];
    let tree = leaf.prop_recursive(4, 40, 5, move |inner| {
        let content = proptest::collection::vec(inner.clone(), 0..5);
        let attributes = proptest::collection::vec((0..NAMES.len(), text), 0..4);
        let namespaces = proptest::collection::vec(0..NAMES.len(), 0..3);
        prop_oneof![
            (0..NAMES.len(), attributes, namespaces, content.clone()).prop_map(
                |(name, attributes, namespaces, content)| Piece::Element { name, attributes, namespaces, content }
            ),
            (0..NAMES.len(), content).prop_map(|(name, content)| Piece::Literal(name, content)),
        ]
    });
    proptest::collection::vec(tree, 0..4)
}

/// Tells an output the pieces; namespace nodes whose prefix is taken are left out.
fn tell<'o>(output: &mut Output<'o>, literals: &'o [LiteralStart], pieces: &[Piece]) -> Result<(), OutputError> {
    for piece in pieces {
        match piece {
            Piece::Element { name: number, attributes, namespaces, content } => {
                output.start_element(name(*number))?;
                for &number in namespaces {
                    let Name { prefix, namespace, .. } = name(number);
                    let _ = output.namespace(prefix, namespace);
                }
                for (number, value) in attributes {
                    output.attribute(name(*number), value)?;
                }
                tell(output, literals, content)?;
                output.end_element()?;
            }
            Piece::Literal(number, content) => match content.as_slice() {
                [Piece::Text(text)] => output.literal_text(&literals[*number], text)?,
                content => {
                    output.start_literal(&literals[*number])?;
                    tell(output, literals, content)?;
                    output.end_element()?;
                }
            },
            Piece::Text(text) => output.text(text)?,
            Piece::Comment(text) => output.comment(text)?,
            Piece::Instruction(data) => output.instruction("i", data)?,
        }
    }
    Ok(())
}

/// A tree as XPath sees it, save for prefixes and the order of attributes.
fn seen(document: &Document) -> String {
    let mut seen = String::new();
    for node in document.descendants(document.document_node()) {
        let depth = std::iter::successors(document.parent(node), |&node| document.parent(node)).count();
        let name = document.qname(node);
        let mut attributes: Vec<String> = document
            .attributes(node)
            .map(|attribute| {
                let name = document.qname(attribute);
                format!(" {{{}}}{}={:?}", name.namespace, name.local, document.value(attribute))
            })
            .collect();
        attributes.sort();
        let kind = document.kind(node);
        let (local, namespace) = if kind == Kind::Text { ("", "") } else { (name.local, name.namespace) };
        let attributes = attributes.concat();
        seen += &format!("{depth}{kind:?}{{{namespace}}}{local}{attributes}={:?}\n", document.value(node));
    }
    seen
}

proptest! {
    #[test]
    fn bytes_trees_and_copies_of_trees_read_the_same(content in pieces()) {
        let all = vec![Piece::Element { name: 0, attributes: Vec::new(), namespaces: Vec::new(), content }];
        let mut sets = NamespaceSets::default();
        let literals: Vec<LiteralStart> = NAMES
            .iter()
            .map(|(prefix, local, namespace)| literal(prefix, local, namespace, &mut sets))
            .collect();

        let mut tree = Output::tree(1 << 20);
        tell(&mut tree, &literals, &all).unwrap();
        let tree = tree.finish_tree().unwrap();
        let expected = seen(&tree);

        for encoding in ["UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16"] {
            let properties = properties(&[("method", "xml"), ("encoding", encoding)]);
            let mut out = Vec::new();
            let mut output = Output::bytes(&properties, None, 1 << 20, &mut out);
            tell(&mut output, &literals, &all).unwrap();
            output.finish().unwrap();
            let (text, _) = myelin_xml::encoding::decode(None, &out).unwrap();
            let text = String::from_utf8_lossy(&text).replace(encoding, "UTF-8");
            prop_assert_eq!(seen(&read(&text)), expected.as_str(), "{}", text);
        }

        // Copies of what was built, and of what was read: node by node, and as it stands in the source.
        let mut source = Vec::new();
        write(&tree, tree.document_node(), &WriteOptions::default(), &mut source);
        let source = read(&String::from_utf8(source).unwrap());
        for (document, namespaces) in [(&tree, true), (&tree, false), (&source, true), (&source, false)] {
            let properties = fragment();
            let mut out = Vec::new();
            let mut output = Output::bytes(&properties, None, 1 << 20, &mut out);
            output.copy(document, document.document_node(), namespaces).unwrap();
            output.finish().unwrap();
            prop_assert_eq!(seen(&read(&String::from_utf8(out).unwrap())), expected.as_str());
            let mut copy = Output::tree(1 << 20);
            copy.copy(document, document.document_node(), namespaces).unwrap();
            prop_assert_eq!(seen(&copy.finish_tree().unwrap()), expected.as_str());
        }
    }
}
