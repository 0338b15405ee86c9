//! Instructions of XSLT 2.0 and 3.0, from end to end.

use myelin_xml::Document;
use myelin_xslt::{NoResolver, Options, Resolver, Resource, Stylesheet, Wanted};

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

#[test]
fn children_inherit_no_namespaces_where_a_stylesheet_says_so() {
    let prefixes = "<xsl:value-of select='sort(in-scope-prefixes($t//*[not(*)]))'/>";
    let tree = |attribute: &str, inside: &str| {
        format!("<xsl:variable name='t'><o xmlns:p='urn:p' {attribute}>{inside}</o></xsl:variable><l>{prefixes}</l>")
    };
    let plain = "<xsl:element name='i'/>";
    check(&tree("", plain), "<l>p xml</l>");
    check(&tree("xsl:inherit-namespaces='no'", plain), "<l>xml</l>");
    check(&tree("xsl:inherit-namespaces='no'", "<xsl:element name='p:i' namespace='urn:p'/>"), "<l>p xml</l>");
    // A grandchild has what the child has, and the result says of them all what XML 1.0 can say.
    check(
        "<xsl:variable name='t'><o xmlns:p='urn:p' xsl:inherit-namespaces='no'><xsl:element name='q:c' namespace='urn:q'>\
         <xsl:element name='i'/></xsl:element></o></xsl:variable><l><xsl:value-of select='in-scope-prefixes($t//i)'/>\
         <xsl:copy-of select='$t'/></l>",
        "<l>q xml<o xmlns:p=\"urn:p\"><q:c xmlns:q=\"urn:q\"><i/></q:c></o></l>",
    );
}

/// A whole stylesheet on a small document: its result, or the code of its error.
fn whole(declarations: &str) -> Result<(String, Vec<(String, String)>), String> {
    let sheet = format!(
        r##"<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:f="urn:f"
            xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:err="http://www.w3.org/2005/xqt-errors"
            xmlns:map="http://www.w3.org/2005/xpath-functions/map" exclude-result-prefixes="#all">
            <xsl:output omit-xml-declaration="yes"/>{declarations}</xsl:stylesheet>"##
    );
    let stylesheet = Stylesheet::compile(sheet.as_bytes(), "file:///s/test.xsl", &NoResolver);
    let stylesheet = stylesheet.map_err(|problems| problems[0].code.to_owned())?;
    let source = b"<a><b>1</b><b>2</b><b>3</b></a>".to_vec();
    let mut document = Document::parse(source, &myelin_xml::Options::default()).expect("a document");
    let mut out = Vec::new();
    let top = document.document_node();
    let options = Options {
        output_uri: Some("file:///out/main.xml"),
        other_results: !declarations.contains("<!-- alone -->"),
        source_uri: Some("file:///s/a.xml"),
        ..Options::default()
    };
    let outcome = stylesheet.transform(&mut document, top, &options, &mut out).map_err(|error| error.code)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ok((text(out), outcome.results.into_iter().map(|made| (made.uri, text(made.bytes))).collect()))
}

#[track_caller]
fn gives(declarations: &str, expected: &str) {
    let result = whole(declarations).map(|(result, _)| result);
    assert_eq!(result.as_deref(), Ok(expected), "{declarations}");
}

#[track_caller]
fn fails(declarations: &str, code: &str) {
    assert_eq!(whole(declarations).map(|(result, _)| result), Err(code.to_owned()), "{declarations}");
}

/// The template for the document.
fn root(body: &str) -> String {
    format!("<xsl:template match='/'>{body}</xsl:template>")
}

#[test]
fn a_shallow_copy_of_a_document_is_a_document_where_a_sequence_is_made() {
    let mode = "<xsl:mode name='m' on-no-match='shallow-copy'/>";
    let kind = "<xsl:variable name='v' as='document-node()'><xsl:apply-templates select='/' mode='m'/></xsl:variable>\
                <r n='{count($v/a/b)}'><xsl:apply-templates select='/' mode='m'/></r>";
    gives(&format!("{mode}{}", root(kind)), "<r n=\"3\"><a><b>1</b><b>2</b><b>3</b></a></r>");
}

