//! Which template is for which node: tables of rules, found by what a node is.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};

use super::{Focus, Machine, Outcome};
use crate::pattern::Class;
use crate::program::Rule;

/// The rules of one mode, the best first, and for each kind of node those that can match it.
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// For each name that a rule asks for, ascending: its number, and the rules for elements of that name.
    elements: Vec<(u32, Box<[Entry]>)>,
    attributes: Vec<(u32, Box<[Entry]>)>,
    element: Box<[Entry]>,
    attribute: Box<[Entry]>,
    text: Box<[Entry]>,
    comment: Box<[Entry]>,
    instruction: Box<[Entry]>,
    document: Box<[Entry]>,
    /// For namespace nodes and what is no node.
    other: Box<[Entry]>,
}

/// A rule in a list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rule: u32,
    template: u32,
    /// Whether everything in the list matches.
    certain: bool,
}

/// A rule that was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    /// Its place in the order of the mode's rules.
    pub(super) rule: u32,
    pub(super) template: u32,
}

impl Rules {
    /// Puts rules in order: precedence, then priority, then the last that is written.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Rules {
        rules.sort_by(|a, b| {
            let priority = b.priority.total_cmp(&a.priority);
            b.precedence.cmp(&a.precedence).then(priority).then(b.order.cmp(&a.order))
        });
        let classes: Vec<Class> = rules.iter().map(|rule| rule.pattern.class()).collect();
        let list = |takes: &dyn Fn(Class) -> bool| -> Box<[Entry]> {
            let taken = classes.iter().zip(&rules).enumerate().filter(|(_, (class, _))| takes(**class));
            taken
                .map(|(index, (_, rule))| Entry {
                    rule: index as u32,
                    template: rule.template,
                    certain: rule.pattern.is_only_its_class(),
                })
                .collect()
        };
        let child = |class| matches!(class, Class::Child | Class::Any);
        let named = |number: &dyn Fn(Class) -> Option<u32>, any: Class, as_child: bool| {
            let mut numbers: Vec<u32> = classes.iter().filter_map(|class| number(*class)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let takes = |wanted: u32| {
                list(&|class| {
                    number(class) == Some(wanted) || class == any || class == Class::Any || (as_child && child(class))
                })
            };
            numbers.into_iter().map(|wanted| (wanted, takes(wanted))).collect()
        };
        let element = |class| if let Class::ElementNamed(number) = class { Some(number) } else { None };
        let attribute = |class| if let Class::AttributeNamed(number) = class { Some(number) } else { None };
        Rules {
            elements: named(&element, Class::Element, true),
            attributes: named(&attribute, Class::Attribute, false),
            element: list(&|class| class == Class::Element || child(class)),
            attribute: list(&|class| matches!(class, Class::Attribute | Class::Any)),
            text: list(&|class| class == Class::Text || child(class)),
            comment: list(&|class| class == Class::Comment || child(class)),
            instruction: list(&|class| class == Class::Instruction || child(class)),
            document: list(&|class| matches!(class, Class::Document | Class::Any)),
            other: list(&|class| class == Class::Any),
            rules,
        }
    }

    /// The rules, the best first.
    pub(crate) fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// The templates that can be for elements of a name, or of one that no rule asks for, the best first; each with
    /// whether it is for all of them.
    pub(crate) fn for_elements(&self, name: Option<u32>) -> impl Iterator<Item = (u32, bool)> {
        let named = name.and_then(|name| self.elements.iter().find(|(known, _)| *known == name));
        templates(named.map_or(&self.element, |(_, list)| list))
    }

    /// The same for the document node.
    pub(crate) fn for_document(&self) -> impl Iterator<Item = (u32, bool)> {
        templates(&self.document)
    }

    /// The same for texts.
    pub(crate) fn for_text(&self) -> impl Iterator<Item = (u32, bool)> {
        templates(&self.text)
    }

    /// The same for comments.
    pub(crate) fn for_comments(&self) -> impl Iterator<Item = (u32, bool)> {
        templates(&self.comment)
    }

    /// The same for processing instructions.
    pub(crate) fn for_instructions(&self) -> impl Iterator<Item = (u32, bool)> {
        templates(&self.instruction)
    }

    /// The same for attributes of names that no rule asks for.
    pub(crate) fn for_attributes(&self) -> impl Iterator<Item = (u32, bool)> {
        templates(&self.attribute)
    }

    /// Whether some rule asks for attributes by name.
    pub(crate) fn names_attributes(&self) -> bool {
        !self.attributes.is_empty()
    }
}

fn templates(list: &[Entry]) -> impl Iterator<Item = (u32, bool)> {
    list.iter().map(|entry| (entry.template, entry.certain))
}

/// The lists of a mode by the expanded names of one document.
struct Table {
    /// By the number of an expanded name: the place in the list of names and one; 0: no rule asks for it.
    elements: Box<[u32]>,
    attributes: Box<[u32]>,
}

/// Tables of those modes and documents that were met.
pub(super) struct Tables<'a> {
    /// Of the source, by mode.
    source: Box<[OnceCell<Table>]>,
    /// Of other documents; the last few.
    others: RefCell<Vec<(u32, &'a Document, Rc<Table>)>>,
}

/// Tables of other documents that are kept.
const OTHERS: usize = 8;

impl Tables<'_> {
    pub(super) fn new(modes: usize) -> Self {
        Tables { source: (0..modes).map(|_| OnceCell::new()).collect(), others: RefCell::default() }
    }
}

impl<'a> Machine<'a> {
    /// The best rule for an item, from the rule with the number `from` on.
    #[inline]
    pub(super) fn find(&'a self, mode: u32, focus: &Focus<'a>, from: u32) -> Outcome<Option<Running>> {
        let rules = &self.program.modes[mode as usize].rules;
        let list = match focus.tree() {
            Some((document, node)) => self.list(rules, mode, document, node),
            None => &rules.other,
        };
        for entry in list {
            if entry.rule >= from
                && (entry.certain || self.matches_item(&rules.rules[entry.rule as usize].pattern, focus)?)
            {
                return Ok(Some(Running { rule: entry.rule, template: entry.template }));
            }
        }
        Ok(None)
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
        if others.len() == OTHERS {
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
