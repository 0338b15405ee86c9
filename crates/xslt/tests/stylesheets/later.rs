//! Instructions of XSLT 2.0 and 3.0, from end to end.

use myelin_xml::Document;
use myelin_xslt::{NoResolver, Options, Stylesheet};

#[track_caller]
fn check(body: &str, expected: &str) {
    let sheet = format!(
        r#"<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
            xmlns:map="http://www.w3.org/2005/xpath-functions/map" exclude-result-prefixes="map">
            <xsl:output omit-xml-declaration="yes"/><xsl:template match="/">{body}</xsl:template></xsl:stylesheet>"#
    );
    let stylesheet = Stylesheet::compile(sheet.as_bytes(), "test.xsl", &NoResolver);
    let stylesheet = stylesheet.unwrap_or_else(|problems| panic!("{body}: {problems:?}"));
    let source = b"<a><b>1</b><b>2</b><b>3</b></a>".to_vec();
    let mut document = Document::parse(source, &myelin_xml::Options::default()).expect("a document");
    let mut out = Vec::new();
    let source = document.document_node();
    let result = stylesheet.transform(&mut document, source, &Options::default(), &mut out);
    assert_eq!(result.err().map(|error| error.code), None, "{body}");
    assert_eq!(String::from_utf8_lossy(&out), expected, "{body}");
}

#[test]
fn content_may_depend_on_other_content() {
    let list = |select: &str| {
        format!(
            "<l><xsl:on-non-empty>(</xsl:on-non-empty><xsl:value-of select='{select}'/><xsl:on-empty>none</xsl:on-empty></l>"
        )
    };
    check(&list("a/b"), "<l>(1 2 3</l>");
    check(&list("a/c"), "<l>none</l>");
    check(
        "<l><xsl:where-populated><m x='1'><xsl:copy-of select='a/c'/></m><n>o</n></xsl:where-populated></l>",
        "<l><n>o</n></l>",
    );
    check("<l><xsl:attribute name='x' select='1'/><xsl:on-empty>none</xsl:on-empty></l>", "<l x=\"1\"/>");
}

#[test]
fn maps_are_made_of_entries() {
    check(
        "<xsl:variable name='m' as='map(*)'><xsl:map><xsl:for-each select='a/b'><xsl:map-entry key='position()' \
         select='string(.)'/></xsl:for-each></xsl:map></xsl:variable><l><xsl:value-of select='map:size($m), $m(2)'/></l>",
        "<l>3 2</l>",
    );
}

#[test]
fn a_loop_with_parameters_ends_where_it_says() {
    check(
        "<l><xsl:iterate select='a/b'><xsl:param name='sum' select='0'/><xsl:on-completion>never</xsl:on-completion>\
         <xsl:choose><xsl:when test='$sum &gt; 0'><xsl:try><xsl:break select='$sum + .'/><xsl:catch/></xsl:try></xsl:when>\
         <xsl:otherwise><xsl:next-iteration><xsl:with-param name='sum' select='$sum + .'/></xsl:next-iteration>\
         </xsl:otherwise></xsl:choose></xsl:iterate></l>",
        "<l>3</l>",
    );
}

#[test]
fn what_goes_wrong_can_be_caught() {
    check(
        "<l><xsl:try><x/><xsl:value-of select='1 idiv 0'/><xsl:catch errors='*:FOAR0001' \
         xmlns:err='http://www.w3.org/2005/xqt-errors'>\
         <xsl:value-of select='local-name-from-QName($err:code)'/></xsl:catch></xsl:try></l>",
        "<l>FOAR0001</l>",
    );
}
