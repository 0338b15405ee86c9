//! What hosts do with values: types, conversion, order.

use crate::common::{Bindings, document, run, show};
use myelin_xpath::types::SequenceType;
use myelin_xpath::{Atomic, Context, Error, Expression, Item, NoHost, NodeRef, Value, Version};

const DOCUMENT: &str = "<d><a>3</a><a>1</a><b xmlns='urn:p' c='x'/></d>";

fn parse(text: &str) -> SequenceType {
    SequenceType::parse(text, &mut Bindings(Version::V2)).expect(text)
}

/// What becomes of an expression's value where that type is wanted.
fn converted(expression: &str, wanted: &str, version: Version) -> String {
    let tree = document(DOCUMENT);
    let compiled = Expression::compile(expression, &mut Bindings(version)).expect(expression);
    let context = Context::new(&NoHost).at(NodeRef::new(&tree, tree.document_node()));
    let value = compiled.evaluate(&context).expect(expression);
    match value.convert(&parse(wanted), version) {
        Ok(value) => {
            let kind = value.get(0).map_or("-".to_owned(), |item| match item {
                Item::Atomic(atomic) => atomic.atomic_type().to_string(),
                _ => "node".to_owned(),
            });
            format!("{} ({kind})", show(&value, version))
        }
        Err(error) => error.code().unwrap_or("?").to_owned(),
    }
}

#[test]
fn types_are_read_and_shown() {
    let check = |text: &str, expected: &str| assert_eq!(parse(text).to_string(), expected);
    for text in ["xs:string?", "item()*", "empty-sequence()", "element()+", "node()", "document-node(element(d))"] {
        check(text, text);
    }
    check("element(p:b) *", "element(Q{urn:p}b)*");
    check("(xs:integer)", "xs:integer");
    let refused = |text: &str| SequenceType::parse(text, &mut Bindings(Version::V2)).expect_err(text);
    assert_eq!(refused("xs:strong").code, "XPST0051");
    assert_eq!(refused("xs:string x").offset, 10);
    assert_eq!(refused("q:string").code, "XPST0081");
}

#[test]
fn a_value_becomes_what_is_wanted_where_the_rules_let_it() {
    let check = |expression: &str, wanted: &str, expected: &str| {
        assert_eq!(converted(expression, wanted, Version::V2), expected, "{expression} as {wanted}");
    };
    check("//a", "xs:string*", "3 | 1 (xs:string)");
    check("//a", "xs:string", "XPTY0004");
    check("//a[1]", "xs:integer", "3 (xs:integer)");
    check("//a[1]", "xs:anyAtomicType", "3 (xs:untypedAtomic)");
    check("//a[1]", "xs:numeric", "3 (xs:double)");
    check("//a", "element()*", "a=3 | a=1 (node)");
    check("//a", "element(b)*", "XPTY0004");
    check("//*:b", "element(p:b)", "b= (node)");
    check("1", "xs:double", "1 (xs:double)");
    check("1.5", "xs:float", "1.5 (xs:float)");
    check("1e0", "xs:integer", "XPTY0004");
    check("'1'", "xs:integer", "XPTY0004");
    check("xs:anyURI('u')", "xs:string", "u (xs:string)");
    check("xs:untypedAtomic('x')", "xs:integer", "FORG0001");
    check("xs:untypedAtomic('x')", "xs:QName", "XPTY0117");
    check("()", "xs:string?", " (-)");
    check("()", "xs:string", "XPTY0004");
    check("()", "empty-sequence()", " (-)");
    check("1", "empty-sequence()", "XPTY0004");
}

#[test]
fn version_1_makes_one_value_of_several_and_any_of_any() {
    let check = |expression: &str, wanted: &str, expected: &str| {
        assert_eq!(converted(expression, wanted, Version::V1), expected, "{expression} as {wanted}");
    };
    check("//a", "xs:string", "3 (xs:string)");
    check("//a", "xs:double?", "3 (xs:double)");
    check("//none", "xs:string", " (xs:string)");
    check("2", "xs:string", "2 (xs:string)");
    check("2", "xs:integer", "2 (xs:integer)");
    check("//a", "element()", "a=3 (node)");
}

#[test]
fn nodes_come_into_document_order_each_once() {
    let tree = document(DOCUMENT);
    let check = |expression: &str, expected: &str| {
        let compiled = Expression::compile(expression, &mut Bindings(Version::V2)).expect(expression);
        let context = Context::new(&NoHost).at(NodeRef::new(&tree, tree.document_node()));
        let value = compiled.evaluate(&context).expect(expression).in_document_order();
        let shown = value.map_or_else(|error| error.to_string(), |value| show(&value, Version::V2));
        assert_eq!(shown, expected, "{expression}");
    };
    check("(//a[2], //a[1], //a)", "a=3 | a=1");
    check("(//a[2], /d/a[2])", "a=1");
    check("()", "");
    check("1", "only nodes have an order in a document, and there is something else");
    check("(//a, 1)", "only nodes have an order in a document, and there is something else");
}

#[test]
fn values_are_sorted_by_their_types() {
    let check = |left: Atomic<'_>, right: Atomic<'_>, expected: Result<std::cmp::Ordering, &str>| {
        assert_eq!(left.order(&right, None).map_err(|error| error.code().unwrap_or("?")), expected);
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    check(Atomic::from("10"), Atomic::from("9"), Ok(Less));
    check(Atomic::from(10), Atomic::from(9.5), Ok(Greater));
    check(Atomic::from(f64::NAN), Atomic::from(-1), Ok(Less));
    check(Atomic::from(f64::NAN), Atomic::from(f64::NAN), Ok(Equal));
    check(Atomic::untyped("a".into()), Atomic::from("b"), Ok(Less));
    check(Atomic::from(1), Atomic::from("1"), Err("XPTY0004"));
    assert!(Atomic::from(1).is_same(&Atomic::from(1.0), None));
    assert!(!Atomic::from(1).is_same(&Atomic::from("1"), None));
    assert_eq!(Value::from("x").atomized().map(|value| value.len()), Ok::<_, Error>(1));
}

#[test]
fn what_a_variable_holds_is_not_copied_for_each_reference() {
    let tree = document(&format!("<r>{}</r>", "<a/>".repeat(10_000)));
    // Ten thousand references: copies would be ten million nodes each time.
    for expression in [
        "let $n := //a return count(for $i in 1 to 10000 return $n[1])",
        "let $n := //a return sum(for $i in 1 to 10000 return count($n)) idiv 10000",
        "let $n := //a return count(for $i in 1 to 10000 return $n[last()])",
        "let $n := //a return count(for $i in 1 to 10000 return exists($n))",
    ] {
        assert!(run(&tree, expression, Version::V2).starts_with("10000"), "{expression}");
    }
}
