//! What is written, unchanged and changed, and that it means what the tree says.

use proptest::prelude::*;

use super::document::DECLARATION;
use super::*;
use crate::document::tests::{read, shape};
use crate::processor_time::processor_time;
use crate::{DoctypePolicy, Options, Refusal};

pub(crate) fn written(document: &Document, node: NodeId) -> String {
    let mut out = Vec::new();
    write(document, node, &WriteOptions::default(), &mut out);
    String::from_utf8(out).unwrap()
}

/// The element of that local name.
pub(crate) fn find(document: &Document, local: &str) -> NodeId {
    let mut found = document.descendants(document.document_node()).filter(|&node| document.qname(node).local == local);
    found.next().unwrap()
}

/// Reads, changes, writes; and sees to it that what is written reads as the tree that was written.
fn check(text: &str, change: impl FnOnce(&mut Document), expected: &str) {
    let mut document = read(text);
    change(&mut document);
    let text = written(&document, document.document_node());
    assert_eq!(text, expected);
    let again = read(&text);
    assert_eq!(shape(&again, again.document_node()), shape(&document, document.document_node()));
}

#[test]
fn an_unchanged_document_is_written_byte_for_byte() {
    for text in [
        "<a/>",
        "\u{FEFF}<?xml version='1.0' encoding=\"utf-8\"?>\n<!-- c -->\r\n<a  b = 'c&#10;' ><![CDATA[]]> &lt;\r</a >\n<?p?>\n",
        "<p:a xmlns:p='u'><b xmlns=''/></p:a>",
    ] {
        check(text, |_| {}, text);
    }
}

#[test]
fn what_a_change_does_not_touch_keeps_its_form() {
    check(
        "<?xml version='1.0'?>\n<a  x='1'><b ></b >\n<c  y = '2'>t<![CDATA[u]]></c><d/></a  >\n",
        |document| {
            let b = find(document, "b");
            document.set_value(b, "new").unwrap();
        },
        "<?xml version='1.0'?>\n<a  x='1'><b >new</b >\n<c  y = '2'>t<![CDATA[u]]></c><d/></a  >\n",
    );
    check(
        "<a><b x='&#65;'   y='2'  ></b><c   /></a>",
        |document| {
            document.set_attribute(find(document, "b"), "", "y", "", "3").unwrap();
            document.set_value(find(document, "c"), "t").unwrap();
        },
        "<a><b x='&#65;' y=\"3\"/><c   >t</c></a>",
    );
    check("<a><b>t</b></a>", |document| document.set_value(find(document, "b"), "").unwrap(), "<a><b></b></a>");
}

#[test]
fn values_are_escaped() {
    check(
        "<a/>",
        |document| {
            let a = find(document, "a");
            document.set_attribute(a, "", "x", "", "<&>\"'\t\n\r").unwrap();
            let text = document.create_text("<&>\"'\t\n\r]]>").unwrap();
            document.append(a, text).unwrap();
            let comment = document.create_comment("<&>").unwrap();
            document.append(a, comment).unwrap();
            let instruction = document.create_instruction("p", "<&>").unwrap();
            document.append(a, instruction).unwrap();
        },
        "<a x=\"&lt;&amp;>&quot;'&#x9;&#xA;&#xD;\">&lt;&amp;&gt;\"'\t\n&#xD;]]&gt;<!--<&>--><?p <&>?></a>",
    );
}

#[test]
fn texts_that_come_together_do_not_make_markup() {
    for (text, merged) in [("<a>]]<!---->></a>", "]]>"), ("<a>x\r<!---->\ny</a>", "x\n\ny")] {
        let mut document = read(text);
        let comment = document.children(find(&document, "a")).nth(1).unwrap();
        document.detach(comment);
        let again = read(&written(&document, document.document_node()));
        assert_eq!(again.string_value(again.document_node()), merged);
    }
}

