//! The rules of a mode: which template may be for which kind of node.

use crate::pattern::{Class, Pattern};

/// The rules of one mode, the best first, and for each kind of node those that can match it.
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
    /// For each name that a rule asks for, ascending: its number, and the rules for elements of that name.
    pub(crate) elements: Vec<(u32, Box<[Entry]>)>,
    pub(crate) attributes: Vec<(u32, Box<[Entry]>)>,
    pub(crate) element: Box<[Entry]>,
    pub(crate) attribute: Box<[Entry]>,
    pub(crate) text: Box<[Entry]>,
    pub(crate) comment: Box<[Entry]>,
    pub(crate) instruction: Box<[Entry]>,
    pub(crate) document: Box<[Entry]>,
    /// For namespace nodes and what is no node.
    pub(crate) other: Box<[Entry]>,
}

/// A rule in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) rule: u32,
    pub(crate) template: u32,
    /// Whether everything in the list matches.
    pub(crate) certain: bool,
}

/// One alternative of a template's match pattern in one mode.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    pub(crate) template: u32,
    pub(crate) priority: f64,
    pub(crate) precedence: u32,
    /// Counts the rules in the order they are written, includes in place; the last wins among equals.
    pub(crate) order: u32,
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
