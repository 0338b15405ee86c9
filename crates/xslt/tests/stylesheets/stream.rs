//! One pass over the events gives the very bytes that the tree gives, or gives up and lets the tree do it.

use myelin_xml::Document;
use myelin_xslt::{Form, Memory, NoResolver, Options, Stylesheet};
use proptest::prelude::*;

fn compile(body: &str, output: &str) -> Stylesheet {
    let text = format!(
        r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:p="urn:p" xmlns:q="urn:q" exclude-result-prefixes="p q">{output}{body}</xsl:stylesheet>"#
    );
    Stylesheet::compile(text.as_bytes(), "test.xsl", &NoResolver).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn by_tree(stylesheet: &Stylesheet, source: &str) -> Vec<u8> {
    let mut document = Document::parse(source.into(), &myelin_xml::Options::default()).expect("it is well-formed");
    let (top, mut out) = (document.document_node(), Vec::new());
    stylesheet.transform(&mut document, top, &Options::default(), &mut out).expect("it has a result");
    out
}

fn by_bytes(stylesheet: &Stylesheet, source: &str, memory: &mut Memory) -> Vec<u8> {
    let (mut bytes, mut out) = (source.as_bytes().to_vec(), b"before".to_vec());
    stylesheet.transform_bytes(&mut bytes, &Options::default(), memory, &mut out).expect("it has a result");
    assert_eq!(bytes, source.as_bytes(), "the source is as it was");
    assert!(out.starts_with(b"before"));
    out.split_off(6)
}

const NO_DECLARATION: &str = r#"<xsl:output method="xml" omit-xml-declaration="yes"/>"#;

const IDENTITY: &str =
    r#"<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>"#;

/// Stylesheets that can run on events, each with its output declaration.
fn streaming() -> Vec<Stylesheet> {
    let renamed = format!(
        r#"{IDENTITY}<xsl:template match="a"><b><xsl:apply-templates select="@*|node()"/></b></xsl:template><xsl:template match="p:a"><q:b p:x="no" xmlns="urn:d"/></xsl:template>"#
    )
    .replace(r#" p:x="no""#, "");
    let fields = r#"
        <xsl:template match="/"><p:r v="1"><xsl:apply-templates/></p:r></xsl:template>
        <xsl:template match="a"><x i="[{@i}]"><xsl:value-of select="@i"/>-<xsl:for-each select="b"><y><xsl:value-of select="."/></y></xsl:for-each><z><xsl:value-of select="c"/></z><xsl:copy-of select="d"/></x></xsl:template>
        <xsl:template match="b"><w><xsl:apply-templates/></w></xsl:template>
        <xsl:template match="text()"/>"#;
    let texts = r#"<xsl:template match="a"><t><xsl:value-of select="."/></t></xsl:template><xsl:template match="b|c"><u/></xsl:template>"#;
    let copies = r#"<xsl:template match="a"><k xmlns:n="urn:n"><xsl:copy-of select="."/></k></xsl:template><xsl:template match="comment()"><xsl:copy/></xsl:template>"#;
    [IDENTITY, &renamed, fields, texts, copies]
        .into_iter()
        .flat_map(|body| [compile(body, NO_DECLARATION), compile(body, "")])
        .collect()
}

#[test]
fn these_stylesheets_run_in_one_pass() {
    for stylesheet in streaming() {
        assert_eq!(stylesheet.tree_reason(), None, "{}", stylesheet.explain());
    }
}

#[test]
fn others_say_why_they_need_a_tree() {
    let check = |body: &str, expected: &str| {
        let reason = compile(body, "").tree_reason().unwrap_or_default();
        assert!(reason.contains(expected), "{reason:?} is not about {expected:?}");
    };
    check(r#"<xsl:template match="a[1]"/>"#, "pattern asks for more than a name");
    check(r#"<xsl:template match="a"><xsl:value-of select="//b"/></xsl:template>"#, "`//b`");
    check(
        r#"<xsl:template match="a"><xsl:value-of select="."/><xsl:value-of select="b"/></xsl:template>"#,
        "taken twice",
    );
    check(
        r#"<xsl:template match="a"><xsl:apply-templates><xsl:sort/></xsl:apply-templates></xsl:template>"#,
        "test.xsl:1:",
    );
    check(r#"<xsl:strip-space elements="*"/>"#, "white space");
    check(r#"<xsl:param name="p"/><xsl:template match="a"/>"#, "parameters");
}

#[test]
fn stylesheets_in_turns_do_not_mix_up_what_they_have_learnt() {
    let stylesheets: Vec<_> = (0..20)
        .map(|number| {
            compile(
                &format!(
                    r#"<xsl:template match="a"><r{number}><xsl:apply-templates select="b"/></r{number}></xsl:template>"#
                ),
                NO_DECLARATION,
            )
        })
        .collect();
    let mut memory = Memory::default();
    // A few that find what they have learnt, then more than the memory keeps.
    for number in [0, 1, 0, 1].into_iter().chain(0..20).chain(0..20) {
        let result = by_bytes(&stylesheets[number], &format!("<a><b>{number}</b><c/></a>"), &mut memory);
        assert_eq!(String::from_utf8_lossy(&result), format!("<r{number}>{number}</r{number}>"));
    }
}

#[test]
fn what_a_message_with_too_many_names_taught_is_forgotten_with_them() {
    let stylesheet =
        compile(r#"<xsl:template match="a"><r><xsl:apply-templates select="b"/></r></xsl:template>"#, NO_DECLARATION);
    // More than a parser keeps for the next document.
    let namespaces: String =
        (0..33).map(|number| format!(r#" xmlns:p{number}="urn:{number}:{}""#, "x".repeat(8_000))).collect();
    let mut memory = Memory::default();
    for _ in 0..2 {
        let result = by_bytes(&stylesheet, &format!("<a{namespaces}><x/><b>1</b></a>"), &mut memory);
        assert!(String::from_utf8_lossy(&result).contains("1"));
        assert_eq!(by_bytes(&stylesheet, "<a><b>1</b><c>2</c></a>", &mut memory), b"<r>1</r>");
    }
}

#[test]
fn children_out_of_order_are_left_to_the_tree() {
    let stylesheet = compile(
        r#"<xsl:template match="a"><r><xsl:apply-templates select="b"/><xsl:apply-templates select="c"/></r></xsl:template>"#,
        NO_DECLARATION,
    );
    let mut memory = Memory::default();
    assert_eq!(by_bytes(&stylesheet, "<a><b>1</b><c>2</c></a>", &mut memory), b"<r>12</r>");
    assert_eq!(by_bytes(&stylesheet, "<a><c>2</c><b>1</b></a>", &mut memory), b"<r>12</r>");
}

#[test]
fn an_element_is_transformed_for_its_place() {
    let stylesheet = compile(IDENTITY, "");
    let source = r#"<?xml version="1.0"?><e xmlns="urn:e" xmlns:s="urn:s"><h/><b><s:x s:y="1"><z xmlns="urn:z"/></s:x><s:x/></b></e>"#;
    let (mut memory, mut out) = (Memory::default(), Vec::new());
    let options = Options { form: Form::InPlace, ..Options::default() };
    let found = stylesheet
        .transform_element(source.as_bytes(), &mut |depth, _| depth == 3, &options, &mut memory, &mut out)
        .expect("it is well-formed")
        .expect("the identity runs in one pass");
    let (range, outcome) = found;
    assert_eq!(&source[range], r#"<s:x s:y="1"><z xmlns="urn:z"/></s:x>"#);
    assert_eq!(String::from_utf8_lossy(&out), r#"<s:x s:y="1"><z xmlns="urn:z"/></s:x>"#);
    assert_eq!((outcome.root, outcome.loose_text), (Some(0..out.len()), false));
}

#[test]
fn messages_without_the_element_are_no_reason_to_stop_trying() {
    let stylesheet = compile(IDENTITY, "");
    let (mut memory, mut out) = (Memory::default(), Vec::new());
    let options = Options { form: Form::InPlace, ..Options::default() };
    let mut at_depth = |wanted: usize| {
        let found = stylesheet.transform_element(
            b"<e><b/></e>",
            &mut |depth, _| depth == wanted,
            &options,
            &mut memory,
            &mut out,
        );
        found.expect("it is well-formed").is_some()
    };
    for _ in 0..50 {
        assert!(!at_depth(3));
    }
    assert!(at_depth(2));
}

/// A document of the names that the stylesheets ask for.
fn document() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "d", "p:a", "e", r#"s:e xmlns:r="urn:r" xmlns:s="urn:s""#]);
    let attribute = prop::sample::select(vec!["", r#" i="1""#, r#" i="&lt;'&#10;" j="2""#, r#" p:k="x>y""#]);
    let declared = prop::sample::select(vec!["", "", "", r#" xmlns="urn:q""#, r#" xmlns:n="urn:m""#, r#" xmlns="""#]);
    let leaf =
        prop::sample::select(vec!["t", "x &gt; y &amp; z", "<!-- c -->", "<?pi d?>", " ", "<![CDATA[<&]]>", "é\r\n"]);
    let node = leaf.prop_map(str::to_owned).prop_recursive(4, 40, 6, move |inner| {
        (name.clone(), attribute.clone(), declared.clone(), prop::collection::vec(inner, 0..6)).prop_map(
            |(name, attribute, declared, children)| match children.concat() {
                inside if inside.is_empty() => format!("<{name}{declared}{attribute}/>"),
                inside => {
                    let end = name.split(' ').next().unwrap_or(name);
                    format!("<{name}{declared}{attribute}>{inside}</{end}>")
                }
            },
        )
    });
    prop::collection::vec(node, 0..6).prop_map(|nodes| format!(r#"<a xmlns:p="urn:p">{}</a>"#, nodes.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_give_the_same_bytes(source in document()) {
        let mut memory = Memory::default();
        for stylesheet in streaming() {
            let expected = by_tree(&stylesheet, &source);
            // Twice, as the second message finds what the first has left.
            for _ in 0..2 {
                let found = by_bytes(&stylesheet, &source, &mut memory);
                prop_assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected), "{}", source);
            }
        }
    }
}
