//! Which declarations elements get, in bytes and in trees.

use super::*;

/// What is written, and what is written of a tree, each time with whatever the lines borrow.
macro_rules! both {
    ($output:ident => $lines:block) => {{
        let properties = fragment();
        let mut out = Vec::new();
        let mut bytes = Output::bytes(&properties, None, 1 << 20, &mut out);
        let mut tree = Output::tree(1 << 20);
        for $output in [&mut bytes, &mut tree] $lines
        bytes.finish().unwrap();
        let tree = tree.finish_tree().unwrap();
        let mut kept = Vec::new();
        write(&tree, tree.document_node(), &WriteOptions::default(), &mut kept);
        [out, kept].map(|bytes| String::from_utf8(bytes).unwrap())
    }};
}

/// What both kinds of results write.
fn check(make: impl Fn(&mut Output<'_>) -> Result<(), OutputError>, expected: &str) {
    assert_eq!(written(&fragment(), &make), expected);
    assert_eq!(kept(&make), expected);
}

#[test]
fn prefixes_are_declared_once_and_where_they_change() {
    check(
        |output| {
            output.start_element(named("p", "a", "urn:1"))?;
            output.start_element(named("p", "b", "urn:1"))?;
            output.end_element()?;
            output.start_element(named("p", "c", "urn:2"))?;
            output.start_element(named("p", "d", "urn:1"))?;
            output.end_element()?;
            output.end_element()?;
            output.start_element(named("", "e", "urn:1"))?;
            output.start_element(plain("f"))?;
            element(output, "g", "")?;
            output.end_element()?;
            output.end_element()?;
            element(output, "h", "")?;
            output.end_element()
        },
        "<p:a xmlns:p=\"urn:1\"><p:b/><p:c xmlns:p=\"urn:2\"><p:d xmlns:p=\"urn:1\"/></p:c>\
         <e xmlns=\"urn:1\"><f xmlns=\"\"><g/></f></e><h/></p:a>",
    );
}

#[test]
fn attributes_in_a_namespace_get_a_prefix_that_means_it() {
    check(
        |output| {
            output.start_element(named("p", "a", "urn:1"))?;
            output.attribute(named("", "u", "urn:1"), "")?;
            output.start_element(named("p", "b", "urn:1"))?;
            output.attribute(named("p", "v", "urn:2"), "")?;
            output.end_element()?;
            output.start_element(named("p", "c", "urn:1"))?;
            output.attribute(named("xmlns", "w", "urn:2"), "")?;
            output.end_element()?;
            output.start_element(plain("d"))?;
            output.attribute(named("p", "x", "urn:2"), "")?;
            output.end_element()?;
            output.start_element(plain("e"))?;
            output.attribute(named("any", "lang", myelin_xml::XML_NAMESPACE), "")?;
            output.end_element()?;
            output.end_element()
        },
        "<p:a xmlns:p=\"urn:1\" p:u=\"\"><p:b xmlns:ns0=\"urn:2\" ns0:v=\"\"/><p:c xmlns:ns0=\"urn:2\" ns0:w=\"\"/>\
         <d xmlns:p=\"urn:2\" p:x=\"\"/><e xml:lang=\"\"/></p:a>",
    );
}

#[test]
fn prefixes_that_are_made_up_are_new() {
    let make = |output: &mut Output<'_>| {
        output.start_element(named("ns0", "a", "urn:0"))?;
        output.attribute(named("", "x", "urn:1"), "")?;
        output.attribute(named("", "y", "urn:2"), "")?;
        element(output, "b", "")?;
        output.start_element(plain("c"))?;
        output.attribute(named("", "z", "urn:1"), "")?;
        output.end_element()?;
        output.end_element()
    };
    let rest = "<b/><c ns1:z=\"\"/></ns0:a>";
    let bytes = "<ns0:a xmlns:ns0=\"urn:0\" xmlns:ns1=\"urn:1\" ns1:x=\"\" xmlns:ns2=\"urn:2\" ns2:y=\"\">";
    assert_eq!(written(&fragment(), make), format!("{bytes}{rest}"));
    let tree = "<ns0:a xmlns:ns0=\"urn:0\" xmlns:ns1=\"urn:1\" xmlns:ns2=\"urn:2\" ns1:x=\"\" ns2:y=\"\">";
    assert_eq!(kept(make), format!("{tree}{rest}"));
}

