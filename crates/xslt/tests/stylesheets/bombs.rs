//! Stylesheets that would never end, or never stop growing: each ends within its limits, on a small stack, with an
//! error that names where.

use std::fmt::Write;
use std::time::{Duration, Instant};

use myelin_xml::Document;
use myelin_xslt::{Error, Limits, NoResolver, Options, Stylesheet};

/// A hundredth of the default, as this is no release build.
const LIMITS: Limits = Limits { instructions: 400_000, memory_bytes: 8 << 20, output_bytes: 1 << 20, depth: 2_000 };

/// What the threads of the bus have.
const STACK_BYTES: usize = 2 << 20;

/// Nothing here takes a hundredth of it: only what does not end at its limits takes longer.
const PATIENCE: Duration = Duration::from_secs(200);

const SOURCE: &str = "<d><b a='1'>x</b><b a='2'>y</b><c><e/><e/><e/></c></d>";

fn sheet(version: &str, body: &str) -> String {
    format!(
        "<xsl:stylesheet version='{version}' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:f='urn:f' \
         xmlns:func='http://exslt.org/functions' xmlns:str='http://exslt.org/strings' \
         xmlns:exsl='http://exslt.org/common' xmlns:dyn='http://exslt.org/dynamic' \
         extension-element-prefixes='func'>{body}</xsl:stylesheet>"
    )
}

/// Compiles and runs a stylesheet on a thread with a small stack.
fn run(version: &str, body: &str, source: &str) -> Result<String, Box<Error>> {
    let (sheet, source) = (sheet(version, body), source.to_owned());
    let begun = Instant::now();
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let stylesheet = Stylesheet::compile(sheet.as_bytes(), "bomb.xsl", &NoResolver).expect("it compiles");
        let reading = myelin_xml::Options { depth: 20_000, ..Default::default() };
        let mut document = Document::parse(source.into_bytes(), &reading).expect("a document");
        let options = Options { limits: LIMITS, other_results: true, ..Options::default() };
        let mut out = Vec::new();
        let top = document.document_node();
        stylesheet.transform(&mut document, top, &options, &mut out)?;
        Ok(String::from_utf8(out).expect("UTF-8"))
    });
    let result = thread.expect("a thread").join().expect("no panic");
    assert!(begun.elapsed() < PATIENCE, "{body}");
    result
}

/// Holds that a stylesheet ends at a limit, that the error has a place, and that it says `what`.
#[track_caller]
fn check(version: &str, body: &str, what: &str) {
    let error = match run(version, body, SOURCE) {
        Err(error) => error,
        Ok(result) => panic!("{} bytes came of {body}", result.len()),
    };
    assert_eq!(error.code, "LIMIT", "{error}");
    assert!(error.place.is_some() && !error.trail.is_empty(), "{error}");
    assert!(error.to_string().contains(what), "{error}");
}

/// The same of a body for the source's top.
#[track_caller]
fn check_at_top(version: &str, body: &str, what: &str) {
    check(version, &format!("<xsl:template match='/'>{body}</xsl:template>"), what);
}

#[test]
fn endless_recursion_of_templates_names_the_template() {
    let call = "<xsl:call-template name='t'/>";
    check("1.0", &format!("<xsl:template match='/' name='t'><a>{call}</a></xsl:template>"), "template t at");
    check("1.0", &format!("<xsl:template match='/' name='t'>{call}</xsl:template>"), "template t at");
    check(
        "1.0",
        &format!("<xsl:template match='/' name='t'><xsl:variable name='v'>{call}</xsl:variable></xsl:template>"),
        "t at",
    );
    check(
        "1.0",
        "<xsl:template match='/' name='u'><xsl:call-template name='v'/>!</xsl:template>
        <xsl:template name='v'><xsl:call-template name='u'/>!</xsl:template>",
        "template v at",
    );
    check(
        "1.0",
        "<xsl:template match='/'><xsl:apply-templates select='.'/></xsl:template>",
        "the template at bomb.xsl:1:",
    );
    check("1.0", "<xsl:template match='node()|/'><xsl:apply-templates select='/'/></xsl:template>", "the template at");
    check(
        "1.0",
        "<xsl:template match='b'><xsl:apply-templates select='../b'><xsl:sort/></xsl:apply-templates></xsl:template>",
        "at",
    );
    check(
        "1.0",
        "<xsl:template match='/'><xsl:apply-templates select=\"document('')\"/></xsl:template>",
        "the template at",
    );
    check(
        "1.0",
        "<xsl:template match='*|/'><xsl:apply-templates select=\"document('')/*\"/></xsl:template>",
        "the template at",
    );
    check(
        "2.0",
        "<xsl:template match='/' as='node()*'><xsl:apply-templates select='.'/></xsl:template>",
        "the template at",
    );
    check(
        "1.0",
        "<xsl:template match='/'><xsl:for-each select='.'><xsl:apply-templates select='.'/></xsl:for-each></xsl:template>",
        "at",
    );
}