#[test]
fn what_xml_cannot_say_is_refused() {
    let mut document = read("<a><b/></a>");
    let (a, b) = (find(&document, "a"), find(&document, "b"));
    for (refusal, result) in [
        (Refusal::Character(1), document.create_text("\u{1}")),
        (Refusal::Character(0xFFFF), document.set_attribute(a, "", "x", "", "\u{FFFF}")),
        (Refusal::Comment, document.create_comment("a--b")),
        (Refusal::Comment, document.create_comment("a-")),
        (Refusal::Character(13), document.create_comment("a\rb")),
        (Refusal::Instruction, document.create_instruction("XML", "")),
        (Refusal::Instruction, document.create_instruction("p", "?>")),
        (Refusal::Instruction, document.create_instruction("p", " d")),
        (Refusal::Name("a:b".into()), document.create_element("", "a:b", "")),
        (Refusal::Name("1".into()), document.create_element("1", "b", "u")),
        (Refusal::Name(String::new()), document.create_instruction("", "")),
        (Refusal::Namespace, document.create_element("p", "b", "")),
        (Refusal::Namespace, document.create_element("xml", "b", "u")),
        (Refusal::Namespace, document.create_element("xmlns", "b", "u")),
        (Refusal::Place, document.set_attribute(document.document_node(), "", "x", "", "")),
    ] {
        assert_eq!(result, Err(refusal));
    }
    let top = document.document_node();
    assert_eq!(document.append(b, a), Err(Refusal::Place), "below itself");
    assert_eq!(document.append(a, a), Err(Refusal::Place));
    assert_eq!(document.append(a, top), Err(Refusal::Place));
    assert_eq!(document.insert_before(top, b), Err(Refusal::Place));
    assert_eq!(document.declare(a, "p", ""), Err(Refusal::Namespace));
    assert_eq!(document.rename(top, "", "x", ""), Err(Refusal::Place));
    assert!(document.is_as_read(), "what is refused changes nothing");
}

#[test]
fn a_wrapped_document_is_copied_and_its_root_alone_too() {
    let text = "<order  xmlns='urn:o'><x y = '1'/></order>";
    let mut document = read(text);
    let root = document.root_element().unwrap();
    let soap = "http://schemas.xmlsoap.org/soap/envelope/";
    let envelope = document.create_element("soapenv", "Envelope", soap).unwrap();
    let body = document.create_element("soapenv", "Body", soap).unwrap();
    document.append(envelope, body).unwrap();
    document.replace(root, envelope).unwrap();
    document.append(body, root).unwrap();
    let whole =
        format!("<soapenv:Envelope xmlns:soapenv=\"{soap}\"><soapenv:Body>{text}</soapenv:Body></soapenv:Envelope>");
    assert_eq!(written(&document, document.document_node()), whole);
    assert_eq!(written(&document, root), text);
    assert_eq!(document.range(root), Some(0..text.len()));
}

#[test]
fn a_subtree_that_stands_alone_declares_what_it_uses() {
    let document =
        read("<a xmlns:p='1' xmlns:q='2' xmlns='3'><b  p:x=''><q:c xmlns:q='4'/></b><p:d xmlns=''><e/></p:d></a>");
    let alone = |local| written(&document, find(&document, local));
    assert_eq!(alone("b"), "<b  p:x='' xmlns=\"3\" xmlns:p=\"1\"><q:c xmlns:q='4'/></b>");
    assert_eq!(alone("d"), "<p:d xmlns='' xmlns:p=\"1\"><e/></p:d>");
    assert_eq!(alone("e"), "<e/>");
    assert_eq!(alone("a"), document.source());
}

/// Namespaces after changes: what the writer adds, renames or leaves out.
#[test]
fn names_keep_their_namespaces_wherever_they_are_put() {
    let last = |document: &Document| document.last_child(document.root_element().unwrap()).unwrap();
    // Moved to where the prefixes mean the same: copied.
    check(
        "<r xmlns:p='1'><p:a  /><b/></r>",
        |document| document.append(find(document, "b"), find(document, "a")).unwrap(),
        "<r xmlns:p='1'><b><p:a  /></b></r>",
    );
    // Out of the scope of its prefix.
    check(
        "<r><x xmlns:p='1'><p:a  ><p:b/></p:a></x><y/></r>",
        |document| document.append(last(document), find(document, "a")).unwrap(),
        "<r><x xmlns:p='1'></x><y><p:a   xmlns:p=\"1\"><p:b/></p:a></y></r>",
    );
    // Into the scope of another binding, with a declaration of its own that ends before the last use.
    check(
        "<r><x xmlns:p='1'><a><b xmlns:p='2' p:y=''/><p:c/><p:d/></a></x><y xmlns:p='3'/></r>",
        |document| document.append(last(document), find(document, "a")).unwrap(),
        "<r><x xmlns:p='1'></x><y xmlns:p='3'><a xmlns:p=\"1\"><b xmlns:p='2' p:y=''/><p:c/><p:d/></a></y></r>",
    );
    // Without namespace, into a default namespace.
    check(
        "<r><a><b/></a><y xmlns='1'><c/></y></r>",
        |document| document.append(last(document), find(document, "a")).unwrap(),
        "<r><y xmlns='1'><c/><a xmlns=\"\"><b/></a></y></r>",
    );
    // A declaration that hides one from what has stayed below.
    check(
        "<r xmlns:p='1'><x><p:a/></x></r>",
        |document| document.declare(find(document, "x"), "p", "2").unwrap(),
        "<r xmlns:p='1'><x xmlns:p=\"2\"><p:a xmlns:p=\"1\"/></x></r>",
    );
    // A name that wants a prefix which its own element binds to something else.
    check(
        "<r xmlns:p='1'><p:a p:x=''/></r>",
        |document| {
            document.rename(find(document, "a"), "p", "a", "2").unwrap();
            document.declare(find(document, "a"), "p", "1").unwrap();
        },
        "<r xmlns:p='1'><ns0:a xmlns:p=\"1\" xmlns:ns0=\"2\" p:x=''/></r>",
    );
    // Attributes in a namespace need some prefix: one that is there, or one made up.
    check(
        "<r xmlns='1' xmlns:ns0='2' ><a/><b/></r>",
        |document| {
            document.set_attribute(find(document, "a"), "", "x", "2", "").unwrap();
            document.set_attribute(find(document, "b"), "", "x", "1", "").unwrap();
            document.set_attribute(find(document, "b"), "ns0", "y", "3", "").unwrap();
        },
        "<r xmlns='1' xmlns:ns0='2' ><a ns0:x=\"\"/><b xmlns:ns1=\"1\" xmlns:ns0=\"3\" ns1:x=\"\" ns0:y=\"\"/></r>",
    );
    // Nothing but the absence of a default namespace says that a name has none.
    check(
        "<r xmlns='1'><a xmlns=''><b/></a></r>",
        |document| {
            document.declare(find(document, "a"), "", "2").unwrap();
            document.rename(find(document, "r"), "", "r", "").unwrap();
        },
        "<r><a><b/></a></r>",
    );
}

