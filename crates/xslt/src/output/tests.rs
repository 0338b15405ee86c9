//! Results of all kinds, put together event by event.

use myelin_xml::{DoctypePolicy, Document, NodeId, Options, WriteOptions, write};

use super::*;
use crate::name::QualifiedName;

mod html;
mod namespaces;
mod trip;

/// A name without namespace.
fn plain(local: &str) -> Name<'_> {
    Name { prefix: "", local, namespace: "" }
}

fn named<'n>(prefix: &'n str, local: &'n str, namespace: &'n str) -> Name<'n> {
    Name { prefix, local, namespace }
}

fn properties(set: &[(&str, &str)]) -> OutputProperties {
    let mut properties = OutputProperties::default();
    for (name, value) in set {
        properties.set(name, value).unwrap();
    }
    properties
}

/// What is written without declaration.
fn fragment() -> OutputProperties {
    properties(&[("omit-xml-declaration", "yes")])
}

fn bytes(properties: &OutputProperties, make: impl FnOnce(&mut Output<'_>) -> Result<(), OutputError>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut output = Output::bytes(properties, None, 1 << 20, &mut out);
    make(&mut output).unwrap();
    output.finish().unwrap();
    out
}

fn written(properties: &OutputProperties, make: impl FnOnce(&mut Output<'_>) -> Result<(), OutputError>) -> String {
    String::from_utf8(bytes(properties, make)).unwrap()
}

/// What is written of a temporary tree.
fn kept(make: impl FnOnce(&mut Output<'_>) -> Result<(), OutputError>) -> String {
    let mut output = Output::tree(1 << 20);
    make(&mut output).unwrap();
    let tree = output.finish_tree().unwrap();
    let mut out = Vec::new();
    write(&tree, tree.document_node(), &WriteOptions::default(), &mut out);
    String::from_utf8(out).unwrap()
}

fn read(text: &str) -> Document {
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    Document::parse(text.as_bytes().to_vec(), &options).unwrap()
}

fn root(document: &Document) -> NodeId {
    document.root_element().unwrap()
}

/// An element with a text.
fn element(output: &mut Output<'_>, name: &str, text: &str) -> Result<(), OutputError> {
    output.start_element(plain(name))?;
    output.text(text)?;
    output.end_element()
}

fn literal(prefix: &str, local: &str, namespace: &str, sets: &mut NamespaceSets) -> LiteralStart {
    let name = QualifiedName { prefix: prefix.to_owned(), local: local.to_owned(), namespace: namespace.to_owned() };
    LiteralStart::new(name, &[("q".to_owned(), "urn:q".to_owned())], sets)
}

#[test]
fn elements_attributes_and_texts_are_written() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.attribute(plain("x"), "1 < \"2\"\n")?;
        output.start_element(plain("b"))?;
        output.end_element()?;
        output.text("")?;
        output.text("t & u ]]>\r")?;
        output.comment("c")?;
        output.instruction("i", "d")?;
        output.instruction("j", "")?;
        output.end_element()
    };
    let expected = "<a x=\"1 &lt; &quot;2&quot;&#10;\"><b/>t &amp; u ]]&gt;&#13;<!--c--><?i d?><?j?></a>";
    assert_eq!(written(&fragment(), make), expected);
    let declared = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{expected}");
    assert_eq!(written(&OutputProperties::default(), make), declared);
    let tree = "<a x=\"1 &lt; &quot;2&quot;&#xA;\"><b/>t &amp; u ]]&gt;&#xD;<!--c--><?i d?><?j?></a>";
    assert_eq!(kept(make), tree);
}

#[test]
fn the_last_of_several_attributes_of_a_name_counts() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        for (name, value) in [("x", "1"), ("y", "2"), ("x", "33"), ("z", "4"), ("y", "5"), ("x", "")] {
            output.attribute(plain(name), value)?;
        }
        output.attribute(named("p", "x", "urn:p"), "6")?;
        output.attribute(named("q", "x", "urn:p"), "7")?;
        output.text("t")?;
        output.end_element()
    };
    let text = written(&fragment(), make);
    assert_eq!(text, "<a z=\"4\" y=\"5\" x=\"\" xmlns:p=\"urn:p\" xmlns:q=\"urn:p\" q:x=\"7\">t</a>");
    assert_eq!(kept(make), "<a xmlns:p=\"urn:p\" xmlns:q=\"urn:p\" x=\"\" y=\"5\" z=\"4\" q:x=\"7\">t</a>");
}

