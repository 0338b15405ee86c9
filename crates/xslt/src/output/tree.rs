//! Results that are kept: temporary trees, which XSLT 1.0 calls result tree fragments.

use std::ops::Range;

use myelin_xml::{Arena, Atom, Document, Name, NameId, NodeId, Refusal, TreeBuilder};

use super::error::OutputError;
use super::literal::LiteralStart;
use super::scope::{Chosen, Mark, Scopes};
use super::seen::Seen;
use super::spare::Spare;

/// A tree, as far as it has come.
pub(super) struct Tree<'o> {
    builder: TreeBuilder,
    limit_bytes: usize,
    scopes: Scopes<'o>,
    /// What of the memory that was used before is not needed here.
    spare: Spare,
    open: Vec<Mark>,
    /// Those elements whose children do not inherit their namespaces, the innermost last: how many were open, and after
    /// how many changes of meaning the children's begin.
    closed: Vec<(usize, usize)>,
    /// What prefixes mean on the innermost element and not around it, as it does not inherit.
    hidden: Vec<(Atom, Atom)>,
    /// Whether the innermost element has no content yet.
    in_tag: bool,
    /// The attributes of that element: they follow its declarations, of which the last attribute may bring one.
    attributes: Seen<(NameId, Range<usize>)>,
    values: String,
    /// Names of elements of other documents, by the numbers that they have in the scopes.
    copied: Vec<NameId>,
}