#[test]
fn a_copy_and_an_import_are_written_like_their_originals() {
    check(
        "<r xmlns:p='1'><p:a x = '&lt;'>t<b/></p:a></r>",
        |document| {
            let copy = document.copy(find(document, "a")).unwrap();
            document.append(document.root_element().unwrap(), copy).unwrap();
        },
        "<r xmlns:p='1'><p:a x = '&lt;'>t<b/></p:a><p:a x = '&lt;'>t<b/></p:a></r>",
    );
    let mut other = read("<s xmlns:p='1' xmlns:q='2'><p:a x = '&lt;'>t<b xmlns='3'>q:n</b ><!--c--></p:a></s>");
    let check_import = |other: &Document, expected: &str| {
        let import = |document: &mut Document| {
            let import = document.import(other, find(other, "a")).unwrap();
            document.append(document.root_element().unwrap(), import).unwrap();
        };
        check("<r/>", import, expected);
    };
    check_import(&other, "<r><p:a xmlns:p=\"1\" xmlns:q=\"2\" x = '&lt;'>t<b xmlns='3'>q:n</b ><!--c--></p:a></r>");
    let comment = other.last_child(find(&other, "a")).unwrap();
    other.set_value(comment, "d").unwrap();
    check_import(&other, "<r><p:a xmlns:p=\"1\" xmlns:q=\"2\" x = '&lt;'>t<b xmlns='3'>q:n</b ><!--d--></p:a></r>");
}

#[test]
fn an_import_that_is_put_nowhere_leaves_a_document_as_it_was_read() {
    let (text, other) = ("<r> <a/></r>\n", read("<s><b>t</b></s>"));
    let mut document = read(text);
    let import = document.import(&other, find(&other, "b")).unwrap();
    assert_eq!((document.range(import), document.location(import)), (None, None));
    assert_eq!((document.source(), written(&document, document.document_node()).as_str()), (text, text));
    document.append(document.root_element().unwrap(), import).unwrap();
    assert_eq!(written(&document, document.document_node()), "<r> <a/><b>t</b></r>\n");
    assert_eq!(document.into_source(), text.as_bytes());
}

#[test]
fn the_declaration_is_written_as_asked() {
    let with = |text: &str, declaration, indent| {
        let options = Options {
            declared_encoding: crate::DeclaredEncoding::Any,
            doctype: DoctypePolicy::Skip,
            ..Options::default()
        };
        let document = Document::parse(text.into(), &options).unwrap();
        let mut out = Vec::new();
        write(&document, document.document_node(), &WriteOptions { declaration, indent }, &mut out);
        String::from_utf8(out).unwrap()
    };
    use DeclarationPolicy::{Always, AsRead, Never};
    let declared = "<?xml version='1.0'?>\n<!DOCTYPE a>\n<a/>\n";
    assert_eq!(with(declared, AsRead, None), declared);
    assert_eq!(with(declared, Always, None), declared);
    assert_eq!(with(declared, Never, None), "<!DOCTYPE a>\n<a/>\n");
    assert_eq!(with("<a/>", AsRead, None), "<a/>");
    assert_eq!(with("<a/>", Always, None), format!("{DECLARATION}\n<a/>"));
    assert_eq!(with("<?xml version='1.0' encoding='UTF-16'?><a/>", AsRead, None), format!("{DECLARATION}<a/>"));
    assert_eq!(with(declared, AsRead, Some(2)), declared);
    assert_eq!(with("<a/>", Never, Some(2)), "<a/>\n");
}

