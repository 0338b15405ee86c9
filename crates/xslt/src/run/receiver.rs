//! What a block writes to: the output, or a sequence of items.

use myelin_xml::{Document, Name, NodeId};
use myelin_xpath::{FunctionItem, Item, Node, NodeRef, Value, Version};

use super::failure::{Failure, Outcome};
use super::focus::text_of;
use super::machine::{Base, Machine};
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
    /// The module that its first instruction is from.
    file: u32,
}

impl<'o, 'a: 'o> Receiver<'o, 'a> {
    pub(super) fn new(output: Output<'o>, late: Late) -> Receiver<'o, 'a> {
        Receiver { target: Target::Output(output), late }
    }

    /// Gathers a sequence.
    pub(super) fn items(machine: &'a Machine<'a>) -> Receiver<'o, 'a> {
        Receiver {
            target: Target::Items(Items { machine, items: Vec::new(), tree: None, file: 0 }),
            late: machine.late(),
        }
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

    /// Lets the children of the element that was just opened have none of its namespaces.
    pub(super) fn keep_namespaces(&mut self) {
        self.output().keep_namespaces();
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
        if text.is_empty() {
            return self.empty_text();
        }
        self.output().text(text)?;
        self.settle()
    }

    /// A text of no length: it goes where nodes are put together, but stands between the values around it, and is an item
    /// where a sequence is gathered.
    fn empty_text(&mut self) -> Outcome<()> {
        match &mut self.target {
            Target::Items(items) if items.tree.is_none() => items.empty_text(),
            _ => {
                self.output().separate();
                Ok(())
            }
        }
    }

    pub(super) fn raw_text(&mut self, text: &str) -> Outcome<()> {
        if text.is_empty() {
            return self.empty_text();
        }
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
        if let Target::Items(items) = &mut self.target
            && items.tree.is_none()
        {
            return items.namespace(prefix, uri);
        }
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
        if let Target::Items(Items { machine, items, tree: None, .. }) = &mut self.target {
            let mut output = Output::tree(machine.options.limits.output_bytes);
            output.copy(document, node, namespaces)?;
            let mut copy = output.finish_tree()?;
            let (top, node_of_source) = (copy.document_node(), node);
            let whole = document.kind(node) == myelin_xml::Kind::Document;
            let node = if whole { Some(top) } else { parentless(&mut copy) };
            let copy = machine.keep(copy)?;
            machine.note_base(copy, Base::Original(NodeRef::new(document, node_of_source)));
            items.extend(node.map(|node| Item::Node(NodeRef::new(copy, node))));
            return Ok(());
        }
        let given = self.output().copy(document, node, namespaces);
        if document.kind(node) == myelin_xml::Kind::Attribute { self.forgive(given) } else { Ok(given?) }
    }

    /// A function cannot be part of what is made here.
    fn refuse_function(&mut self) -> Box<Failure> {
        let output = self.output();
        let code = match (output.is_text(), output.is_at_top()) {
            (true, _) => "FOTY0013",
            (false, true) => "SENR0001",
            (false, false) => "XTDE0450",
        };
        Failure::new(code, "a map or another function is no part of a tree or a text")
    }

    /// Whether a sequence is gathered, and nothing is open in it.
    pub(super) fn is_sequence(&self) -> bool {
        matches!(&self.target, Target::Items(items) if items.tree.is_none())
    }

    /// Whether a result is written, and no element is open in it.
    pub(super) fn is_top_of_result(&self) -> bool {
        matches!(&self.target, Target::Output(output) if output.is_at_top())
    }

    /// A deep copy of an item.
    pub(super) fn copy_item(&mut self, item: Item<'a>, namespaces: bool) -> Outcome<()> {
        match item {
            Item::Node(NodeRef { document, node: Node::Tree(node) }) => self.copy(document, node, namespaces),
            other => self.give(other.into(), Version::V3),
        }
    }

    /// Items of a sequence: as they are where a sequence is gathered, otherwise copies and texts.
    ///
    /// Source: XSLT 2.0 §5.7.1.
    pub(super) fn give(&mut self, value: Value<'a>, version: Version) -> Outcome<()> {
        for item in value.into_items() {
            if let Target::Items(Items { items, tree: None, machine, .. }) = &mut self.target {
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
                Item::Function(FunctionItem::Array(array)) => {
                    for member in array.members() {
                        self.give(member.clone(), version)?;
                    }
                }
                Item::Function(_) => return Err(self.refuse_function()),
                other => {
                    let text = text_of(other, version);
                    self.output().atomic(&text)?;
                }
            }
        }
        Ok(())
    }
}

impl<'o, 'a: 'o> Items<'o, 'a> {
    fn output(&mut self) -> &mut Output<'o> {
        let limit = self.machine.options.limits.output_bytes;
        if self.tree.is_none() {
            self.file = self.machine.file.get();
        }
        &mut self.tree.get_or_insert_with(|| (Output::tree(limit), 0)).0
    }

    fn settle(&mut self) -> Outcome<()> {
        let Some((output, _)) = self.tree.take_if(|(_, open)| *open == 0) else { return Ok(()) };
        let mut document = output.finish_tree()?;
        let node = parentless(&mut document);
        let document = self.machine.keep(document)?;
        self.machine.note_base(document, Base::Module(self.file));
        self.items.extend(node.map(|node| Item::Node(NodeRef::new(document, node))));
        Ok(())
    }

    fn empty_text(&mut self) -> Outcome<()> {
        let mut document = Document::new();
        let text = document.create_text("").map_err(|refusal| Failure::new("XTDE0000", refusal.to_string()))?;
        let document = self.machine.keep(document)?;
        self.items.push(Item::Node(NodeRef::new(document, text)));
        Ok(())
    }

    /// A namespace without an element: it hangs on one that nobody asked for.
    fn namespace(&mut self, prefix: &str, uri: &str) -> Outcome<()> {
        let mut output = Output::tree(self.machine.options.limits.output_bytes);
        // A default namespace can stand on an element of it alone.
        let own = if prefix.is_empty() { uri } else { "" };
        output.start_element(Name { prefix: "", local: "namespace", namespace: own })?;
        output.namespace(prefix, uri)?;
        output.end_element()?;
        let document = self.machine.keep(output.finish_tree()?)?;
        let Some(element) = document.root_element() else { return Ok(()) };
        let place = document.namespaces_in_scope(element).iter().position(|(known, _)| *known == prefix);
        let node = place.map(|index| Node::Namespace { element, index: index as u32 });
        self.items.extend(node.map(|node| Item::Node(NodeRef { document, node })));
        Ok(())
    }

    /// An attribute without an element.
    fn attribute(&mut self, name: Name<'_>, value: &str) -> Outcome<()> {
        let mut output = Output::tree(self.machine.options.limits.output_bytes);
        output.start_element(Name { prefix: "", local: "attribute", namespace: "" })?;
        output.attribute(name, value)?;
        output.end_element()?;
        let mut document = output.finish_tree()?;
        let attribute = document.root_element().and_then(|element| document.attributes(element).next());
        if let Some(attribute) = attribute {
            document.detach(attribute);
        }
        let document = self.machine.keep(document)?;
        self.items.extend(attribute.map(|node| Item::Node(NodeRef::new(document, node))));
        Ok(())
    }
}

/// The first node of a document, taken out of it: what is made on its own has no document node above it.
fn parentless(document: &mut Document) -> Option<NodeId> {
    let node = document.first_child(document.document_node())?;
    document.detach(node);
    Some(node)
}
