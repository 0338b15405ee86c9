//! Stylesheets that run others by `transform()`.

use myelin_xml::Document;
use myelin_xslt::{Limits, NoResolver, Options, Outcome, Resolver, Resource, Stylesheet, Wanted};

const XSLT: &str = "xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:f='urn:f' xmlns:map='http://www.w3.org/2005/xpath-functions/map'";

/// The stylesheet that the others run.
const INNER: &str = "<xsl:strip-space elements='*'/><xsl:param name='p' select='0'/>\
    <xsl:param name='s' static='yes' select=\"'none'\"/>\
    <xsl:template match='/'><i p='{$p}' b='{base-uri()}'><xsl:value-of select='//b'/></i></xsl:template>\
    <xsl:template match='.[. instance of xs:integer]' xmlns:xs='http://www.w3.org/2001/XMLSchema'>{. * 2}</xsl:template>\
    <xsl:template name='named'><xsl:param name='t'/><xsl:param name='u' tunnel='yes'/>{$t, $u, $s}</xsl:template>\
    <xsl:template name='function'><xsl:sequence select='f:add#1'/></xsl:template>\
    <xsl:template name='calls'><xsl:value-of select='$p(4)'/></xsl:template>\
    <xsl:template name='fails'><xsl:message terminate='yes'>no</xsl:message></xsl:template>\
    <xsl:template name='others'><a/><xsl:result-document href='b.xml'><b/></xsl:result-document></xsl:template>\
    <xsl:template name='again'><xsl:sequence select=\"transform(map{'stylesheet-location': 'inner.xsl', \
      'initial-template': QName('', 'again')})\"/></xsl:template>\
    <xsl:function name='f:add' visibility='public'><xsl:param name='x'/><xsl:sequence select='$x + 1'/></xsl:function>";

struct Inner;

impl Resolver for Inner {
    fn resolve(&self, href: &str, _: &str, wanted: Wanted) -> Result<Resource, String> {
        match (href, wanted) {
            ("inner.xsl", Wanted::Document) => Ok(Resource {
                uri: "test:/inner.xsl".to_owned(),
                bytes: format!("<xsl:stylesheet version='3.0' expand-text='yes' {XSLT} exclude-result-prefixes='#all'>{INNER}</xsl:stylesheet>").into_bytes(),
            }),
            _ => Err(format!("{href} cannot be read")),
        }
    }
}

fn run(expression: &str, resolver: &dyn Resolver, limits: Limits) -> Result<(String, Outcome), String> {
    let sheet = format!(
        "<xsl:stylesheet version='3.0' {XSLT} exclude-result-prefixes='f map'><xsl:output omit-xml-declaration='yes'/>\
         <xsl:variable name='in' select=\"map{{'stylesheet-location': 'inner.xsl'}}\"/>\
         <xsl:function name='f:double'><xsl:param name='x'/><xsl:sequence select='$x * 2'/></xsl:function>\
         <xsl:template match='/'><l><xsl:sequence select=\"{expression}\"/></l></xsl:template></xsl:stylesheet>"
    );
    let stylesheet = Stylesheet::compile(sheet.as_bytes(), "test:/outer.xsl", resolver).expect("a stylesheet");
    let source = b"<a> <b>1</b> <b>2</b></a>".to_vec();
    let mut document = Document::parse(source, &myelin_xml::Options::default()).expect("a document");
    let source = document.document_node();
    let options = Options { resolver, limits, source_uri: Some("test:/a.xml"), ..Options::default() };
    let mut out = Vec::new();
    match stylesheet.transform(&mut document, source, &options, &mut out) {
        Ok(outcome) => Ok((String::from_utf8_lossy(&out).into_owned(), outcome)),
        Err(error) => Err(error.code),
    }
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    let text = run(expression, &Inner, Limits::default()).map_or_else(|code| code, |(text, _)| text);
    assert_eq!(text, expected, "{expression}");
}

/// What an option in addition to the stylesheet's location gives.
fn with(options: &str) -> String {
    format!("transform(map:merge(($in, map{{{options}}})))")
}

