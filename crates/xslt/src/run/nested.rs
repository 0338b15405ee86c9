//! A transformation that another one runs by `transform()`, with what is left of its limits.

use std::borrow::Cow;
use std::rc::Rc;

use myelin_xml::{Arena, Document, Kind, TreeBuilder, View};
use myelin_xpath::{Item, NodeRef, Value};

use super::content::Typed;
use super::documents::strip;
use super::failure::{Failure, Outcome};
use super::focus::Focus;
use super::frame::Global;
use super::machine::{Base, MESSAGES, Machine, Nested, Stores};
use super::receiver::Receiver;
use super::templates::Beginning;
use crate::compile;
use crate::functions::serialize;
use crate::name::ExpandedName;
use crate::options::{Form, Options};
use crate::output::{Charset, Output};
use crate::program::{ParameterId, Program};
use crate::resolver::Wanted;
use crate::transformation::{Delivery, Sheet, Transformation};

/// How many transformations run inside each other.
const LEVELS: u32 = 32;

/// Bytes that a compiled stylesheet is counted with for each byte of its source.
const COMPILED_BYTES: usize = 16;

impl<'a> Machine<'a> {
    /// Runs a stylesheet: its results by their URIs, its own first.
    pub(super) fn transformed(&'a self, wanted: Transformation<'a>) -> Outcome<Vec<(String, Value<'a>)>> {
        if self.nesting >= LEVELS {
            return Err(Failure::limit(format!("more than {LEVELS} transformations run inside each other")));
        }
        self.one_deeper(|| {
            let program = self.program_of(&wanted)?;
            let machine = self.machine_for(program, &wanted)?;
            let tells = wanted.messages;
            let ended = machine.results_of(wanted, self);
            if tells {
                let mut messages = self.messages.borrow_mut();
                let room = MESSAGES.saturating_sub(messages.len());
                messages.extend(machine.messages.take().into_iter().take(room));
            }
            let results = ended.map_err(|failure| self.failure_inside(machine, *failure))?;
            for (_, value) in &results {
                machine.introduce(value, self);
            }
            Ok(results)
        })
    }

    /// A failure of a transformation inside this one.
    fn failure_inside(&self, machine: &Machine<'a>, failure: Failure) -> Box<Failure> {
        let carries_value = failure.carries_value;
        if carries_value {
            self.error_value.replace(machine.error_value.replace(Value::EMPTY));
        }
        let error = failure.into_error(machine.program, Vec::new());
        let place = error.place.map_or_else(String::new, |place| format!("{place}: "));
        let mut failure = Failure::new(error.code, format!("transform(): {place}{}", error.message));
        failure.carries_value = carries_value;
        failure
    }

