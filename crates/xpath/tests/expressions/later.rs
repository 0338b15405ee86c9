//! XPath 2.0 and later: by their own rules, and as an extension in version 1.

use crate::common::{document, run};
use myelin_xpath::Version;

const DOCUMENT: &str = "<d><a>3</a><a>1</a><a>2</a><b>x y  z</b><c when='2004-02-29'/></d>";

/// What an expression gives by the rules of version 1, and by those of later ones.
fn both(expression: &str, first: &str, later: &str) {
    let tree = document(DOCUMENT);
    assert_eq!(run(&tree, expression, Version::V1), first, "{expression} in version 1");
    assert_eq!(run(&tree, expression, Version::V2), later, "{expression} later");
}

fn same(expression: &str, expected: &str) {
    both(expression, expected, expected);
}

#[test]
fn sequences_conditions_and_loops() {
    same("(1, 'a', true())", "1 | a | true");
    same("()", "");
    same("2 to 4", "2 | 3 | 4");
    same("4 to 2", "");
    same("if (//a = 3) then 'yes' else 'no'", "yes");
    same("for $a in //a, $n in (1, 2) return $a * $n", "3 | 6 | 1 | 2 | 2 | 4");
    same("let $x := 2, $y := $x + 1 return $x * $y", "6");
    same("some $a in //a satisfies $a = 2", "true");
    same("every $a in //a satisfies $a > 1", "false");
    same("(//a)[. > 1] ! string()", "3 | 2");
    same("//a/string()", "3 | 1 | 2");
    same("'a' || 1 || 'b'", "a1b");
    same("//b => string() => upper-case()", "X Y  Z");
    same("count(//a except //a[2])", "2");
    same("//a intersect //a[. = 2]", "a=2");
    same("//a[1] is (//a)[1]", "true");
    same("//a[1] << //a[2] and //b >> //a[1]", "true");
    same("for $x in 1 to 2 return for $x in ($x, 10) return $x", "1 | 10 | 2 | 10");
}

#[test]
fn functions_that_configurations_use() {
    same("tokenize(//b, '\\s+')", "x | y | z");
    same("tokenize('a,b,,c', ',')", "a | b |  | c");
    same("replace('2004-02-29', '(\\d+)-(\\d+)-(\\d+)', '$3.$2.$1')", "29.02.2004");
    same("replace('a.b', '.', '-', 'q')", "a-b");
    same("matches('Hello', 'HELLO', 'i')", "true");
    same("upper-case('straße')", "STRASSE");
    same("string-join(//a, '+')", "3+1+2");
    same("distinct-values((1, 2, 1, 'a', 'a'))", "1 | 2 | a");
    same("exists(//a) and empty(//z)", "true");
    same("reverse(1 to 3)", "3 | 2 | 1");
    same("insert-before((1, 2), 2, 9)", "1 | 9 | 2");
    same("remove((1, 2, 3), 2)", "1 | 3");
    same("subsequence((1, 2, 3, 4), 2, 2)", "2 | 3");
    same("index-of((10, 20, 10), 10)", "1 | 3");
    same("min(//a)", "1");
    same("max((1, 5, 3))", "5");
    same("avg((1, 2, 6))", "3");
    same("abs(-2)", "2");
    same("deep-equal((1, //a), (1, //a))", "true");
    same("ends-with('abc', 'bc')", "true");
    same("encode-for-uri('a b/ü')", "a%20b%2F%C3%BC");
    same("math:pow(2, 10)", "1024");
    same("fn:string-length('abc')", "3");
    same("outermost(//*)/name()", "d");
    same("innermost(//*)/name()", "a | a | a | b | c");
    same("deep-equal(//a[1], //a[2])", "false");
    same("deep-equal(/, /d/..)", "true");
    same("path(//a[2])", "/Q{}d[1]/Q{}a[2]");
}

#[test]
fn types_and_dates() {
    same("'12' cast as xs:integer", "12");
    same("'x' castable as xs:integer", "false");
    same("xs:date('2004-02-29') + xs:yearMonthDuration('P1Y')", "2005-02-28");
    same("xs:date('2004-02-29') < xs:date('2004-03-01')", "true");
    same("year-from-date(//c/@when)", "2004");
    same("current-dateTime()", "2001-09-09T03:46:40+02:00");
    same("1 instance of xs:string", "false");
    same("//a instance of element()+", "true");
    same("7 idiv 2", "3");
    both("1 instance of xs:integer", "false", "true");
    both("1 div 4", "0.25", "0.25");
    both("10 div 3", "3.3333333333333335", "3.333333333333333333");
    both("1e6", "1000000", "1.0E6");
    both("1 div 0", "Infinity", "FOAR0001: division by zero");
}

#[test]
fn version_1_converts_where_later_ones_refuse() {
    both("'1' + 1", "2", "XPTY0004: xs:string and xs:integer cannot be calculated with each other so");
    both("upper-case(//a)", "3", "XPTY0004: one value is wanted here, and there are 3");
    both("contains(12, 2)", "true", "XPTY0004: a text is wanted here, and there is xs:integer");
    both("'a' = 1", "false", "XPTY0004: xs:string cannot be compared so with xs:integer");
    both("//a = '3'", "true", "true");
    both("//a < '2'", "true", "true");
    both("'b' < 'c'", "false", "true");
    both("sum('a')", "NaN", "FORG0006: values of type xs:string cannot be added");
    both("//z + 1", "NaN", "");
    both("string(1.0)", "1", "1");
}

#[test]
fn what_is_not_offered_says_so() {
    let check = |expression: &str, part: &str| {
        let shown = run(&document(DOCUMENT), expression, Version::V3);
        assert!(shown.contains(part), "{expression}: {shown}");
    };

    check("tokenize('a', 'a*')", "matches the empty text");
    check("doc('a')", "doc() is no known function");
}