#[test]
fn a_default_namespace_may_stand_alone() {
    let alone = "<xsl:variable name='n' as='namespace-node()'><xsl:namespace name='' select=\"'urn:d'\"/></xsl:variable>\
                 <e n='{$n}' p='{name($n) = &quot;&quot;}'/>";
    gives(&root(alone), "<e n=\"urn:d\" p=\"true\"/>");
}

#[test]
fn exslt_documents_are_results_that_say_by_themselves_how_they_are_written() {
    let document = |attributes: &str, body: &str| {
        format!(
            "<exsl:document xmlns:exsl='http://exslt.org/common' xsl:extension-element-prefixes='exsl' {attributes}>\
             {body}</exsl:document>"
        )
    };
    let html = document("href='{name(*)}.html' method='{\"html\"}' indent='no'", "<br/>");
    let inside = format!("<xsl:variable name='v'>{}</xsl:variable>", document("href='c/d.xml' of-another='1'", "<d/>"));
    let (own, others) = whole(&root(&format!("<r>{html}{inside}</r>"))).expect("a result");
    assert_eq!(own, "<r/>");
    // The declaration is there although the stylesheet's xsl:output leaves it out.
    let declared = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><d/>";
    let expected = [("file:///out/a.html", "<br>"), ("file:///out/c/d.xml", declared)];
    assert_eq!(others, expected.map(|(uri, text)| (uri.to_owned(), text.to_owned())));
    fails(&format!("<!-- alone -->{}", root(&document("href='b.xml'", "<b/>"))), "REFUSED");
    fails(&root(&document("", "<b/>")), "XTSE0010");
    // One inside another lies beside it, and Saxon's old element is the same.
    let nested = document("href='c/d.xml' omit-xml-declaration='yes'", &document("href='e.txt' method='text'", "e"));
    let saxon = "<saxon:output xmlns:saxon='http://icl.com/saxon' xsl:extension-element-prefixes='saxon' href='f.txt' \
        method='text'>f</saxon:output>";
    let (_, others) = whole(&root(&format!("<r>{nested}{saxon}</r>"))).expect("a result");
    let uris: Vec<&str> = others.iter().map(|(uri, _)| uri.as_str()).collect();
    assert_eq!(uris, ["file:///out/c/e.txt", "file:///out/c/d.xml", "file:///out/f.txt"]);
}

#[test]
fn results_beside_its_own_are_handed_to_the_caller() {
    let two = root(
        "<r><xsl:result-document href='b/c.xml'><c u='{current-output-uri()}'/></xsl:result-document></r>\
         <xsl:result-document href='d.txt' method='text'>d&lt;</xsl:result-document>",
    );
    let (own, others) = whole(&two).expect("a result");
    assert_eq!(own, "<r/>");
    let expected = [("file:///out/b/c.xml", "<c u=\"file:///out/b/c.xml\"/>"), ("file:///out/d.txt", "d<")];
    assert_eq!(others, expected.map(|(uri, text)| (uri.to_owned(), text.to_owned())));
    gives(
        &root("<xsl:result-document format='h'><br/></xsl:result-document>")
            .replace("<xsl:t", "<xsl:output name='h' method='html' indent='no'/><xsl:t"),
        "<br>",
    );
    // Where another result was written, none is made of nothing.
    gives(&root("<xsl:result-document href='b.xml'><b/></xsl:result-document>"), "");
    fails(&root("<a/><xsl:result-document><b/></xsl:result-document>"), "XTDE1490");
    let same = "<xsl:result-document href='b.xml'><b/></xsl:result-document>";
    fails(&root(&format!("{same}{same}")), "XTDE1490");
    fails(&root(&format!("<xsl:variable name='v'>{same}</xsl:variable>{{$v}}<x y='{{$v}}'/>")), "XTDE1480");
    fails(&root("<xsl:result-document href='b.xml' format='{\"nothing\"}'/>"), "XTDE1460");
    fails(&format!("<!-- alone -->{}", root(same)), "REFUSED");
}

