//! Depth: of sources, results, temporary trees and stylesheets, each on a stack as small as those of the bus.

use myelin_xml::Document;
use myelin_xslt::{Error, Limits, NoResolver, Options, Problem, Stylesheet};

/// What the threads of the bus have.
const STACK_BYTES: usize = 2 << 20;

/// How deep sources are here.
const DEPTH: usize = 10_000;

const LIMITS: Limits =
    Limits { depth: 50_000, instructions: 5_000_000, output_bytes: 8 << 20, memory_bytes: 256 << 20 };

fn sheet(version: &str, body: &str) -> String {
    format!(
        "<xsl:stylesheet version='{version}' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' \
         xmlns:str='http://exslt.org/strings' xmlns:exsl='http://exslt.org/common'>\
         <xsl:output omit-xml-declaration='yes'/>{body}</xsl:stylesheet>"
    )
}

/// Runs something on a thread with a small stack.
fn on_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
        thread.expect("a thread").join().expect("no panic")
    })
}

fn compile(text: &str) -> Result<Stylesheet, Vec<Problem>> {
    Stylesheet::compile(text.as_bytes(), "deep.xsl", &NoResolver)
}

fn run(version: &str, body: &str, source: &str, limits: Limits) -> Result<String, Box<Error>> {
    on_small_stack(|| {
        let stylesheet = compile(&sheet(version, body)).unwrap_or_else(|problems| panic!("{:?}", problems));
        let reading = myelin_xml::Options { depth: DEPTH + 10, ..Default::default() };
        let mut document = Document::parse(source.as_bytes().to_vec(), &reading).expect("a document");
        let options = Options { limits, ..Options::default() };
        let mut out = Vec::new();
        let top = document.document_node();
        let result = stylesheet.transform(&mut document, top, &options, &mut out);
        result?;
        Ok(String::from_utf8(out).expect("UTF-8"))
    })
}

fn deep(depth: usize) -> String {
    format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth))
}

/// Holds what a stylesheet makes of a source that is ten thousand elements deep.
#[track_caller]
fn check(version: &str, body: &str, expected: &str) {
    assert_eq!(run(version, body, &deep(DEPTH), LIMITS).as_deref(), Ok(expected), "{body}");
}

/// The same of an expression.
#[track_caller]
fn check_value(version: &str, expression: &str, expected: &str) {
    let body = format!(
        "<xsl:output method='text'/><xsl:template match='/'><xsl:value-of select=\"{expression}\"/></xsl:template>"
    );
    check(version, &body, expected);
}

#[test]
fn deep_sources_are_walked_and_copied() {
    let whole = deep(DEPTH);
    check(
        "1.0",
        "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>",
        &whole,
    );
    check("1.0", "<xsl:template match='x'/>", "x");
    check("1.0", "<xsl:template match='a'><xsl:apply-templates/></xsl:template>", "x");
    check("1.0", "<xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>", &whole);
    check(
        "1.0",
        "<xsl:template match='/'><xsl:variable name='v'><xsl:copy-of select='.'/></xsl:variable><xsl:copy-of select='$v'/></xsl:template>",
        &whole,
    );
    check(
        "2.0",
        "<xsl:template match='/'><xsl:variable name='v' as='item()*'><xsl:sequence select='a'/></xsl:variable><xsl:copy-of select='$v'/></xsl:template>",
        &whole,
    );
    check("3.0", "<xsl:mode on-no-match='shallow-copy'/>", &whole);
    check("3.0", "<xsl:mode on-no-match='deep-copy'/>", &whole);
    check("3.0", "<xsl:mode on-no-match='shallow-skip'/>", "");
    check("1.0", "<xsl:strip-space elements='*'/><xsl:template match='text()'>y</xsl:template>", "y");
}

#[test]
fn deep_sources_are_asked() {
    check_value("1.0", "count(//a)", "10000");
    check_value("1.0", "count(//node()[not(*)])", "2");
    check_value("1.0", "string-length(.)", "1");
    check_value("1.0", "count(//a[not(a)]/ancestor::a)", "9999");
    check_value("1.0", "string-length(generate-id(//a[not(a)])) &gt; 0", "true");
    check_value("2.0", "deep-equal(., /)", "true");
    check_value("2.0", "count(distinct-values((//a)[position() mod 1000 = 0]))", "1");
    check(
        "1.0",
        "<xsl:key name='k' match='a' use='name()'/><xsl:template match='/'><xsl:value-of select=\"count(key('k', 'a'))\"/></xsl:template>",
        "10000",
    );
    check(
        "1.0",
        "<xsl:template match='/'><xsl:for-each select='//text()'><xsl:number level='any' count='a'/></xsl:for-each></xsl:template>",
        "10000",
    );
    check(
        "1.0",
        "<xsl:template match='/'><xsl:apply-templates select='//text()'/></xsl:template><xsl:template match='a/a//a/text()'>y</xsl:template>",
        "y",
    );
}

