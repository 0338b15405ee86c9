//! The functions of stylesheets for expressions that stand alone: `format-dateTime()`, `json-to-xml()`, `serialize()`,
//! `doc()` and all others but for those that need a stylesheet around them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::doctype::DoctypeOptions;
use myelin_xml::{Document, Kind, Options, XML_NAMESPACE};
use myelin_xpath::{Atomic, Context, Declared, Error, Expression, Host, Item, Limits, Meter, Moment, NodeRef, Value};

use crate::compile::late;
use crate::functions::{self, Call, Function, OF_XSLT, Services};
use crate::name::ExpandedName;
use crate::program::{CallTarget, Program};
use crate::resolver::{Entities, Resolver, Resource, Wanted};
use crate::run::{Shelf, Store};
use crate::scope::Scope;

/// The functions of the library that expressions call, by their slots.
#[derive(Clone, Debug, Default)]
pub struct LibraryCalls {
    functions: Vec<&'static Function>,
}

impl LibraryCalls {
    /// What a call means that an expression has; `name` is as it is written (see
    /// [`Environment::function`](myelin_xpath::Environment::function)). `Ok(None)`: the library does not know it.
    ///
    /// Errors: a sentence for the author: it does not take so many arguments.
    pub fn declare(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        arguments: usize,
    ) -> Result<Option<Declared>, String> {
        let local = name.rsplit(':').next().unwrap_or(name);
        let namespace = namespace.unwrap_or_default();
        let Some(function) = standalone(namespace, local) else {
            return functions::refusal(namespace).map_or(Ok(None), |why| Err(format!("{name}(): {why}")));
        };
        if !function.takes(arguments) {
            return Err(format!("{name}() does not take {arguments} arguments"));
        }
        self.functions.push(function);
        Ok(Some(Declared::Function(self.functions.len() as u32 - 1)))
    }
}

/// Whether a function means nothing where no stylesheet runs, as in its own static expressions.
pub(crate) fn needs_stylesheet(name: &ExpandedName) -> bool {
    const ABOUT_THE_PROCESSOR: [&str; 5] =
        ["available-system-properties", "element-available", "function-available", "system-property", "type-available"];
    let is_own = name.namespace.is_empty() || name.namespace.ends_with("/xpath-functions");
    let local = name.local.as_str();
    is_own && OF_XSLT.contains(&local) && !ABOUT_THE_PROCESSOR.contains(&local)
}

fn standalone(namespace: &str, local: &str) -> Option<&'static Function> {
    functions::find(namespace, local).filter(|it| !it.namespace.is_empty() || !OF_XSLT.contains(&local))
}

/// What is known where expressions stand.
#[derive(Clone, Debug)]
pub struct LibraryScope {
    /// Prefixes and their namespaces.
    pub namespaces: Vec<(String, String)>,
    /// The base URI: what `doc()` and `static-base-uri()` are relative to.
    pub base: String,
    /// Whether functions work by the rules of XPath 3.1, not of 1.0.
    pub later: bool,
}

/// Where documents and expressions stay that functions make.
pub struct LibraryStore {
    program: Program,
    scope: Scope,
    documents: Store<Document>,
    expressions: Store<Expression>,
}

impl LibraryStore {
    /// An empty one.
    pub fn new(scope: LibraryScope) -> LibraryStore {
        let LibraryScope { namespaces, base, later } = scope;
        let decimal_formats = vec![(ExpandedName::default(), Symbols::default())];
        LibraryStore {
            program: Program { decimal_formats, ..Program::default() },
            scope: Scope { namespaces, base, version: if later { 3.1 } else { 1.0 } },
            documents: Store::new(),
            expressions: Store::new(),
        }
    }

    /// Adds a decimal format: its name in Clark's notation, empty for the usual one.
    pub fn set_decimal_format(&mut self, name: &str, symbols: Symbols) {
        let name = ExpandedName::parse(name).unwrap_or_default();
        self.program.decimal_formats.retain(|(known, _)| *known != name);
        self.program.decimal_formats.push((name, symbols));
    }
}