impl<'o> Tree<'o> {
    pub(super) fn new(limit_bytes: usize) -> Tree<'o> {
        let mut spare = Spare::take();
        Tree {
            scopes: Scopes::new(std::mem::take(&mut spare.tables)),
            spare,
            builder: TreeBuilder::new(Arena::default()),
            limit_bytes,
            open: Vec::new(),
            closed: Vec::new(),
            hidden: Vec::new(),
            in_tag: false,
            attributes: Seen::default(),
            values: String::new(),
            copied: Vec::new(),
        }
    }

    pub(super) fn start_literal(&mut self, literal: &'o LiteralStart) -> Result<(), OutputError> {
        let name = literal.name();
        let id = self.builder.names().intern(&name.prefix, &name.local, &name.namespace);
        self.start_named(id)?;
        let limit = self.limit_bytes;
        let refused = |refusal| OutputError::refused(&refusal, limit);
        // The scopes number prefixes and namespaces as the tree does.
        let declared = self.scopes.literal(self.builder.names(), literal.namespaces());
        declared.iter().try_for_each(|&(prefix, namespace)| self.builder.declare(prefix, namespace)).map_err(refused)
    }

    pub(super) fn start(&mut self, name: Name<'_>) -> Result<(), OutputError> {
        let mark = self.enter()?;
        let chosen = self.scopes.element(self.builder.names(), name.prefix, name.namespace);
        let id = self.named(chosen, name.local);
        self.start_chosen(mark, id, chosen)
    }

    pub(super) fn start_copy(
        &mut self,
        document: &'o Document,
        element: NodeId,
        name: NameId,
        namespaces: bool,
    ) -> Result<(), OutputError> {
        let mark = self.enter()?;
        let copied = self.scopes.copied(self.builder.names(), document, name);
        let known = copied.number.and_then(|number| self.copied.get(number as usize)).copied();
        let id = known.unwrap_or_else(|| {
            let id = self.named(copied.chosen, document.names().get(name).local);
            self.copied.extend(copied.number.map(|_| id));
            id
        });
        self.start_chosen(mark, id, copied.chosen)?;
        if namespaces {
            let limit = self.limit_bytes;
            let refused = |refusal| OutputError::refused(&refusal, limit);
            let declared = self.scopes.source(self.builder.names(), document, element);
            declared
                .iter()
                .try_for_each(|&(prefix, namespace)| self.builder.declare(prefix, namespace))
                .map_err(refused)?;
        }
        Ok(())
    }

    pub(super) fn namespace(&mut self, prefix: &str, namespace: &str) -> Result<(), OutputError> {
        self.takes_attributes()?;
        let chosen = self.scopes.require(self.builder.names(), prefix, namespace)?;
        self.declare(chosen)
    }

    pub(super) fn attribute(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        self.takes_attributes()?;
        self.check(value.len() + self.values.len())?;
        let chosen = self.scopes.attribute(self.builder.names(), name.prefix, name.namespace);
        self.declare(chosen)?;
        let id = self.named(chosen, name.local);
        let start = self.values.len();
        self.values.push_str(value);
        let key = (chosen.namespace, self.builder.names().atom(name.local));
        self.attributes.put(key, (id, start..self.values.len()));
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        if text.is_empty() {
            return Ok(());
        }
        self.close_tag()?;
        self.check(text.len())?;
        self.builder.text(text).map_err(|refusal| self.refused(&refusal))
    }

    pub(super) fn comment(&mut self, text: &str) -> Result<(), OutputError> {
        self.close_tag()?;
        self.check(text.len())?;
        self.builder.comment(text).map_err(|refusal| self.refused(&refusal))
    }

    pub(super) fn instruction(&mut self, target: &str, data: &str) -> Result<(), OutputError> {
        self.close_tag()?;
        self.check(data.len())?;
        self.builder.instruction(target, data).map_err(|refusal| self.refused(&refusal))
    }

    pub(super) fn end_element(&mut self) -> Result<(), OutputError> {
        self.close_tag()?;
        if let Some(mark) = self.open.pop() {
            if self.closed.last().is_some_and(|&(open, _)| open > self.open.len()) {
                self.closed.pop();
            }
            self.scopes.leave(mark);
            self.builder.end();
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Document, OutputError> {
        self.close_tag()?;
        Spare { tables: self.scopes.into_tables(), ..self.spare }.keep();
        Ok(self.builder.finish())
    }

    /// After how many changes of meaning that of the next child begins.
    pub(super) fn changes(&self) -> usize {
        match self.closed.last() {
            Some(&(open, changes)) if open == self.open.len() => changes,
            _ => self.scopes.changes(),
        }
    }

    /// Lets the children of the element that was just opened have none of the namespaces that came into scope after so
    /// many changes of meaning.
    pub(super) fn keep_namespaces(&mut self, changes: usize) {
        if !self.open.is_empty() {
            self.closed.push((self.open.len(), changes));
        }
    }

    fn enter(&mut self) -> Result<Mark, OutputError> {
        self.close_tag()?;
        let mark = self.scopes.enter();
        if let Some(&(open, changes)) = self.closed.last()
            && open == self.open.len()
        {
            self.hidden = self.scopes.hide(changes);
        }
        Ok(mark)
    }

    fn start_named(&mut self, name: NameId) -> Result<(), OutputError> {
        let mark = self.enter()?;
        self.opened(mark, name)
    }

    fn start_chosen(&mut self, mark: Mark, name: NameId, chosen: Chosen) -> Result<(), OutputError> {
        self.opened(mark, name)?;
        self.declare(chosen)
    }

    fn opened(&mut self, mark: Mark, name: NameId) -> Result<(), OutputError> {
        self.check(0)?;
        self.builder.start(name).map_err(|refusal| self.refused(&refusal))?;
        self.open.push(mark);
        self.in_tag = true;
        Ok(())
    }

    fn declare(&mut self, chosen: Chosen) -> Result<(), OutputError> {
        if !chosen.declare {
            return Ok(());
        }
        self.builder.declare(chosen.prefix, chosen.namespace).map_err(|refusal| self.refused(&refusal))
    }

    fn takes_attributes(&self) -> Result<(), OutputError> {
        match (self.in_tag, self.open.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(OutputError::AttributeOnDocument),
            (false, false) => Err(OutputError::AttributeLate),
        }
    }

    /// Puts the attributes behind the declarations.
    #[inline]
    fn close_tag(&mut self) -> Result<(), OutputError> {
        if !self.in_tag {
            return Ok(());
        }
        self.in_tag = false;
        for (prefix, namespace) in std::mem::take(&mut self.hidden) {
            if self.scopes.means(prefix, namespace) {
                let put = self.builder.declare(prefix, namespace);
                put.map_err(|refusal| OutputError::refused(&refusal, self.limit_bytes))?;
            }
        }
        for (name, range) in self.attributes.values() {
            let put = self.builder.attribute(*name, &self.values[range.clone()]);
            put.map_err(|refusal| OutputError::refused(&refusal, self.limit_bytes))?;
        }
        self.attributes.clear();
        self.values.clear();
        Ok(())
    }

    fn named(&mut self, chosen: Chosen, local: &str) -> NameId {
        let names = self.builder.names();
        let local = names.atom(local);
        names.name(chosen.prefix, local, chosen.namespace)
    }

    fn check(&self, more: usize) -> Result<(), OutputError> {
        match self.builder.size_bytes().saturating_add(more) > self.limit_bytes {
            true => Err(OutputError::TooLarge(self.limit_bytes)),
            false => Ok(()),
        }
    }

    fn refused(&self, refusal: &Refusal) -> OutputError {
        OutputError::refused(refusal, self.limit_bytes)
    }
}
