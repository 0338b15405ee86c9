//! The tree as it is read.

use std::cmp::Ordering;

use super::*;
use crate::names::NAME_BYTES;
use crate::{DoctypePolicy, Options, XML_NAMESPACE};

pub(crate) fn read(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec(), &Options::default()).unwrap()
}

/// The tree as one line: what XPath could tell of it.
pub(crate) fn shape(document: &Document, top: NodeId) -> String {
    let depth = |node| std::iter::successors(document.parent(node), |&node| document.parent(node)).count();
    let mut line = String::new();
    for node in std::iter::once(top).chain(document.descendants(top)) {
        let depth = depth(node) - depth(top);
        let name = document.qname(node);
        let own = match document.kind(node) {
            Kind::Document => "/".to_owned(),
            Kind::Element => {
                let mut attributes: Vec<String> = document
                    .attributes(node)
                    .map(|attribute| {
                        let name = document.qname(attribute);
                        format!(" {{{}}}{}={:?}", name.namespace, name.local, document.value(attribute))
                    })
                    .collect();
                attributes.sort();
                format!("<{{{}}}{}{}>", name.namespace, name.local, attributes.concat())
            }
            Kind::Attribute => continue,
            Kind::Text => format!("{:?}", document.value(node)),
            Kind::Comment => format!("!{:?}", document.value(node)),
            Kind::Instruction => format!("?{} {:?}", name.local, document.value(node)),
        };
        line.push_str(&format!("{depth}{own} "));
    }
    line.trim_end().to_owned()
}

fn check(text: &str, expected: &str) {
    let document = read(text);
    assert_eq!(shape(&document, document.document_node()), expected, "{text}");
}