#[test]
fn indenting_breaks_up_only_what_holds_no_text() {
    let pretty = |text: &str| {
        let document = read(text);
        let mut out = Vec::new();
        let options = WriteOptions { indent: Some(2), ..WriteOptions::default() };
        write(&document, document.document_node(), &options, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        pretty("<!--x--><a\n y='1'><b>t<i/> </b> <c><d/><?p?></c>\n\n<e></e><f xml:space='preserve'> <g/></f></a>"),
        "<!--x-->\n<a y='1'>\n  <b>t<i/> </b>\n  <c>\n    <d/>\n    <?p?>\n  </c>\n  <e></e>\n  <f xml:space='preserve'> <g/></f>\n</a>\n"
    );
}

#[test]
fn deep_and_wide_documents_are_written_without_recursion() {
    let depth = 100_000;
    let deep = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let options = Options { depth, ..Options::default() };
    let mut document = Document::parse(deep.into_bytes(), &options).unwrap();
    let innermost = document.descendants(document.document_node()).last().unwrap();
    document.set_attribute(innermost, "p", "x", "u", "1").unwrap();
    let copy = document.copy(document.root_element().unwrap()).unwrap();
    document.append(innermost, copy).unwrap();
    let mut out = Vec::new();
    write(&document, document.document_node(), &WriteOptions::default(), &mut out);
    assert_eq!(out.len(), depth * 14 + "<a xmlns:p=\"u\" p:x=\"1\"><a p:x=\"1\"/></a>".len() - "<a><a></a></a>".len());
    assert_eq!(document.string_value(document.document_node()), "");
    write(&document, document.document_node(), &WriteOptions { indent: Some(0), ..WriteOptions::default() }, &mut out);

    let mut document = Document::new();
    let root = document.create_element("", "a", "").unwrap();
    document.append(document.document_node(), root).unwrap();
    for _ in 0..100_000 {
        let child = document.create_element("", "b", "").unwrap();
        document.append(root, child).unwrap();
    }
    assert_eq!(written(&document, root).len(), "<a></a>".len() + 400_000);
}

/// A table of all names for each part would come to 400 million entries here.
#[test]
fn parts_of_a_large_document_cost_what_they_have() {
    let children: String = (0..20_000).map(|number| format!("<p:n{number} xmlns:q='u'>t</p:n{number}>")).collect();
    let document = read(&format!("<p:a xmlns:p='u:1'>{children}</p:a>"));
    let start = processor_time();
    let mut bytes = 0;
    for child in document.children(document.root_element().unwrap()) {
        bytes += written(&document, child).len();
        let mut part = Document::new();
        let import = part.import(&document, child).unwrap();
        part.append(part.document_node(), import).unwrap();
        bytes += written(&part, part.document_node()).len();
    }
    assert!(bytes > 20_000 * 60);
    let took = processor_time() - start;
    assert!(took.as_secs() < 10, "{took:?}");
}

/// A random document over few names, so that moved subtrees meet other bindings of their prefixes.
pub(crate) fn element() -> impl Strategy<Value = String> {
    let prefix = prop_oneof![Just(""), Just("p:"), Just("q:")];
    let declarations = proptest::sample::subsequence(
        vec![
            "xmlns='u:1'",
            "xmlns:p='u:2'",
            "xmlns:q='u:1'",
            "xmlns=''",
            "xmlns:p='u:1'",
            "a='&#10;'",
            "p:a='x'",
            "q:a=\"y\"",
        ],
        0..4,
    );
    let tag = (prefix, proptest::sample::select(vec!["a", "b"]), declarations);
    let leaf = prop_oneof![
        Just("t".to_owned()),
        Just("]]&gt;\r".to_owned()),
        Just("<![CDATA[<]]>".to_owned()),
        Just("<!--c-->".to_owned()),
        Just("<?p d?>".to_owned()),
    ];
    let tree = leaf.prop_recursive(5, 40, 5, move |inner| {
        (tag.clone(), proptest::collection::vec(inner, 0..5)).prop_map(|((prefix, local, declarations), children)| {
            let name = format!("{prefix}{local}");
            format!("<{name} {}>{}</{name}>", declarations.join(" "), children.concat())
        })
    });
    tree.prop_map(|inner| format!("<r xmlns:p='u:1' xmlns:q='u:2'>{inner}</r>"))
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Append,
    Before,
    After,
    Detach,
    Copy,
    Import,
    Rename(&'static str, &'static str),
    Declare(&'static str, &'static str),
    Attribute(&'static str, &'static str),
    Remove,
    Value,
    Replace,
}

pub(crate) fn change() -> impl Strategy<Value = (Change, usize, usize)> {
    let name = || {
        proptest::sample::select(vec![("", ""), ("", "u:1"), ("p", "u:1"), ("p", "u:2"), ("q", "u:3"), ("ns0", "u:4")])
    };
    let change = prop_oneof![
        Just(Change::Append),
        Just(Change::Before),
        Just(Change::After),
        Just(Change::Detach),
        Just(Change::Copy),
        Just(Change::Import),
        Just(Change::Remove),
        Just(Change::Value),
        Just(Change::Replace),
        name().prop_map(|(prefix, namespace)| Change::Rename(prefix, namespace)),
        name().prop_map(|(prefix, namespace)| Change::Declare(prefix, namespace)),
        name().prop_map(|(prefix, namespace)| Change::Attribute(prefix, namespace)),
    ];
    (change, any::<usize>(), any::<usize>())
}

/// Applies a change to two of the nodes that were ever there; most that make no sense are refused.
pub(crate) fn apply(document: &mut Document, (change, one, two): (Change, usize, usize)) {
    let root = document.root_element().unwrap();
    let below: Vec<NodeId> = document.descendants(root).collect();
    let (Some(&one), Some(&two)) = (below.get(one % below.len().max(1)), below.get(two % below.len().max(1))) else {
        return;
    };
    let _ = match change {
        Change::Append => document.append(one, two),
        Change::Before => document.insert_before(one, two),
        Change::After => document.insert_after(one, two),
        Change::Detach => {
            document.detach(one);
            Ok(())
        }
        Change::Copy => document.copy(one).and_then(|copy| document.insert_after(two, copy)),
        Change::Import => {
            let other = document.clone();
            document.import(&other, one).and_then(|import| document.insert_after(two, import))
        }
        Change::Rename(prefix, namespace) => document.rename(one, prefix, "n", namespace),
        Change::Declare(prefix, namespace) => document.declare(one, prefix, namespace),
        Change::Attribute(prefix, namespace) => document.set_attribute(one, prefix, "n", namespace, "<v>").map(drop),
        Change::Remove => {
            document.attributes(one).next().inspect(|&attribute| document.detach(attribute));
            Ok(())
        }
        Change::Value => document.set_value(one, "]]>\r"),
        Change::Replace => document.replace(one, two),
    };
}

/// Joins texts next to each other and drops empty ones, as reading does.
pub(crate) fn normalise(document: &mut Document) {
    let nodes: Vec<NodeId> = document.descendants(document.document_node()).collect();
    for node in nodes {
        if document.kind(node) != Kind::Text {
            continue;
        }
        let previous = document.previous_sibling(node).filter(|&before| document.kind(before) == Kind::Text);
        if let Some(previous) = previous {
            let joined = format!("{}{}", document.value(previous), document.value(node));
            document.set_value(node, &joined).unwrap();
            document.detach(previous);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn reading_what_was_written_gives_the_same_tree(
        text in element(),
        changes in proptest::collection::vec(change(), 0..12),
    ) {
        let Ok(mut document) = Document::parse(text.clone().into_bytes(), &Options::default()) else {
            return Ok(());
        };
        prop_assert_eq!(written(&document, document.document_node()), text);
        for change in changes {
            apply(&mut document, change);
        }
        let text = written(&document, document.document_node());
        let again = Document::parse(text.clone().into_bytes(), &Options::default());
        prop_assert!(again.is_ok(), "{:?} in {}", again.map(drop), text);
        let again = read(&text);
        normalise(&mut document);
        prop_assert_eq!(shape(&again, again.document_node()), shape(&document, document.document_node()), "{}", text);
        for node in document.descendants(document.document_node()).filter(|&node| document.kind(node) == Kind::Element) {
            let alone = written(&document, node);
            let again = Document::parse(alone.clone().into_bytes(), &Options::default());
            prop_assert!(again.is_ok(), "{:?} in {}", again.map(drop), alone);
            let again = read(&alone);
            prop_assert_eq!(shape(&again, again.root_element().unwrap()), shape(&document, node), "{}", alone);
        }
    }
}
