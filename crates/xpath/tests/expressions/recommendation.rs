//! XPath 1.0: the examples of the recommendation, and the corners around them.

use crate::common::{document, run};
use myelin_xpath::Version;

const DOCUMENT: &str = r#"<doc xmlns:p="urn:p">
<chapter n="1"><title>Introduction</title><para type="warning">w1</para><para>p2<b>bold</b></para></chapter>
<chapter n="2" xml:lang="en-GB"><title>Usage</title><section><para type="warning" secretary="s" assistant="a">w3</para></section></chapter>
<!--note--><?target data?>
<p:item id="x" xml:id="one">10</p:item><p:item>20</p:item><item>30</item>
<olist><item>o1</item><item>o2</item></olist>
</doc>"#;

fn check(expression: &str, expected: &str) {
    assert_eq!(run(&document(DOCUMENT), expression, Version::V1), expected, "{expression}");
}

#[test]
fn location_paths_select_what_the_examples_say() {
    check("count(/doc/chapter)", "2");
    check("/doc/chapter/para[1]", "para=w1");
    check("/doc/chapter[2]/title", "title=Usage");
    check("//para[@type='warning']", "para=w1 | para=w3");
    check("//para[@type=\"warning\"][2]", "");
    check("(//para[@type='warning'])[2]", "para=w3");
    check("//title[../@n=2]", "title=Usage");
    check("/descendant::para[3]", "para=w3");
    check("//para[3]", "");
    check("//chapter[title='Introduction']/@n", "n=1");
    check("//chapter[title]/@n", "n=1 | n=2");
    check("//para[@secretary and @assistant]", "para=w3");
    check("/doc/chapter[last()]/@n", "n=2");
    check("/doc/chapter[position()=last()-1]/@n", "n=1");
    check("//olist/item", "item=o1 | item=o2");
    check("//item[1]/../@n | //olist/item[2]/preceding::item[1]", "item=o1");
    check("//@*[name()='xml:lang']", "lang=en-GB");
    check("name(//@*[namespace-uri()='http://www.w3.org/XML/1998/namespace'][2])", "");
    check("//p:item", "item=10 | item=20");
    check("//p:*[2]", "item=20");
    check("//*[local-name()='item'][1]", "item=10 | item=o1");
    check("//comment()", "=note");
    check("//processing-instruction()", "target=data");
    check("//processing-instruction('other')", "");
    check("/doc/text()[normalize-space()]", "");
    check("string-length(/) = string-length(/doc)", "true");
}

#[test]
fn all_axes_look_where_they_should() {
    check("name(//title[1]/parent::*)", "chapter");
    check("//b/ancestor::*[1]", "para=p2bold");
    check("name(//b/ancestor::*[last()])", "doc");
    check("count(//b/ancestor::node())", "4");
    check("count(//b/ancestor-or-self::*)", "4");
    check("//title[.='Usage']/preceding::para", "para=w1 | para=p2bold");
    check("//title[.='Usage']/preceding::para[1]", "para=p2bold");
    check("//para[1]/following-sibling::*", "para=p2bold");
    check("//para[2]/preceding-sibling::*", "title=Introduction | para=w1");
    check("//para[2]/preceding-sibling::*[1]", "para=w1");
    check("//b/following::title", "title=Usage");
    check("count(//b/following::*)", "10");
    check("count(//section/self::section)", "1");
    check("count(//section/self::para)", "0");
    check("count(//@type/self::*)", "0");
    check("count(//@type/self::node())", "2");
    check("count(//@n/following::*)", "14");
    check("//chapter[1]/@n/following::title[1]", "title=Introduction");
    check("name(//@secretary/..)", "para");
    check("count(/doc/namespace::*)", "2");
    check("string(/doc/namespace::p)", "urn:p");
    check("name(/doc/namespace::p/..)", "doc");
    check("local-name(/doc/namespace::*[.='urn:p'])", "p");
    check("count(/doc/descendant-or-self::node()) = count(/doc//node()) + 1", "true");
    check("count(//node()) + 1 = count(//. )", "true");
    check("count(//title | //title | //para)", "5");
    check("//title | //b", "title=Introduction | b=bold | title=Usage");
}

#[test]
fn several_steps_from_many_nodes_give_each_node_once() {
    check("count(//*/ancestor::*)", "6");
    check("count(//*//*)", "15");
    check("count(//*/following::*)", "13");
    check("count(//*/preceding::*)", "13");
    check("count(//*/following-sibling::*)", "9");
    check("count(//*/preceding-sibling::*)", "9");
    check("count(//*/descendant-or-self::*)", "16");
    check("count(//*/..)", "7");
    check("count(//*/*/..)", "6");
}