#[test]
fn values_are_written_as_json_and_as_people_see_them() {
    let json = "<xsl:output method='json'/>";
    gives(
        &format!("{json}{}", root("<xsl:sequence select='map{1: [\"a/b\", 2.5, true(), ()], \"x\": a/b[1]}'/>")),
        r#"{"1":["a\/b",2.5,true,null],"x":"<b>1<\/b>"}"#,
    );
    fails(&format!("{json}{}", root("<xsl:sequence select='1, 2'/>")), "SERE0023");
    fails(&format!("{json}{}", root("<xsl:sequence select='map{1: 1, \"1\": 2}'/>")), "SERE0022");
    let adaptive = "<xsl:output method='adaptive' item-separator='|'/>";
    gives(
        &format!("{adaptive}{}", root("<xsl:sequence select='1, \"q\"\"\", 2e0, true(), map{\"k\": (1, 2)}, [()]'/>")),
        r#"1|"q"""|2.0e0|true()|map{"k":(1,2)}|[()]"#,
    );
    gives(&root("<xsl:sequence select='[1, a/b[1]], 2'/>"), "1<b>1</b>2");
    gives(&format!("<xsl:output item-separator='; '/>{}", root("<xsl:sequence select='1, 2'/><b/>")), "1; 2; <b/>");
    fails(&root("<x><xsl:sequence select='map{}'/></x>"), "XTDE0450");
    fails(&root("<xsl:sequence select='map{}'/>"), "SENR0001");
}

#[test]
fn an_expression_may_be_a_text_that_is_known_late() {
    let function = "<xsl:function name='f:twice' visibility='public'><xsl:param name='x'/><xsl:sequence select='$x * 2'/></xsl:function>";
    let evaluate = |inside: &str| format!("{function}{}", root(&format!("<r><xsl:evaluate {inside}</r>")));
    gives(
        &evaluate(
            "xpath='\"$x + f:twice(count(*/b))\"' context-item='.'><xsl:with-param name='x' select='7'/></xsl:evaluate>",
        ),
        "<r>13</r>",
    );
    gives(
        &evaluate("xpath='\"$x || $y\"' with-params='map{QName(\"\",\"x\"): 1, QName(\"\",\"y\"): 2}'/>"),
        "<r>12</r>",
    );
    gives(&evaluate("xpath='\"function($a) { $a + $x }\"' as='item()'/>").replace("<r><xsl:evaluate", "<xsl:variable name='f' as='item()'><xsl:evaluate").replace("/></r>", "><xsl:with-param name='x' select='5'/></xsl:evaluate></xsl:variable><r><xsl:sequence select='$f(1)'/></r>"), "<r>6</r>");
    fails(&evaluate("xpath='\"1 +\"'/>"), "XTDE3160");
    fails(&evaluate("xpath='\"$nothing\"'/>"), "XTDE3160");
    fails(&evaluate("xpath='\"current()\"' context-item='.'/>"), "XTDE3160");
    fails(&evaluate("xpath='\"a\"'/>"), "XPDY0002");
    fails(&evaluate("xpath='\".\"' context-item='1, 2'/>"), "XTTE3210");
}

