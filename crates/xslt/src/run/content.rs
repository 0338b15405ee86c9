//! What instructions say: texts, attribute value templates, and what variables are bound to.

use std::borrow::Cow;

use myelin_xml::Kind as NodeKind;
use myelin_xpath::types::SequenceType;
use myelin_xpath::{Atomic, Value, Version};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::focus::text_of;
use super::machine::{Base, Machine};
use super::receiver::Receiver;
use crate::output::{Fragment, Output};
use crate::program::{Avt, AvtPart, Binding, Block, Content, Instruction, Kind, ScopeId};

/// What a value is that has a type, and the error where it is of another.
#[derive(Clone, Copy)]
pub(super) struct Typed {
    what: &'static str,
    code: &'static str,
}

impl Typed {
    pub(super) const VARIABLE: Typed = Typed { what: "the variable", code: "XTTE0570" };
    pub(super) const PASSED: Typed = Typed { what: "the parameter", code: "XTTE0590" };
    pub(super) const DEFAULT: Typed = Typed { what: "the default of the parameter", code: "XTTE0600" };
    pub(super) const ARGUMENT: Typed = Typed { what: "the argument", code: "XPTY0004" };
    pub(super) const TEMPLATE: Typed = Typed { what: "the template's result", code: "XTTE0505" };
    pub(super) const FUNCTION: Typed = Typed { what: "the function's result", code: "XTTE0780" };
    pub(super) const ACCUMULATOR: Typed = Typed { what: "the accumulator", code: "XPTY0004" };
    pub(super) const EVALUATED: Typed = Typed { what: "the result of xsl:evaluate", code: "XPTY0004" };
}

impl<'a> Machine<'a> {
    /// What a variable or parameter is bound to.
    #[inline]
    pub(super) fn bind(&'a self, binding: &'a Binding, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        match binding {
            Binding::Select(select) => self.select(select, focus),
            Binding::EmptyText => Ok(Value::from("")),
            Binding::EmptySequence => Ok(Value::EMPTY),
            Binding::Tree(block) => self.temporary_tree(block, focus),
            Binding::Sequence(block) => {
                let mut receiver = Receiver::items(self);
                self.run_inside(block, focus, &mut receiver)?;
                Ok(receiver.into_items())
            }
        }
    }

    /// The same of a variable or parameter: instructions that make it write no results (XSLT 3.0 §25.2).
    #[inline]
    pub(super) fn bind_aside(&'a self, binding: &'a Binding, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        match binding {
            Binding::Tree(_) | Binding::Sequence(_) => self.temporarily(|| self.bind(binding, focus)),
            _ => self.bind(binding, focus),
        }
    }

    /// A temporary tree; in 1.0 a result tree fragment.
    ///
    /// A fragment of text alone is kept as that text: all that 1.0 allows with it gives the same.
    fn temporary_tree(&'a self, block: &'a Block, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        match self.fragment(block, focus)? {
            Fragment::Text(text) if self.program.compatible && !text.is_empty() => {
                self.build(text.len())?;
                Ok(Value::from(Atomic::untyped(Cow::Owned(text))))
            }
            fragment => self.tree_of(fragment),
        }
    }

    /// What a block makes, as a tree or as the text that is all there is in it.
    pub(super) fn fragment(&'a self, block: &'a Block, focus: &Focus<'a>) -> Outcome<Fragment> {
        let file = self.file.get();
        let mut receiver = Receiver::new(Output::fragment(self.options.limits.output_bytes), self.late());
        self.run_inside(block, focus, &mut receiver)?;
        self.file.set(file);
        Ok(receiver.into_output().finish_fragment()?)
    }

