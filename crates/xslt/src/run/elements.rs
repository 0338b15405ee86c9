//! Elements, attributes and copies.

use myelin_xml::{Kind, Name};
use myelin_xpath::{Item, Node, NodeRef, Version};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::Flow;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{self, Attribute, Avt, Block, Copy, Element, Instruction, LiteralElement, ScopeId, Select, Shape};

impl<'a> Machine<'a> {
    /// A literal result element (XSLT 1.0 §7.1.1).
    #[inline(never)]
    pub(super) fn literal(
        &'a self,
        element: &'a LiteralElement,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        if let ([], [], [Instruction { at, kind: program::Kind::ValueOf(content, false) }]) =
            (&*element.attributes, &*element.attribute_sets, &*element.body)
        {
            self.count()?;
            let text = self.content(content, focus).map_err(|mut failure| {
                failure.at(*at, || focus.path());
                failure
            })?;
            out.literal_text(&element.start, &text)?;
            return Ok(Flow::Next);
        }
        out.start_literal(&element.start)?;
        if !element.inherits {
            out.keep_namespaces();
        }
        for set in &element.attribute_sets {
            self.attribute_set(*set, focus, out)?;
        }
        for attribute in &element.attributes {
            let name = &attribute.name;
            let name = Name { prefix: &name.prefix, local: &name.local, namespace: &name.namespace };
            match &attribute.value {
                Avt::Constant(value) => out.attribute(name, value)?,
                avt => out.attribute(name, &self.avt(avt, focus)?)?,
            }
        }
        self.body(&element.body, focus, out)
    }

    /// What stands in an element that was opened, and its end.
    fn body(&'a self, block: &'a Block, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let flow = self.run(block, focus, out)?;
        out.end_element()?;
        Ok(flow)
    }

    /// `xsl:element` (§7.1.2)
    #[inline(never)]
    pub(super) fn element(
        &'a self,
        element: &'a Element,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let written = self.avt(&element.name, focus)?;
        let (prefix, local) = self.lexical_name(&written, "XTDE0820", "an element")?;
        let namespace = self.optional_avt(element.namespace.as_ref(), focus)?;
        let namespace = match &namespace {
            Some(namespace) => &**namespace,
            None => self.prefix_namespace(element.scope, prefix, "XTDE0830")?,
        };
        let prefix = if namespace.is_empty() { "" } else { prefix };
        out.start_element(Name { prefix, local, namespace })?;
        if !element.inherits {
            out.keep_namespaces();
        }
        for set in &element.attribute_sets {
            self.attribute_set(*set, focus, out)?;
        }
        self.body(&element.body, focus, out)
    }

    /// `xsl:attribute` (§7.1.3)
    #[inline(never)]
    pub(super) fn attribute(
        &'a self,
        attribute: &'a Attribute,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let written = self.avt(&attribute.name, focus)?;
        let (prefix, local) = self.lexical_name(&written, "XTDE0850", "an attribute")?;
        let namespace = self.optional_avt(attribute.namespace.as_ref(), focus)?;
        if namespace.is_none() && prefix.is_empty() && local == "xmlns" {
            return Err(Failure::new("XTDE0855", "an attribute cannot be named xmlns; xsl:namespace declares"));
        }
        let namespace = match &namespace {
            Some(namespace) => &**namespace,
            None if prefix.is_empty() => "",
            None => self.prefix_namespace(attribute.scope, prefix, "XTDE0860")?,
        };
        let prefix = if namespace.is_empty() || prefix == "xmlns" { "" } else { prefix };
        let value = self.content(&attribute.value, focus)?;
        out.attribute(Name { prefix, local, namespace }, &value)
    }

    /// `xsl:namespace` (XSLT 2.0 §11.7)
    pub(super) fn namespace(&self, prefix: &str, uri: &str, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        if !prefix.is_empty() && (!myelin_xml::is_ncname(prefix) || prefix == "xmlns") {
            return Err(Failure::new("XTDE0920", format!("{prefix:?} is no prefix")));
        }
        if (prefix == "xml") != (uri == myelin_xml::XML_NAMESPACE) {
            return Err(Failure::new("XTDE0925", "the prefix xml and its namespace belong together"));
        }
        if uri.is_empty() {
            return Err(Failure::new("XTDE0930", "a namespace node has a namespace"));
        }
        out.namespace(prefix, uri)
    }

    /// `xsl:processing-instruction` (§7.3)
    pub(super) fn processing_instruction(&self, target: &str, data: &str, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        if !myelin_xml::is_ncname(target) || target.eq_ignore_ascii_case("xml") {
            return Err(Failure::new("XTDE0890", format!("{target:?} is no target of a processing instruction")));
        }
        out.instruction(target, data)
    }