#[test]
fn numbers_of_many_levels_are_written() {
    let body = "<xsl:template match='/'><xsl:for-each select='//text()'><xsl:number level='multiple' count='a'/></xsl:for-each></xsl:template>";
    check("1.0", body, &vec!["1"; DEPTH].join("."));
}

#[test]
fn deep_results_are_written() {
    let body = "<xsl:template match='/' name='t'><xsl:param name='n' select='9000'/><xsl:if test='$n > 0'><a>
        <xsl:call-template name='t'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></a></xsl:if></xsl:template>";
    for method in ["xml", "html", "xhtml", "text"] {
        for indent in ["yes", "no"] {
            let body = format!("<xsl:output method='{method}' indent='{indent}'/>{body}");
            let limits = Limits { output_bytes: 1 << 30, ..LIMITS };
            assert!(run("1.0", &body, "<x/>", limits).is_ok_and(|text| method == "text" || text.contains("</a")));
        }
    }
}

#[test]
fn trees_that_grow_deeper_each_time_end_at_the_memory() {
    let body =
        "<xsl:template match='/' name='t'><xsl:param name='v'/><xsl:call-template name='t'><xsl:with-param name='v'>
        <a><xsl:copy-of select='$v'/></a></xsl:with-param></xsl:call-template></xsl:template>";
    let limits = Limits { memory_bytes: 16 << 20, ..LIMITS };
    let error = run("1.0", body, "<x/>", limits).expect_err("a bound");
    assert!(error.code == "LIMIT" && error.to_string().contains("template t"), "{error}");
}

#[test]
fn a_source_deeper_than_templates_may_go_is_refused_by_name() {
    let body = "<xsl:template match='a'><xsl:apply-templates/></xsl:template>";
    let error = run("1.0", body, &deep(DEPTH), Limits { depth: 1_000, ..LIMITS }).expect_err("a bound");
    assert!(error.code == "LIMIT" && error.to_string().contains("more than 1000 deep"), "{error}");
    assert!(error.trail[0].contains("the template at deep.xsl:1:"), "{error}");
    assert!(error.node.is_some_and(|node| node.starts_with("/a/a/") && node.contains("/…/") && node.len() < 100));
}

/// Instructions that hold others; `{}` is what is inside.
const NESTED: [&str; 22] = [
    "<xsl:if test='1'>{}</xsl:if>",
    "<xsl:for-each select='.'>{}</xsl:for-each>",
    "<xsl:for-each select='self::node()'>{}</xsl:for-each>",
    "<xsl:for-each select='. | /'><xsl:sort/>{}</xsl:for-each>",
    "<xsl:for-each-group select='.' group-by='1'>{}</xsl:for-each-group>",
    "<xsl:iterate select='.'>{}</xsl:iterate>",
    "<e>{}</e>",
    "<e x='{1}'>{}</e>",
    "<xsl:element name='e'>{}</xsl:element>",
    "<xsl:copy>{}</xsl:copy>",
    "<e><xsl:attribute name='a'>{}</xsl:attribute></e>",
    "<xsl:comment>{}</xsl:comment>",
    "<xsl:value-of>{}</xsl:value-of>",
    "<xsl:variable name='v'>{}</xsl:variable>",
    "<xsl:variable name='v' as='item()*'>{}</xsl:variable>",
    "<xsl:document>{}</xsl:document>",
    "<xsl:message>{}</xsl:message>",
    "<xsl:analyze-string select=\"'x'\" regex='x'><xsl:matching-substring>{}</xsl:matching-substring></xsl:analyze-string>",
    "<xsl:choose><xsl:when test='0'/><xsl:otherwise>{}</xsl:otherwise></xsl:choose>",
    "<xsl:try>{}<xsl:catch/></xsl:try>",
    "<xsl:call-template name='t'><xsl:with-param name='p'>{}</xsl:with-param></xsl:call-template>",
    "<xsl:apply-templates select='nothing'><xsl:with-param name='p'>{}</xsl:with-param></xsl:apply-templates>",
];

/// An instruction in itself as often as a stylesheet may have it, with something inside.
fn nested(kind: &str, inside: &str) -> String {
    // The last pair: an attribute value template may come before.
    let at = kind.rfind("{}").expect("a place for what is inside");
    let (before, behind) = (&kind[..at], &kind[at + 2..]);
    let open = before.matches("<").count() - before.matches("</").count() - before.matches("/>").count();
    let levels = 195 / open;
    format!("{}{inside}{}", before.repeat(levels), behind.repeat(levels))
}