#[test]
fn sequences_in_order_are_merged() {
    let merge = |attributes: &str| {
        root(&format!(
            "<xsl:merge><xsl:merge-source name='one' select='1, 3, 5'><xsl:merge-key select='.'/></xsl:merge-source>\
             <xsl:merge-source name='two' select='5, 3, 2' {attributes}><xsl:merge-key select='.'/></xsl:merge-source>\
             <xsl:merge-action><g k='{{current-merge-key()}}' t='{{current-merge-group(\"two\")}}' n='{{count(current-merge-group())}}'/>\
             </xsl:merge-action></xsl:merge>"
        ))
    };
    gives(
        &merge("sort-before-merge='yes'"),
        "<g k=\"1\" t=\"\" n=\"1\"/><g k=\"2\" t=\"2\" n=\"1\"/><g k=\"3\" t=\"3\" n=\"2\"/><g k=\"5\" t=\"5\" n=\"2\"/>",
    );
    fails(&merge(""), "XTDE2220");
    fails(&root("<x y='{current-merge-key()}'/>"), "XTDE3510");
    fails(&root("<xsl:merge><xsl:merge-action/></xsl:merge>"), "XTSE0010");
}

#[test]
fn accumulators_are_worked_out_once_for_a_tree() {
    let accumulator = "<xsl:accumulator name='n' initial-value='0' as='xs:integer'><xsl:accumulator-rule match='b' select='$value + 1'/>\
                       <xsl:accumulator-rule match='a' phase='end' select='$value * 10'/></xsl:accumulator>";
    let body = root(
        "<xsl:for-each select='a/b'><i n='{accumulator-before(\"n\")}'/></xsl:for-each><e n='{a/accumulator-after(\"n\")}'/>",
    );
    let result = "<i n=\"1\"/><i n=\"2\"/><i n=\"3\"/><e n=\"30\"/>";
    gives(&format!("<xsl:mode use-accumulators='#all'/>{accumulator}{body}"), result);
    fails(&format!("{accumulator}{body}"), "XTDE3362");
    fails(&format!("<xsl:mode use-accumulators='m'/>{accumulator}{body}"), "XTSE3300");
    fails(&root("<x y='{accumulator-before(\"n\")}'/>"), "XTDE3340");
    let circular = "<xsl:accumulator name='n' initial-value='0'><xsl:accumulator-rule match='b' select='accumulator-before(\"n\")'/></xsl:accumulator>";
    fails(&format!("<xsl:mode use-accumulators='n'/>{circular}{body}"), "XTDE3400");
    // A copy has the values of what it is a copy of, where that is wanted.
    let copy = root(
        "<xsl:variable name='c' as='element()'><xsl:copy-of select='a/b[2]' copy-accumulators='yes'/></xsl:variable><x y='{$c/accumulator-before(\"n\")}'/>",
    );
    gives(&format!("<xsl:mode use-accumulators='n'/>{accumulator}{copy}"), "<x y=\"2\"/>");
}

#[test]
fn branches_of_a_fork_come_one_behind_the_other() {
    gives(&root("<xsl:fork><xsl:sequence select='1'/><xsl:sequence><p/></xsl:sequence></xsl:fork>"), "1<p/>");
    fails(&root("<xsl:fork><p/></xsl:fork>"), "XTSE0010");
}

#[test]
fn two_templates_that_match_as_well_may_be_an_error() {
    let two = "<xsl:template match='b'>1</xsl:template><xsl:template match='b[1] | b'>2</xsl:template>";
    gives(two, "222");
    let two = "<xsl:template match='b'>1</xsl:template><xsl:template match='b'>2</xsl:template>";
    fails(&format!("<xsl:mode on-multiple-match='fail'/>{two}"), "XTDE0540");
}

#[test]
fn what_is_made_alone_has_no_parent() {
    gives(
        &root(
            "<xsl:variable name='e' as='element()'><e><f/></e></xsl:variable>\
             <xsl:variable name='t' as='attribute()'><xsl:attribute name='t' select='5'/></xsl:variable>\
             <r><xsl:value-of select='count($e/..), count($t/..), root($t) is $t, string($t), $t/name()'/></r>",
        ),
        "<r>0 0 true 5 t</r>",
    );
}