/// Runs functions of the library for a host of expressions, which hands on calls that it does not know itself.
pub struct Library<'a> {
    store: &'a LibraryStore,
    resolver: &'a dyn Resolver,
    now: Option<Moment>,
    limits: Limits,
    meter: &'a Meter,
    documents: Shelf<'a, Document>,
    expressions: Shelf<'a, Expression>,
    calls: RefCell<Vec<CallTarget>>,
    known: RefCell<Vec<(String, &'a Document)>>,
    asked: RefCell<HashMap<(String, String), &'a Document>>,
    numbered: RefCell<HashMap<*const Document, u32>>,
    /// Documents that functions made.
    made: RefCell<HashSet<*const Document>>,
}

impl<'a> Library<'a> {
    /// For the calls of expressions; `meter` counts with `limits` what they and the functions use together.
    pub fn new(
        store: &'a LibraryStore,
        calls: &LibraryCalls,
        resolver: &'a dyn Resolver,
        now: Option<Moment>,
        (meter, limits): (&'a Meter, Limits),
    ) -> Library<'a> {
        Library {
            store,
            resolver,
            now,
            limits,
            meter,
            documents: store.documents.shelf(),
            expressions: store.expressions.shelf(),
            calls: RefCell::new(calls.functions.iter().map(|function| CallTarget::Library(function)).collect()),
            known: RefCell::default(),
            asked: RefCell::default(),
            numbered: RefCell::default(),
            made: RefCell::default(),
        }
    }

    /// Makes known where a document comes from.
    pub fn add_document(&self, uri: &str, document: &'a Document) {
        self.known.borrow_mut().push((uri.to_owned(), document));
    }

    /// Calls a function (see [`Host::call`]).
    ///
    /// Errors: its own.
    pub fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        let target = self.calls.borrow().get(slot as usize).cloned();
        match target {
            Some(CallTarget::Library(function)) => {
                (function.run)(&Call { machine: self, arguments, item, scope: &self.store.scope, locals: &[] })
            }
            _ => Err(Error::Host("there is no such function".to_owned())),
        }
    }

    /// The slot of a function by its name (see [`Host::find_function`]).
    pub fn find(&self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        let function = standalone(namespace, local).filter(|function| function.takes(arity))?;
        let mut calls = self.calls.borrow_mut();
        calls.push(CallTarget::Library(function));
        Some(calls.len() as u32 - 1)
    }

    /// The name of a function by its slot (see [`Host::function_name`]).
    pub fn name(&self, slot: u32) -> Option<(String, String)> {
        match self.calls.borrow().get(slot as usize)? {
            CallTarget::Library(function) => Some(function.expanded_name()),
            _ => None,
        }
    }

    /// The base URI of a node (see [`Host::base_uri`]).
    pub fn base(&self, node: NodeRef<'a>) -> Option<Option<String>> {
        let mut bases = Vec::new();
        let mut next = Some(node);
        while let Some(at) = next {
            if let Some(tree) = at.node.tree()
                && at.document.kind(tree) == Kind::Element
            {
                bases.extend(at.document.attribute(tree, XML_NAMESPACE, "base").map(Cow::into_owned));
            }
            next = at.parent();
        }
        let entity = node.node.tree().and_then(|tree| node.document.entity_base(tree)).map(str::to_owned);
        let parentless = node.parent().is_none();
        let has_none = match node.kind() {
            None => true,
            Some(Kind::Attribute | Kind::Text | Kind::Comment) => parentless,
            _ => false,
        };
        let made = self.made.borrow().contains(&std::ptr::from_ref(node.document));
        let here = || Some(self.store.scope.base.clone()).filter(|base| made && !base.is_empty());
        let known = entity.or_else(|| self.uri(node.document)).or_else(here);
        let resolved = bases
            .into_iter()
            .rev()
            .fold(known, |base, next| Some(base.map_or_else(|| next.clone(), |base| functions::resolve(&next, &base))));
        Some(resolved.filter(|_| !has_none))
    }

    /// The URI of a document (see [`Host::document_uri`]).
    pub fn uri(&self, document: &Document) -> Option<String> {
        let known = self.known.borrow();
        known.iter().find(|(_, known)| std::ptr::eq(*known, document)).map(|(uri, _)| uri.clone())
    }
}

