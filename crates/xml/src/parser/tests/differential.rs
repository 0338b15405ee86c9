//! What roxmltree reads is what we read.

use proptest::prelude::*;

use super::*;

/// A document as a list of what is in it; texts next to each other are one.
type Content = Vec<String>;

fn push_text(content: &mut Content, text: &str) {
    match content.last_mut() {
        Some(last) if last.starts_with("text ") => *last += text,
        _ => content.push(format!("text {text}")),
    }
}

fn attribute(namespace: Option<&str>, local: &str, value: &str) -> String {
    format!(" {{{}}}{local}={value:?}", namespace.unwrap_or(""))
}

fn ours(document: &str) -> Option<Content> {
    let mut parser = Parser::new(Options::default());
    let mut content = Vec::new();
    loop {
        match parser.next(document.as_bytes(), true).ok()? {
            Step::Event(Event::Start(start)) => {
                let name = start.names().get(start.name);
                let mut line = format!("start {{{}}}{}", name.namespace, name.local);
                for it in start.attributes() {
                    let name = start.names().get(it.name);
                    line += &attribute(Some(name.namespace), name.local, &it.value());
                }
                content.push(line);
            }
            Step::Event(Event::End(_)) => content.push("end".to_owned()),
            Step::Event(Event::Text(text)) => push_text(&mut content, &text.value()),
            Step::Event(Event::Comment(comment)) => content.push(format!("comment {}", comment.raw)),
            Step::Event(Event::Instruction(it)) => content.push(format!("instruction {} {}", it.target, it.raw)),
            Step::Event(_) => {}
            Step::More => unreachable!("nothing more can come"),
            Step::End => return Some(content),
        }
    }
}

fn theirs(document: &str) -> Option<Content> {
    // XML 1.0 §2.11: it leaves a carriage return alone that stands before a reference.
    let line_feeds = document.replace("\r\n", "\n").replace('\r', "\n");
    let document = roxmltree::Document::parse(&line_feeds).ok()?;
    let mut content = Vec::new();
    for child in document.root().children() {
        add(child, &mut content);
    }
    Some(content)
}

fn add(node: roxmltree::Node<'_, '_>, content: &mut Content) {
    match node.node_type() {
        roxmltree::NodeType::Element => {
            let name = node.tag_name();
            let mut line = format!("start {{{}}}{}", name.namespace().unwrap_or(""), name.name());
            for it in node.attributes() {
                line += &attribute(it.namespace(), it.name(), it.value());
            }
            content.push(line);
            for child in node.children() {
                add(child, content);
            }
            content.push("end".to_owned());
        }
        roxmltree::NodeType::Text => push_text(content, node.text().unwrap_or("")),
        roxmltree::NodeType::Comment => content.push(format!("comment {}", node.text().unwrap_or(""))),
        roxmltree::NodeType::PI => {
            let (target, value) = node.pi().map_or(("", ""), |it| (it.target, it.value.unwrap_or("")));
            // Comments and instructions are given as they stand there.
            content.push(format!("instruction {target} {value}"));
        }
        roxmltree::NodeType::Root => {}
    }
}

/// Well-formed content up to some depth, in namespaces that the root declares.
fn content() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "text",
        " \n ",
        "&amp;&lt;&gt;&quot;&apos;",
        "&#65;&#x10FFFF;",
        "é€\u{10000}\u{FFFD}",
        "<![CDATA[<&]] >]]>",
        "\r\n",
        "\r",
        "]] >",
        "<!-- - -->",
        "<?p d ?>",
    ]);
    let leaf = text.prop_map(str::to_owned);
    leaf.prop_recursive(5, 60, 6, |inner| {
        let name = prop::sample::select(vec!["a", "b", "p:a", "q:b", "_-.é"]);
        let attributes = prop::sample::subsequence(
            vec![
                " b='1'",
                " p:b=\"'&lt;\t&#9;\"",
                " q:b = '\n'",
                " xml:lang='de'",
                " xmlns='urn:e'",
                " xmlns:p=\"urn:q\"",
            ],
            0..4,
        );
        (name, attributes, prop::collection::vec(inner, 0..6)).prop_map(|(name, attributes, children)| {
            let attributes = attributes.concat();
            match children.is_empty() {
                true => format!("<{name}{attributes}/>"),
                false => format!("<{name}{attributes} >{}</{name} >", children.concat()),
            }
        })
    })
}

fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(content(), 0..8).prop_map(|children| {
        format!("<?xml version='1.0'?>\n<r xmlns:p='urn:p' xmlns:q='urn:q'>{}</r>\n", children.concat())
    })
}

proptest! {
    #[test]
    fn documents_have_the_same_content(document in document()) {
        prop_assert_eq!(ours(&document), theirs(&document));
    }

    #[test]
    fn nearly_documents_are_refused_or_have_the_same_content(
        document in document(),
        at: prop::sample::Index,
        length in 0..3usize,
        put in prop::sample::select(vec!["", "<", ">", "&", "'", "\"", "/", ":", "=", "-", "]]>", " ", "x", "\u{1}", "\u{FFFF}"]),
    ) {
        let mut characters: Vec<char> = document.chars().collect();
        let start = at.index(characters.len());
        let end = (start + length).min(characters.len());
        characters.splice(start..end, put.chars());
        let document: String = characters.into_iter().collect();
        // It refuses less, for example other characters in names of instructions.
        if let Some(content) = ours(&document) {
            prop_assert_eq!(Some(content), theirs(&document), "{}", document);
        }
    }
}
