//! Expressions in texts, evaluated while a stylesheet runs.

use myelin_xml::Document;
use myelin_xslt::{Memory, NoResolver, Options, Stylesheet};

#[track_caller]
fn check(body: &str, expected: &str) {
    let sheet = format!(
        r#"<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
            xmlns:dyn="http://exslt.org/dynamic" xmlns:saxon="http://icl.com/saxon"
            exclude-result-prefixes="dyn saxon"><xsl:variable name="g" select="'global'"/>
            <xsl:template match="/"><l>{body}</l></xsl:template>
            <xsl:template name="other"><xsl:param name="f"/><xsl:param name="x" select="'theirs'"/>
            <xsl:value-of select="$f()"/></xsl:template></xsl:stylesheet>"#
    );
    let stylesheet = Stylesheet::compile(sheet.as_bytes(), "test.xsl", &NoResolver).expect("a stylesheet");
    let source = b"<a><b>1</b><b>2</b><b>3</b></a>".to_vec();
    let mut document = Document::parse(source, &myelin_xml::Options::default()).expect("a document");
    let mut out = Vec::new();
    let source = document.document_node();
    let result = stylesheet.transform(&mut document, source, &Options::default(), &mut out);
    let text = result.map_or_else(|error| error.code, |_| String::from_utf8_lossy(&out).into_owned());
    assert_eq!(text.trim_start_matches("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), expected, "{body}");
}

#[test]
fn expressions_in_texts_see_the_variables_of_their_place() {
    let x = "<xsl:variable name='x' select='2'/>";
    check(&format!("{x}<xsl:value-of select=\"dyn:evaluate('$x + 1')\"/>"), "<l>3</l>");
    check(&format!("{x}<xsl:value-of select=\"dyn:evaluate('//b[$x]'), saxon:evaluate('$g')\"/>"), "<l>2 global</l>");
    check(&format!("{x}<xsl:value-of select=\"dyn:map(//b, '. * $x')\"/>"), "<l>2 4 6</l>");
    // One text stands for another expression where the variable is another one.
    let nested = "<xsl:value-of select=\"dyn:evaluate('$x')\"/><xsl:for-each select='a'><xsl:variable name='y' select='5'/>\
                  <xsl:variable name='x' select='7'/><xsl:value-of select=\"dyn:evaluate('$x')\"/></xsl:for-each>";
    check(&format!("{x}{nested}"), "<l>27</l>");
    // A variable that is out of scope, or not declared yet, is none.
    check(
        "<xsl:if test='true()'><xsl:variable name='x' select='1'/></xsl:if>\
         <xsl:value-of select=\"count(dyn:evaluate('$x'))\"/>",
        "<l>0</l>",
    );
}

#[test]
fn an_expression_in_a_function_value_does_not_see_the_variables_of_its_caller() {
    let functions = [("function() { dyn:evaluate('$x') }", "$e"), ("dyn:evaluate#1", "function() { $e('$x') }")];
    for (function, argument) in functions {
        check(
            &format!(
                "<xsl:variable name='x' select='2'/><xsl:variable name='e' select=\"{function}\"/>\
                 <xsl:call-template name='other'><xsl:with-param name='f' select=\"{argument}\"/></xsl:call-template>"
            ),
            "<l/>",
        );
    }
}

#[test]
fn a_transformation_begins_in_the_default_mode_of_its_stylesheet() {
    let sheet = r#"<xsl:stylesheet version="3.0" default-mode="m" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
        <xsl:template match="/"><m/></xsl:template><xsl:template match="/" mode="n"><n/></xsl:template></xsl:stylesheet>"#;
    let stylesheet = Stylesheet::compile(sheet.as_bytes(), "test.xsl", &NoResolver).expect("a stylesheet");
    let mut out = Vec::new();
    let mut source = b"<a/>".to_vec();
    let result = stylesheet.transform_bytes(&mut source, &Options::default(), &mut Memory::default(), &mut out);
    assert!(result.is_ok() && out.ends_with(b"<m/>"));
}
