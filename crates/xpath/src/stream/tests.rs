//! What is answered, and where in the document it is certain.

use myelin_xml::{Options, Parser};

use super::{Answer, LIMIT_BYTES, NotStreamable, Plan, Progress, QueryId, Run, StartAt, Wanted};
use crate::{Argument, Declared, Environment, Error, Expression, Host, Item, Value};

struct Known;

const VARIABLES: [&str; 4] = ["body", "text", "number", "truth"];

impl Environment for Known {
    fn namespace(&self, prefix: &str) -> Option<String> {
        (prefix == "m").then(|| "urn:m".to_owned())
    }

    fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
        let slot = VARIABLES.iter().position(|known| *known == local);
        slot.map(|slot| slot as u32).ok_or_else(|| format!("{local:?} is unknown"))
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}

impl<'a> Host<'a> for Known {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        match VARIABLES[slot as usize] {
            "text" => Ok(Value::from("IBM")),
            "number" => Ok(Value::from(5.0)),
            "truth" => Ok(Value::from(true)),
            _ => Err(Error::Host("the body is in the document".to_owned())),
        }
    }

    fn call(&'a self, _: u32, _: &[Value<'a>], _: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }
}

fn compiled(text: &str, wanted: Wanted) -> (Plan, Result<QueryId, NotStreamable>) {
    let compile = |text| Expression::compile(text, &mut Known).unwrap();
    let (expression, body) = (compile(text), compile("/*/*[local-name() = 'Body'][1]"));
    let (plan, mut queries) =
        Plan::compile(&[(&expression, wanted)], &|slot| (slot == 0).then_some(&body), StartAt::Root);
    (plan, queries.remove(0))
}

/// Checks an answer, and that it is there at the mark `^` in the document, or at its end if there is none.
fn check(text: &str, wanted: Wanted, document: &str, expected: Answer<'_>) {
    let (plan, query) = compiled(text, wanted);
    let query = query.unwrap_or_else(|refused| panic!("{text}: {refused}"));
    let mark = document.find('^').unwrap_or(document.len());
    let document = document.replace('^', "");
    let mut run = Run::new();
    run.start(&plan, &Known);
    let mut parser = Parser::new(Options::default());
    let progress = run.drive(&plan, &Known, &mut parser, document.as_bytes(), true, query);
    assert_eq!(progress, Ok(Progress::Settled), "{text} in {document}");
    assert_eq!(run.answer(query), Some(expected), "{text} in {document}");
    assert_eq!(parser.position(), mark, "{text} in {document}");
}

#[test]
fn conditions_are_answered_where_they_are_certain() {
    let check = |text: &str, document: &str, expected: bool| {
        check(text, Wanted::Boolean, document, Answer::Boolean(expected));
    };
    let orders = "<os><o><s>IBM</s>^<p/></o><o><s>SUN</s></o></os>";
    check("//o[1]/s = 'IBM'", orders, true);
    check("'IBM' = //o[1]/s", orders, true);
    check("//o[1]/s = $text", orders, true);
    check("o[1]/s != 'IBM'", "<os><o><s>IBM</s></o>^<o><s>SUN</s></o></os>", false);
    // There may be another first order elsewhere.
    check("//o[1]/s = 'SUN'", "<os><o><s>IBM</s></o><o><s>SUN</s></o></os>", false);
    check("/os/o[2]/s = 'IBM'", "<os><o/><o><s>IBM</s>^</o><o/></os>", true);
    check("/os/o[2]/s = 'IBM'", "<os><o/><o><s>SUN</s></o>^<o/></os>", false);
    check("o[position() < 3]/s = 'x'", "<os><o/><p/><o><s>y</s></o>^<o><s>x</s></o></os>", false);
    check("(//o)[2]/s = 'IBM'", "<os><x><o/></x><o><s>SUN</s></o>^<o><s>IBM</s></o></os>", false);
    check("/x//y", "<os>^<y/></os>", false);
    check("//y", "<os><x><y>^</y></x></os>", true);
    check("//@id", "<os><x id='1'>^</x></os>", true);
    check("o/@id = 5", "<os><o id='5.0'>^</o></os>", true);
    check("o/text() = 'ab'", "<os><o>a<![CDATA[b]]><x>^</x></o></os>", true);
    check("o/text()[2] = 'b'", "<os><o>a<!-- -->b<x>^</x></o></os>", true);
    check("o = 'abc'", "<os><o>a<x>b</x>c</o>^</os>", true);
    check("m:o", "<os xmlns='urn:m'><o>^</o></os>", true);
    check("o", "<os xmlns='urn:m'><o/></os>^", false);
    check("o/@p > $number", "<os><o p='5'/><o p='6'>^</o></os>", true);
    check("o = $truth", "<os><o>^</o></os>", true);
    check("o = false()", "<os></os>^", true);
    check("count(//o) > 1", "<os><o/><o>^</o><o/></os>", true);
    check("count(//o) = 1", "<os><o/><o>^</o></os>", false);
    check("count(//o) <= 1", "<os><o/></os>^", true);
    check("not(//o)", "<os><o>^</o></os>", false);
    check("empty(//o)", "<os></os>^", true);
    check("//a and //b", "<os><a/><b>^</b></os>", true);
    check("o/@x and //b", "<os><o/><b/></os>^", false);
    check("/a/b and //b", "<os>^<b/></os>", false);
    check("/a/b or //b", "<os><b>^</b></os>", true);
    check("if (/a) then //b else //c", "<os><b/><c>^</c></os>", true);
    check("//a | //b = 'x'", "<os><b>x</b>^</os>", true);
    check("true()", "^<os/>", true);
    check("$text = 'SUN'", "^<os/>", false);
    check("contains(//s, 'B')", "<os><s>IBM</s>^<s/></os>", true);
    check("contains(//s, 'B')", "<os><s>SUN</s>^<s>IBM</s></os>", false);
    check("string-length(//s) > 2 or //z", "<os><s>IBM</s>^<s/></os>", true);
    check("local-name(*) = 'o'", "<os><o>^</o></os>", true);
}