#[test]
fn a_stylesheet_runs_another_on_its_document() {
    check(
        &format!("{}?output", with("'source-node': /, 'stylesheet-params': map{QName('', 'p'): 7}")),
        "<l><i p=\"7\" b=\"test:/a.xml\">1 2</i></l>",
    );
    check(&format!("{}?output", with("'initial-match-selection': (3, 4)")), "<l>68</l>");
    check(
        &format!(
            "{}?output",
            with(
                "'source-node': /, 'delivery-format': 'serialized', \
        'serialization-params': map{'omit-xml-declaration': true()}"
            )
        ),
        "<l>&lt;i p=\"0\" b=\"test:/a.xml\"&gt;1 2&lt;/i&gt;</l>",
    );
    let named = "'initial-template': QName('', 'named'), 'template-params': map{QName('', 't'): 1}, \
        'tunnel-params': map{QName('', 'u'): 2}, 'static-params': map{QName('', 's'): 'it''s'}";
    check(&format!("{}?output", with(named)), "<l>1 2 it's</l>");
    let function = "'initial-function': QName('urn:f', 'add'), 'function-params': [41], 'delivery-format': 'raw'";
    check(&format!("{}?output", with(function)), "<l>42</l>");
    let text = "'stylesheet-text': '&lt;o xsl:version=&quot;3.0&quot; xmlns:xsl=&quot;http://www.w3.org/1999/XSL/Transform&quot;/&gt;', 'source-node': /";
    check(&format!("transform(map{{{text}}})?output"), "<l><o/></l>");
}

#[test]
fn functions_run_in_the_stylesheet_that_they_are_from() {
    let function = "'initial-template': QName('', 'function'), 'delivery-format': 'raw'";
    check(&format!("{}?output(5)", with(function)), "<l>6</l>");
    let calls = "'initial-template': QName('', 'calls'), 'stylesheet-params': map{QName('', 'p'): f:double#1}";
    check(&format!("{}?output", with(calls)), "<l>8</l>");
    let closure = "'initial-template': QName('', 'calls'), 'stylesheet-params': map{QName('', 'p'): function($x) { f:double($x) + $y }}";
    check(&format!("let $y := 1 return {}?output", with(closure)), "<l>9</l>");
}

#[test]
fn other_results_are_values_of_the_map() {
    let others = "'initial-template': QName('', 'others'), 'base-output-uri': 'test:/out/'";
    check(&format!("{} ! (map:keys(.), .?('test:/out/b.xml'))", with(others)), "<l>test:/out/ test:/out/b.xml<b/></l>");
    check(
        &format!(
            "{}?output",
            with("'source-node': /, 'post-process': function($uri, $result) { $uri || ' ' || name($result/*) }")
        ),
        "<l>output i</l>",
    );
}

#[test]
fn what_is_wrong_is_told() {
    check("transform(map{})", "FOXT0002");
    check("transform(map{'stylesheet-location': 'other.xsl'})", "FOXT0002");
    check("transform(map{'stylesheet-text': '&lt;a/&gt;', 'source-node': /})", "FOXT0003");
    check(&with("'initial-template': QName('', 'none')"), "XTDE0040");
    check(&with("'initial-template': QName('', 'fails')"), "XTMM9000");
    check(
        &with("'requested-properties': map{QName('http://www.w3.org/1999/XSL/Transform', 'version'): '9.0'}"),
        "FOXT0001",
    );
}

#[test]
fn it_reads_what_the_host_allows_and_stops_at_its_limits() {
    let location = with("'source-node': /");
    assert_eq!(run(&location, &NoResolver, Limits::default()).map(|_| ()), Err("FOXT0002".to_owned()));
    check(&with("'initial-template': QName('', 'again')"), "LIMIT");
    let text = with("'source-node': /");
    let little = Limits { memory_bytes: 20_000, ..Limits::default() };
    assert_eq!(run(&text, &Inner, little).map(|_| ()), Err("LIMIT".to_owned()));
    let many = format!("for $i in 1 to 1000000 return {text}");
    let few = Limits { instructions: 10_000, ..Limits::default() };
    assert_eq!(run(&many, &Inner, few).map(|_| ()), Err("LIMIT".to_owned()));
}