impl<'a> Host<'a> for Library<'a> {
    fn variable(&'a self, _: u32) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        Library::call(self, slot, arguments, item)
    }

    fn find_function(&'a self, namespace: &str, local: &str, arity: usize) -> Option<u32> {
        self.find(namespace, local, arity)
    }

    fn function_name(&'a self, slot: u32) -> Option<(String, String)> {
        self.name(slot)
    }

    fn base_uri(&'a self, node: NodeRef<'a>) -> Option<Option<String>> {
        self.base(node)
    }

    fn document_uri(&'a self, document: &'a Document) -> Option<String> {
        self.uri(document)
    }
}

impl<'a> Services<'a> for Library<'a> {
    fn output_uri(&self) -> Option<String> {
        None
    }

    fn merge_group(&self, _: Option<&str>) -> Result<Value<'a>, Error> {
        Err(Error::value("XTDE3480", "nothing is merged"))
    }

    fn merge_key(&self) -> Result<Value<'a>, Error> {
        Err(Error::value("XTDE3510", "nothing is merged"))
    }

    fn accumulated(&'a self, name: &ExpandedName, _: Option<&Item<'a>>, _: bool) -> Result<Value<'a>, Error> {
        Err(Error::value("XTDE3340", format!("there is no accumulator {name}")))
    }

    fn has_element(&self, _: &str) -> bool {
        false
    }

    fn has_function(&self, name: &ExpandedName, count: Option<f64>) -> bool {
        functions::is_available(name, count)
    }

    fn decimal_format(&self, name: &ExpandedName) -> Option<&'a Symbols> {
        self.store.program.decimal_format(name)
    }

    fn key(&self, _: &ExpandedName) -> Option<(u32, bool)> {
        None
    }

    fn now(&self) -> Option<Moment> {
        self.now
    }

    fn build(&self, bytes: usize) -> Result<(), Error> {
        self.meter.add(0, bytes as u64);
        if self.meter.rest_of(self.limits).bytes == 0 { Err(Error::Bytes(self.limits.bytes)) } else { Ok(()) }
    }

    fn step(&self, nodes: u64) -> Result<(), Error> {
        self.meter.add(nodes, 0);
        if self.meter.rest_of(self.limits).steps == 0 { Err(Error::Steps(self.limits.steps)) } else { Ok(()) }
    }

    fn keep(&self, document: Document) -> Result<&'a Document, Error> {
        self.build(size_of::<Document>() + document.size_bytes())?;
        let document = self.documents.keep(document);
        self.made.borrow_mut().insert(std::ptr::from_ref(document));
        Ok(document)
    }

    fn load(&self, href: &str, base: &str) -> Result<&'a Document, Error> {
        let asked = (href.to_owned(), base.to_owned());
        if let Some(document) = self.asked.borrow().get(&asked) {
            return Ok(document);
        }
        let uri = functions::resolve(href, base);
        let known = |uri: &str| self.known.borrow().iter().find(|(known, _)| known == uri).map(|(_, known)| *known);
        if let Some(document) = known(&uri) {
            return Ok(document);
        }
        let refused = |message: String| Error::value("FODC0002", message);
        let found = self.resolver.resolve(href, base, Wanted::Document).map_err(refused)?;
        let document = match known(&found.uri) {
            Some(document) => document,
            None => {
                let wrong = |error: myelin_xml::Error| refused(format!("{}: {error}", found.uri));
                let (text, declared_encoding) = myelin_xml::encoding::decode(None, &found.bytes).map_err(wrong)?;
                let options = Options { declared_encoding, ..Options::default() };
                let entities = Entities(self.resolver);
                let limits = DoctypeOptions::default();
                let read = Document::parse_with_doctype(text.into_owned(), &found.uri, &options, &entities, &limits);
                let document = self.keep(read.map_err(wrong)?)?;
                self.known.borrow_mut().push((found.uri, document));
                document
            }
        };
        self.asked.borrow_mut().insert(asked, document);
        Ok(document)
    }

    fn read(&self, href: &str, base: &str) -> Result<Resource, Error> {
        self.resolver.resolve(href, base, Wanted::Text).map_err(|message| Error::value("FOUT1170", message))
    }

    fn base_uri(&self, node: NodeRef<'a>) -> Option<String> {
        self.base(node).flatten()
    }

    fn document_number(&self, document: &'a Document) -> u32 {
        let mut numbered = self.numbered.borrow_mut();
        let next = numbered.len() as u32;
        *numbered.entry(std::ptr::from_ref(document)).or_insert(next)
    }

    fn is_temporary(&self, document: &'a Document) -> bool {
        self.uri(document).is_none()
    }

    fn keyed(&'a self, _: u32, _: &Atomic<'a>, _: NodeRef<'a>) -> Result<Value<'a>, Error> {
        Ok(Value::EMPTY)
    }

    fn group(&self) -> Option<Value<'a>> {
        None
    }

    fn grouping_key(&self) -> Option<Value<'a>> {
        None
    }

    fn captured(&self, _: usize) -> Option<String> {
        None
    }

    fn expression(
        &'a self,
        text: &str,
        scope: &'a Scope,
        locals: &'a [(ExpandedName, u32)],
    ) -> Result<&'a Expression, Error> {
        let mut declare = |target| {
            let mut calls = self.calls.borrow_mut();
            calls.push(target);
            calls.len() as u32 - 1
        };
        let expression = late::compile(&self.store.program, text, (scope, locals), &mut declare)?;
        self.build(EXPRESSION_BYTES * (text.len() + 8))?;
        Ok(self.expressions.keep(expression))
    }

    fn run(
        &'a self,
        expression: &'a Expression,
        item: Option<Item<'a>>,
        position: u64,
        size: u64,
    ) -> Result<Value<'a>, Error> {
        let context = Context {
            item,
            position,
            size,
            now: self.now,
            limits: self.limits,
            meter: Some(self.meter),
            ..Context::new(self)
        };
        expression.evaluate(&context)
    }
}