#[test]
fn attributes_come_in_time_or_not_at_all() {
    let make = |output: &mut Output<'_>| {
        assert_eq!(output.attribute(plain("x"), ""), Err(OutputError::AttributeOnDocument));
        output.start_element(plain("a"))?;
        output.text("")?;
        output.attribute(plain("x"), "1")?;
        output.text("t")?;
        assert_eq!(output.attribute(plain("y"), ""), Err(OutputError::AttributeLate));
        assert_eq!(output.namespace("p", "urn:p"), Err(OutputError::AttributeLate));
        output.end_element()
    };
    assert_eq!(written(&fragment(), make), "<a x=\"1\">t</a>");
    assert_eq!(kept(make), "<a x=\"1\">t</a>");
}

#[test]
fn values_are_kept_apart_by_spaces_and_texts_are_not() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.atomic("1")?;
        output.atomic("2")?;
        output.text("t")?;
        output.atomic("3")?;
        output.text("")?;
        output.atomic("4")?;
        output.end_element()
    };
    assert_eq!(written(&fragment(), make), "<a>1 2t34</a>");
    assert_eq!(kept(make), "<a>1 2t34</a>");
}

#[test]
fn comments_and_instructions_do_not_end_too_early() {
    let make = |output: &mut Output<'_>| {
        output.comment("a--b---c-")?;
        output.instruction("i", " \td?>?>")?;
        assert_eq!(output.instruction("XML", "d"), Err(OutputError::InstructionName));
        element(output, "a", "")
    };
    assert_eq!(written(&fragment(), make), "<!--a- -b- - -c- --><?i d? >? >?><a/>");
    assert_eq!(kept(make), "<!--a- -b- - -c- --><?i d? >? >?><a/>");
}

#[test]
fn a_text_takes_the_text_of_all_items() {
    let make = |output: &mut Output<'_>| -> Result<(), OutputError> {
        output.text("a")?;
        output.text("b")?;
        output.start_element(plain("e"))?;
        output.attribute(plain("x"), "no")?;
        element(output, "f", "c")?;
        output.comment("no")?;
        output.end_element()?;
        output.comment("d")?;
        output.atomic("1")?;
        output.atomic("2")?;
        output.text("")?;
        output.text("z")
    };
    for (between, expected) in [("", "abcd12z"), (", ", "ab, c, d, 1, 2, z")] {
        let mut output = Output::text_only(between, 100);
        make(&mut output).unwrap();
        assert_eq!(output.finish_text(), expected);
    }
    let mut output = Output::text_only("", 3);
    assert_eq!(output.text("abcd"), Err(OutputError::TooLarge(3)));
}

#[test]
fn text_without_escaping_is_written_as_it_is() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.text("<")?;
        output.raw_text("<b/>")?;
        output.end_element()
    };
    assert_eq!(written(&fragment(), make), "<a>&lt;<b/></a>");
    assert_eq!(kept(make), "<a>&lt;&lt;b/&gt;</a>");
}

#[test]
fn the_method_text_writes_text_alone() {
    let text = properties(&[("method", "text")]);
    let make = |output: &mut Output<'_>| {
        output.text("a<b")?;
        output.start_element(plain("e"))?;
        output.attribute(plain("x"), "1")?;
        output.text("&")?;
        output.comment("c")?;
        output.end_element()?;
        output.instruction("i", "d")
    };
    assert_eq!(written(&text, make), "a<b&");
    let latin = properties(&[("method", "text"), ("encoding", "ISO-8859-1")]);
    assert_eq!(bytes(&latin, |output| output.text("é")), [0xE9]);
    let mut out = Vec::new();
    let mut output = Output::bytes(&latin, None, 100, &mut out);
    assert_eq!(output.text("€"), Err(OutputError::NotInEncoding('€')));
}

