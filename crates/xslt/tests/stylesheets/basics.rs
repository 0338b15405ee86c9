//! Stylesheets from end to end: a few of each kind of instruction.

use myelin_xml::Document;
use myelin_xslt::{NoResolver, Options, Stylesheet};

fn transform(stylesheet: &str, source: &str) -> Result<String, String> {
    let shown =
        |problems: Vec<myelin_xslt::Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let stylesheet = Stylesheet::compile(stylesheet.as_bytes(), "test.xsl", &NoResolver).map_err(shown)?;
    let mut document = Document::parse(source.as_bytes().to_vec(), &myelin_xml::Options::default())
        .map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    let source = document.document_node();
    stylesheet.transform(&mut document, source, &Options::default(), &mut out).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn sheet(version: &str, body: &str) -> String {
    format!(
        r#"<xsl:stylesheet version="{version}" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:f="f" xmlns:xs="http://www.w3.org/2001/XMLSchema" exclude-result-prefixes="f xs"><xsl:output omit-xml-declaration="yes"/>{body}</xsl:stylesheet>"#
    )
}

#[track_caller]
fn check(version: &str, body: &str, source: &str, expected: &str) {
    assert_eq!(transform(&sheet(version, body), source).as_deref(), Ok(expected), "{body}");
}

const IDENTITY: &str =
    r#"<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>"#;

#[test]
fn the_identity_gives_what_came() {
    let source = r#"<a xmlns="u" xmlns:p="v" p:x="1" y="&lt;"><p:b>t &amp; u</p:b><!-- c --><?pi d?><c/></a>"#;
    check("1.0", IDENTITY, source, source);
}

#[test]
fn names_are_changed_beside_the_identity() {
    let body =
        format!(r#"{IDENTITY}<xsl:template match="b"><c><xsl:apply-templates select="@*|node()"/></c></xsl:template>"#);
    check("1.0", &body, "<a><b x='1'>t</b><b/></a>", r#"<a><c x="1">t</c><c/></a>"#);
}

#[test]
fn variables_parameters_and_choices_work_together() {
    let body = r#"
        <xsl:param name="p" select="'q'"/>
        <xsl:variable name="g"><x>1</x><x>2</x></xsl:variable>
        <xsl:template match="/">
            <r a="{$p}-{count(//i)}">
                <xsl:for-each select="//i"><xsl:sort select="." data-type="number" order="descending"/>
                    <xsl:variable name="n" select="position()"/>
                    <xsl:choose><xsl:when test="$n = last()">L</xsl:when><xsl:otherwise><xsl:value-of select="."/>,</xsl:otherwise></xsl:choose>
                </xsl:for-each>
                <xsl:call-template name="t"><xsl:with-param name="v">w</xsl:with-param></xsl:call-template>
                <xsl:copy-of select="$g"/>
            </r>
        </xsl:template>
        <xsl:template name="t"><xsl:param name="v"/><xsl:param name="d" select="7"/>[<xsl:value-of select="concat($v, $d)"/>]</xsl:template>"#;
    check("1.0", body, "<a><i>9</i><i>10</i><i>1</i></a>", r#"<r a="q-3">10,9,L[w7]<x>1</x><x>2</x></r>"#);
}

#[test]
fn a_fragment_of_text_alone_becomes_a_document_as_any_other() {
    let body = r#"<xsl:template match="/" xmlns:exsl="http://exslt.org/common"><xsl:variable name="v">t</xsl:variable>
        <r a="{count(exsl:node-set($v)/text())}" b="{count(exsl:node-set('t')/text())}"/></xsl:template>"#;
    check("1.0", body, "<a/>", r#"<r xmlns:exsl="http://exslt.org/common" a="1" b="0"/>"#);
}

#[test]
fn keys_numbers_and_modes_are_there() {
    let body = r#"
        <xsl:key name="k" match="i" use="@g"/>
        <xsl:template match="/"><r><xsl:apply-templates select="//i" mode="m"/><xsl:value-of select="count(key('k', 'b'))"/></r></xsl:template>
        <xsl:template match="i" mode="m"><xsl:number format="a."/><xsl:value-of select="@g"/></xsl:template>
        <xsl:template match="i[2]" mode="m" priority="2">(<xsl:next-match/>)</xsl:template>"#;
    check("2.0", body, "<a><i g='a'/><i g='b'/><i g='b'/></a>", "<r>a.a(b.b)c.b2</r>");
}

#[test]
fn groups_functions_and_sequences_of_later_versions_are_there() {
    let body = r#"
        <xsl:function name="f:twice" as="xs:integer"><xsl:param name="n" as="xs:integer"/><xsl:sequence select="2 * $n"/></xsl:function>
        <xsl:template match="/">
            <r><xsl:for-each-group select="//i" group-by="@g"><g k="{current-grouping-key()}" n="{count(current-group())}"/></xsl:for-each-group>
            <xsl:value-of select="for $x in (1, 2, 3) return f:twice($x)" separator=","/>
            <xsl:analyze-string select="'a1b'" regex="[0-9]"><xsl:matching-substring>[<xsl:value-of select="."/>]</xsl:matching-substring><xsl:non-matching-substring><xsl:value-of select="."/></xsl:non-matching-substring></xsl:analyze-string></r>
        </xsl:template>"#;
    check("2.0", body, "<a><i g='a'/><i g='b'/><i g='a'/></a>", r#"<r><g k="a" n="2"/><g k="b" n="1"/>2,4,6a[1]b</r>"#);
}

#[test]
fn endless_recursion_ends_in_an_error_that_names_the_template() {
    let body = r#"<xsl:template match="/"><xsl:call-template name="loop"/></xsl:template><xsl:template name="loop"><x><xsl:call-template name="loop"/></x></xsl:template>"#;
    let error = transform(&sheet("1.0", body), "<a/>").unwrap_err();
    assert!(error.contains("LIMIT") && error.contains("template loop"), "{error}");
}
