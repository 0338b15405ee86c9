//! Functions called by expressions, without a stylesheet around them.

use std::cell::RefCell;

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::{Document, Options};
use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Context, Error, Expression, Host, Item, Moment, NodeRef, Value};

use super::{Call, Services};
use crate::compile::late;
use crate::name::ExpandedName;
use crate::program::{CallTarget, Program};
use crate::resolver::Resource;
use crate::scope::Scope;

/// A transformation that is only what functions need of one; all of it lives as long as the tests.
struct Bench {
    program: &'static Program,
    scope: &'static Scope,
    document: &'static Document,
    calls: RefCell<Vec<CallTarget>>,
}

impl Services<'static> for Bench {
    fn output_uri(&self) -> Option<String> {
        None
    }

    fn merge_group(&self, _: Option<&str>) -> Result<Value<'static>, Error> {
        Err(Error::value("XTDE3480", "nothing is merged"))
    }

    fn merge_key(&self) -> Result<Value<'static>, Error> {
        Err(Error::value("XTDE3510", "nothing is merged"))
    }

    fn accumulated(
        &'static self,
        name: &ExpandedName,
        _: Option<&Item<'static>>,
        _: bool,
    ) -> Result<Value<'static>, Error> {
        Err(Error::value("XTDE3340", format!("there is no accumulator {name}")))
    }

    fn has_element(&self, local: &str) -> bool {
        crate::compile::offers(local)
    }

    fn has_function(&self, name: &ExpandedName, count: Option<f64>) -> bool {
        super::is_available(name, count)
    }

    fn decimal_format(&self, name: &ExpandedName) -> Option<&'static Symbols> {
        self.program.decimal_format(name)
    }

    fn key(&self, _: &ExpandedName) -> Option<(u32, bool)> {
        None
    }

    fn now(&self) -> Option<Moment> {
        Moment::parse("2026-11-21T10:00:00Z", AtomicType::DateTime)
    }

    fn build(&self, bytes: usize) -> Result<(), Error> {
        if bytes > 1 << 20 { Err(Error::Bytes(1 << 20)) } else { Ok(()) }
    }

    fn step(&self, nodes: u64) -> Result<(), Error> {
        if nodes > 1 << 20 { Err(Error::Steps(1 << 20)) } else { Ok(()) }
    }

    fn keep(&self, document: Document) -> Result<&'static Document, Error> {
        Ok(Box::leak(Box::new(document)))
    }

    fn load(&self, href: &str, base: &str) -> Result<&'static Document, Error> {
        match super::uris::resolve(href, base).as_str() {
            "test:/a.xml" => self.keep(parse("<a><b xml:id='one'/></a>")),
            other => Err(Error::value("FODC0002", format!("{other} is not there"))),
        }
    }

    fn read(&self, href: &str, base: &str) -> Result<Resource, Error> {
        let uri = super::uris::resolve(href, base);
        match uri.as_str() {
            "test:/a.txt" => Ok(Resource { uri, bytes: b"\xef\xbb\xbfone\r\ntwo\nthree\n".to_vec() }),
            "test:/a.json" => Ok(Resource { uri, bytes: br#"{"a":1,"a":2}"#.to_vec() }),
            "test:/latin.txt" => Ok(Resource { uri, bytes: b"\xe9".to_vec() }),
            other => Err(Error::value("FOUT1170", format!("{other} is not there"))),
        }
    }

    fn base_uri(&self, _: NodeRef<'static>) -> Option<String> {
        None
    }

    fn document_number(&self, document: &'static Document) -> u32 {
        u32::from(!std::ptr::eq(document, self.document))
    }

    fn is_temporary(&self, document: &'static Document) -> bool {
        !std::ptr::eq(document, self.document)
    }

    fn keyed(&'static self, _: u32, _: &Atomic<'static>, _: NodeRef<'static>) -> Result<Value<'static>, Error> {
        Ok(Value::EMPTY)
    }

    fn group(&self) -> Option<Value<'static>> {
        None
    }

    fn grouping_key(&self) -> Option<Value<'static>> {
        None
    }

    fn captured(&self, group: usize) -> Option<String> {
        (group == 1).then(|| "first".to_owned())
    }

    fn expression(
        &'static self,
        text: &str,
        scope: &'static Scope,
        locals: &'static [(ExpandedName, u32)],
    ) -> Result<&'static Expression, Error> {
        let mut declare = |target| {
            self.calls.borrow_mut().push(target);
            self.calls.borrow().len() as u32 - 1
        };
        Ok(Box::leak(Box::new(late::compile(self.program, text, (scope, locals), &mut declare)?)))
    }

    fn run(
        &'static self,
        expression: &'static Expression,
        item: Option<Item<'static>>,
        position: u64,
        size: u64,
    ) -> Result<Value<'static>, Error> {
        expression.evaluate(&Context { item, position, size, now: self.now(), ..Context::new(self) })
    }
}