    /// The stylesheet that is to be run, compiled; the same one for the same text and static parameters.
    fn program_of(&self, wanted: &Transformation<'a>) -> Outcome<&'a Program> {
        let statics = &wanted.static_parameters;
        let (what, base) = match &wanted.sheet {
            Sheet::Location(href) => (format!("location {href}"), wanted.base.clone()),
            Sheet::Text(text) => (format!("text {text}"), wanted.base.clone()),
            Sheet::Node(node) => {
                let base = self.base_of(*node).unwrap_or_else(|| wanted.base.clone());
                (format!("text {}", self.as_xml(Value::from(*node))?), base)
            }
        };
        self.program_named(&format!("{base} {statics:?} {what}"), || {
            let resolver = self.options.resolver;
            let (source, uri) = match (&wanted.sheet, what.strip_prefix("text ")) {
                (Sheet::Location(href), _) => {
                    // The rules for documents decide: the location may come from a message.
                    let found = resolver.resolve(href.trim(), &base, Wanted::Document);
                    let found = found.map_err(|message| Failure::new("FOXT0002", format!("transform(): {message}")))?;
                    (found.bytes, found.uri)
                }
                (_, text) => (text.unwrap_or_default().as_bytes().to_vec(), base.clone()),
            };
            let compiled = compile::compile(&source, &uri, resolver, statics);
            let (program, _) = compiled.map_err(|problems| {
                let first =
                    problems.first().map(|problem| (problem.place.to_string(), &*problem.message, problem.code));
                let shown =
                    first.map_or_else(String::new, |(place, message, code)| format!("{place}: {message} ({code})"));
                Failure::new("FOXT0003", format!("transform(): the stylesheet is wrong: {shown}"))
            })?;
            Ok((program, COMPILED_BYTES * source.len()))
        })
    }

    /// A machine inside this one, which counts on with what this one has counted.
    fn machine_for(&'a self, program: &'a Program, wanted: &Transformation<'a>) -> Outcome<&'a Machine<'a>> {
        let named = |name: &Option<ExpandedName>| name.as_ref().map(|name| self.keep_text(name.to_string()));
        let options = Options {
            form: Form::Document,
            parameters: &[],
            source_uri: None,
            resolver: self.options.resolver,
            limits: self.options.limits,
            now: self.options.now,
            expired: self.options.expired,
            initial_mode: named(&wanted.mode),
            initial_template: named(&wanted.template),
            initial_function: None,
            fails_on_multiple_match: self.options.fails_on_multiple_match,
            source_is_absent: wanted.source.is_none(),
            output_uri: wanted.output_uri.clone().map(|uri| self.keep_text(uri)).or(self.options.output_uri),
            // Nothing is written anywhere: whoever called has them as values.
            other_results: true,
        };
        self.build(size_of::<Machine<'_>>() + size_of::<Nested<'_>>())?;
        let nested = self.nested.keep(Nested { options, stores: Stores::new() });
        let source = match wanted.source {
            Some(node) => Some(self.stripped(program, node)?),
            None => None,
        };
        let document = match source {
            Some(node) => node.document,
            None => self.keep(TreeBuilder::new(Arena::default()).finish())?,
        };
        let mut machine = Machine::new(program, document, &nested.options, self.common, &nested.stores);
        if let Some(source) = source {
            let root = source.root();
            machine.source = root;
            machine.context_item = Some(Item::Node(root));
        }
        if wanted.context_item.is_some() {
            machine.context_item = wanted.context_item.clone();
        }
        machine.delivery = wanted.delivery;
        machine.nesting = self.nesting + 1;
        if let (Some(node), Some(original)) = (source, wanted.source)
            && let Some(uri) = self.base_of(original)
        {
            machine.note_base(node.document, Base::Known(self.keep_text(uri)));
        }
        Ok(self.machines.keep(machine))
    }

    /// A source without the white space that the stylesheet strips: a copy, as others see it with that.
    ///
    /// A node inside a document is taken as it is.
    fn stripped(&'a self, program: &Program, node: NodeRef<'a>) -> Outcome<NodeRef<'a>> {
        if program.strip.is_empty() || node.kind() != Some(Kind::Document) {
            return Ok(node);
        }
        let mut receiver = Receiver::new(Output::tree(self.options.limits.output_bytes), self.late());
        receiver.give(Value::from(node), myelin_xpath::Version::V3)?;
        let mut document = match receiver.into_output().finish_fragment()? {
            crate::output::Fragment::Tree(document) => *document,
            crate::output::Fragment::Text(_) => return Ok(node),
        };
        // It is never put back: the copy belongs to the transformation.
        strip(program, &mut document, &mut View::default());
        let document: &'a Document = self.keep(document)?;
        Ok(NodeRef::new(document, document.document_node()))
    }

    /// Lets another machine know where the documents of nodes are from.
    fn introduce(&self, value: &Value<'a>, to: &Machine<'a>) {
        let mut last: Option<*const Document> = None;
        for node in value.items().filter_map(|item| item.node()) {
            let document = std::ptr::from_ref(node.document);
            if last.replace(document) == Some(document) || to.bases.borrow().contains_key(&document) {
                continue;
            }
            if to.documents.uri(node.document).is_none()
                && let Some(uri) = self.base_of(node.root())
            {
                to.note_base(node.document, Base::Known(to.keep_text(uri)));
            }
        }
    }