    /// Prefix and local name of a name that is made while running.
    fn lexical_name<'n>(&self, written: &'n str, code: &'static str, what: &str) -> Outcome<(&'n str, &'n str)> {
        let name = written.trim();
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let fits = myelin_xml::is_ncname(local) && (prefix.is_empty() != name.contains(':'));
        if fits && (prefix.is_empty() || myelin_xml::is_ncname(prefix)) {
            return Ok((prefix, local));
        }
        Err(Failure::new(code, format!("{written:?} is no name for {what}")))
    }

    fn prefix_namespace(&self, scope: ScopeId, prefix: &str, code: &'static str) -> Outcome<&'a str> {
        match self.namespace_of(scope, prefix) {
            Some(namespace) => Ok(namespace),
            None if prefix.is_empty() => Ok(""),
            None => Err(Failure::new(code, format!("the prefix {prefix:?} stands for no namespace"))),
        }
    }

    /// The attributes of a set, and of those it uses before.
    fn attribute_set(&'a self, index: u32, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        let set = &self.program.attribute_sets[index as usize];
        for part in &set.parts {
            self.count()?;
            for used in &part.uses {
                self.attribute_set(*used, focus, out)?;
            }
            // The template that is running is still the one that next-match goes on from.
            self.deeper(part.frame, || self.run_inside(&part.body, focus, out)).map_err(|mut failure| {
                failure.through(|| format!("attribute-set {}", set.name));
                failure
            })?;
        }
        Ok(())
    }

    /// `xsl:copy` (§7.5)
    #[inline(never)]
    pub(super) fn copy(&'a self, copy: &'a Copy, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let selected;
        let focus = match &copy.select {
            None => focus,
            Some(select) => {
                let value = self.select(select, focus)?;
                if value.len() > 1 {
                    return Err(Failure::new("XTTE3180", "xsl:copy copies one item, and select gives more"));
                }
                let Some(item) = value.first() else { return Ok(Flow::Next) };
                selected = Focus { item: Some(item), position: 1, size: 1 };
                &selected
            }
        };
        let item = focus.item.clone().ok_or_else(|| Failure::new("XTTE0945", "there is nothing to copy"))?;
        let Item::Node(NodeRef { document, node: Node::Tree(node) }) = item else {
            out.give(item.into(), Version::V2)?;
            return Ok(Flow::Next);
        };
        match document.kind(node) {
            Kind::Element => {
                out.start_copy(document, node, copy.namespaces)?;
                if !copy.inherits {
                    out.keep_namespaces();
                }
                for set in &copy.attribute_sets {
                    self.attribute_set(*set, focus, out)?;
                }
                return self.body(&copy.body, focus, out);
            }
            Kind::Document if out.is_top_of_result() => return self.run(&copy.body, focus, out),
            Kind::Document => {
                self.document(&copy.body, focus, out)?;
                return Ok(Flow::Next);
            }
            Kind::Text => out.text(&document.value(node))?,
            Kind::Attribute => out.attribute(document.qname(node), &document.value(node))?,
            Kind::Comment => out.comment(&document.value(node))?,
            Kind::Instruction => out.instruction(document.qname(node).local, &document.value(node))?,
        }
        Ok(Flow::Next)
    }

    /// `xsl:copy-of` (§11.3)
    #[inline(never)]
    pub(super) fn copy_of(
        &'a self,
        select: &'a Select,
        namespaces: bool,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        if let (shape, Some((document, node))) = (&select.shape, focus.tree())
            && !matches!(shape, Shape::General | Shape::Variable(_))
        {
            return self.each_node(shape, document, node, &mut |node| {
                out.copy(document, node, namespaces)?;
                Ok(true)
            });
        }
        let version = select.expr.version();
        for item in self.select(select, focus)?.into_items() {
            self.count()?;
            match item {
                Item::Node(NodeRef { document, node: Node::Tree(node) }) => out.copy(document, node, namespaces)?,
                // In 1.0 a value is a text, and nothing stands between two of them.
                Item::Atomic(atomic) if version == Version::V1 => out.text(&atomic.into_text(version))?,
                other => out.give(other.into(), version)?,
            }
        }
        Ok(())
    }

    /// `xsl:document` (XSLT 2.0 §11.5): its content where content is made, a document where a sequence is.
    pub(super) fn document(&'a self, block: &'a Block, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        let value = self.tree_of(self.fragment(block, focus)?)?;
        out.give(value, Version::V2)
    }

    /// A copy of a value whose accumulators are those of what was copied (XSLT 3.0 §18.2.8).
    pub(super) fn copy_accumulating(
        &'a self,
        select: &'a Select,
        namespaces: bool,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        if !out.is_sequence() {
            return self.copy_of(select, namespaces, focus, out);
        }
        for item in self.select(select, focus)?.into_items() {
            self.count()?;
            let mut receiver = Receiver::items(self);
            receiver.copy_item(item.clone(), namespaces)?;
            let copy = receiver.into_items();
            if let (Some(original), Some(copy)) = (item.node(), copy.get(0).and_then(|copy| copy.node())) {
                self.accumulates_as(copy, original);
            }
            out.give(copy, Version::V3)?;
        }
        Ok(())
    }
}
