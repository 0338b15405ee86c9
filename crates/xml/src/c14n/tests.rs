//! The examples of the recommendations, and what holds of every document.

use proptest::prelude::*;

use super::canonical::{EXCLUSIVE, INCLUSIVE, INCLUSIVE_11};
use super::*;
use crate::document::tests::read;
use crate::processor_time::processor_time;
use crate::writer::tests::{apply, change, element, find, normalise, written};
use crate::{DoctypePolicy, Kind, Options};

fn canonical(document: &Document, apex: NodeId, how: &Canonical) -> String {
    let mut out = Vec::new();
    canonicalize(document, Subset { apex, excluded: &[] }, how, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The same, of the set of a node and all below it: sets are written node by node.
fn of_node_set(document: &Document, apex: NodeId, how: &Canonical) -> String {
    let inside = |node| std::iter::successors(Some(node), |&node| document.parent(node)).any(|node| node == apex);
    let include = |node: NodeRef<'_>| match node {
        NodeRef::Node(node) | NodeRef::Namespace { element: node, .. } => inside(node),
    };
    let mut out = Vec::new();
    canonicalize_nodes(document, document.document_node(), &include, how, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn with_comments(method: Method) -> Canonical {
    Canonical { comments: true, ..Canonical::new(method) }
}

const ALL: [Method; 3] = [Method::Inclusive, Method::Inclusive11, Method::Exclusive];

/// Checks the canonical form of a whole document, by all methods.
fn check(text: &str, expected: &str) {
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let document = Document::parse(text.into(), &options).unwrap();
    for method in ALL {
        assert_eq!(canonical(&document, document.document_node(), &with_comments(method)), expected, "{method:?}");
    }
}

/// Checks the canonical form of the element of that local name.
fn check_element(text: &str, local: &str, how: &Canonical, expected: &str) {
    let document = read(text);
    assert_eq!(canonical(&document, find(&document, local), how), expected, "{how:?}");
}

/// Source: Canonical XML 1.1 §3.1.
#[test]
fn what_stands_outside_the_root_is_kept_on_lines_of_its_own() {
    let text = "<?xml version=\"1.0\"?>\n\n<?xml-stylesheet   href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n\n\
        <!DOCTYPE doc SYSTEM \"doc.dtd\">\n\n<doc>Hello, world!<!-- Comment 1 --></doc>\n\n<?pi-without-data     ?>\n\n\
        <!-- Comment 2 -->\n\n<!-- Comment 3 -->\n";
    check(
        text,
        "<?xml-stylesheet href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n<doc>Hello, world!<!-- Comment 1 --></doc>\n\
        <?pi-without-data?>\n<!-- Comment 2 -->\n<!-- Comment 3 -->",
    );
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let document = Document::parse(text.into(), &options).unwrap();
    assert_eq!(
        canonical(&document, document.document_node(), &Canonical::new(Method::Inclusive)),
        "<?xml-stylesheet href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n<doc>Hello, world!</doc>\n<?pi-without-data?>"
    );
}

/// Source: Canonical XML 1.1 §3.2.
#[test]
fn white_space_in_content_is_kept() {
    let text = "<doc>\n   <clean>   </clean>\n   <dirty>   A   B   </dirty>\n   <mixed>\n      A\n   </mixed>\n</doc>";
    check(text, text);
}

/// Source: Canonical XML 1.1 §3.3, without the attribute that a DTD would add.
#[test]
fn tags_are_regular_and_their_namespaces_and_attributes_sorted() {
    let text = "<doc>\n   <e1   />\n   <e2   ></e2>\n   <e3   name = \"elem3\"   id=\"elem3\"   />\n   \
        <e5 a:attr=\"out\" b:attr=\"sorted\" attr2=\"all\" attr=\"I'm\"\n      xmlns:b=\"http://www.ietf.org\"\n      \
        xmlns:a=\"http://www.w3.org\"\n      xmlns=\"http://example.org\"/>\n   \
        <e6 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n      <e7 xmlns=\"http://www.ietf.org\">\n         \
        <e8 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n            <e9 xmlns=\"\" xmlns:a=\"http://www.ietf.org\"/>\n         \
        </e8>\n      </e7>\n   </e6>\n</doc>";
    let expected = "<doc>\n   <e1></e1>\n   <e2></e2>\n   <e3 id=\"elem3\" name=\"elem3\"></e3>\n   \
        <e5 xmlns=\"http://example.org\" xmlns:a=\"http://www.w3.org\" xmlns:b=\"http://www.ietf.org\" attr=\"I'm\" \
        attr2=\"all\" b:attr=\"sorted\" a:attr=\"out\"></e5>\n   <e6 xmlns:a=\"http://www.w3.org\">\n      \
        <e7 xmlns=\"http://www.ietf.org\">\n         <e8 xmlns=\"\">\n            <e9 xmlns:a=\"http://www.ietf.org\"></e9>\n         \
        </e8>\n      </e7>\n   </e6>\n</doc>";
    let document = read(text);
    for method in [Method::Inclusive, Method::Inclusive11] {
        assert_eq!(canonical(&document, document.document_node(), &Canonical::new(method)), expected);
    }
    let exclusive =
        expected.replace(" xmlns:a=\"http://www.w3.org\">\n", ">\n").replace(" xmlns:a=\"http://www.ietf.org\"", "");
    assert_eq!(canonical(&document, document.document_node(), &Canonical::new(Method::Exclusive)), exclusive);
}

/// Source: Canonical XML 1.1 §3.4, without the attributes that a DTD would type, and §3.6.
#[test]
fn characters_and_references_become_one_form() {
    check(
        "<doc>\r\n   <text>First line&#x0d;&#10;Second line</text>\n   <value>&#x32;</value>\n   \
        <compute><![CDATA[value>\"0\" && value<\"10\" ?\"valid\":\"error\"]]></compute>\n   \
        <compute expr='value>\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"'>valid</compute>\n   \
        <norm attr=' &apos;   &#x20;&#13;&#xa;&#9;   &apos; '/>&#169;\n</doc>",
        "<doc>\n   <text>First line&#xD;\nSecond line</text>\n   <value>2</value>\n   \
        <compute>value&gt;\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"</compute>\n   \
        <compute expr=\"value>&quot;0&quot; &amp;&amp; value&lt;&quot;10&quot; ?&quot;valid&quot;:&quot;error&quot;\">valid</compute>\n   \
        <norm attr=\" '    &#xD;&#xA;&#x9;   ' \"></norm>©\n</doc>",
    );
}

/// Source: Canonical XML 1.0 §3.7 and 1.1 §3.8 with its erratum E01: `e1` and `e3` with their attributes.
#[test]
fn a_set_of_nodes_inherits_from_what_is_left_out() {
    let text = "<doc xmlns=\"http://www.ietf.org\" xmlns:w3c=\"http://www.w3.org\">\n   <e1 xml:base=\"something/else\">\n      \
        <e2 xmlns=\"\" xml:id=\"abc\" xml:base=\"bar/\">\n         <e3 id=\"E3\" xml:base=\"foo\"/>\n      </e2>\n   </e1>\n</doc>";
    let document = read(text);
    let include = |node: NodeRef<'_>| {
        let local = |node: NodeId| document.qname(node).local;
        match node {
            NodeRef::Node(node) if document.kind(node) == Kind::Attribute => {
                document.parent(node).is_some_and(|element| matches!(local(element), "e1" | "e3"))
            }
            NodeRef::Node(node) => matches!(local(node), "e1" | "e3"),
            NodeRef::Namespace { element, .. } => matches!(local(element), "e1" | "e3"),
        }
    };
    for (method, expected) in [
        (Method::Inclusive, " id=\"E3\" xml:base=\"foo\" xml:id=\"abc\""),
        (Method::Inclusive11, " id=\"E3\" xml:base=\"bar/foo\""),
    ] {
        let mut out = Vec::new();
        canonicalize_nodes(&document, document.document_node(), &include, &Canonical::new(method), &mut out).unwrap();
        let expected = format!(
            "<e1 xmlns=\"http://www.ietf.org\" xmlns:w3c=\"http://www.w3.org\" xml:base=\"something/else\">\
            <e3 xmlns=\"\"{expected}></e3></e1>"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

/// Source: Exclusive XML Canonicalization §2.1 and §2.2.
#[test]
fn an_exclusive_subtree_does_not_show_what_is_around_it() {
    let inner = "<n1:elem2 xmlns:n1=\"http://example.net\" xml:lang=\"en\">\n  <n3:stuff xmlns:n3=\"ftp://example.org\"/>\n</n1:elem2>";
    let one = format!("<n0:local xmlns:n0=\"foo:bar\" xmlns:n3=\"ftp://example.org\">{inner}</n0:local>");
    let two = format!(
        "<n2:pdu xmlns:n1=\"http://example.com\" xmlns:n2=\"http://foo.example\" xml:lang=\"fr\" xml:space=\"preserve\">{inner}</n2:pdu>"
    );
    let exclusive = "<n1:elem2 xmlns:n1=\"http://example.net\" xml:lang=\"en\">\n  \
        <n3:stuff xmlns:n3=\"ftp://example.org\"></n3:stuff>\n</n1:elem2>";
    for text in [&one, &two] {
        check_element(text, "elem2", &Canonical::new(Method::Exclusive), exclusive);
    }
    check_element(
        &one,
        "elem2",
        &Canonical::new(Method::Inclusive),
        "<n1:elem2 xmlns:n0=\"foo:bar\" xmlns:n1=\"http://example.net\" xmlns:n3=\"ftp://example.org\" xml:lang=\"en\">\n  \
        <n3:stuff></n3:stuff>\n</n1:elem2>",
    );
    check_element(
        &two,
        "elem2",
        &Canonical::new(Method::Inclusive),
        "<n1:elem2 xmlns:n1=\"http://example.net\" xmlns:n2=\"http://foo.example\" xml:lang=\"en\" xml:space=\"preserve\">\n  \
        <n3:stuff xmlns:n3=\"ftp://example.org\"></n3:stuff>\n</n1:elem2>",
    );
    let how = Canonical { inclusive_prefixes: vec!["n0".into(), "none".into()], ..Canonical::new(Method::Exclusive) };
    check_element(&one, "elem2", &how, &exclusive.replace(" xmlns:n1", " xmlns:n0=\"foo:bar\" xmlns:n1"));
}

#[test]
fn a_default_namespace_is_ended_only_where_one_was_shown() {
    let text = "<a xmlns='u:1'><b xmlns=''><c xmlns='u:1'><d xmlns=''/></c></b></a>";
    for method in ALL {
        let how = Canonical::new(method);
        check_element(
            text,
            "a",
            &how,
            "<a xmlns=\"u:1\"><b xmlns=\"\"><c xmlns=\"u:1\"><d xmlns=\"\"></d></c></b></a>",
        );
        check_element(text, "b", &how, "<b><c xmlns=\"u:1\"><d xmlns=\"\"></d></c></b>");
    }
    let exclusive = Canonical::new(Method::Exclusive);
    check_element(
        "<p:a xmlns='u:1' xmlns:p='u:2'><b xmlns=''/><p:c><d/></p:c></p:a>",
        "a",
        &exclusive,
        "<p:a xmlns:p=\"u:2\"><b></b><p:c><d xmlns=\"u:1\"></d></p:c></p:a>",
    );
    let default = Canonical { inclusive_prefixes: vec![String::new()], ..exclusive };
    check_element(
        "<p:a xmlns='u:1' xmlns:p='u:2'><b xmlns=''/><p:c><d/></p:c></p:a>",
        "a",
        &default,
        "<p:a xmlns=\"u:1\" xmlns:p=\"u:2\"><b xmlns=\"\"></b><p:c><d></d></p:c></p:a>",
    );
}

#[test]
fn an_enveloped_signature_is_left_out() {
    let document = read("<a><b/><s>t<c/></s>u<s/></a>");
    let excluded = [find(&document, "s")];
    let mut out = Vec::new();
    let subset = Subset { apex: document.document_node(), excluded: &excluded };
    canonicalize(&document, subset, &Canonical::new(Method::Exclusive), &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "<a><b></b>u<s></s></a>");
}

#[test]
fn algorithms_are_known_by_their_identifiers() {
    let known = |uri| Canonical::from_uri(uri).map(|how| (how.method, how.comments));
    assert_eq!(known(INCLUSIVE), Some((Method::Inclusive, false)));
    assert_eq!(known("http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"), Some((Method::Inclusive, true)));
    assert_eq!(known(INCLUSIVE_11), Some((Method::Inclusive11, false)));
    assert_eq!(known("http://www.w3.org/2006/12/xml-c14n11#WithComments"), Some((Method::Inclusive11, true)));
    assert_eq!(known(EXCLUSIVE), Some((Method::Exclusive, false)));
    assert_eq!(known("http://www.w3.org/2001/10/xml-exc-c14n#WithComments"), Some((Method::Exclusive, true)));
    assert_eq!(known("http://www.w3.org/2006/12/xml-c14n11WithComments"), None);
    assert_eq!(known("urn:x"), None);
}

#[test]
fn a_relative_namespace_has_no_canonical_form() {
    let document = read("<a xmlns='u:1' xmlns:p='2'><p:b/></a>");
    let of = |apex, method| {
        canonicalize(
            &document,
            Subset { apex, excluded: &[find(&document, "b")] },
            &Canonical::new(method),
            &mut Vec::new(),
        )
    };
    let root = find(&document, "a");
    assert_eq!(of(root, Method::Inclusive), Err(RelativeNamespace("2".into())));
    assert_eq!(of(root, Method::Exclusive), Ok(()), "it is not shown");
}

#[test]
fn a_deep_document_is_canonicalised_without_recursion() {
    let depth = 100_000;
    let text = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let document = Document::parse(text.clone().into_bytes(), &Options { depth, ..Options::default() }).unwrap();
    for method in ALL {
        assert_eq!(canonical(&document, document.document_node(), &Canonical::new(method)), text);
    }
}

#[test]
fn many_declarations_on_many_levels_cost_no_more_than_there_are() {
    // 900 levels with 30 declarations each: lists of all in scope would have 12 million entries.
    let mut text = String::new();
    for level in 0..900 {
        text.push_str("<a");
        for number in 0..30 {
            text.push_str(&format!(" xmlns:p{level}-{number}='urn:u'"));
        }
        text.push('>');
    }
    let used: String = (0..900).map(|level| format!("<p{level}-0:b/>")).collect();
    text.push_str(&used.repeat(20));
    text.push_str(&"</a>".repeat(900));
    let options = Options { open_declarations: usize::MAX, ..Options::default() };
    let document = Document::parse(text.into_bytes(), &options).unwrap();
    for method in ALL {
        let start = processor_time();
        let once = canonical(&document, document.document_node(), &Canonical::new(method));
        let took = processor_time() - start;
        assert!(took.as_secs() < 5, "{method:?} took {took:?}");
        assert!(once.len() > 18_000 * 10);
    }
}

#[test]
fn a_text_full_of_what_becomes_a_reference_takes_no_longer_for_each_byte() {
    const LENGTH: usize = 4 << 20;
    let text = format!("<a><b>{}</b><b>{}<c>x</c></b></a>", ">".repeat(LENGTH), "y>".repeat(LENGTH / 2));
    let document = Document::parse(text.into_bytes(), &Options::default()).unwrap();
    let start = processor_time();
    let once = canonical(&document, document.document_node(), &Canonical::new(Method::Exclusive));
    let took = processor_time() - start;
    assert!(took.as_secs() < 5, "{took:?}");
    assert_eq!(once.len(), LENGTH * 4 + LENGTH / 2 * 5 + "<a><b></b><b><c>x</c></b></a>".len());
}

/// Documents in which most is canonical already, with whatever ends a range of the source that can be copied.
fn nearly_canonical() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "t",
        "a > b",
        ">",
        "]]&gt;",
        "&amp;",
        "\r",
        "<![CDATA[]]>",
        "<![CDATA[>]]>",
        "<!--c-->",
        "<?p d?>",
        "<b></b>",
        "<b/>",
        "<b></b >",
        "<p:b></p:b>",
        "<q:b></q:b>",
    ]);
    let tags = proptest::sample::select(vec![
        ("<b>", "</b>"),
        ("<b>", "</b>"),
        ("<p:b>", "</p:b>"),
        ("<q:c>", "</q:c>"),
        ("<b >", "</b>"),
        ("<b>", "</b\n>"),
        ("<b x=\"1\">", "</b>"),
        ("<b y='2' x='>'>", "</b>"),
        ("<p:b xmlns:p=\"u:3\">", "</p:b>"),
        ("<b xmlns=\"u:4\">", "</b>"),
        ("<b xmlns=\"\">", "</b>"),
        ("<b><![CDATA[]]>", "</b>"),
        ("<b>", "<![CDATA[]]></b>"),
    ]);
    let tree = leaf.prop_map(str::to_owned).prop_recursive(5, 60, 6, move |inner| {
        (tags.clone(), proptest::collection::vec(inner, 0..6))
            .prop_map(|((start, end), inner)| format!("{start}{}{end}", inner.concat()))
    });
    tree.prop_map(|inner| format!("<r xmlns=\"u:0\" xmlns:p=\"u:1\" xmlns:q=\"u:2\"><s>{inner}</s></r>"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// The form that is copied from the source is the one that is written node by node.
    #[test]
    fn a_range_of_the_source_is_copied_only_where_it_is_canonical(text in nearly_canonical()) {
        let document = read(&text);
        let top = document.document_node();
        for apex in document.descendants(top).filter(|&node| document.kind(node) == Kind::Element) {
            for method in ALL {
                for how in [with_comments(method), Canonical::new(method)] {
                    prop_assert_eq!(of_node_set(&document, apex, &how), canonical(&document, apex, &how));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_canonical_form_of_a_canonical_form_is_itself(text in element()) {
        let Ok(document) = Document::parse(text.into_bytes(), &Options::default()) else { return Ok(()) };
        for method in ALL {
            let once = canonical(&document, document.document_node(), &with_comments(method));
            let again = read(&once);
            prop_assert_eq!(canonical(&again, again.document_node(), &with_comments(method)), once);
        }
    }

    /// The general way and the short one agree where both can be used.
    #[test]
    fn a_subtree_is_the_set_of_all_its_nodes(text in element()) {
        let Ok(document) = Document::parse(text.into_bytes(), &Options::default()) else { return Ok(()) };
        let top = document.document_node();
        for apex in document.descendants(top).filter(|&node| document.kind(node) == Kind::Element) {
            for method in ALL {
                let how = with_comments(method);
                prop_assert_eq!(of_node_set(&document, apex, &how), canonical(&document, apex, &how));
            }
        }
    }

    /// Signing what was changed and verifying what was sent see the same bytes.
    #[test]
    fn a_changed_tree_has_the_canonical_form_of_what_is_written(
        text in element(),
        changes in proptest::collection::vec(change(), 0..10),
    ) {
        let Ok(mut document) = Document::parse(text.into_bytes(), &Options::default()) else { return Ok(()) };
        for change in changes {
            apply(&mut document, change);
        }
        normalise(&mut document);
        let again = read(&written(&document, document.document_node()));
        let elements = |document: &Document| -> Vec<NodeId> {
            document.descendants(document.document_node()).filter(|&node| document.kind(node) == Kind::Element).collect()
        };
        for method in ALL {
            let how = with_comments(method);
            prop_assert_eq!(
                canonical(&document, document.document_node(), &how),
                canonical(&again, again.document_node(), &how)
            );
            for (&one, &other) in elements(&document).iter().zip(&elements(&again)) {
                prop_assert_eq!(canonical(&document, one, &how), canonical(&again, other, &how));
            }
        }
    }
}
