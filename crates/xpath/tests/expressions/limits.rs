//! Nothing an expression or a document does takes more than its limits: steps, bytes, depth, stack.

use std::time::Duration;

use crate::common::{Bindings, Values, document, processor_time, run};
use myelin_xml::{Document, Options};
use myelin_xpath::{Context, Error, Expression, Item, Limits, NoHost, NodeRef, Value, Version};

/// A document in which each element is in the one before.
fn deep(depth: usize) -> Document {
    let text = format!("{}x{}", "<a>".repeat(depth), "</a>".repeat(depth));
    let options = Options { depth: depth + 1, ..Options::default() };
    Document::parse(text.into_bytes(), &options).expect("a deep document")
}

/// A document with many children below the root.
fn wide(count: usize) -> Document {
    document(&format!("<r>{}</r>", "<a i='1'><b>x</b></a>".repeat(count)))
}

/// How an expression ends at the document node: with the number of items, or with an error.
fn limited(document: &Document, expression: &str, limits: Limits) -> Result<usize, Error> {
    let expression = compile(expression);
    let mut context = Context::new(&NoHost).at(NodeRef::new(document, document.document_node()));
    context.limits = limits;
    expression.evaluate(&context).map(|value| value.len())
}

fn compile(text: &str) -> Expression {
    Expression::compile(text, &mut Bindings(Version::V1)).expect(text)
}

#[test]
fn steps_and_bytes_end_an_evaluation_with_an_error_of_their_own() {
    let tree = wide(1000);
    let few = Limits { steps: 500, ..Limits::default() };
    assert_eq!(limited(&tree, "count(//b)", few).err(), Some(Error::Steps(500)));
    assert_eq!(limited(&tree, "count(1 to 1000)", few).err(), Some(Error::Steps(500)));
    assert_eq!(limited(&tree, "string(/)", few).err(), Some(Error::Steps(500)));
    let small = Limits { bytes: 500, ..Limits::default() };
    assert_eq!(limited(&tree, "//b", small).err(), Some(Error::Bytes(500)));
    assert_eq!(limited(&tree, "string-join(//b, '....')", small).err(), Some(Error::Bytes(500)));
    assert_eq!(limited(&tree, "string(/)", small).err(), Some(Error::Bytes(500)));
    let doubled = "for $a in 'xxxxxxxxxx' return concat($a, $a, $a, $a, $a, $a, $a, $a, $a, $a)";
    let nested = format!("for $b in ({doubled}) return {}", doubled.replace("'xxxxxxxxxx'", "$b"));
    assert_eq!(limited(&tree, &nested, small).err(), Some(Error::Bytes(500)));
}

#[test]
fn what_is_found_early_costs_no_more_than_the_way_there() {
    let tree = wide(10_000);
    let few = Limits { steps: 100, ..Limits::default() };
    for expression in [
        "boolean(//b)",
        "//b = 'x'",
        "exists(//b)",
        "not(//b)",
        "//a[1]/b = 'x'",
        "string(//b)",
        "(//b)[1]",
        "/r/a[1]",
        "/r/a[position() < 5]/b",
        "/r/a[2]/following-sibling::a[1]",
        "some $b in //b satisfies $b = 'x'",
        "//b or //c",
        "/r/a[@i = 1][3]",
    ] {
        assert!(limited(&tree, expression, few).is_ok(), "{expression}");
    }
}

#[test]
fn axes_from_many_nodes_do_not_multiply() {
    // One hundred steps for each node: far from its square.
    let check = |tree: &Document, expression: &str| {
        let limits = Limits { steps: 100 * tree.node_count() as u64, ..Limits::default() };
        assert!(limited(tree, expression, limits).is_ok(), "{expression}");
    };
    let (deep, wide) = (deep(20_000), wide(20_000));
    for tree in [&deep, &wide] {
        check(tree, "count(//*//*)");
        check(tree, "count(//*/ancestor::*)");
        check(tree, "count(//*/ancestor-or-self::*/ancestor::*)");
        check(tree, "count(//*/following::*)");
        check(tree, "count(//*/preceding::*)");
        check(tree, "count(//*/following-sibling::*)");
        check(tree, "count(//*/preceding-sibling::*)");
        check(tree, "count(//*/..)");
        check(tree, "count(//*/*/*)");
        check(tree, "count(//* | //*/*)");
        check(tree, "count(//* intersect //*)");
        check(tree, "//b = //b");
        check(tree, "count(distinct-values(//b))");
        check(tree, "deep-equal(/, /)");
        check(tree, "string-length(/)");
        check(tree, "//*[last()]");
    }
}