#[test]
fn other_encodings_write_what_they_lack_by_its_number() {
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.attribute(plain("x"), "é€")?;
        output.text("é€")?;
        output.end_element()
    };
    let latin = bytes(&properties(&[("encoding", "iso-8859-1")]), make);
    let expected = "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a x=\"é&#8364;\">é&#8364;</a>";
    assert_eq!(latin, expected.chars().map(|c| u32::from(c) as u8).collect::<Vec<_>>());
    let ascii = written(&properties(&[("encoding", "windows-1252"), ("omit-xml-declaration", "yes")]), make);
    assert_eq!(ascii, "<a x=\"&#233;&#8364;\">&#233;&#8364;</a>");
    let utf16 = bytes(&properties(&[("encoding", "UTF-16")]), make);
    assert_eq!(utf16[..6], [0xFE, 0xFF, 0, b'<', 0, b'?']);
    let (text, _) = myelin_xml::encoding::decode(None, &utf16).unwrap();
    assert!(String::from_utf8_lossy(&text).ends_with("encoding=\"UTF-16\"?><a x=\"é€\">é€</a>"));
    let mut out = Vec::new();
    let ascii = properties(&[("method", "xml"), ("encoding", "US-ASCII")]);
    let mut output = Output::bytes(&ascii, None, 100, &mut out);
    assert_eq!(output.comment("é"), Err(OutputError::NotInEncoding('é')));
    let marked = bytes(&properties(&[("byte-order-mark", "yes"), ("omit-xml-declaration", "yes")]), make);
    assert!(marked.starts_with("\u{FEFF}<a".as_bytes()));
}

#[test]
fn a_prolog_says_what_is_to_be_said() {
    let make = |output: &mut Output<'_>| {
        output.comment("c")?;
        element(output, "a", "")
    };
    let all = [("standalone", "yes"), ("doctype-system", "a\"b.dtd"), ("doctype-public", "-//A")];
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><!--c-->\n<!DOCTYPE a PUBLIC \"-//A\" 'a\"b.dtd'>\n<a/>";
    assert_eq!(written(&properties(&all), make), expected);
    let public = properties(&[("doctype-public", "-//A"), ("omit-xml-declaration", "yes")]);
    assert_eq!(written(&public, make), "<!--c--><a/>");
    assert_eq!(
        written(&OutputProperties::default(), |output| output.text("t")),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>t"
    );
    assert_eq!(written(&OutputProperties::default(), |_| Ok(())), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
}

#[test]
fn a_whole_document_has_one_element_in_version_2() {
    let mut whole = properties(&[("standalone", "yes"), ("omit-xml-declaration", "yes")]);
    let make = |output: &mut Output<'_>| {
        element(output, "a", "")?;
        output.text(" ")?;
        element(output, "b", "")
    };
    assert_eq!(written(&whole, make), "<a/> <b/>");
    whole.set_stylesheet_version(2.0);
    let mut out = Vec::new();
    assert_eq!(make(&mut Output::bytes(&whole, None, 100, &mut out)), Err(OutputError::NoDocument));
    out.clear();
    assert_eq!(Output::bytes(&whole, None, 100, &mut out).text("t"), Err(OutputError::NoDocument));
}

#[test]
fn text_of_some_elements_is_written_in_sections() {
    let mut cdata = fragment();
    cdata.add_cdata_section_element(crate::name::ExpandedName::new("", "a"));
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.text("x]")?;
        output.text("]")?;
        output.text(">&")?;
        output.start_element(plain("b"))?;
        output.text("&")?;
        output.end_element()?;
        output.text("]]>]]>")?;
        output.raw_text("&lt;")?;
        output.text("y")?;
        output.end_element()
    };
    let expected =
        "<a><![CDATA[x]]]]><![CDATA[>&]]><b>&amp;</b><![CDATA[]]]]><![CDATA[>]]]]><![CDATA[>]]>&lt;<![CDATA[y]]></a>";
    assert_eq!(written(&cdata, make), expected);
    cdata.set("encoding", "US-ASCII").unwrap();
    assert_eq!(written(&cdata, |output| element(output, "a", "xé")), "<a><![CDATA[x]]>&#233;<![CDATA[]]></a>");
}

#[test]
fn characters_are_mapped_in_texts_and_attributes() {
    let mut map = fragment();
    map.map_character('a', "<&>");
    map.map_character('\u{A0}', "&nbsp;");
    let make = |output: &mut Output<'_>| {
        output.start_element(plain("a"))?;
        output.attribute(plain("a"), "xa\u{A0}<")?;
        output.text("a&\u{A0}a")?;
        output.raw_text("a")?;
        output.end_element()
    };
    assert_eq!(written(&map, make), "<a a=\"x<&>&nbsp;&lt;\"><&>&amp;&nbsp;<&>a</a>");
}

