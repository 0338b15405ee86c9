//! Which template is for which node: the rules of a mode, found by what a node is.

use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};

use super::caches::{MOST_TABLES, Table};
use super::failure::{Failure, Outcome};
use super::focus::Focus;
use super::frame::Running;
use super::machine::Machine;
use crate::program::{Entry, Rules};

impl<'a> Machine<'a> {
    /// The best rule for an item, from the rule with the number `from` on.
    #[inline]
    pub(super) fn find(&'a self, mode: u32, focus: &Focus<'a>, from: u32) -> Outcome<Option<Running>> {
        let rules = &self.program.modes[mode as usize].rules;
        let list = match focus.tree() {
            Some((document, node)) => self.list(rules, mode, document, node),
            None => &rules.other,
        };
        for (place, entry) in list.iter().enumerate() {
            if entry.rule >= from
                && (entry.certain || self.matches_item(&rules.rules[entry.rule as usize].pattern, focus)?)
            {
                if self.program.modes[mode as usize].fails_on_multiple || self.options.fails_on_multiple_match {
                    self.check_alone(rules, entry, &list[place + 1..], focus)?;
                }
                return Ok(Some(Running { rule: entry.rule, template: entry.template }));
            }
        }
        Ok(None)
    }

    /// Refuses a second rule that is as good as the one that was found.
    #[cold]
    fn check_alone(&'a self, rules: &'a Rules, found: &Entry, others: &'a [Entry], focus: &Focus<'a>) -> Outcome<()> {
        let rule = |entry: &Entry| &rules.rules[entry.rule as usize];
        let (precedence, priority) = (rule(found).precedence, rule(found).priority);
        let as_good = |other: &&Entry| {
            (rule(other).precedence, rule(other).priority) == (precedence, priority) && other.template != found.template
        };
        for other in others.iter().filter(as_good) {
            if other.certain || self.matches_item(&rule(other).pattern, focus)? {
                let message = format!("two templates match {}", focus.path().unwrap_or_default());
                return Err(Failure::new("XTDE0540", message));
            }
        }
        Ok(())
    }

    /// The best rule for an item among those of modules with these precedences.
    pub(super) fn find_below(
        &'a self,
        mode: u32,
        focus: &Focus<'a>,
        least: u32,
        below: u32,
    ) -> Outcome<Option<Running>> {
        let rules = &self.program.modes[mode as usize].rules;
        for (index, rule) in rules.rules.iter().enumerate() {
            let imported = (least..below).contains(&rule.precedence);
            if imported && self.matches_item(&rule.pattern, focus)? {
                return Ok(Some(Running { rule: index as u32, template: rule.template }));
            }
        }
        Ok(None)
    }

    #[inline]
    fn list(&self, rules: &'a Rules, mode: u32, document: &'a Document, node: NodeId) -> &'a [Entry] {
        match document.kind(node) {
            Kind::Element if rules.elements.is_empty() => &rules.element,
            Kind::Element => self.named(rules, mode, document, node, false).unwrap_or(&rules.element),
            Kind::Attribute if rules.attributes.is_empty() => &rules.attribute,
            Kind::Attribute => self.named(rules, mode, document, node, true).unwrap_or(&rules.attribute),
            Kind::Text => &rules.text,
            Kind::Comment => &rules.comment,
            Kind::Instruction => &rules.instruction,
            Kind::Document => &rules.document,
        }
    }

    #[inline]
    fn named(
        &self,
        rules: &'a Rules,
        mode: u32,
        document: &'a Document,
        node: NodeId,
        attribute: bool,
    ) -> Option<&'a [Entry]> {
        let name = document.expanded(node)?.index();
        let at = |table: &Table| {
            let numbers = if attribute { &table.attributes } else { &table.elements };
            numbers.get(name).copied().unwrap_or(0)
        };
        let place = if std::ptr::eq(document, self.source.document) {
            at(self.tables.source[mode as usize].get_or_init(|| self.table(rules, document)))
        } else {
            at(&self.other_table(rules, mode, document))
        };
        let lists = if attribute { &rules.attributes } else { &rules.elements };
        lists.get((place as usize).checked_sub(1)?).map(|(_, list)| &**list)
    }

    fn other_table(&self, rules: &Rules, mode: u32, document: &'a Document) -> Rc<Table> {
        let mut others = self.tables.others.borrow_mut();
        let known = others.iter().find(|(of, which, _)| *of == mode && std::ptr::eq(*which, document));
        if let Some((.., table)) = known {
            return Rc::clone(table);
        }
        let table = Rc::new(self.table(rules, document));
        if others.len() == MOST_TABLES {
            others.remove(0);
        }
        others.push((mode, document, Rc::clone(&table)));
        table
    }

    fn table(&self, rules: &Rules, document: &'a Document) -> Table {
        let places = |lists: &[(u32, Box<[Entry]>)]| {
            let mut places = vec![0; document.names().expanded_count()];
            for (index, (name, _)) in lists.iter().enumerate() {
                if let Some(place) = self.expanded(document, *name).and_then(|name| places.get_mut(name.index())) {
                    *place = index as u32 + 1;
                }
            }
            places.into_boxed_slice()
        };
        Table { elements: places(&rules.elements), attributes: places(&rules.attributes) }
    }
}