impl Host<'static> for Bench {
    fn variable(&'static self, _: u32) -> Result<Value<'static>, Error> {
        Ok(Value::EMPTY)
    }

    fn call(
        &'static self,
        slot: u32,
        arguments: &[Value<'static>],
        item: Option<&Item<'static>>,
    ) -> Result<Value<'static>, Error> {
        let CallTarget::Library(function) = self.calls.borrow()[slot as usize] else { return Ok(Value::EMPTY) };
        (function.run)(&Call { machine: self, arguments, item, scope: self.scope, locals: &[] })
    }
}

fn parse(xml: &str) -> Document {
    Document::parse(xml.as_bytes().to_vec(), &Options::default()).expect(xml)
}

fn program() -> Program {
    let named = |local: &str, format: Symbols| (ExpandedName::new("", local), format);
    let european = Symbols { decimal_separator: ',', grouping_separator: '.', ..Symbols::default() };
    let signs = Symbols {
        minus_sign: '_',
        digit: '!',
        infinity: "huge".to_owned(),
        nan: "none".to_owned(),
        ..Symbols::default()
    };
    let arabic = Symbols { zero_digit: '\u{660}', ..Symbols::default() };
    Program {
        decimal_formats: vec![
            named("", Symbols::default()),
            named("european", european),
            named("signs", signs),
            named("arabic", arabic),
        ],
        ..Program::default()
    }
}

/// Evaluates an expression with the document node of `xml` as context, by the rules of a version.
pub(super) fn evaluate(xml: &str, expression: &str, version: f64) -> Result<Value<'static>, Error> {
    let namespaces = [
        ("xsl", "http://www.w3.org/1999/XSL/Transform"),
        ("xs", "http://www.w3.org/2001/XMLSchema"),
        ("exsl", "http://exslt.org/common"),
        ("math", "http://exslt.org/math"),
        ("set", "http://exslt.org/sets"),
        ("str", "http://exslt.org/strings"),
        ("date", "http://exslt.org/dates-and-times"),
        ("dyn", "http://exslt.org/dynamic"),
        ("saxon", "http://icl.com/saxon"),
        ("msxsl", "urn:schemas-microsoft-com:xslt"),
    ];
    let namespaces = namespaces.map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned())).to_vec();
    let bench: &'static Bench = Box::leak(Box::new(Bench {
        program: Box::leak(Box::new(program())),
        scope: Box::leak(Box::new(Scope { namespaces, base: "test:/sheet.xsl".to_owned(), version })),
        document: Box::leak(Box::new(parse(xml))),
        calls: RefCell::default(),
    }));
    let compiled = bench.expression(expression, bench.scope, &[])?;
    let root = NodeRef::new(bench.document, bench.document.document_node());
    bench.run(compiled, Some(Item::Node(root)), 1, 1)
}

/// In version 3 the expression gives this text, with the document node of `xml` as context.
pub(super) fn check_in(xml: &str, expression: &str, expected: &str) {
    let value = evaluate(xml, expression, 3.0).unwrap_or_else(|error| panic!("{expression}: {error}"));
    assert_eq!(value.string(), expected, "{expression}");
}

/// In version 3 the expression gives this text.
pub(super) fn check(expression: &str, expected: &str) {
    check_in("<x/>", expression, expected);
}

/// In version 1 the expression gives this text.
pub(super) fn check_v1(expression: &str, expected: &str) {
    let value = evaluate("<x/>", expression, 1.0).unwrap_or_else(|error| panic!("{expression}: {error}"));
    assert_eq!(value.string(), expected, "{expression}");
}

/// In version 3 the expression fails with this code.
pub(super) fn fails(expression: &str, code: &str) {
    match evaluate("<x/>", expression, 3.0) {
        Err(error) => assert_eq!(error.code(), Some(code), "{expression}: {error}"),
        Ok(value) => panic!("{expression} gives {:?}", value.string()),
    }
}
