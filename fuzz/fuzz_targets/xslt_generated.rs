#![no_main]
//! Stylesheets made of all instructions, chosen by the bytes: they compile or are refused, and run within their limits.

use std::fmt::Write;

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::xslt::{compile, parse, transform};

const DOCUMENT: &str =
    "<d xmlns:p='urn:p' a='1' xml:lang='en'>\n  <p:b c='2'>x<e>3</e>y</p:b><!--n--><?t i?><b>4.5</b> <b/><b>zz</b></d>";

/// Expressions for any place; `$v` and `$w` are known everywhere, `$g` is global.
const EXPRESSIONS: [&str; 72] = [
    ".",
    "*",
    "node()",
    "@*",
    "//b",
    "//node()",
    "..",
    "/",
    "$v",
    "$w",
    "$g",
    "/d/b[2]",
    "//b[last()]",
    "//@c",
    "'t'",
    "''",
    "3",
    "-1.5",
    "0 div 0",
    "1 div 0",
    "position()",
    "last()",
    "current()",
    "string(.)",
    "name(..)",
    "count(//*)",
    "$v + 1",
    "concat($v, $v, 'x')",
    "$v | //b",
    "not($w)",
    "$v = $w",
    "$v/*",
    "key('k', 'x')",
    "key('k', $v)",
    "f:f(.)",
    "f:f($v)",
    "f:g($v, $w)",
    "document('')//*",
    "document('d.xml')",
    "generate-id($v)",
    "format-number($w, '#,##0.00')",
    "format-number(., '00')",
    "exsl:node-set($v)/*",
    "(1 to 5)",
    "($v, $w)",
    "reverse($v)",
    "for $x in //b return $x + $v",
    "substring($v, 2, 3)",
    "translate($v, 'ab', 'xy')",
    "tokenize(string($w), '\\s')",
    "replace('aab', 'a(b?)', '$1')",
    "current-group()",
    "current-grouping-key()",
    "regex-group(1)",
    "sum(//e | //b)",
    "id('x')",
    "ancestor::*[1]",
    "following::node()[1]",
    "preceding::*",
    "namespace::*",
    "lang('en')",
    "system-property('xsl:version')",
    "dyn:evaluate('$v')",
    "copy-of($v)",
    "current-merge-group()",
    "current-merge-key()",
    "accumulator-before('n')",
    "accumulator-after('n')",
    "current-output-uri()",
    "base-uri(.)",
    "map{'a': $v, 1: (1, 2)}",
    "for-each(1 to 3, function($x) { $x + $v })",
];

const PATTERNS: [&str; 20] = [
    "/",
    "*",
    "b",
    "@*",
    "text()",
    "node()",
    "d/b",
    "d//e",
    "b[2]",
    "b[last()]",
    "p:*",
    "key('k', 'x')",
    "comment()",
    "processing-instruction('t')",
    "/d|b[. = $g]",
    "id('x')",
    "(b | e)[2]",
    "d/(b | p:b)/e",
    "* except b",
    "node() intersect //b",
];

const NAMES: [&str; 8] = ["a", "p:a", "{$v}", "p:{.}", "xml:id", "{name()}", "q:c", ""];

/// The bytes as choices; when they are used up, the first of each.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % bound
    }

    fn of<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.below(table.len())]
    }

    fn expression(&mut self) -> String {
        self.of(&EXPRESSIONS).replace('<', "&lt;")
    }
}

