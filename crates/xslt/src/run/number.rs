//! `xsl:number` (XSLT 1.0 §7.7, 2.0 §12).

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Atomic, Item, Node, NodeRef, Version};

use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::numbering;
use crate::pattern::Pattern;
use crate::program::{Number, NumberLevel};

impl<'a> Machine<'a> {
    pub(super) fn number(&'a self, number: &'a Number, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<()> {
        let format = self.avt(&number.format, focus)?;
        let options = self.number_options(number, focus)?;
        let start = match self.optional_avt(number.start_at.as_ref(), focus)? {
            None => vec![1],
            Some(text) => start_at(&text)?,
        };
        let numbers = match &number.value {
            Some(value) => {
                let value = self.evaluate(value, focus)?;
                let compatible = number.value.as_ref().is_some_and(|expr| expr.version() == Version::V1);
                let mut numbers = Vec::new();
                for item in value.into_items() {
                    match whole(&item) {
                        Some(number) => numbers.push(number),
                        // What is no number is written as its number is (XSLT 1.0 erratum, 2.0 §12.1).
                        None if compatible => {
                            let number = Atomic::Double(item.number());
                            return out.text(&number.text(Version::V1));
                        }
                        None => {
                            return Err(Failure::new("XTDE0980", "a number is a whole one and not negative"));
                        }
                    }
                    if compatible {
                        break;
                    }
                }
                if numbers.is_empty() && compatible {
                    return out.text("NaN");
                }
                numbers
            }
            None => {
                let selected;
                let focus = match &number.select {
                    None => focus,
                    Some(select) => {
                        let value = self.evaluate(select, focus)?;
                        let single = value.len() == 1 && value.get(0).is_some_and(|item| item.node().is_some());
                        if !single && select.version() != Version::V1 {
                            return Err(Failure::new(
                                "XTTE1000",
                                "select gives one node to be numbered, and nothing else",
                            ));
                        }
                        let item = value.first();
                        selected = Focus { item, position: 1, size: 1 };
                        &selected
                    }
                };
                match (focus.tree(), focus.node()) {
                    (Some((document, node)), _) => self.count_nodes(number, document, node)?,
                    // Without siblings it is the first of its kind.
                    (None, Some(_)) if number.count.is_none() => vec![1],
                    // Patterns for tree nodes fit what is around it.
                    (None, Some(namespace)) => match namespace.parent().map(|element| (element.document, element.node))
                    {
                        Some((document, Node::Tree(element))) => self.count_nodes(number, document, element)?,
                        _ => Vec::new(),
                    },
                    (None, None) => return Err(Failure::new("XTTE0990", "only nodes can be numbered")),
                }
            }
        };
        // The last says where all levels behind it start.
        let starts = start.iter().chain(std::iter::repeat(start.last().unwrap_or(&1)));
        let numbers = numbers.into_iter().zip(starts);
        let numbers: Vec<u64> = numbers.map(|(number, start)| number.saturating_add_signed(start - 1)).collect();
        out.text(&numbering::format(&numbers, &format, &options.borrowed()))
    }

    /// The numbers of a node, the outermost first.
    fn count_nodes(&'a self, number: &'a Number, document: &'a Document, node: NodeId) -> Outcome<Vec<u64>> {
        match number.level {
            NumberLevel::Single => {
                let found = self.ancestors(number, document, node, true)?;
                Ok(found.into_iter().take(1).collect())
            }
            NumberLevel::Multiple => {
                let mut found = self.ancestors(number, document, node, false)?;
                found.reverse();
                Ok(found)
            }
            NumberLevel::Any => self.count_any(number, document, node),
        }
    }

    /// The numbers among their siblings of the node and its ancestors that are counted, the innermost first.
    fn ancestors(
        &'a self,
        number: &'a Number,
        document: &'a Document,
        node: NodeId,
        first_only: bool,
    ) -> Outcome<Vec<u64>> {
        let mut found = Vec::new();
        let mut next = Some(node);
        while let Some(at) = next {
            self.count()?;
            // What matches `from` ends the search; the node itself may begin what it numbers.
            if self.counts(number, document, node, at)? {
                found.push(self.among_siblings(number, document, node, at)?);
                // Where nothing matches `from`, the document begins it.
                if first_only {
                    break;
                }
            }
            if self.is_from(number.from.as_deref(), document, at)? {
                break;
            }
            next = document.parent(at);
        }
        Ok(found)
    }

    fn is_from(&'a self, from: Option<&'a [Pattern]>, document: &'a Document, node: NodeId) -> Outcome<bool> {
        let Some(from) = from else { return Ok(false) };
        self.matches_any(from, &Focus::on(NodeRef::new(document, node), 1, 1))
    }

    fn among_siblings(&'a self, number: &'a Number, document: &'a Document, node: NodeId, at: NodeId) -> Outcome<u64> {
        let mut count = 1;
        let mut next = document.previous_sibling(at);
        while let Some(before) = next {
            self.count()?;
            if self.counts(number, document, node, before)? {
                // The sibling before was often numbered a moment ago.
                if let Some(known) = self.counted.known(number, document, before) {
                    count += known;
                    break;
                }
                count += 1;
            }
            next = document.previous_sibling(before);
        }
        self.counted.learn(number, document, at, count);
        Ok(count)
    }

    /// Counts in document order, up to the node and back to the last that matches `from`.
    fn count_any(&'a self, number: &'a Number, document: &'a Document, node: NodeId) -> Outcome<Vec<u64>> {
        let mut count = 0;
        let mut next = Some(node);
        while let Some(at) = next {
            self.count()?;
            if self.counts(number, document, node, at)? {
                if let Some(known) = self.counted.known(number, document, at).filter(|_| at != node) {
                    count += known;
                    break;
                }
                count += 1;
            }
            if self.is_from(number.from.as_deref(), document, at)? {
                break;
            }
            next = before(document, at);
        }
        if count > 0 && self.counts(number, document, node, node)? {
            self.counted.learn(number, document, node, count);
        }
        // In 1.0 the list always has one number (§7.7), in 2.0 only where something is counted (§12.2).
        Ok(if count == 0 && !number.backwards { Vec::new() } else { vec![count] })
    }

    /// Whether a node is one of those that are counted when `node` is numbered.
    fn counts(&'a self, number: &'a Number, document: &'a Document, node: NodeId, at: NodeId) -> Outcome<bool> {
        match &number.count {
            Some(patterns) => self.matches_any(patterns, &Focus::on(NodeRef::new(document, at), 1, 1)),
            // Nodes of the same kind and name (§7.7).
            None => Ok(document.kind(at) == document.kind(node) && document.expanded(at) == document.expanded(node)),
        }
    }

    fn number_options(&'a self, number: &'a Number, focus: &Focus<'a>) -> Outcome<Options> {
        let separator = self.optional_avt(number.grouping_separator.as_ref(), focus)?;
        let size = self.optional_avt(number.grouping_size.as_ref(), focus)?;
        let grouping = match (separator, size) {
            (Some(separator), Some(size)) => {
                let size = size.trim().parse().ok().filter(|&size: &usize| size > 0);
                size.map(|size| (separator.into_owned(), size))
            }
            _ => None,
        };
        let letter = self.optional_avt(number.letter_value.as_ref(), focus)?;
        let traditional = match letter.as_deref().map(str::trim) {
            Some("traditional") => Some(true),
            Some("alphabetic") => Some(false),
            _ => None,
        };
        let ordinal = self.optional_avt(number.ordinal.as_ref(), focus)?;
        let ordinal = ordinal.is_some_and(|ordinal| !matches!(ordinal.trim(), "" | "no" | "false" | "0"));
        Ok(Options { grouping, traditional, ordinal })
    }
}

/// What was found for the way numbers are written.
struct Options {
    grouping: Option<(String, usize)>,
    traditional: Option<bool>,
    ordinal: bool,
}

impl Options {
    fn borrowed(&self) -> numbering::Options<'_> {
        let grouping = self.grouping.as_ref().map(|(separator, size)| (separator.as_str(), *size));
        numbering::Options { traditional: self.traditional, ordinal: self.ordinal, grouping }
    }
}

/// The node before another in document order; attributes come behind their element.
fn before(document: &Document, node: NodeId) -> Option<NodeId> {
    if document.kind(node) == Kind::Attribute {
        return document.parent(node);
    }
    let Some(mut last) = document.previous_sibling(node) else { return document.parent(node) };
    while let Some(child) = document.last_child(last) {
        last = child;
    }
    Some(last)
}

/// A number that can be written: whole and not negative; rounded as 2.0 has it.
fn whole(item: &Item<'_>) -> Option<u64> {
    let number = item.number();
    let rounded = (number + 0.5).floor();
    (0.0..1e18).contains(&rounded).then_some(rounded as u64)
}

fn start_at(text: &str) -> Outcome<Vec<i64>> {
    let numbers: Option<Vec<i64>> = text.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    let wrong = || Failure::new("XTDE0030", format!("start-at must be whole numbers, not {text:?}"));
    numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(wrong)
}
