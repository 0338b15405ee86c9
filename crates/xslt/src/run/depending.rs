//! Content that is there only if other content is: `xsl:where-populated`, `xsl:on-empty` and `xsl:on-non-empty`.

use myelin_xml::Kind;
use myelin_xpath::{FunctionItem, Item, NodeRef, Value, Version};

use super::failure::Outcome;
use super::focus::Focus;
use super::frame::Flow;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{Block, Part};

impl<'a> Machine<'a> {
    /// Gives what a block makes without what is empty in it.
    ///
    /// Source: XSLT 3.0 §8.4.1.
    pub(super) fn where_populated(
        &'a self,
        block: &'a Block,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let mut receiver = Receiver::items(self);
        self.run_inside(block, focus, &mut receiver)?;
        let kept = receiver.into_items().into_items().filter(|item| !is_unpopulated(item));
        out.give(Value::from_items(kept.collect()), Version::V3)
    }

    /// Runs a block in which some parts depend on whether the others make anything.
    ///
    /// Source: XSLT 3.0 §8.4.2 and §8.4.3.
    pub(super) fn depending(
        &'a self,
        parts: &'a [Part],
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let mut made = Vec::with_capacity(parts.len());
        let mut flow = Flow::Next;
        for part in parts {
            let Part::Always(block) = part else {
                made.push(Value::EMPTY);
                continue;
            };
            let mut receiver = Receiver::items(self);
            flow = self.run(block, focus, &mut receiver)?;
            made.push(receiver.into_items());
            if flow != Flow::Next {
                break;
            }
        }
        let nothing = made.iter().all(|value| value.items().all(|item| is_vacuous(&item)));
        let instead = parts.iter().any(|part| matches!(part, Part::OnEmpty(_)));
        for (part, value) in parts.iter().zip(made) {
            let value = match part {
                // What counts for nothing gives way to what stands for it.
                Part::Always(_) if nothing && instead => continue,
                Part::Always(_) => value,
                Part::OnEmpty(binding) if nothing => self.bind(binding, focus)?,
                Part::OnNonEmpty(binding) if !nothing => self.bind(binding, focus)?,
                Part::OnEmpty(_) | Part::OnNonEmpty(_) => continue,
            };
            out.give(value, Version::V3)?;
        }
        Ok(flow)
    }
}

/// Whether `xsl:where-populated` leaves an item out.
fn is_unpopulated(item: &Item<'_>) -> bool {
    match item {
        Item::Node(node) => match kind(node) {
            Some(Kind::Document | Kind::Element) => !has_children(node),
            _ => node.string_value().is_empty(),
        },
        Item::Atomic(atomic) => atomic.text(Version::V3).is_empty(),
        Item::Function(_) => is_empty_collection(item),
        _ => false,
    }
}

/// Whether an item is none that counts: an empty text, or a document without content.
fn is_vacuous(item: &Item<'_>) -> bool {
    match item {
        Item::Node(node) => match kind(node) {
            Some(Kind::Document) => !has_children(node),
            Some(Kind::Text) => node.string_value().is_empty(),
            _ => false,
        },
        Item::Atomic(atomic) => atomic.text(Version::V3).is_empty(),
        Item::Function(FunctionItem::Array(array)) => {
            array.members().all(|member| member.items().all(|item| is_vacuous(&item)))
        }
        _ => false,
    }
}

fn is_empty_collection(item: &Item<'_>) -> bool {
    match item {
        Item::Function(FunctionItem::Map(map)) => map.is_empty(),
        Item::Function(FunctionItem::Array(array)) => array.is_empty(),
        _ => false,
    }
}

/// What a node is; `None`: a namespace.
fn kind(node: &NodeRef<'_>) -> Option<Kind> {
    node.node.tree().map(|tree| node.document.kind(tree))
}

fn has_children(node: &NodeRef<'_>) -> bool {
    node.node.tree().is_some_and(|tree| node.document.first_child(tree).is_some())
}