fn sheet(choices: &mut Choices<'_>) -> String {
    let mut text = String::from(
        "<xsl:stylesheet xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:p='urn:p' xmlns:f='urn:f' \
         xmlns:exsl='http://exslt.org/common' xmlns:func='http://exslt.org/functions' xmlns:dyn='http://exslt.org/dynamic' ",
    );
    let version = choices.of(&["1.0", "2.0", "3.0"]);
    let _ = write!(text, "extension-element-prefixes='func exsl' version='{version}'>");
    let method = choices.of(&["xml", "html", "text", "xml", "json", "adaptive", "xhtml", "xml"]);
    let _ = write!(text, "<xsl:output method='{method}'/>");
    if version == "3.0" {
        let _ = write!(
            text,
            "<xsl:mode use-accumulators='{}' on-multiple-match='{}'/><xsl:accumulator name='n' initial-value=\"{}\">\
             <xsl:accumulator-rule match='{}' select='count(($value, $value))'/></xsl:accumulator>",
            choices.of(&["#all", "n", ""]),
            choices.of(&["use-last", "fail"]),
            choices.expression(),
            choices.of(&PATTERNS[1..9]),
        );
    }
    if choices.below(2) == 1 {
        text.push_str("<xsl:strip-space elements='*'/>");
    }
    let _ =
        write!(text, "<xsl:key name='k' match='{}' use=\"{}\"/>", choices.of(&PATTERNS[1..11]), choices.expression());
    let _ = write!(text, "<xsl:variable name='g' select=\"{}\"/>", choices.of(&EXPRESSIONS[..8]));
    text.push_str("<xsl:variable name='v'>1</xsl:variable><xsl:variable name='w' select='2'/>");
    text.push_str("<xsl:attribute-set name='s'><xsl:attribute name='z'>1</xsl:attribute></xsl:attribute-set>");
    let _ = write!(
        text,
        "<func:function name='f:f'><xsl:param name='v'/><func:result select=\"{}\"/></func:function>",
        choices.expression()
    );
    if version != "1.0" {
        text.push_str("<xsl:function name='f:g'><xsl:param name='v'/><xsl:param name='w'/>");
        block(choices, 2, &mut text);
        text.push_str("</xsl:function>");
    }
    for _ in 0..choices.below(5) {
        let mode = choices.of(&["", "mode='m'", "priority='2'", ""]);
        let _ = write!(text, "<xsl:template match=\"{}\" {mode}>", choices.of(&PATTERNS));
        block(choices, 4, &mut text);
        text.push_str("</xsl:template>");
    }
    text.push_str("<xsl:template name='t'><xsl:param name='v' select='1'/>");
    block(choices, 4, &mut text);
    text.push_str("</xsl:template></xsl:stylesheet>");
    text
}