#[test]
fn predicates_are_decided_when_they_can_be() {
    let check = |text: &str, document: &str, expected: bool| {
        check(text, Wanted::Boolean, document, Answer::Boolean(expected));
    };
    check("//o[@id = 2]/s = 'x'", "<os><o id='1'><s>x</s></o><o id='2'><s>x</s>^</o></os>", true);
    check("//*[local-name() = 's']", "<os><o><s>^</s></o></os>", true);
    check("//*[self::s or name() = 'm:t']", "<os><o xmlns:m='urn:m'><m:t>^</m:t></o></os>", true);
    check("//o[s = 'x']/p > 5", "<os><o><s>x</s><p>5</p><p>6</p>^</o></os>", true);
    check("//o[s = 'x']/p > 5", "<os><o><p>6</p><s>x</s>^</o></os>", true);
    check("//o[s = 'x']/p > 5", "<os><o><p>6</p></o><o><s>x</s></o></os>", false);
    check("o[not(s)]/p", "<os><o><p/><s/></o><o><p/></o>^</os>", true);
    check("o[. = 'x']", "<os><o>y</o><o>x</o>^</os>", true);
    check("o[s[t = 'x']/u]", "<os><o><s><t>x</t></s><s><u/></s></o><o><s><u/><t>x</t>^</s></o></os>", true);
    check("o[contains(s, 'x') and @a]/p", "<os><o a=''><s>xx</s><p>^</p></o></os>", true);
    check("count(o[s = 'x']) = 2", "<os><o><s>x</s></o><o/><o><s>x</s></o></os>^", true);
    check("o[1][s = 'x']", "<os><o><s>y</s></o>^<o><s>x</s></o></os>", false);
    check("o[@x][2] = 'y'", "<os><o x=''>x</o><o>z</o><o x=''>y</o>^</os>", true);
    check("o[count(s) = 2]/@id = 7", "<os><o id='7'><s/></o><o id='7'><s/><s/></o>^</os>", true);
}

#[test]
fn values_are_given_as_they_are_wanted() {
    check("//s", Wanted::String, "<os><s>a<x>b</x></s>^<s>c</s></os>", Answer::Text("ab"));
    check("//s", Wanted::String, "<os></os>^", Answer::Text(""));
    check("//s", Wanted::Text, "<os><s>a<x>b</x></s><s>c</s></os>^", Answer::Text("ac"));
    check("/os/s[1]", Wanted::Text, "<os><s>a</s>^<s>c</s></os>", Answer::Text("a"));
    check("//@id", Wanted::Text, "<os><s id='1'/><s id='2'/></os>^", Answer::Text("12"));
    check("//s", Wanted::Text, "<os><s> <x>b</x></s>^</os>", Answer::NeedsTree);
    check("//s", Wanted::Text, "<os><s>a<s>^b</s></s></os>", Answer::NeedsTree);
    check("//node()", Wanted::Text, "<os>a<!-- -->^b</os>", Answer::NeedsTree);
    check("//s[t]", Wanted::Text, "<os><s>a</s><s>b<t/></s></os>^", Answer::Text("b"));
    check("count(//s)", Wanted::Text, "<os><s/><s/></os>^", Answer::Text("2"));
    check("count(//s) + 1", Wanted::Number, "<os><s/><s/></os>^", Answer::Number(3.0));
    check("//s", Wanted::Number, "<os><s>7</s>^</os>", Answer::Number(7.0));
    check("//s = 7", Wanted::Text, "<os><s>7</s>^</os>", Answer::Text("true"));
    check("//s = 7", Wanted::Number, "<os></os>^", Answer::Number(0.0));
    check("concat(//s, '-', //t)", Wanted::Text, "<os><s>7</s><t>8</t>^</os>", Answer::Text("7-8"));
    check("name(//m:s)", Wanted::Text, "<os xmlns:n='urn:m'><n:s>^</n:s></os>", Answer::Text("n:s"));
    check("$body/s", Wanted::Text, "<e><Header><s>x</s></Header><Body><s>y</s></Body>^</e>", Answer::Text("y"));
    check("$body//s", Wanted::String, "<e><Body><x><s>y</s>^</x></Body></e>", Answer::Text("y"));
}