#[test]
fn a_text_of_no_length_is_an_item() {
    gives(
        &format!(
            "<xsl:function name='f:f' as='xs:string'><xsl:value-of select='()'/></xsl:function>{}",
            root("<r>[<xsl:sequence select='f:f()'/>]</r>")
        ),
        "<r>[]</r>",
    );
    gives(
        &root(
            "<r><xsl:for-each select='1 to 3'><xsl:sequence select='.'/><xsl:value-of select='\"\"'/></xsl:for-each></r>",
        ),
        "<r>123</r>",
    );
}

#[test]
fn functions_keep_the_variables_they_were_made_with() {
    let add = "<xsl:function name='f:add'><xsl:param name='a'/><xsl:sequence select='function($b) { $a + $b }'/></xsl:function>";
    gives(
        &format!("{add}{}", root("<r><xsl:value-of select='f:add(1)(2), (f:add(10), f:add(20)) ! .(3)'/></r>")),
        "<r>3 13 23</r>",
    );
    gives(
        &root(
            "<xsl:variable name='k' select='5'/><r><xsl:value-of select='for-each(1 to 3, function($b) { let $c := function($d) { $d + $k } return $c($b) })'/></r>",
        ),
        "<r>6 7 8</r>",
    );
}

#[test]
fn patterns_may_have_alternatives_inside_them() {
    let matched = |pattern: &str| {
        format!(
            "<xsl:template match='a'><r><xsl:apply-templates/></r></xsl:template><xsl:template match='text()'/><xsl:template match='{pattern}'><m n='{{.}}'/></xsl:template>"
        )
    };
    gives(&matched("(b | c)[2]"), "<r><m n=\"2\"/></r>");
    gives(&matched("a/(b | c)[. = 3]"), "<r><m n=\"3\"/></r>");
    gives(&matched("(a | x)/b[1]"), "<r><m n=\"1\"/></r>");
    gives(&matched("b except b[2]"), "<r><m n=\"1\"/><m n=\"3\"/></r>");
    gives(&matched("a/b intersect a/b[last()]"), "<r><m n=\"3\"/></r>");
    fails(&matched("b/.."), "XTSE0340");
}

#[test]
fn a_function_that_nobody_knows_is_an_error_where_it_is_called() {
    let call = "<xsl:value-of select='x:f()' xmlns:x='xalan://a.B'/>";
    gives(&root(&format!("<r><xsl:if test='a/c'>{call}</xsl:if></r>")), "<r/>");
    fails(&root(call), "XPST0017");
    fails(
        &root("<xsl:if test='a/c'><xsl:value-of select='f:g()'/></xsl:if>")
            .replace("<xsl:template", "<xsl:function name='f:f'/><xsl:template"),
        "XPST0017",
    );
}

#[test]
fn errors_carry_their_own_codes_and_values() {
    gives(
        &root(
            "<xsl:try select='error(QName(\"urn:x\", \"p:e\"), \"said\", 1 to 3)'><xsl:catch errors='Q{urn:x}e'>\
             <r d='{$err:description}' v='{$err:value}'/></xsl:catch></xsl:try>",
        ),
        "<r d=\"said\" v=\"1 2 3\"/>",
    );
    gives(
        &root(
            "<xsl:try><xsl:message terminate='yes'><m/></xsl:message><xsl:catch><xsl:copy-of select='$err:value'/></xsl:catch></xsl:try>",
        ),
        "<m/>",
    );
}

#[test]
fn nodes_know_where_they_are_from() {
    gives(
        &root(
            "<xsl:variable name='v'><x xml:base='t/'><y/></x></xsl:variable>\
             <r><xsl:value-of select='base-uri(a), document-uri(/), base-uri($v/x/y), base-uri($v), empty(document-uri($v))'/></r>",
        ),
        "<r>file:///s/a.xml file:///s/a.xml file:///s/t/ file:///s/test.xsl true</r>",
    );
}