#[test]
fn instructions_as_deep_as_a_stylesheet_may_be_run() {
    for kind in NESTED {
        let body = format!(
            "<xsl:template name='t'><xsl:param name='p'/></xsl:template><xsl:template match='/'>{}</xsl:template>",
            nested(kind, "t")
        );
        let result = run("3.0", &body, "<x/>", LIMITS);
        assert!(result.is_ok(), "{kind}: {result:?}");
    }
}

#[test]
fn templates_that_call_themselves_from_deep_inside_end_at_a_bound() {
    let call_by_name = "<xsl:call-template name='r'/>!";
    let others = ["<xsl:value-of select='f:f()'/>", "<xsl:apply-templates select='$top'/>"];
    let calls = NESTED.into_iter().map(|kind| (kind, call_by_name));
    for (kind, call) in calls.chain(others.map(|call| (NESTED[0], call))) {
        let named = if call == call_by_name { "name='r'" } else { "" };
        let body = format!(
            "<xsl:template name='t'><xsl:param name='p'/></xsl:template>\
             <xsl:template match='/' {named} xmlns:f='f'>{}</xsl:template>\
             <xsl:function name='f:f' xmlns:f='f'><xsl:apply-templates select='$top'/></xsl:function>\
             <xsl:variable name='top' select='/'/>",
            nested(kind, call)
        );
        let limits = Limits { memory_bytes: 12 << 20, ..LIMITS };
        let error = run("3.0", &body, "<x/>", limits).expect_err("a bound");
        assert_eq!(error.code, "LIMIT", "{kind}: {error}");
    }
}

#[test]
fn templates_that_call_two_others_each_are_compiled_at_once() {
    for call in
        ["<xsl:call-template name='t{}'/>", "<xsl:for-each select='a'><xsl:call-template name='t{}'/></xsl:for-each>"]
    {
        let mut body =
            "<xsl:template match='/'><xsl:call-template name='t0'/></xsl:template><xsl:template name='t30'/>"
                .to_owned();
        for level in 0..30 {
            let call = call.replace("{}", &(level + 1).to_string());
            body.push_str(&format!("<xsl:template name='t{level}'>{call}{call}</xsl:template>"));
        }
        on_small_stack(|| compile(&sheet("1.0", &body)).map(drop)).expect("it is compiled");
    }
}

#[test]
fn stylesheets_that_are_deeper_are_refused() {
    for (before, behind) in
        [("<xsl:if test='1'>", "</xsl:if>"), ("<e>", "</e>"), ("<xsl:variable name='v'>", "</xsl:variable>")]
    {
        let body = format!("<xsl:template match='/'>{}{}</xsl:template>", before.repeat(DEPTH), behind.repeat(DEPTH));
        let problems = on_small_stack(|| compile(&sheet("1.0", &body)).err()).expect("a bound");
        assert!(problems[0].message.contains("inside each other"), "{}", problems[0]);
    }
}

#[test]
fn deep_expressions_and_patterns_are_compiled_or_refused() {
    let nested = |open: &str, inside: &str, close: &str, levels: usize| {
        format!("{}{inside}{}", open.repeat(levels), close.repeat(levels))
    };
    for levels in [50, 500, 10_000] {
        let expressions = [
            nested("(", "1", ")", levels),
            nested("-", "1", "", levels),
            nested("a[", "1", "]", levels),
            nested("not(", "1", ")", levels),
            nested("if (1) then ", "1", " else 2", levels),
            nested("for $x in 1 return ", "1", "", levels),
            nested("a/", "b", "", levels),
            nested("a|", "b", "", levels),
            nested("1+", "1", "", levels),
            nested("concat('a',", "'b'", ")", levels),
            nested("[", "1", "]", levels),
            nested("map{'a':", "1", "}", levels),
            nested("function($x){", "1", "}", levels),
        ];
        for expression in expressions {
            let bodies = [
                format!("<xsl:template match='/'><xsl:value-of select=\"{expression}\"/></xsl:template>"),
                format!("<xsl:template match='/'><a b=\"{{{expression}}}\"/></xsl:template>"),
                format!("<xsl:template match=\"{expression}\"/>"),
                format!(
                    "<xsl:template match=\"/|b[{expression}]\"/><xsl:template match='/'><xsl:apply-templates select='b'/></xsl:template>"
                ),
            ];
            for body in bodies {
                on_small_stack(|| match compile(&sheet("3.0", &body)) {
                    Ok(stylesheet) => {
                        let mut document = Document::parse(b"<b/>".to_vec(), &Default::default()).expect("a document");
                        let top = document.document_node();
                        let options = Options { limits: LIMITS, ..Options::default() };
                        let _ = stylesheet.transform(&mut document, top, &options, &mut Vec::new());
                    }
                    Err(problems) => assert!(!problems.is_empty()),
                });
            }
        }
    }
}
