//! What functions of the library ask of the machine.

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::Document;
use myelin_xpath::{Atomic, Error, Expression, Item, Moment, NodeRef, SharedContext, Value};

use super::focus::Focus;
use super::machine::{DYNAMIC, Dynamic, Machine};
use crate::compile::{self, late};
use crate::functions::{self, Services};
use crate::name::ExpandedName;
use crate::resolver::{Resource, Wanted};
use crate::scope::Scope;
use crate::transformation::Transformation;

impl<'a> Services<'a> for Machine<'a> {
    fn output_uri(&self) -> Option<String> {
        if self.temporary.get() {
            return None;
        }
        self.output_uri.borrow().as_deref().map(str::to_owned)
    }

    fn merge_group(&self, source: Option<&str>) -> Result<Value<'a>, Error> {
        Machine::merge_group(self, source)
    }

    fn merge_key(&self) -> Result<Value<'a>, Error> {
        Machine::merge_key(self)
    }

    fn accumulated(&'a self, name: &ExpandedName, item: Option<&Item<'a>>, behind: bool) -> Result<Value<'a>, Error> {
        Machine::accumulated(self, name, item, behind)
    }

    fn has_element(&self, local: &str) -> bool {
        compile::offers(local)
    }

    fn has_function(&self, name: &ExpandedName, count: Option<f64>) -> bool {
        let mut user = self.program.functions.iter().filter(|function| function.name == *name);
        user.any(|function| count.is_none_or(|count| count == function.parameters.len() as f64))
            || functions::is_available(name, count)
    }

    fn decimal_format(&self, name: &ExpandedName) -> Option<&'a Symbols> {
        self.program.decimal_format(name)
    }

    fn key(&self, name: &ExpandedName) -> Option<(u32, bool)> {
        let index = self.program.keys.iter().position(|key| key.name == *name)?;
        Some((index as u32, self.program.keys[index].composite))
    }

    fn now(&self) -> Option<Moment> {
        self.options.now
    }

    fn build(&self, bytes: usize) -> Result<(), Error> {
        self.meter.add(0, bytes as u64);
        if self.rest().bytes == 0 { Err(Error::Bytes(self.options.limits.memory_bytes)) } else { Ok(()) }
    }

    fn step(&self, nodes: u64) -> Result<(), Error> {
        self.meter.add(nodes, 0);
        if self.rest().steps == 0 { Err(Error::Steps(self.options.limits.instructions)) } else { Ok(()) }
    }

    fn keep(&self, document: Document) -> Result<&'a Document, Error> {
        Machine::keep(self, document).map_err(|failure| self.leave(failure))
    }

    fn load(&self, href: &str, base: &str) -> Result<&'a Document, Error> {
        self.load_document(href, base)
    }

    fn read(&self, href: &str, base: &str) -> Result<Resource, Error> {
        let read = self.options.resolver.resolve(href, base, Wanted::Text);
        read.map_err(|message| Error::value("FOUT1170", message))
    }

    fn base_uri(&self, node: NodeRef<'a>) -> Option<String> {
        self.base_of(node)
    }

    fn document_number(&self, document: &'a Document) -> u32 {
        if std::ptr::eq(document, self.source.document) {
            return 0;
        }
        let mut numbered = self.numbered.borrow_mut();
        let next = numbered.len() as u32 + 1;
        *numbered.entry(std::ptr::from_ref(document)).or_insert(next)
    }

    fn is_temporary(&self, document: &'a Document) -> bool {
        !std::ptr::eq(document, self.source.document) && self.documents.uri(document).is_none()
    }

    fn keyed(&'a self, key: u32, value: &Atomic<'a>, top: NodeRef<'a>) -> Result<Value<'a>, Error> {
        self.keyed_nodes(key as usize, value, top.document).map_err(|failure| self.leave(failure))
    }

    fn group(&self) -> Option<Value<'a>> {
        self.group.borrow().as_ref().map(|group| group.items.clone())
    }

    fn grouping_key(&self) -> Option<Value<'a>> {
        self.group.borrow().as_ref().and_then(|group| group.key.clone())
    }

    fn captured(&self, group: usize) -> Option<String> {
        self.captures.borrow().as_ref().and_then(|captures| captures.get(group).cloned())
    }

    fn expression(
        &'a self,
        text: &str,
        scope: &'a Scope,
        locals: &'a [(ExpandedName, u32)],
    ) -> Result<&'a Expression, Error> {
        let known = |it: &&Dynamic<'a>| it.text == text && std::ptr::eq(it.scope, scope) && it.sees(locals);
        if let Some(known) = self.dynamic.borrow().iter().find(known) {
            return Ok(known.expression);
        }
        let mut declare = |target| {
            let mut declared = self.declared.borrow_mut();
            declared.push((target, scope));
            DYNAMIC + declared.len() as u32 - 1
        };
        let expression = late::compile(self.program, text, (scope, locals), &mut declare)?;
        Services::build(self, EXPRESSION_BYTES * (text.len() + 8))?;
        let expression = self.expressions.keep(expression);
        self.dynamic.borrow_mut().push(Dynamic { text: text.to_owned(), scope, locals, expression });
        Ok(expression)
    }

    fn transform(&'a self, wanted: Transformation<'a>) -> Result<Vec<(String, Value<'a>)>, Error> {
        self.transformed(wanted).map_err(|failure| self.leave(failure))
    }

    fn run(
        &'a self,
        expression: &'a Expression,
        item: Option<Item<'a>>,
        position: u64,
        size: u64,
    ) -> Result<Value<'a>, Error> {
        let focus = Focus { item, position, size };
        let shared = SharedContext { names: None, ..*self.shared() };
        let run =
            || expression.evaluate_from(&shared, focus.start()).map_err(|error| self.failure(error, "the expression"));
        self.one_deeper(run).map_err(|failure| self.leave(failure))
    }
}

/// What a letter of an expression is counted as.
const EXPRESSION_BYTES: usize = 24;