/// Some instructions, with others in them down to a depth.
fn block(choices: &mut Choices<'_>, depth: usize, text: &mut String) {
    if depth == 0 || choices.0.is_empty() {
        return;
    }
    for _ in 0..choices.below(4) {
        let (e, f) = (choices.expression(), choices.expression());
        let mut around = |open: String, close: &str, choices: &mut Choices<'_>| {
            text.push_str(&open);
            block(choices, depth - 1, text);
            text.push_str(close);
        };
        match choices.below(40) {
            34 => around("<xsl:result-document href='r{count(//*)}'>".to_owned(), "</xsl:result-document>", choices),
            35 => around(
                "<xsl:result-document method='{$v}' indent='{$w}'>".to_owned(),
                "</xsl:result-document>",
                choices,
            ),
            36 => around("<xsl:source-document href='d.xml'>".to_owned(), "</xsl:source-document>", choices),
            37 => around("<xsl:fork><xsl:sequence>".to_owned(), "</xsl:sequence></xsl:fork>", choices),
            38 => around(
                format!(
                    "<xsl:merge><xsl:merge-source name='o' select=\"{e}\" sort-before-merge='yes'><xsl:merge-key select=\"{f}\"/>\
                     </xsl:merge-source><xsl:merge-source for-each-item='1 to 2' select=\"{f}\"><xsl:merge-key select='.'/>\
                     </xsl:merge-source><xsl:merge-action>"
                ),
                "</xsl:merge-action></xsl:merge>",
                choices,
            ),
            39 => {
                let _ = write!(
                    text,
                    "<xsl:evaluate xpath=\"string({e})\" context-item=\"({f})[1]\"><xsl:with-param name='v' select=\"{f}\"/></xsl:evaluate>"
                );
            }
            0 => around(format!("<a x=\"{{{e}}}\">"), "</a>", choices),
            1 => around("<p:a xsl:use-attribute-sets='s'>".to_owned(), "</p:a>", choices),
            2 => around(format!("<xsl:for-each select=\"{e}\">"), "</xsl:for-each>", choices),
            3 => around(format!("<xsl:for-each select=\"{e}\"><xsl:sort select=\"{f}\"/>"), "</xsl:for-each>", choices),
            4 => around(format!("<xsl:if test=\"{e}\">"), "</xsl:if>", choices),
            5 => around(format!("<xsl:variable name='v' select=\"{e}\"/><xsl:if test=\"{f}\">"), "</xsl:if>", choices),
            6 => around("<xsl:variable name='w'>".to_owned(), "</xsl:variable>", choices),
            7 => around("<xsl:copy>".to_owned(), "</xsl:copy>", choices),
            8 => around(format!("<xsl:element name=\"{}\">", choices.of(&NAMES)), "</xsl:element>", choices),
            9 => around(
                format!("<xsl:element name=\"{}\" namespace='{{$v}}'>", choices.of(&NAMES)),
                "</xsl:element>",
                choices,
            ),
            10 => around(format!("<xsl:attribute name=\"{}\">", choices.of(&NAMES)), "</xsl:attribute>", choices),
            11 => around("<xsl:comment>".to_owned(), "</xsl:comment>", choices),
            12 => around(
                format!("<xsl:processing-instruction name=\"{}\">", choices.of(&NAMES)),
                "</xsl:processing-instruction>",
                choices,
            ),
            13 => around(
                format!("<xsl:choose><xsl:when test=\"{e}\">o</xsl:when><xsl:otherwise>"),
                "</xsl:otherwise></xsl:choose>",
                choices,
            ),
            14 => around(
                format!(
                    "<xsl:call-template name='t'><xsl:with-param name='v' select=\"{e}\"/></xsl:call-template><xsl:if test=\"{f}\">"
                ),
                "</xsl:if>",
                choices,
            ),
            15 => around(
                format!("<xsl:for-each-group select=\"{e}\" group-by=\"{f}\">"),
                "</xsl:for-each-group>",
                choices,
            ),
            16 => around(
                format!("<xsl:for-each-group select=\"{e}\" group-adjacent=\"string({f})\">"),
                "</xsl:for-each-group>",
                choices,
            ),
            17 => around(
                format!("<xsl:for-each-group select=\"{e}\" group-starting-with='b'>"),
                "</xsl:for-each-group>",
                choices,
            ),
            18 => around(
                format!("<xsl:analyze-string select=\"string({e})\" regex='[0-9x]'><xsl:matching-substring>"),
                "</xsl:matching-substring></xsl:analyze-string>",
                choices,
            ),
            19 => around("<xsl:try>".to_owned(), "<xsl:catch>c</xsl:catch></xsl:try>", choices),
            20 => around(
                format!("<xsl:iterate select=\"{e}\"><xsl:param name='v' select='0'/>"),
                "<xsl:next-iteration/></xsl:iterate>",
                choices,
            ),
            21 => around("<xsl:document>".to_owned(), "</xsl:document>", choices),
            22 => around(
                format!("<xsl:perform-sort select=\"{e}\"><xsl:sort select=\"{f}\"/>"),
                "</xsl:perform-sort>",
                choices,
            ),
            23 => around("<xsl:message>".to_owned(), "</xsl:message>", choices),
            24 => {
                let _ = write!(text, "<xsl:value-of select=\"{e}\"/>");
            }
            25 => {
                let _ = write!(text, "<xsl:copy-of select=\"{e}\"/>");
            }
            26 => {
                let _ = write!(text, "<xsl:sequence select=\"{e}\"/>");
            }
            27 => {
                let _ = write!(text, "<xsl:apply-templates select=\"{e}\"/>");
            }
            28 => {
                let _ = write!(
                    text,
                    "<xsl:apply-templates select=\"{e}\" mode='m'><xsl:sort select=\"{f}\" data-type='number'/></xsl:apply-templates>"
                );
            }
            29 => {
                let _ =
                    write!(text, "<xsl:number value=\"{e}\" format='{}'/>", choices.of(&["1", "a", "I", "w", "01"]));
            }
            30 => {
                let _ = write!(
                    text,
                    "<xsl:number level='{}' count='{}'/>",
                    choices.of(&["single", "multiple", "any"]),
                    choices.of(&PATTERNS[1..6])
                );
            }
            31 => text.push_str("<xsl:next-match/>"),
            32 => {
                let _ = write!(text, "<xsl:namespace name=\"{}\" select=\"{e}\"/>", choices.of(&NAMES));
            }
            _ => text.push_str("t<xsl:apply-imports/>"),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let source = sheet(&mut Choices(data));
    let Some(stylesheet) = compile(source.as_bytes()) else { return };
    let mut document = parse(DOCUMENT.as_bytes()).expect("a document");
    transform(&source, &stylesheet, &mut document);
});
