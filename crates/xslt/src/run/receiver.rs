//! What a block writes to: the output, or a sequence of items.

use myelin_xml::{Document, Name, NodeId};
use myelin_xpath::{Item, NodeRef, Value, Version};

use super::failure::Outcome;
use super::focus::text_of;
use super::machine::Machine;
use crate::output::{LiteralStart, Output, OutputError};

/// Takes what instructions make.
pub(super) struct Receiver<'o, 'a: 'o> {
    target: Target<'o, 'a>,
    late: Late,
}

/// What becomes of attributes and namespaces that come where none can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// They are errors.
    Fail,
    /// They are left out, as 1.0 lets a processor recover (§7.1.3, §11.3).
    Ignore,
}

impl Machine<'_> {
    /// What becomes of attributes that come too late.
    pub(super) fn late(&self) -> Late {
        if self.program.compatible { Late::Ignore } else { Late::Fail }
    }
}

enum Target<'o, 'a: 'o> {
    Output(Output<'o>),
    Items(Items<'o, 'a>),
}

/// A sequence: each node that is made at its top level is a tree of its own.
struct Items<'o, 'a: 'o> {
    machine: &'a Machine<'a>,
    items: Vec<Item<'a>>,
    /// The tree under construction, and how many elements are open in it.
    tree: Option<(Output<'o>, usize)>,
}

