//! What a template may not do: run without end, grow without bound, or nest deeper than there is stack.

use std::cell::Cell;

use myelin_freemarker::{ErrorKind, Limits, Options, Template, Value};
use proptest::prelude::*;

fn fault(template: &str) -> (ErrorKind, String) {
    let template = match Template::compile(template, false) {
        Ok(template) => template,
        Err(error) => return (error.kind, error.to_string()),
    };
    let limits = Limits { steps: 300_000, bytes: 1 << 20 };
    let error = template.run(&[], &Options { limits, ..Options::default() }).expect_err("it has no bound");
    (error.kind, error.to_string())
}

#[test]
fn what_has_no_end_is_ended() {
    for template in [
        "<#list 1.. as n>x</#list>",
        "<#list 1..100000 as a><#list 1..100000 as b></#list></#list>",
        "<#macro m><@m/></#macro><@m/>",
        "<#function f><#return f()></#function>${f()}",
        "<#macro m><#nested><@m><#nested></@m></#macro><@m>x</@m>",
        "<#assign x='xx'><#list 1..100 as n><#assign x=x+x></#list>",
        "<#assign x='xx'><#list 1..100 as n><#assign x=x?replace('x','xx')></#list>",
        "<#assign x='xx'><#list 1..100 as n><#assign x=x?replace('','xx','r')></#list>",
        "<#assign x=[1]><#list 1..100 as n><#assign x=x+x></#list>",
        "<#assign x=[1]><#list 1..1000000 as n><#assign x=[x]></#list>",
        "<#assign x=[1]><#list 1..1000000 as n><#assign x=x?chunk(1)></#list>",
        "<#function f xs...><#return xs></#function><#assign x=[1]><#list 1..1000000 as n><#assign x=f(x)></#list>",
        "<#list 1..100 as n><#assign x>${x!'xx'}${x!}</#assign></#list>",
        "${'x'?left_pad(1000000000)}",
        "${(1..1000000000)?join(',')}",
        "${(1..1000000000)?size + (1..1000000000)?reverse?size}",
        "<#assign e='e?eval'>${e?eval}",
        "<#attempt><#list 1.. as n></#list><#recover>x</#attempt>",
        "<#assign x=9><#list 1..100 as n><#assign x=x*x></#list>",
        "<#compress><#list 1..10000000 as n> </#list></#compress>",
        "<#assign x={}><#list 1..10000000 as n><#assign x=x+{'k'+n: n}></#list>",
    ] {
        let (kind, message) = fault(template);
        assert_eq!(kind, ErrorKind::Limit, "{template}: {message}");
    }
}

#[test]
fn what_nests_too_deep_is_refused_while_compiling() {
    for template in [
        format!("${{{}1{}}}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("${{{}1}}", "-".repeat(100_000)),
        format!("${{1{}}}", "+1".repeat(100_000)),
        format!("${{x{}}}", ".y".repeat(100_000)),
        format!("${{x{}}}", "!y".repeat(100_000)),
        format!("${{{}1{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        "<#if true>".repeat(100_000),
        format!("{}{}", "<#if true>".repeat(1000), "</#if>".repeat(1000)),
        "<#list x as y><#sep>".repeat(1000),
    ] {
        let (kind, message) = fault(&template);
        assert_eq!(kind, ErrorKind::Syntax, "{message}");
    }
}

#[test]
fn the_time_ends_a_template() {
    let template = Template::compile("<#list 1.. as n></#list>", false).unwrap();
    let asked = Cell::new(0);
    let expired = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let options = Options { expired: Some(&expired), ..Options::default() };
    let error = template.run(&[], &options).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Limit, "the template takes too long"));
}

#[test]
fn a_fault_has_its_place_and_says_what_is_missing() {
    let check = |template: &str, expected: &str| {
        let error = Template::compile(template, false).and_then(|template| {
            template.run(&[("payload", Value::text("x"))], &Options::default()).map_err(|error| *error)
        });
        assert_eq!(error.expect_err(template).to_string(), expected);
    };
    check("a\n ${ nope.b }", "2:5: nope is not there, or is null");
    check("<#if payload>x</#if>", "1:6: a boolean is wanted here, and this is a text");
    check("é ${payload?nope}", "1:13: there is no built-in ?nope");
    check("${payload?new()}", "1:11: the built-in ?new is not offered");
    check("x<#import 'a' as b>", "1:2: <#import> is not offered");
    check("<#list 1..2 as x>", "1:18: <#list> is not closed");
    check("[#ftl]", "1:1: tags in square brackets are not offered: write <#…>");
    check("${1 + }", "1:7: an expression is missing here");
    check("${payload?replace('(', 'x', 'r')}", "1:11: the pattern \"(\": not a regular expression: unclosed group");
    check("<#stop 'no ' + payload>", "1:1: the template stops: no x");
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "[<>#$/@{}()\\[\\]!?.=a-d0-9\"' \\n-]{0,60}") {
        let _ = Template::compile(&text, true);
        if let Ok(template) = Template::compile(&text, false) {
            let limits = Limits { steps: 10_000, bytes: 10_000 };
            let _ = template.run(&[("a", Value::text("x"))], &Options { limits, ..Options::default() });
        }
    }

    #[test]
    fn no_expression_is_too_strange(text in "[a-d0-9+*/%<>=!?.,:;&|()\\[\\]{}\"' -]{0,40}") {
        if let Ok(template) = Template::compile(&format!("${{{text}}}"), false) {
            let limits = Limits { steps: 10_000, bytes: 10_000 };
            let _ = template.run(&[("a", Value::text("x"))], &Options { limits, ..Options::default() });
        }
    }
}

#[test]
fn patterns_are_right_though_few_are_kept() {
    let template =
        "<#list 1..3 as round><#list 1..100 as n><#if !('a${n}'?matches('a' + n))>wrong</#if></#list></#list>";
    let template = Template::compile(template, false).unwrap();
    assert_eq!(template.run(&[], &Options::default()).unwrap(), "");
}
