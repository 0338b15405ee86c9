//! What becomes of a result that is put into a document.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use myelin_xml::Document;
use myelin_xslt::{Form, NoResolver, Options, Outcome, Stylesheet};

const SOURCE: &str = "<e:e xmlns:e='urn:e' xmlns='urn:d'><b><c/></b></e:e>";

fn sheet(output: &str, template: &str) -> Stylesheet {
    let sheet = format!(
        "<xsl:stylesheet version='2.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
         <xsl:output {output}/><xsl:template match='/'>{template}</xsl:template></xsl:stylesheet>"
    );
    Stylesheet::compile(sheet.as_bytes(), "a.xsl", &NoResolver).unwrap()
}

/// What a stylesheet makes of the element `b` in the source, behind `<before>`.
fn run(form: Form, output: &str, template: &str) -> (String, Outcome) {
    let sheet = sheet(output, template);
    let mut document = Document::parse(SOURCE.into(), &myelin_xml::Options::default()).unwrap();
    let source = document.first_child(document.root_element().unwrap()).unwrap();
    let mut out = b"<before>".to_vec();
    let outcome = sheet.transform(&mut document, source, &Options { form, ..Options::default() }, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), outcome)
}

#[test]
fn a_result_for_the_place_of_its_source_declares_what_is_not_in_scope_there() {
    let check = |form, template: &str, expected: &str| {
        let (text, outcome) = run(form, "encoding='UTF-16'", template);
        assert_eq!(text, format!("<before>{expected}"));
        assert_eq!(&text[outcome.root.unwrap()], expected);
    };
    check(Form::InPlace, "<xsl:copy-of select='/'/>", "<b><c/></b>");
    check(Form::Element, "<xsl:copy-of select='/'/>", "<b xmlns=\"urn:d\" xmlns:e=\"urn:e\"><c/></b>");
    check(Form::InPlace, "<r/>", "<r xmlns=\"\"/>");
    check(Form::Element, "<r/>", "<r/>");
}

#[test]
fn a_result_for_a_place_is_xml_whatever_its_method_is_save_text() {
    assert_eq!(run(Form::Element, "method='html'", "<html><br/></html>").0, "<before><html><br/></html>");
    assert_eq!(run(Form::InPlace, "method='text'", "&lt;&amp;").0, "<before><&");
    assert_eq!(run(Form::Document, "method='text'", "&lt;&amp;").0, "<before><&");
}

#[test]
fn the_outcome_tells_of_an_element_and_of_text_beside_it() {
    let told = |template: &str| {
        let Outcome { root, loose_text, .. } = run(Form::Element, "", template).1;
        (root.is_some(), loose_text)
    };
    assert_eq!(told("<a/> <b/>"), (true, false));
    assert_eq!(told("<a/>text"), (true, true));
    assert_eq!(told(""), (false, false));
}

#[test]
fn a_stylesheet_tells_whether_its_result_may_be_malformed() {
    let told = |template: &str| sheet("", template).may_be_malformed();
    assert!(!told("<a><xsl:value-of select='.'/></a>"));
    assert!(!told("<a><xsl:value-of select='.' disable-output-escaping='no'/></a>"));
    assert!(told("<a><xsl:value-of select='.' disable-output-escaping='yes'/></a>"));
    assert!(told("<a><xsl:text disable-output-escaping='yes'>x</xsl:text></a>"));
    assert!(sheet("use-character-maps='m'/><xsl:character-map name='m'><xsl:output-character character='a' string='&lt;'/></xsl:character-map><xsl:output", "<a/>").may_be_malformed());
}