#[test]
fn endless_recursion_of_functions_names_the_function() {
    check(
        "2.0",
        "<xsl:function name='f:f'><xsl:param name='x'/><xsl:sequence select='f:f($x + 1) + 1'/></xsl:function>
        <xsl:template match='/'><xsl:value-of select='f:f(1)'/></xsl:template>",
        "function {urn:f}f",
    );
    check(
        "1.0",
        "<func:function name='f:f'><func:result select='f:f()'/></func:function>
        <xsl:template match='/'><xsl:value-of select='f:f()'/></xsl:template>",
        "function {urn:f}f",
    );
    check("2.0", "<xsl:function name='f:f'><xsl:param name='x'/><xsl:sequence select='for $y in 1 to 2 return f:f($y)[.]'/></xsl:function>
        <xsl:template match='/'><xsl:value-of select='f:f(1)'/></xsl:template>", "function {urn:f}f");
    check(
        "2.0",
        "<xsl:function name='f:f'><xsl:param name='x'/><xsl:apply-templates select='$x'/></xsl:function>
        <xsl:template match='node()|/'><xsl:value-of select='f:f(.)'/></xsl:template>",
        "function {urn:f}f",
    );
    check("1.0", "<xsl:template match='/'><xsl:value-of select='$g'/></xsl:template>
        <xsl:variable name='g' select=\"dyn:evaluate($t)\"/><xsl:variable name='t'>dyn:evaluate(string($t))</xsl:variable>", "deep");
    check("1.0", "<xsl:template match='/'><xsl:value-of select='b[f:f(.)]'/><xsl:apply-templates select='d/b'/></xsl:template>
        <xsl:template match='b[f:f(.)]'/>
        <func:function name='f:f'><xsl:param name='x'/><xsl:variable name='y'><xsl:apply-templates select='$x'/></xsl:variable><func:result select='true()'/></func:function>", "function {urn:f}f");
}

#[test]
fn endless_loops_end() {
    check_at_top("2.0", "<xsl:for-each select='1 to 1000000000'><a/></xsl:for-each>", "template at");
    check_at_top(
        "3.0",
        "<xsl:iterate select='1 to 1000000000'><xsl:param name='x' select='0'/><xsl:next-iteration>
        <xsl:with-param name='x' select='$x + 1'/></xsl:next-iteration></xsl:iterate>",
        "template at",
    );
    check_at_top(
        "2.0",
        "<xsl:value-of select='count(for $x in 1 to 100000, $y in 1 to 100000 return $x)'/>",
        "visits more than",
    );
    check_at_top("2.0", "<xsl:value-of select='1 to 1000000000'/>", "template at");
    check_at_top(
        "2.0",
        "<xsl:for-each-group select='1 to 1000000000' group-by='. mod 7'><a/></xsl:for-each-group>",
        "at",
    );
    check_at_top("2.0", "<xsl:perform-sort select='1 to 1000000000'><xsl:sort select='-.'/></xsl:perform-sort>", "at");
    check_at_top("2.0", "<xsl:value-of select='some $x in 1 to 1000000000 satisfies $x lt 0'/>", "at");
    let nested = (0..5).map(|_| "<xsl:for-each select='//node()'>").collect::<String>();
    let ends = "</xsl:for-each>".repeat(5);
    check_at_top(
        "1.0",
        &format!(
            "{nested}<xsl:for-each select='//node()'><xsl:for-each select='//node()'>.{ends}</xsl:for-each></xsl:for-each>"
        ),
        "template at",
    );
    check_at_top(
        "1.0",
        &format!("{nested}<xsl:if test='//node()[//node()[//node()[//node()[//nothing]]]]'/>{ends}"),
        "template at",
    );
}

#[test]
fn doubling_ends() {
    let doubling = |step: &str| {
        format!(
            "<xsl:template match='/' name='t'><xsl:param name='s' select=\"'0123456789'\"/>
             <xsl:call-template name='t'><xsl:with-param name='s'{step}</xsl:call-template></xsl:template>"
        )
    };
    check("1.0", &doubling(" select='concat($s, $s)'/>"), "concat($s, $s)");
    check("2.0", &doubling(" select='($s, $s)'/>"), "($s, $s)");
    check("2.0", &doubling(" select=\"string-join(($s, $s), '')\"/>"), "string-join");
    check("1.0", &doubling("><xsl:value-of select='$s'/><xsl:value-of select='$s'/></xsl:with-param>"), "template t");
    check(
        "1.0",
        &doubling("><a><xsl:copy-of select='$s'/></a><b><xsl:copy-of select='$s'/></b></xsl:with-param>"),
        "template t",
    );
    check("2.0", &doubling("><xsl:sequence select='$s'/><xsl:sequence select='$s'/></xsl:with-param>"), "template t");
    check(
        "2.0",
        &doubling(" as='item()*'><xsl:sequence select='$s'/><xsl:sequence select='$s'/></xsl:with-param>"),
        "template t",
    );
    check(
        "1.0",
        &doubling(
            "><a x='{$s}{$s}'><xsl:attribute name='y'><xsl:value-of select='$s'/>!</xsl:attribute></a><xsl:value-of select='concat($s,$s)'/></xsl:with-param>",
        ),
        "template t",
    );
    check("2.0", &doubling(" select=\"replace($s, '(.+)', '$1$1')\"/>"), "replace");
    check(
        "1.0",
        "<xsl:template match='/' name='t'><xsl:call-template name='t'/><xsl:call-template name='t'/></xsl:template>",
        "template t",
    );
    check("1.0", "<xsl:template match='/'>\n<xsl:call-template name='t'><xsl:with-param name='n' select='60'/></xsl:call-template></xsl:template>
        <xsl:template name='t'><xsl:param name='n'/><xsl:if test='$n > 0'>
        <xsl:call-template name='t'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template>
        <xsl:call-template name='t'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>", "template t");
}

#[test]
fn giants_are_refused() {
    check_at_top("1.0", "<xsl:value-of select=\"str:padding(1000000000, 'x')\"/>", "padding");
    check_at_top("1.0", "<xsl:value-of select=\"string-length(str:padding(3000000000, 'x'))\"/>", "padding");
    check_at_top(
        "2.0",
        "<xsl:value-of select=\"string-join(for $x in 1 to 10000000 return 'xxxxxxxxxxxxxxxxx', '')\"/>",
        "at",
    );
    let digits = "0".repeat(60_000);
    check_at_top(
        "2.0",
        &format!(
            "<xsl:for-each select='1 to 1000'><xsl:value-of select=\"format-number(1, '{digits}')\"/></xsl:for-each>"
        ),
        "at",
    );
    check_at_top(
        "2.0",
        &format!("<xsl:for-each select='1 to 1000'><xsl:number value='1' format='{digits}'/></xsl:for-each>"),
        "at",
    );
}

#[test]
fn temporary_trees_are_bounded_and_each_is_found_at_once() {
    let long = "x".repeat(50_000);
    let each = |inside: &str| {
        format!("<xsl:for-each select='1 to 100000'><xsl:variable name='v'>{inside}</xsl:variable></xsl:for-each>")
    };
    check_at_top("2.0", &each(&long), "bytes");
    check_at_top("2.0", &each(&format!("<a b='{long}'/>")), "bytes");
    check_at_top("2.0", &each("<a/>"), "template at");
    let asked = "<xsl:for-each select='1 to 100000'><xsl:variable name='v'><a/></xsl:variable>\
        <xsl:if test=\"count(key('k', '1', $v)) = 2 or generate-id($v) = ''\"/></xsl:for-each>";
    check("2.0", &format!("<xsl:key name='k' match='a' use='1'/><xsl:template match='/'>{asked}</xsl:template>"), "at");
}

#[test]
fn messages_are_bounded() {
    check_at_top(
        "2.0",
        "<xsl:for-each select='1 to 10000000'><xsl:message>0123456789012345678901234567890123456789</xsl:message></xsl:for-each>",
        "at",
    );
}

#[test]
fn a_result_is_bounded() {
    check_at_top(
        "2.0",
        "<a><xsl:for-each select='1 to 100000'><xsl:copy-of select=\"document('')\"/></xsl:for-each></a>",
        "bytes",
    );
    check_at_top(
        "2.0",
        "<xsl:for-each select='1 to 100000'>0123456789012345678901234567890123456789</xsl:for-each>",
        "bytes",
    );
    check_at_top(
        "2.0",
        "<a><xsl:for-each select='1 to 100000'><xsl:attribute name='a{.}' select='\"0123456789012345678901234567890123456789\"'/></xsl:for-each></a>",
        "at",
    );
}

#[test]
fn circles_are_told() {
    let circle = |version: &str, body: &str, code: &str, what: &str| {
        let error = run(version, body, SOURCE).expect_err("a circle");
        assert_eq!(error.code, code, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    circle(
        "2.0",
        "<xsl:key name='k' match='b' use=\"key('k', 'x')\"/><xsl:template match='/'><xsl:value-of select=\"key('k', 'x')\"/></xsl:template>",
        "XTDE0640",
        "key",
    );
    let sets = sheet(
        "1.0",
        "<xsl:attribute-set name='a' use-attribute-sets='b'/><xsl:attribute-set name='b' use-attribute-sets='a'/>
        <xsl:template match='/'><x xsl:use-attribute-sets='a'/></xsl:template>",
    );
    let problems = Stylesheet::compile(sets.as_bytes(), "bomb.xsl", &NoResolver).err().expect("a circle");
    assert_eq!(problems[0].code, "XTSE0720", "{}", problems[0]);
    circle(
        "1.0",
        "<xsl:variable name='g'><xsl:call-template name='t'/></xsl:variable><xsl:template match='/' name='t'><xsl:value-of select='$g'/></xsl:template>",
        "XTDE0640",
        "$g",
    );
}

#[test]
fn backtracking_is_bounded() {
    let long = "a".repeat(5_000);
    for (function, end) in [("matches", ""), ("replace", ", ''"), ("tokenize", "")] {
        for pattern in [
            "(a+)+$",
            "(a|aa)+$",
            "(a*)*b",
            "(.*a){20}b",
            "(a?){50}a{50}b",
            "(a+)\\1+\\1+b",
            "(a*)*\\1b",
            "((a+)+)\\2+$",
        ] {
            // A pattern that never backtracks answers; one that does stops at its bound.
            let body = format!(
                "<xsl:template match='/'><xsl:value-of select=\"string-length(string({function}('{long}!', '{pattern}x'{end})[1]))\"/></xsl:template>"
            );
            match run("2.0", &body, SOURCE) {
                Ok(_) => {}
                Err(error) => assert!(error.place.is_some(), "{error}"),
            }
        }
    }
}

#[test]
fn wide_elements_are_no_quadratic_work() {
    let body = "<xsl:template match='/'><a><xsl:for-each select='1 to 20000'><xsl:attribute name='a{.}' select='.'/></xsl:for-each></a></xsl:template>";
    let result = run("2.0", body, SOURCE);
    assert!(result.is_ok_and(|text| text.contains("a20000=\"20000\"")));
    let mut body = "<xsl:template match='/'><a><xsl:for-each select='1 to 20000'>".to_owned();
    let _ =
        write!(body, "<xsl:namespace name='n{{.}}' select='concat(\"urn:\", .)'/></xsl:for-each></a></xsl:template>");
    assert!(run("2.0", &body.replace('"', "&quot;"), SOURCE).is_ok());
}

#[test]
fn what_writes_merges_and_evaluates_without_end_ends() {
    let result = |href: &str, body: &str| format!("<xsl:result-document href='{href}'>{body}</xsl:result-document>");
    let many = result("r{.}' method='text", "a");
    check_at_top("3.0", &format!("<xsl:for-each select='1 to 20000'>{many}</xsl:for-each>"), "more than 10000 results");
    let large = result("r{.}", &"<x/>".repeat(1_000));
    check_at_top("3.0", &format!("<xsl:for-each select='1 to 20000'>{large}</xsl:for-each>"), "bytes");
    check(
        "3.0",
        "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template>
        <xsl:template name='t'><xsl:param name='n' select='1'/><xsl:result-document href='r{$n}'><xsl:call-template name='t'>
        <xsl:with-param name='n' select='$n + 1'/></xsl:call-template></xsl:result-document></xsl:template>",
        "template t",
    );
    check_at_top(
        "3.0",
        "<xsl:for-each select='1 to 100000'><xsl:evaluate xpath=\"'1 + ' || .\"/></xsl:for-each>",
        "template at",
    );
    check(
        "3.0",
        "<xsl:template match='/'><xsl:sequence select='f:f()'/></xsl:template>
        <xsl:function name='f:f' visibility='public'><xsl:evaluate xpath=\"'f:f()'\"/></xsl:function>",
        "f",
    );
    check_at_top(
        "3.0",
        "<xsl:evaluate xpath=\"'count(1 to 10000000000)'\"/><xsl:evaluate xpath=\"'(1 to 10000000000) ! (. + 1)'\"/>",
        "at",
    );
    let source = "<xsl:merge-source select='1 to 1000000000'><xsl:merge-key select='.'/></xsl:merge-source>";
    check_at_top("3.0", &format!("<xsl:merge>{source}<xsl:merge-action><a/></xsl:merge-action></xsl:merge>"), "at");
    let items =
        "<xsl:merge-source for-each-item='1 to 1000000000' select='.'><xsl:merge-key select='.'/></xsl:merge-source>";
    check_at_top("3.0", &format!("<xsl:merge>{items}<xsl:merge-action><a/></xsl:merge-action></xsl:merge>"), "at");
    check(
        "3.0",
        "<xsl:mode use-accumulators='#all'/><xsl:accumulator name='n' initial-value=\"'x'\"><xsl:accumulator-rule match='node()'
        select=\"string-join((1 to 100000) ! $value, '')\"/></xsl:accumulator>
        <xsl:template match='/'><xsl:value-of select=\"d/accumulator-after('n')\"/></xsl:template>",
        "accumulator n",
    );
    check(
        "3.0",
        "<xsl:mode use-accumulators='#all'/><xsl:accumulator name='n' initial-value='0'><xsl:accumulator-rule match='node()'
        select='($value, $value)'/></xsl:accumulator>
        <xsl:template match='/'><xsl:for-each select='1 to 100000'><xsl:variable name='t' as='element()'><a><b/><c/></a></xsl:variable>
        <xsl:value-of select=\"$t/accumulator-after('n')\"/></xsl:for-each></xsl:template>",
        "at",
    );
}

#[test]
fn patterns_that_are_run_as_expressions_count() {
    let deep = "<d>".repeat(3_000) + &"</d>".repeat(3_000);
    let body = "<xsl:template match='/|d'><xsl:apply-templates/></xsl:template>
        <xsl:template match='(//d//d)[last()] except //e'>!</xsl:template>";
    let error = run("3.0", body, &deep).expect_err("a limit");
    assert_eq!(error.code, "LIMIT", "{error}");
    let wide = format!("<xsl:template match='/'/><xsl:template match='{}'/>", ["(a|b)"; 40].join("/"));
    run("3.0", &wide, SOURCE).expect("it compiles, and matches nothing");
}