impl<'o, 'a: 'o> Receiver<'o, 'a> {
    pub(super) fn new(output: Output<'o>, late: Late) -> Receiver<'o, 'a> {
        Receiver { target: Target::Output(output), late }
    }

    /// Gathers a sequence.
    pub(super) fn items(machine: &'a Machine<'a>) -> Receiver<'o, 'a> {
        Receiver { target: Target::Items(Items { machine, items: Vec::new(), tree: None }), late: machine.late() }
    }

    /// The output behind it; of a sequence there is none, and an empty text is given.
    pub(super) fn into_output(self) -> Output<'o> {
        match self.target {
            Target::Output(output) => output,
            Target::Items(_) => Output::text_only("", 0),
        }
    }

    pub(super) fn into_items(self) -> Value<'a> {
        match self.target {
            Target::Output(_) => Value::EMPTY,
            Target::Items(items) => Value::from_items(items.items),
        }
    }

    /// The output that takes what is made inside an element or on its own.
    #[inline]
    fn output(&mut self) -> &mut Output<'o> {
        match &mut self.target {
            Target::Output(output) => output,
            Target::Items(items) => items.output(),
        }
    }

    /// Closes a tree whose last element was closed, or that is a single node.
    #[inline]
    fn settle(&mut self) -> Outcome<()> {
        match &mut self.target {
            Target::Output(_) => Ok(()),
            Target::Items(items) => items.settle(),
        }
    }

    #[inline]
    pub(super) fn start_literal(&mut self, literal: &'a LiteralStart) -> Outcome<()> {
        self.output().start_literal(literal)?;
        self.opened();
        Ok(())
    }

    /// A literal element that holds nothing but a text.
    #[inline]
    pub(super) fn literal_text(&mut self, literal: &'a LiteralStart, text: &str) -> Outcome<()> {
        self.output().literal_text(literal, text)?;
        self.settle()
    }

    pub(super) fn start_element(&mut self, name: Name<'_>) -> Outcome<()> {
        self.output().start_element(name)?;
        self.opened();
        Ok(())
    }

    pub(super) fn start_copy(&mut self, document: &'a Document, node: NodeId, namespaces: bool) -> Outcome<()> {
        self.output().start_copy(document, node, namespaces)?;
        self.opened();
        Ok(())
    }

    #[inline]
    fn opened(&mut self) {
        if let Target::Items(Items { tree: Some((_, open)), .. }) = &mut self.target {
            *open += 1;
        }
    }

    #[inline]
    pub(super) fn end_element(&mut self) -> Outcome<()> {
        self.output().end_element()?;
        if let Target::Items(items) = &mut self.target {
            if let Some((_, open)) = &mut items.tree {
                *open -= 1;
            }
            items.settle()?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Outcome<()> {
        if text.is_empty() && self.is_output() {
            return Ok(());
        }
        self.output().text(text)?;
        self.settle()
    }

    pub(super) fn raw_text(&mut self, text: &str) -> Outcome<()> {
        self.output().raw_text(text)?;
        self.settle()
    }

    pub(super) fn attribute(&mut self, name: Name<'_>, value: &str) -> Outcome<()> {
        match &mut self.target {
            Target::Items(items) if items.tree.is_none() => items.attribute(name, value),
            _ => {
                let given = self.output().attribute(name, value);
                self.forgive(given)
            }
        }
    }

    pub(super) fn namespace(&mut self, prefix: &str, uri: &str) -> Outcome<()> {
        let given = self.output().namespace(prefix, uri);
        self.forgive(given)
    }

    /// Passes over an attribute or namespace that can be left out.
    fn forgive(&self, given: Result<(), OutputError>) -> Outcome<()> {
        use OutputError::{AttributeLate, AttributeOnDocument, DefaultTaken};
        match given {
            Err(AttributeLate | AttributeOnDocument | DefaultTaken) if self.late == Late::Ignore => Ok(()),
            other => Ok(other?),
        }
    }

    pub(super) fn comment(&mut self, text: &str) -> Outcome<()> {
        self.output().comment(text)?;
        self.settle()
    }

    pub(super) fn instruction(&mut self, target: &str, data: &str) -> Outcome<()> {
        self.output().instruction(target, data)?;
        self.settle()
    }

    /// A deep copy of a node.
    pub(super) fn copy(&mut self, document: &'a Document, node: NodeId, namespaces: bool) -> Outcome<()> {
        if let Target::Items(Items { machine, items, tree: None }) = &mut self.target {
            let mut output = Output::tree(machine.options.limits.output_bytes);
            output.copy(document, node, namespaces)?;
            let copy = machine.keep(output.finish_tree()?)?;
            let top = copy.document_node();
            let whole = document.kind(node) == myelin_xml::Kind::Document;
            let node = if whole { Some(top) } else { copy.first_child(top) };
            items.extend(node.map(|node| Item::Node(NodeRef::new(copy, node))));
            return Ok(());
        }
        let given = self.output().copy(document, node, namespaces);
        if document.kind(node) == myelin_xml::Kind::Attribute { self.forgive(given) } else { Ok(given?) }
    }

    /// Items of a sequence: as they are where a sequence is gathered, otherwise copies and texts.
    ///
    /// Source: XSLT 2.0 §5.7.1.
    pub(super) fn give(&mut self, value: Value<'a>, version: Version) -> Outcome<()> {
        for item in value.into_items() {
            if let Target::Items(Items { items, tree: None, machine }) = &mut self.target {
                machine.build(size_of::<Item<'_>>())?;
                items.push(item);
                continue;
            }
            match item {
                Item::Node(NodeRef { document, node }) => match (node.tree(), NodeRef { document, node }.namespace()) {
                    (Some(node), _) => self.copy(document, node, true)?,
                    (None, Some((prefix, uri))) => self.namespace(prefix, uri)?,
                    (None, None) => {}
                },
                other => {
                    let text = text_of(other, version);
                    self.output().atomic(&text)?;
                }
            }
        }
        Ok(())
    }

    /// Whether it writes to an output at once.
    fn is_output(&self) -> bool {
        matches!(self.target, Target::Output(_))
    }
}

impl<'o, 'a: 'o> Items<'o, 'a> {
    fn output(&mut self) -> &mut Output<'o> {
        let limit = self.machine.options.limits.output_bytes;
        &mut self.tree.get_or_insert_with(|| (Output::tree(limit), 0)).0
    }

    fn settle(&mut self) -> Outcome<()> {
        let Some((output, _)) = self.tree.take_if(|(_, open)| *open == 0) else { return Ok(()) };
        let document = self.machine.keep(output.finish_tree()?)?;
        // What is made on its own has no document node above it that anybody asked for.
        let node = document.first_child(document.document_node());
        self.items.extend(node.map(|node| Item::Node(NodeRef::new(document, node))));
        Ok(())
    }

    /// An attribute without an element: it hangs on one that nobody sees.
    fn attribute(&mut self, name: Name<'_>, value: &str) -> Outcome<()> {
        let mut output = Output::tree(self.machine.options.limits.output_bytes);
        output.start_element(Name { prefix: "", local: "attribute", namespace: "" })?;
        output.attribute(name, value)?;
        output.end_element()?;
        let document = self.machine.keep(output.finish_tree()?)?;
        let attribute = document.root_element().and_then(|element| document.attributes(element).next());
        self.items.extend(attribute.map(|node| Item::Node(NodeRef::new(document, node))));
        Ok(())
    }
}