#[test]
fn each_kind_of_node_is_in_the_tree_with_its_value() {
    check("<a/>", "0/ 1<{}a>");
    check(
        "<?xml version='1.0'?><!-- c --><?p  d ?><a x='1&#10;2' y=\"a\tb\"><b>t</b>u</a><?q?>",
        r#"0/ 1!" c " 1?p "d " 1<{}a {}x="1\n2" {}y="a b"> 2<{}b> 3"t" 2"u" 1?q """#,
    );
    check("<p:a xmlns:p='u' p:x='1'><b xmlns='v'/></p:a>", r#"0/ 1<{u}a {u}x="1"> 2<{v}b>"#);
}

#[test]
fn text_and_cdata_sections_in_a_row_are_one_text() {
    check("<a>b<![CDATA[<c>&amp;]]>&lt;d\r\n<![CDATA[]]></a>", r#"0/ 1<{}a> 2"b<c>&amp;<d\n""#);
    check("<a><![CDATA[]]></a>", "0/ 1<{}a>");
    check("<a><![CDATA[]]>b</a>", r#"0/ 1<{}a> 2"b""#);
    check("<a><![CDATA[x\ry]]></a>", r#"0/ 1<{}a> 2"x\ny""#);
    check("<a>b<!---->c</a>", r#"0/ 1<{}a> 2"b" 2!"" 2"c""#);
}

#[test]
fn links_lead_to_neighbours() {
    let document = read("<a p='1' q='2'>t<b/><c/></a>");
    let a = document.root_element().unwrap();
    let children: Vec<NodeId> = document.children(a).collect();
    let [t, b, c] = children[..] else { panic!("{children:?}") };
    assert_eq!((document.first_child(a), document.last_child(a)), (Some(t), Some(c)));
    assert_eq!((document.next_sibling(t), document.previous_sibling(t)), (Some(b), None));
    assert_eq!((document.next_sibling(c), document.previous_sibling(c)), (None, Some(b)));
    assert_eq!((document.parent(b), document.parent(a)), (Some(a), Some(document.document_node())));
    let attributes: Vec<NodeId> = document.attributes(a).collect();
    assert_eq!(attributes.iter().map(|&x| document.value(x)).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!((document.parent(attributes[0]), document.next_sibling(attributes[0])), (Some(a), None));
    assert_eq!((document.first_child(t), document.first_child(attributes[0])), (None, None));
    assert_eq!(document.attribute(a, "", "q").as_deref(), Some("2"));
    assert_eq!(document.attribute(a, "u", "q"), None);
}

#[test]
fn values_are_borrowed_where_they_stand_as_they_are() {
    let document = read("<a b='c'>d<e><![CDATA[f]]></e></a>");
    let a = document.root_element().unwrap();
    let source = document.source().as_bytes().as_ptr_range();
    for value in [
        document.attribute(a, "", "b").unwrap(),
        document.string_value(document.first_child(a).unwrap()),
        document.string_value(document.last_child(a).unwrap()),
    ] {
        assert!(matches!(value, std::borrow::Cow::Borrowed(text) if source.contains(&text.as_ptr())), "{value}");
    }
    assert_eq!(document.string_value(a), "df");
    assert_eq!(document.string_value(document.document_node()), "df");
}

#[test]
fn namespaces_in_scope_are_those_of_all_ancestors() {
    let document = read("<a xmlns='d' xmlns:p='1' xmlns:q='2'><b xmlns='' xmlns:p='3'><c/></b></a>");
    let a = document.root_element().unwrap();
    let b = document.first_child(a).unwrap();
    let c = document.first_child(b).unwrap();
    assert_eq!(document.declarations(b).collect::<Vec<_>>(), [("", ""), ("p", "3")]);
    assert_eq!(document.declarations(c).count(), 0);
    assert_eq!(document.namespaces_in_scope(c), [("p", "3"), ("q", "2"), ("xml", XML_NAMESPACE)]);
    assert_eq!(document.namespaces_in_scope(a), [("", "d"), ("p", "1"), ("q", "2"), ("xml", XML_NAMESPACE)]);
    let lookup = |prefix| document.lookup_namespace(c, prefix);
    assert_eq!([lookup(""), lookup("p"), lookup("q"), lookup("r")], [None, Some("3"), Some("2"), None]);
    assert_eq!(lookup("xml"), Some(XML_NAMESPACE));
}

#[test]
fn places_are_those_of_the_source() {
    let text = "<a>\n <b x='&lt;' y=\"2\">ü<![CDATA[z]]></b>\n ü<c/></a>";
    let document = read(text);
    let a = document.root_element().unwrap();
    let [_, b, _, c] = document.children(a).collect::<Vec<_>>()[..] else { panic!() };
    let part = |node| &text[document.range(node).unwrap()];
    assert_eq!((part(document.document_node()), part(a)), (text, text));
    assert_eq!(part(b), "<b x='&lt;' y=\"2\">ü<![CDATA[z]]></b>");
    assert_eq!(part(document.first_child(b).unwrap()), "ü<![CDATA[z]]>");
    let x = document.attributes(b).next().unwrap();
    assert_eq!((part(x), &text[document.value_range(x).unwrap()]), ("x='&lt;'", "&lt;"));
    assert_eq!((document.location(b), document.location(x)), (Some((2, 2)), Some((2, 5))));
    assert_eq!(document.location(c), Some((3, 3)));
}

#[test]
fn order_is_document_order_before_and_after_changes() {
    let mut document = read("<a x='1' xmlns:p='u'><b y='2'>t</b><c/></a>");
    let in_order = |document: &Document| {
        let mut nodes = Vec::new();
        let top = document.document_node();
        for node in std::iter::once(top).chain(document.descendants(top)) {
            nodes.push(node);
            if document.kind(node) == Kind::Element {
                nodes.extend(document.attributes(node));
            }
        }
        for (at, &one) in nodes.iter().enumerate() {
            for (other_at, &other) in nodes.iter().enumerate() {
                assert_eq!(document.order(one, other), at.cmp(&other_at));
            }
        }
    };
    in_order(&document);
    let a = document.root_element().unwrap();
    let (b, c) = (document.first_child(a).unwrap(), document.last_child(a).unwrap());
    document.insert_before(b, c).unwrap();
    document.set_attribute(b, "", "z", "", "3").unwrap();
    in_order(&document);
    assert_eq!(document.order(c, b), Ordering::Less);
    document.detach(b);
    in_order(&document);
    assert_eq!(document.order(b, c), Ordering::Greater, "what is detached comes behind the document");
}

#[test]
fn an_arena_is_used_again() {
    let first = read("<a x='1'>one<b/></a>");
    let second = Document::parse_in(b"<c>two</c>".to_vec(), &Options::default(), first.into_arena()).unwrap();
    assert_eq!(shape(&second, second.document_node()), r#"0/ 1<{}c> 2"two""#);
    let third = Document::in_arena(second.into_arena());
    assert_eq!((third.node_count(), third.root_element(), third.source()), (1, None, ""));
}

#[test]
fn a_document_is_as_large_as_it_says_whatever_names_there_were_before() {
    let many: String = (0..1000).map(|number| format!("<e{number}/>")).collect();
    let before = read(&format!("<a>{many}</a>"));
    assert!(before.size_bytes() > 1000 * NAME_BYTES);
    let alone = read("<a>x</a>").size_bytes();
    let among = Document::parse_in(b"<a>x</a>".to_vec(), &Options::default(), before.into_arena()).unwrap();
    let size = among.size_bytes();
    assert!(size <= alone, "{size} instead of {alone}");
    let with_a_name = Document::parse_in(b"<b>x</b>".to_vec(), &Options::default(), among.into_arena()).unwrap();
    assert_eq!(with_a_name.size_bytes(), size + NAME_BYTES + 1);
}

#[test]
fn a_skipped_document_type_is_no_node() {
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let document = Document::parse(b"<!DOCTYPE a [<!ENTITY x '<b/>'>]><a/>".to_vec(), &options).unwrap();
    assert_eq!(shape(&document, document.document_node()), "0/ 1<{}a>");
}

#[test]
fn errors_are_those_of_the_parser() {
    let error = |text: &str| Document::parse(text.into(), &Options::default()).unwrap_err();
    assert_eq!((error("<a>\n<b></a>").line, error("<a>\n<b></a>").column), (2, 6));
    let small = Options { total_bytes: 3, ..Options::default() };
    assert!(Document::parse(b"<a/>".to_vec(), &small).is_err());
    let few = |nodes| Document::parse(b"<a x='1'>\n<b/></a>".to_vec(), &Options { nodes, ..Options::default() });
    let error = few(3).unwrap_err();
    assert_eq!((error.to_string(), error.offset), ("line 2, column 5: a tree of more than 3 nodes".to_owned(), 14));
    assert_eq!(few(4).unwrap().node_count(), 5, "the document node is one more");
}

#[test]
fn a_node_is_as_read_until_it_or_what_its_prefixes_mean_changes() {
    let mut document = read("<a xmlns:p='1'><p:b>t<c/></p:b><d/></a>");
    let a = document.root_element().unwrap();
    let [b, d] = document.children(a).collect::<Vec<_>>()[..] else { panic!() };
    let c = document.last_child(b).unwrap();
    assert_eq!(document.as_read(b), Some("<p:b>t<c/></p:b>"));
    document.detach(d);
    assert_eq!((document.as_read(a), document.as_read(b)), (None, Some("<p:b>t<c/></p:b>")));
    document.append(d, b).unwrap();
    assert_eq!((document.as_read(b), document.as_read(c)), (None, None));
    let mut document = read("<a xmlns:p='1'><p:b/></a>");
    let a = document.root_element().unwrap();
    document.declare(a, "p", "2").unwrap();
    assert_eq!(document.as_read(document.first_child(a).unwrap()), None);
}

#[test]
fn all_attributes_are_found_in_a_document_as_it_was_read_and_in_one_that_changed() {
    let all = |document: &Document| -> String {
        let pairs = document.all_attributes();
        pairs
            .map(|(element, name)| format!("{}@{} ", document.qname(element).local, document.qname(name).local))
            .collect()
    };
    let mut document = read("<!--c--><a x='1' xmlns:p='u' y='2'><b/><c p:z='3'>t</c></a>");
    assert_eq!(all(&document), "a@x a@y c@z ");
    let unused = document.create_element("", "d", "").unwrap();
    document.set_attribute(unused, "", "w", "", "4").unwrap();
    assert_eq!(all(&document), "a@x a@y c@z ");
    let root = document.root_element().unwrap();
    document.append(root, unused).unwrap();
    assert_eq!(all(&document), "a@x a@y c@z d@w ");
    let mut document = read("<a x='1'><b y='2'/></a>");
    let inner = document.first_child(document.root_element().unwrap()).unwrap();
    let view = document.see(inner);
    assert_eq!(all(&document), "b@y ");
    document.restore(view);
}