    /// A fragment as a document node.
    pub(super) fn tree_of(&self, fragment: Fragment) -> Outcome<Value<'a>> {
        let document = match fragment {
            Fragment::Text(text) => self.text_document(&text)?,
            Fragment::Tree(document) => self.keep(*document)?,
        };
        self.note_base(document, Base::Module(self.file.get()));
        Ok(Value::node(document, document.document_node()))
    }

    /// A document that holds a text alone.
    pub(crate) fn text_document(&self, text: &str) -> Outcome<&'a myelin_xml::Document> {
        let mut builder = myelin_xml::TreeBuilder::new(myelin_xml::Arena::default());
        builder.text(text).map_err(|refusal| Failure::new("XTDE0000", refusal.to_string()))?;
        self.keep(builder.finish())
    }

    /// A value as the type that is declared for it.
    #[inline]
    /// `as_what` is what the value is, and the error where it does not fit.
    pub(super) fn convert(&self, value: Value<'a>, kind: Option<&SequenceType>, as_what: Typed) -> Outcome<Value<'a>> {
        match kind {
            None => Ok(value),
            Some(kind) => self.converted(value, kind, as_what),
        }
    }

    fn converted(&self, value: Value<'a>, kind: &SequenceType, as_what: Typed) -> Outcome<Value<'a>> {
        value.convert(kind, Version::V2).map_err(|error| {
            let mut failure: Box<Failure> = error.into();
            if matches!(&*failure.code, "XPTY0004" | "FORG0001") {
                failure.code = as_what.code.into();
            }
            let what = as_what.what;
            failure.message = format!("{what} is declared as `{kind}`: {}", failure.message);
            failure
        })
    }

    /// The text of an attribute value template.
    pub(super) fn avt(&'a self, avt: &'a Avt, focus: &Focus<'a>) -> Outcome<Cow<'a, str>> {
        match avt {
            Avt::Constant(text) => Ok(Cow::Borrowed(text)),
            Avt::Parts(parts) => match &**parts {
                [AvtPart::Value(source)] => self.text(source, None, focus),
                parts => {
                    let mut text = String::new();
                    for part in parts {
                        match part {
                            AvtPart::Text(literal) => text.push_str(literal),
                            AvtPart::Value(source) => text.push_str(&self.text(source, None, focus)?),
                        }
                    }
                    self.meter.add(0, text.len() as u64);
                    Ok(Cow::Owned(text))
                }
            },
        }
    }

    /// The same of one that need not be there.
    pub(super) fn optional_avt(&'a self, avt: Option<&'a Avt>, focus: &Focus<'a>) -> Outcome<Option<Cow<'a, str>>> {
        avt.map(|avt| self.avt(avt, focus)).transpose()
    }

    /// The text that the content of an attribute, comment or instruction makes.
    ///
    /// Source: XSLT 2.0 §5.7.2.
    #[inline]
    pub(super) fn content(&'a self, content: &'a Content, focus: &Focus<'a>) -> Outcome<Cow<'a, str>> {
        match content {
            Content::Select(source, separator) => {
                let separator = self.optional_avt(separator.as_ref(), focus)?;
                self.text(source, separator.as_deref(), focus)
            }
            Content::Block(block, separator) => {
                if let [Instruction { kind: Kind::Text(text, _), .. }] = &**block {
                    return Ok(Cow::Borrowed(text));
                }
                let separator = self.optional_avt(separator.as_ref(), focus)?;
                let between = separator.as_deref().unwrap_or_default();
                let output = Output::text_only(between, self.options.limits.output_bytes);
                let mut receiver = Receiver::new(output, self.late());
                self.run_inside(block, focus, &mut receiver)?;
                let text = receiver.into_output().finish_text();
                self.meter.add(0, text.len() as u64);
                Ok(Cow::Owned(text))
            }
        }
    }

    /// `xsl:value-of`
    #[inline(never)]
    pub(super) fn value_of(
        &'a self,
        content: &'a Content,
        raw: bool,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let text = match content {
            Content::Select(source, None) => self.text(source, None, focus)?,
            content => self.content(content, focus)?,
        };
        if raw { out.raw_text(&text) } else { out.text(&text) }
    }

    /// A value as XML, for messages.
    pub(super) fn as_xml(&self, value: Value<'a>) -> Outcome<String> {
        let properties = crate::output::OutputProperties::fragment();
        let mut bytes = Vec::new();
        let is_odd = |item: myelin_xpath::Item<'a>| match item.node() {
            Some(node) => matches!(node.kind(), None | Some(NodeKind::Attribute)),
            None => matches!(item, myelin_xpath::Item::Function(_)),
        };
        if value.items().any(is_odd) {
            // What no document can hold is shown as people see it.
            let method = Some(crate::output::Method::Adaptive);
            let shown = crate::output::OutputProperties { method, item_separator: Some(" ".to_owned()), ..properties };
            self.write_items(&value, &shown, self.options.limits.output_bytes, &mut bytes)?;
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        let output = Output::bytes(&properties, None, self.options.limits.output_bytes, &mut bytes);
        let mut receiver = Receiver::new(output, self.late());
        receiver.give(value, Version::V2)?;
        receiver.into_output().finish()?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The namespace that a prefix stands for at a place of the stylesheet; the empty one is the default namespace.
    pub(super) fn namespace_of(&self, scope: ScopeId, prefix: &str) -> Option<&'a str> {
        if prefix == "xml" {
            return Some(myelin_xml::XML_NAMESPACE);
        }
        let scope = &self.program.scopes[scope.0 as usize];
        scope.namespaces.iter().find(|(known, _)| known == prefix).map(|(_, uri)| uri.as_str())
    }

    /// The code of an error as it is written: a name whose prefix is looked up where it stands; `None`: it is no name.
    pub(super) fn error_code(&self, written: &str, scope: ScopeId) -> Option<String> {
        let scope = &self.program.scopes[scope.0 as usize];
        let name = scope.expand(written)?;
        Some(match name.namespace.as_str() {
            "http://www.w3.org/2005/xqt-errors" => name.local,
            namespace => format!("Q{{{namespace}}}{}", name.local),
        })
    }

    /// The text of one item, for keys of sorting and grouping.
    pub(super) fn item_text(&self, item: myelin_xpath::Item<'a>) -> Cow<'a, str> {
        text_of(item, Version::V2)
    }
}