#[test]
fn what_multiplies_all_the_same_ends_at_the_limit_and_soon() {
    let tree = deep(20_000);
    let started = processor_time();
    for expression in
        ["//*[. = 'y']", "count(//*[ancestor::b])", "sum(//*)", "//*[string-length() = 3]", "//*[//*[//*[//b]]]"]
    {
        let result = limited(&tree, expression, Limits { steps: 1_000_000, ..Limits::default() });
        assert_eq!(result.err(), Some(Error::Steps(1_000_000)), "{expression}");
    }
    let took = processor_time() - started;
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn the_largest_expressions_fit_on_a_small_stack() {
    let tree = document("<a><a>1</a></a>");
    // What a thread has that nobody sized, and without the compiler's help to keep frames small.
    let check = |expression: String, expected: &str| {
        std::thread::scope(|scope| {
            let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
            let thread = small.spawn_scoped(scope, || assert_eq!(run(&tree, &expression, Version::V1), expected));
            thread.expect("a thread").join().expect(expected);
        });
    };
    check(vec!["1"; 500].join("+"), "500");
    check(vec!["1"; 500].join("-"), "-498");
    check(format!("{}1{}", "(".repeat(62), ")".repeat(62)), "1");
    check(format!("{}a{}", "count(a[".repeat(30), "])".repeat(30)), "0");
    check(format!("count({})", vec!["a"; 490].join("/")), "0");
    check(format!("{}/a/a", vec!["."; 490].join("/")), "a=1");
    check(format!("{}1", "-".repeat(499)), "-1");
    check(vec!["true()"; 500].join(" and "), "true");
    check(vec!["/a"; 500].join("|"), "a=1");
    // Eight operators at each of sixty levels, each binding tighter than the one before.
    let level = "0 or 1 and 1 = 1 + 1 * 1 - (";
    check(format!("{}1{}", level.repeat(60), ")".repeat(60)), "true");
    check(vec!["1"; 60].join("="), "true");
    check(vec!["1"; 60].join(" eq "), "true");
    check(vec!["."; 60].join("!"), "=1");
    check(vec!["'a'"; 500].join("||"), &"a".repeat(500));
    check(format!("a{}", "[a]".repeat(490)), "a=1");
    check(vec!["/a"; 60].join(" except "), "");
    check(format!("1{}", " => string()".repeat(60)), "1");
    assert!(run(&tree, &vec!["1"; 70].join(" = "), Version::V1).contains("more than 64 operators of this kind"));
    let nested = "for $x in 1 to 1 return ".repeat(60);
    check(format!("{nested}1"), "1");
    check(format!("{}1{}", "if (1) then ".repeat(60), " else 2".repeat(60)), "1");
    check(format!("{}1{}", "string(".repeat(62), ")".repeat(62)), "1");
}

#[test]
fn hosts_see_their_own_errors_come_back() {
    struct Failing;
    impl<'a> myelin_xpath::Host<'a> for Failing {
        fn variable(&'a self, _: u32) -> Result<Value<'a>, Error> {
            Err(Error::Host("no such thing".to_owned()))
        }
        fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
            Err(Error::Host("no such call".to_owned()))
        }
    }
    let error = |expression: &str| compile(expression).evaluate(&Context::new(&Failing)).expect_err(expression);
    assert_eq!(error("$one + 1"), Error::Host("no such thing".to_owned()));
    assert_eq!(error("twice('a')"), Error::Host("no such call".to_owned()));
    assert_eq!(error("a/b"), Error::NoContext);
    let tree = document("<a/>");
    assert!(compile("$one").evaluate(&Context::new(&Values(&tree))).is_ok());
}