#[test]
fn namespace_nodes_are_declared_unless_their_prefix_is_taken() {
    check(
        |output| {
            output.start_element(named("p", "a", "urn:1"))?;
            output.namespace("q", "urn:q")?;
            output.namespace("p", "urn:1")?;
            output.namespace("xml", myelin_xml::XML_NAMESPACE)?;
            assert_eq!(output.namespace("p", "urn:2"), Err(OutputError::PrefixTaken));
            assert_eq!(output.namespace("q", "urn:2"), Err(OutputError::PrefixTaken));
            assert_eq!(output.namespace("xml", "urn:2"), Err(OutputError::PrefixTaken));
            output.start_element(plain("b"))?;
            assert_eq!(output.namespace("", "urn:d"), Err(OutputError::DefaultTaken));
            output.namespace("q", "urn:q")?;
            output.attribute(named("q", "x", "urn:x"), "")?;
            output.end_element()?;
            output.start_element(named("p", "c", "urn:1"))?;
            output.namespace("", "urn:d")?;
            element(output, "d", "")?;
            output.end_element()?;
            output.end_element()
        },
        "<p:a xmlns:p=\"urn:1\" xmlns:q=\"urn:q\"><b xmlns:ns0=\"urn:x\" ns0:x=\"\"/>\
         <p:c xmlns=\"urn:d\"><d xmlns=\"\"/></p:c></p:a>",
    );
}

#[test]
fn literal_elements_bring_their_namespaces_where_they_are_not_in_scope() {
    let mut sets = NamespaceSets::default();
    let a = literal("p", "a", "urn:p", &mut sets);
    let b = literal("p", "b", "urn:p", &mut sets);
    let c = literal("", "c", "", &mut sets);
    let results = both!(output => {
        output.start_element(plain("r")).unwrap();
        for _ in 0..2 {
            output.start_literal(&a).unwrap();
            output.attribute(named("q", "x", "urn:other"), "").unwrap();
            for _ in 0..2 {
                output.start_literal(&b).unwrap();
                output.end_element().unwrap();
            }
            output.start_element(named("", "d", "urn:d")).unwrap();
            output.start_literal(&c).unwrap();
            output.end_element().unwrap();
            output.end_element().unwrap();
            output.end_element().unwrap();
        }
        output.end_element().unwrap();
    });
    let one = "<p:a xmlns:p=\"urn:p\" xmlns:q=\"urn:q\" xmlns:ns0=\"urn:other\" ns0:x=\"\"><p:b/><p:b/>\
               <d xmlns=\"urn:d\"><c xmlns=\"\"/></d></p:a>";
    let expected = format!("<r>{one}{one}</r>");
    assert_eq!(results, [expected.clone(), expected]);
}

#[test]
fn copies_bring_what_is_in_scope_where_they_come_from() {
    let source = read("<s xmlns='urn:d' xmlns:p='urn:p'><p:a x='&#9;1'>t<b/><c xmlns='' xmlns:p='urn:2'/></p:a></s>");
    let a = source.first_child(root(&source)).unwrap();
    let copy = |namespaces: bool| {
        both!(output => {
            output.start_element(named("p", "r", "urn:p")).unwrap();
            output.copy(&source, a, namespaces).unwrap();
            output.end_element().unwrap();
        })
    };
    let [bytes, tree] = copy(true);
    let rest = "<b/><c xmlns=\"\" xmlns:p=\"urn:2\"/></p:a></p:r>";
    assert_eq!(
        bytes,
        "<p:r xmlns:p=\"urn:p\"><p:a xmlns=\"urn:d\" x='&#9;1'>t<b/><c xmlns='' xmlns:p='urn:2'/></p:a></p:r>"
    );
    assert_eq!(tree, format!("<p:r xmlns:p=\"urn:p\"><p:a xmlns=\"urn:d\" x=\"&#x9;1\">t{rest}"));
    let [bytes, tree] = copy(false);
    let bare = "t<b xmlns=\"urn:d\"/><c/></p:a></p:r>";
    assert_eq!(bytes, format!("<p:r xmlns:p=\"urn:p\"><p:a x='&#9;1'>{bare}"));
    assert_eq!(tree, format!("<p:r xmlns:p=\"urn:p\"><p:a x=\"&#x9;1\">{bare}"));
}

#[test]
fn a_copy_keeps_no_default_of_its_new_surroundings() {
    let source = read("<p:a xmlns:p='urn:p'><b><p:c/></b></p:a>");
    let properties = fragment();
    let mut out = Vec::new();
    let mut output = Output::bytes(&properties, Some(&[("", "urn:d"), ("q", "urn:q")]), 1 << 20, &mut out);
    output.copy(&source, source.document_node(), true).unwrap();
    output.finish().unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "<p:a xmlns:p=\"urn:p\"><b xmlns=\"\"><p:c/></b></p:a>");
}