#[test]
fn static_parameters_may_be_given() {
    use myelin_xslt::{Parameter, ParameterValue};
    let sheet = r#"<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
        <xsl:param name="p" static="yes" select="1"/><xsl:output omit-xml-declaration="yes"/>
        <xsl:template match="/"><r p="{$p}"><s xsl:use-when="$p = 2"/></r></xsl:template></xsl:stylesheet>"#;
    for (given, expected) in [(None, "<r p=\"1\"/>"), (Some("1 + 1"), "<r p=\"2\"><s/></r>")] {
        let value = |text: &str| Parameter { name: "p".to_owned(), value: ParameterValue::Expression(text.to_owned()) };
        let given: Vec<Parameter> = given.map(value).into_iter().collect();
        let stylesheet = Stylesheet::compile_with(sheet.as_bytes(), "s", &NoResolver, &given)
            .unwrap_or_else(|_| panic!("it compiles"));
        let mut document = Document::parse(b"<a/>".to_vec(), &myelin_xml::Options::default()).expect("a document");
        let (mut out, top) = (Vec::new(), document.document_node());
        stylesheet.transform(&mut document, top, &Options::default(), &mut out).expect("a result");
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}

#[test]
fn what_is_of_another_type_is_an_error_with_a_code_of_its_place() {
    fails(&root("<xsl:variable name='v' as='xs:integer' select='\"x\"'/><r x='{$v}'/>"), "XTTE0570");
    fails("<xsl:template match='/' as='xs:integer'>x</xsl:template>", "XTTE0505");
    let function =
        "<xsl:function name='f:f' as='xs:integer'><xsl:param name='x'/><xsl:sequence select='$x'/></xsl:function>";
    fails(&format!("{function}{}", root("<r x='{f:f(\"x\")}'/>")), "XTTE0780");
    let template = |parameter: &str, passed: &str| {
        let called = format!("<xsl:template name='t'><xsl:param name='p' {parameter}/></xsl:template>");
        format!("{called}{}", root(&format!("<xsl:call-template name='t'>{passed}</xsl:call-template>")))
    };
    let passed = "<xsl:with-param name='p' select='\"x\"'/>";
    fails(&template("as='xs:integer'", passed), "XTTE0590");
    fails(&template("as='xs:integer' select='\"x\"'", ""), "XTTE0600");
    fails(&template("as='xs:integer'", ""), "XTDE0700");
    fails(&template("required='yes'", ""), "XTSE0690");
    fails(&root("<xsl:analyze-string select='1' regex='a'><xsl:matching-substring/></xsl:analyze-string>"), "XPTY0004");
    fails(
        &root("<xsl:analyze-string select='\"\"' regex='['><xsl:matching-substring/></xsl:analyze-string>"),
        "XTDE1140",
    );
}

#[test]
fn templates_and_stylesheets_may_say_what_they_work_on() {
    let called = |item: &str| {
        format!(
            "<xsl:template name='t'><xsl:context-item {item}/><xsl:value-of select='.'/></xsl:template>{}",
            root("<xsl:call-template name='t'/>")
        )
    };
    fails(&called("as='element()'"), "XTTE0590");
    gives(&called("as='document-node()' use='required'"), "123");
    fails(&called("use='absent'"), "XPDY0002");
    fails(&called("use='absent' as='item()'"), "XTSE3088");
    let global = |item: &str| {
        format!(
            "<xsl:global-context-item {item}/><xsl:variable name='g' select='.'/>{}",
            root("<xsl:value-of select='$g'/>")
        )
    };
    gives(&global("as='document-node()'"), "123");
    fails(&global("as='element()'"), "XTTE0590");
    fails(&global("use='absent'"), "XPDY0002");
    fails(&format!("<xsl:global-context-item/>{}", global("")), "XTSE3087");
}

#[test]
fn white_space_is_kept_only_where_it_can_be_content() {
    let choose = "<xsl:choose> <xsl:when test='1'>x</xsl:when> <xsl:otherwise/> </xsl:choose>";
    gives(&root(&format!("<r xml:space='preserve'> {choose} </r>")), "<r xml:space=\"preserve\"> x </r>");
    let sorted = "<xsl:for-each select='//b' xml:space='preserve'> <xsl:sort select='-.'/>[<xsl:value-of select='.'/>]\
                  </xsl:for-each>";
    gives(&root(sorted), "[3][2][1]");
}

#[test]
fn a_number_is_counted_where_nothing_begins_it() {
    gives(&root("<xsl:for-each select='//b'><xsl:number from='nothing'/></xsl:for-each>"), "123");
}

/// The one module there is beside the stylesheet.
struct Module(String);

impl Resolver for Module {
    fn resolve(&self, href: &str, _: &str, _: Wanted) -> Result<Resource, String> {
        Ok(Resource { uri: href.to_owned(), bytes: self.0.clone().into_bytes() })
    }
}

#[test]
fn a_static_declaration_agrees_with_what_was_declared_before() {
    let included = |value: &str| {
        let module = format!(
            "<xsl:stylesheet version='3.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
             <xsl:variable name='v' static='yes' select='{value}'/></xsl:stylesheet>"
        );
        let sheet = "<xsl:stylesheet version='3.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
                     <xsl:import href='m.xsl'/><xsl:variable name='v' static='yes' select='1'/></xsl:stylesheet>";
        let compiled = Stylesheet::compile(sheet.as_bytes(), "s.xsl", &Module(module));
        compiled.err().map(|problems| format!("{problems:?}"))
    };
    assert_eq!(included("1"), None);
    assert!(included("2").expect("an error").contains("XTSE3450"));
}

#[test]
fn a_package_alone_is_a_stylesheet_that_declares_its_modes() {
    let compiled = |attributes: &str, body: &str| {
        let sheet = format!(
            "<xsl:package version='3.0' {attributes} xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{body}\
             <xsl:template name='t'><xsl:apply-templates mode='m'/></xsl:template></xsl:package>"
        );
        let compiled = Stylesheet::compile(sheet.as_bytes(), "p.xsl", &NoResolver);
        compiled.err().map(|problems| problems.iter().map(|problem| problem.code).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(compiled("", "<xsl:mode name='m'/>"), None);
    assert_eq!(compiled("declared-modes='no'", ""), None);
    assert_eq!(compiled("", "").as_deref(), Some("XTSE3085"));
    assert_eq!(compiled("package-version='1.0-beta'", "<xsl:mode name='m'/>"), None);
    assert_eq!(compiled("package-version='1.-0'", "<xsl:mode name='m'/>").as_deref(), Some("XTSE0020"));
}

#[test]
fn static_expressions_call_the_library() {
    gives(
        "<xsl:variable name='v' static='yes' select='json-to-xml(&apos;[1, 2]&apos;)//*[not(*)]'/>\
         <xsl:template match='/'><xsl:value-of select='count($v)'/><xsl:text use-when=\"\
         parse-xml('&lt;a>x&lt;/a>') = 'x' and not(function-available('key'))\">!</xsl:text></xsl:template>",
        "2!",
    );
}

#[test]
fn what_stands_for_nothing_stands_in_its_place() {
    check("<l><xsl:sequence select='\"\"'/><xsl:on-empty select='\"none\"'/></l>", "<l>none</l>");
    check("<l><xsl:sequence select='[\"\", []]'/><xsl:on-empty select='\"none\"'/></l>", "<l>none</l>");
    fails(&root("<xsl:value-of select='format-number(\"1\", \"0\")'/>"), "XPTY0004");
}

#[test]
fn trees_stand_in_the_order_in_which_they_were_begun() {
    let tree = |name: &str| format!("<xsl:variable name='{name}'><x>{name}</x></xsl:variable>");
    let trees: String = ["c", "a", "d", "b"].map(tree).concat();
    for _ in 0..20 {
        gives(&root(&format!("{trees}<xsl:value-of select='$a/x | $b/x | $c/x | $d/x' separator=''/>")), "cadb");
    }
}