#[test]
fn elements_with_a_condition_within_each_other_are_left_to_the_tree() {
    check("//o[s = 'x']", Wanted::Boolean, "<os><o><o>^<s/></o></o></os>", Answer::NeedsTree);
    // What is known when the element starts, does not wait.
    check("//o[@x]/s", Wanted::Boolean, "<os><o x=''><o x=''><s>^</s></o></o></os>", Answer::Boolean(true));
}

#[test]
fn texts_within_each_other_are_bounded() {
    let nested = |depth: usize| format!("{}x{}", "<s>".repeat(depth), "</s>".repeat(depth));
    check("//s = 'x'", Wanted::Boolean, &nested(64).replacen("x</s>", "x</s>^", 1), Answer::Boolean(true));
    check("//s = 'x'", Wanted::Boolean, &nested(65).replacen("x<", "^x<", 1), Answer::NeedsTree);
}

#[test]
fn a_plan_can_be_used_by_all_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Plan>();
}

#[test]
fn more_text_than_the_limit_is_left_to_the_tree() {
    let text = "x".repeat(LIMIT_BYTES + 1);
    for expression in ["//s = 'y'", "//s/text() = 'y'", "string(//s)"] {
        let document = format!("<os><s>{text}^</s></os>").replace("^</s>", "</s>");
        let (plan, query) = compiled(expression, Wanted::Text);
        let mut run = Run::new();
        run.start(&plan, &Known);
        let mut parser = Parser::new(Options::default());
        run.drive(&plan, &Known, &mut parser, document.as_bytes(), true, query.clone().unwrap()).unwrap();
        assert_eq!(run.answer(query.unwrap()), Some(Answer::NeedsTree), "{expression}");
    }
}

#[test]
fn what_needs_the_tree_is_refused_with_a_reason() {
    let check = |text: &str, reason: &str| {
        let (_, query) = compiled(text, Wanted::Boolean);
        let refused = query.expect_err(text);
        assert!(refused.to_string().contains(reason), "{text}: {refused}");
    };
    check("//o/..", "upwards");
    check("//o/following-sibling::o", "sideways");
    check("//o[last()]", "last()");
    check("//o[position() mod 2 = 1]", "calculates with positions");
    check("//a = //b", "in the document, too");
    check("//o[s][2]", "a position among elements with a condition");
    check("//o[/os/x = 'y']", "another part of the document");
    check("sum(//o) > 5", "more than the first node");
    check("//namespace::x", "namespace axis");
}

#[test]
fn several_expressions_share_a_pass() {
    let texts = ["//s = 'b'", "count(//s) > 2", "//o[t = 1]/s", "bad(", "//s"];
    let expressions: Vec<Expression> =
        texts.iter().filter_map(|text| Expression::compile(text, &mut Known).ok()).collect();
    let asked: Vec<_> = expressions.iter().map(|expression| (expression, Wanted::String)).collect();
    let (plan, queries) = Plan::compile(&asked, &|_| None, StartAt::Root);
    let queries: Vec<QueryId> = queries.into_iter().map(Result::unwrap).collect();
    assert_eq!(plan.len(), 4);
    let document = "<os><o><s>a</s><s>b</s><t>1</t></o><o><s>c</s></o></os>";
    let mut run = Run::new();
    let mut parser = Parser::new(Options::default());
    // A second document in the same run knows nothing of the first.
    for _ in 0..2 {
        parser.reset();
        run.start(&plan, &Known);
        for (query, (expected, place)) in queries.iter().zip([("true", 23), ("true", 41), ("a", 41), ("a", 41)]) {
            run.drive(&plan, &Known, &mut parser, document.as_bytes(), true, *query).unwrap();
            assert_eq!(run.answer(*query), Some(Answer::Text(expected)));
            assert_eq!(parser.position(), place, "{expected}");
        }
    }
}