#[test]
fn elements_are_indented_where_no_text_stands_beside_them() {
    let indent = properties(&[("indent", "yes"), ("omit-xml-declaration", "yes")]);
    let make = |output: &mut Output<'_>| {
        output.comment("c")?;
        output.start_element(plain("a"))?;
        element(output, "b", "t")?;
        output.start_element(plain("c"))?;
        element(output, "d", "")?;
        output.text("mixed")?;
        output.start_element(plain("e"))?;
        element(output, "f", "")?;
        output.end_element()?;
        output.end_element()?;
        output.start_element(plain("g"))?;
        output.instruction("i", "d")?;
        output.end_element()?;
        output.start_element(plain("h"))?;
        output.attribute(named("xml", "space", myelin_xml::XML_NAMESPACE), "preserve")?;
        element(output, "i", "")?;
        output.end_element()?;
        output.end_element()
    };
    let expected = "<!--c-->\n<a>\n  <b>t</b>\n  <c><d/>mixed<e><f/></e></c>\n  <g>\n    <?i d?>\n  </g>\n  <h xml:space=\"preserve\"><i/></h>\n</a>";
    assert_eq!(written(&indent, make), expected);
    let mut kept = indent.clone();
    kept.add_suppressed_indentation(crate::name::ExpandedName::new("", "a"));
    assert!(written(&kept, make).contains("--><a><b>t</b><c>") || written(&kept, make).contains("-->\n<a><b>t</b><c>"));
}

#[test]
fn results_end_at_their_limits() {
    let plain_xml = fragment();
    let indented = properties(&[("indent", "yes"), ("omit-xml-declaration", "yes")]);
    let make = |mut output: Output<'_>| -> Result<(), OutputError> {
        for _ in 0..100 {
            output.start_element(plain("a"))?;
            output.attribute(plain("x"), "1")?;
        }
        for _ in 0..100 {
            output.end_element()?;
        }
        output.finish().map(drop)
    };
    let mut out = b"before".to_vec();
    assert_eq!(make(Output::bytes(&plain_xml, None, 1_000, &mut out)), Err(OutputError::TooLarge(1_000)));
    out.clear();
    assert_eq!(make(Output::bytes(&plain_xml, None, 1_500, &mut out)), Ok(()));
    out.clear();
    assert_eq!(make(Output::bytes(&indented, None, 1_500, &mut out)), Err(OutputError::TooLarge(1_500)));
    assert_eq!(make(Output::tree(4_000)), Err(OutputError::TooLarge(4_000)));
    assert_eq!(make(Output::tree(40_000)), Ok(()));
}

#[test]
fn what_is_no_character_is_refused_in_each_place() {
    let properties = fragment();
    let mut out = Vec::new();
    for output in [Output::bytes(&properties, None, 1_000, &mut out), Output::tree(1_000_000)] {
        let mut output = output;
        let refused = Err(OutputError::Character(1));
        output.start_element(plain("a")).unwrap();
        output.text("t").unwrap();
        assert_eq!(output.text("\u{1}"), refused);
        assert_eq!(output.comment("\u{1}"), refused);
        assert_eq!(output.instruction("i", "\u{1}"), refused);
    }
}

#[test]
fn the_first_element_and_loose_text_are_told_of() {
    for indent in ["no", "yes"] {
        let properties = properties(&[("indent", indent), ("encoding", "UTF-16")]);
        let mut out = b"<around>".to_vec();
        let mut output = Output::bytes(&properties, Some(&[("", "urn:d")]), 1_000, &mut out);
        output.comment("c").unwrap();
        output.start_element(plain("a")).unwrap();
        element(&mut output, "b", "").unwrap();
        output.end_element().unwrap();
        element(&mut output, "second", "").unwrap();
        output.text(" ").unwrap();
        let Finished { root, loose_text } = output.finish().unwrap();
        let root = std::str::from_utf8(&out[root.unwrap()]).unwrap();
        let expected = if indent == "yes" { "<a xmlns=\"\">\n  <b/>\n</a>" } else { "<a xmlns=\"\"><b/></a>" };
        assert_eq!((root, loose_text), (expected, false), "{}", String::from_utf8_lossy(&out));
        assert!(out.starts_with(b"<around><!--c-->"));
    }
    let properties = fragment();
    let mut out = Vec::new();
    let mut output = Output::bytes(&properties, None, 1_000, &mut out);
    output.text("t").unwrap();
    assert_eq!(output.finish().unwrap(), Finished { root: None, loose_text: true });
}