#[test]
fn strings_and_numbers_turn_into_each_other() {
    check("string(1 div 0)", "Infinity");
    check("string(-1 div 0)", "-Infinity");
    check("string(0 div 0)", "NaN");
    check("string(-0)", "0");
    check("1 div -0", "-Infinity");
    check("string(1.50)", "1.5");
    check("string(123456789012345680000)", "123456789012345680000");
    check("string(0.000001)", "0.000001");
    check("number(' 12 ')", "12");
    check("number('1e3')", "NaN");
    check("number('+1')", "NaN");
    check("number('')", "NaN");
    check("number(true())", "1");
    check("number(//title)", "NaN");
    check("boolean(0 div 0)", "false");
    check("boolean('false')", "true");
    check("boolean(//nothing)", "false");
    check("string(//nothing)", "");
    check("string(//title)", "Introduction");
    check("5 mod 2", "1");
    check("5 mod -2", "1");
    check("-5 mod 2", "-1");
    check("1.5 mod 0.5", "0");
    check("- - 5", "5");
    check("-(2 + 3) * 2", "-10");
    check("2 + 3 * 4 - 6 div 2", "11");
}

#[test]
fn functions_give_what_the_examples_say() {
    check("substring('12345', 2, 3)", "234");
    check("substring('12345', 2)", "2345");
    check("substring('12345', 1.5, 2.6)", "234");
    check("substring('12345', 0, 3)", "12");
    check("substring('12345', 0 div 0, 3)", "");
    check("substring('12345', 1, 0 div 0)", "");
    check("substring('12345', -42, 1 div 0)", "12345");
    check("substring('12345', -1 div 0, 1 div 0)", "");
    check("substring-before('1999/04/01','/')", "1999");
    check("substring-after('1999/04/01','/')", "04/01");
    check("substring-after('1999/04/01','19')", "99/04/01");
    check("substring-before('a', 'b')", "");
    check("translate('bar','abc','ABC')", "BAr");
    check("translate('--aaa--','abc-','ABC')", "AAA");
    check("normalize-space('  a  b\t\nc ')", "a b c");
    check("concat('a', 1, true())", "a1true");
    check("string-length('äöü')", "3");
    check("starts-with('abc', '') and contains('abc', 'bc') and not(contains('abc', 'x'))", "true");
    check("round(2.5)", "3");
    check("round(-2.5)", "-2");
    check("1 div round(-0.2)", "-Infinity");
    check("floor(-1.5)", "-2");
    check("ceiling(-1.5)", "-1");
    check("sum(//p:item)", "30");
    check("sum(//title)", "NaN");
    check("count(id('one'))", "1");
    check("id('one two')", "item=10");
    check("lang('en')", "false");
    check("count(//*[lang('en')])", "4");
    check("count(//*[lang('EN-gb')])", "4");
    check("count(//*[lang('en-GB-x')])", "0");
    check("name(//p:item)", "p:item");
    check("namespace-uri(//p:item)", "urn:p");
    check("local-name(/)", "");
    check("name(//processing-instruction())", "target");
}

#[test]
fn comparisons_of_node_sets_need_one_pair() {
    check("//title = 'Usage'", "true");
    check("//title != 'Usage'", "true");
    check("not(//title = 'Usage')", "false");
    check("//nothing = //nothing", "false");
    check("//nothing != 'a'", "false");
    check("//p:item > 15", "true");
    check("15 < //p:item", "true");
    check("15 > //p:item", "true");
    check("//p:item < //item", "true");
    check("//p:item = //item", "false");
    check("//nothing = false()", "true");
    check("//title = true()", "true");
    check("true() = //title", "true");
    check("//chapter/@n = 2", "true");
    check("1 = '1'", "true");
    check("'a' < 'b'", "false");
    check("true() > false()", "true");
    check("1 < 2 < 3", "true");
    check("3 > 2 > 1", "false");
    check("1 = 1 = true()", "true");
}

#[test]
fn names_and_operators_are_told_apart() {
    let tree = document("<div><div>4</div><mod>2</mod><and/><or/><a-b>7</a-b><text>t</text></div>");
    let check =
        |expression: &str, expected: &str| assert_eq!(run(&tree, expression, Version::V1), expected, "{expression}");
    check("div/div div div/mod", "2");
    check("div/div * div/mod", "8");
    check("div/* [1]", "div=4");
    check("count(div/*)*2", "12");
    check("div/and and div/or", "true");
    check("div/a-b", "a-b=7");
    check("div/a-b -1", "6");
    check("div/text", "text=t");
    check("div/div/text()", "=4");
    check("div/*[. = 4] * 2", "8");
}

#[test]
fn the_host_gives_variables_and_functions() {
    check("$one + 1", "2");
    check("$text", "text");
    check("count($nodes[self::item])", "1");
    check("$nodes/title", "title=Introduction | title=Usage");
    check("$nodes[@n = 2]/title", "title=Usage");
    check("twice(concat($text, '!'))", "text!text!");
}