#[test]
fn what_was_learnt_of_names_serves_no_other_plan_and_no_other_names() {
    let plans = ["//s = 'x'", "//o = 'x'"].map(|text| compiled(text, Wanted::Boolean));
    let documents = ["<os><s>x</s><o>y</o></os>", "<os><o>x</o><s>y</s></os>"];
    let mut parsers = [(); 2].map(|()| Parser::new(Options::default()));
    let mut run = Run::new();
    for turn in 0..16 {
        let (plan, document, parser) = (turn & 1, turn >> 1 & 1, &mut parsers[turn >> 2 & 1]);
        let (plan, query) = (&plans[plan].0, plans[plan].1.clone().unwrap());
        parser.reset();
        run.start(plan, &Known);
        run.drive(plan, &Known, parser, documents[document].as_bytes(), true, query).unwrap();
        assert_eq!(run.answer(query), Some(Answer::Boolean(turn & 1 == document)), "{turn}");
    }
}

#[test]
fn many_paths_take_several_words() {
    let texts: Vec<String> = (0..100).map(|number| format!("/os/o/*[@a]/s{number} = 'x'")).collect();
    let expressions: Vec<Expression> =
        texts.iter().map(|text| Expression::compile(text, &mut Known).unwrap()).collect();
    let asked: Vec<_> = expressions.iter().map(|expression| (expression, Wanted::Boolean)).collect();
    let (plan, queries) = Plan::compile(&asked, &|_| None, StartAt::Document);
    let mut run = Run::new();
    run.start(&plan, &Known);
    let document = "<os><o><p a=''><s7>x</s7><s99>x</s99></p><p><s50>x</s50></p></o></os>";
    let mut parser = Parser::new(Options::default());
    for (number, query) in queries.into_iter().enumerate() {
        let query = query.unwrap();
        run.drive(&plan, &Known, &mut parser, document.as_bytes(), true, query).unwrap();
        assert_eq!(run.answer(query), Some(Answer::Boolean(matches!(number, 7 | 99))), "{number}");
    }
}

#[test]
fn elements_of_the_host_stand_around_the_document() {
    let (plan, query) = compiled("$body/o/s", Wanted::Text);
    let query = query.unwrap();
    let mut run = Run::new();
    run.start(&plan, &Known);
    for local in ["Envelope", "Body"] {
        let name =
            myelin_xml::Name { prefix: "soapenv", local, namespace: "http://schemas.xmlsoap.org/soap/envelope/" };
        run.enter(&plan, &Known, name);
    }
    let mut parser = Parser::new(Options::default());
    let document = b"<!-- x --> <o><s>a</s><s>b</s></o> ";
    assert_eq!(run.drive(&plan, &Known, &mut parser, document, true, query), Ok(Progress::Settled));
    assert_eq!(run.answer(query), Some(Answer::Text("ab")));
    assert_eq!(parser.position(), document.len() - 1);
}

#[test]
fn an_error_of_the_parser_comes_before_answers_behind_it() {
    let (plan, query) = compiled("//b", Wanted::Boolean);
    let query = query.unwrap();
    let mut run = Run::new();
    run.start(&plan, &Known);
    let mut parser = Parser::new(Options::default());
    let document = b"<os><a></x><b/></os>";
    assert_eq!(run.drive(&plan, &Known, &mut parser, &document[..7], false, query), Ok(Progress::More));
    assert!(run.drive(&plan, &Known, &mut parser, document, true, query).is_err());
    assert_eq!(run.answer(query), None);
}

#[test]
fn what_was_read_can_be_forgotten() {
    let (plan, query) = compiled("count(//o[s = 'x'])", Wanted::Number);
    let query = query.unwrap();
    let document = format!("<os>{}</os>", "<o><s>y</s><s>x</s></o><o/>".repeat(5_000));
    let mut run = Run::new();
    run.start(&plan, &Known);
    let mut parser = Parser::new(Options::default());
    let (mut buffer, mut forgotten) = (Vec::new(), 0);
    let mut pieces = document.as_bytes().chunks(1_000).peekable();
    while let Some(piece) = pieces.next() {
        buffer.extend_from_slice(piece);
        assert!(buffer.len() < 1_100, "only a token that is not complete is kept");
        run.drive(&plan, &Known, &mut parser, &buffer, pieces.peek().is_none(), query).unwrap();
        let read = parser.position() - forgotten;
        parser.forget(&buffer[..read]);
        buffer.drain(..read);
        forgotten += read;
    }
    assert_eq!(run.answer(query), Some(Answer::Number(5_000.0)));
}