    /// A value of the machine around this one.
    fn adopted(&self, value: Value<'a>, outer: &'a Machine<'a>) -> Outcome<Value<'a>> {
        outer.introduce(&value, self);
        Ok(value.of_host(outer.own_number())?)
    }

    /// Runs: the results by their URIs.
    fn results_of(&'a self, wanted: Transformation<'a>, outer: &'a Machine<'a>) -> Outcome<Vec<(String, Value<'a>)>> {
        for (name, value) in wanted.parameters {
            let declared = self.program.globals.iter().position(|global| global.parameter && global.name == name);
            let Some(index) = declared else { continue };
            let kind = self.program.globals[index].kind.as_ref();
            let value = self.convert(self.adopted(value, outer)?, kind, Typed::PASSED)?;
            self.globals.borrow_mut()[index] = Global::Set(self.held(value));
        }
        self.set_parameters(&[])?;
        let listed = |given: Vec<(ExpandedName, Value<'a>)>| {
            let mut listed = Vec::new();
            for (name, value) in given {
                if let Some(number) = self.program.parameters.iter().position(|known| *known == name) {
                    listed.push((ParameterId(number as u32), self.adopted(value, outer)?));
                }
            }
            Outcome::Ok(listed)
        };
        let beginning = Beginning {
            arguments: listed(wanted.template_parameters)?,
            selection: wanted.selection.map(|items| self.adopted(items, outer)).transpose()?,
            function: match wanted.function {
                None => None,
                Some((name, given)) => {
                    let given: Outcome<Vec<_>> = given.into_iter().map(|value| self.adopted(value, outer)).collect();
                    Some((name, given?))
                }
            },
        };
        self.tunnel.replace(Rc::new(listed(wanted.tunnel_parameters)?));
        let mut focus = self.first_focus()?;
        if let (Some(source), None) = (wanted.source, &wanted.context_item)
            && source.parent().is_some()
        {
            // Templates begin inside the document.
            focus = Focus::on(source, 1, 1);
        }
        let own = match self.delivery {
            Delivery::Serialized => {
                let mut properties = self.program.output.clone();
                if let (Some(map), Some(scope)) = (&wanted.serialization, self.program.scopes.first()) {
                    serialize::read_map(scope, map, &mut properties)?;
                }
                if !matches!(properties.encoding, Charset::UsAscii) {
                    properties.encoding = Charset::Utf8;
                }
                let bytes = self.written(&properties, false, |receiver| self.begin(&focus, &beginning, receiver))?;
                self.text_of_result(bytes)?
            }
            _ => self.value_of_result(|receiver| self.begin(&focus, &beginning, receiver))?,
        };
        self.collected(own, wanted.output_uri)
    }

    /// All results, once the transformation has ended.
    fn collected(&'a self, own: Value<'a>, uri: Option<String>) -> Outcome<Vec<(String, Value<'a>)>> {
        let mut results = self.results.borrow_mut();
        let mut others = self.delivered.take();
        for made in std::mem::take(&mut results.made) {
            others.push((Some(made.uri), self.text_of_result(made.bytes)?));
        }
        if let Some(made) = results.own.take() {
            others.push((None, self.text_of_result(made.bytes)?));
        }
        drop(results);
        let own = match others.iter().position(|(uri, _)| uri.is_none()) {
            Some(index) => others.swap_remove(index).1,
            None => own,
        };
        let mut all = vec![(uri.unwrap_or_else(|| "output".to_owned()), own)];
        all.extend(others.into_iter().filter_map(|(uri, value)| Some((uri?, value))));
        let moved = all.into_iter().map(|(uri, value)| Ok((uri, value.of_host(self.own_number())?)));
        moved.collect()
    }

    fn text_of_result(&self, bytes: Vec<u8>) -> Outcome<Value<'a>> {
        self.build(bytes.len())?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Failure::new("FOXT0002", "transform(): a result as a text is written in UTF-8"))?;
        Ok(Value::from(Cow::<'a, str>::Owned(text)))
    }
}