/// What a letter of an expression is counted as.
const EXPRESSION_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::NoResolver;
    use myelin_xpath::{Argument, Environment, Version};

    /// Knows the library and nothing else.
    #[derive(Default)]
    struct Alone(LibraryCalls);

    impl Environment for Alone {
        fn namespace(&self, _: &str) -> Option<String> {
            None
        }

        fn variable(&mut self, _: Option<&str>, local: &str) -> Result<u32, String> {
            Err(format!("${local}"))
        }

        fn function(&mut self, name: &str, uri: Option<&str>, of: &[Argument<'_>]) -> Result<Option<Declared>, String> {
            self.0.declare(name, uri, of.len())
        }

        fn version(&self) -> Version {
            Version::V3
        }
    }

    fn check(text: &str, expected: Result<&str, &str>) {
        let mut alone = Alone::default();
        let expression = Expression::compile(text, &mut alone);
        let expression = match (expression, expected) {
            (Ok(expression), _) => expression,
            (Err(error), Err(code)) => return assert_eq!(error.code, code, "{text}"),
            (Err(error), _) => panic!("{text}: {error}"),
        };
        let scope = LibraryScope { namespaces: Vec::new(), base: "test:/".to_owned(), later: true };
        let (store, meter) = (LibraryStore::new(scope), Meter::default());
        let library = Library::new(&store, &alone.0, &NoResolver, None, (&meter, Limits::default()));
        let value = expression.evaluate(&Context { meter: Some(&meter), ..Context::new(&library) });
        match (value, expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value.string(), expected, "{text}"),
            (Err(error), Err(code)) => assert_eq!(error.code(), Some(code), "{text}: {error}"),
            (value, expected) => panic!("{text}: {value:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn expressions_alone_call_what_stylesheets_call() {
        check("format-date(xs:date('2026-11-26'), '[D]. [MNn] [Y]')", Ok("26. November 2026"));
        check("parse-xml('<a><b>x</b></a>')//b", Ok("x"));
        check("serialize(parse-xml('<a/>'))", Ok("<a/>"));
        check("json-to-xml('[1]')//*[not(*)]/name()", Ok("number"));
        check("string-join(analyze-string('a1b', '[0-9]')/*/local-name(), ' ')", Ok("non-match match non-match"));
        check("format-number(1234.5, '#,##0.00')", Ok("1,234.50"));
        check("let $f := format-integer#2 return $f(7, 'w')", Ok("seven"));
        check("function-lookup(xs:QName('fn:format-integer'), 2)(7, 'I')", Ok("VII"));
        check("local-name-from-QName(function-name(format-integer#2))", Ok("format-integer"));
        check("doc('a.xml')", Err("FODC0002"));
        check("unparsed-text('a.txt')", Err("FOUT1170"));
        check("key('a', 'b')", Err("XPST0017"));
    }
}
