//! What filters compare: values of the message, of the path, and what functions made.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::rc::Rc;

use myelin_java_text::decimal;
use regex::Regex;

use super::evaluate::{Evaluator, distinct};
use crate::error::Error;
use crate::reader::Options;
use crate::value::{NodeId, Type, Value};

#[derive(Debug, Clone)]
pub(super) enum Term<'t> {
    /// What a path does not lead to; equal to nothing.
    Undefined,
    Null,
    Boolean(bool),
    Number(Cow<'t, str>),
    Text(Cow<'t, str>),
    /// An array or object.
    Tree(Holder<'t>, NodeId),
    /// What an indefinite path led to.
    List(Vec<Term<'t>>),
    Pattern(&'t Regex),
}

/// The value a node belongs to.
#[derive(Debug, Clone)]
pub(super) enum Holder<'t> {
    Borrowed(&'t Value),
    Made(Rc<Value>),
}

impl Holder<'_> {
    fn value(&self) -> &Value {
        match self {
            Holder::Borrowed(value) => value,
            Holder::Made(value) => value,
        }
    }
}

impl<'t> Term<'t> {
    pub(super) fn of(value: &'t Value, node: NodeId) -> Term<'t> {
        let text = || value.scalar(node).unwrap_or_default();
        match value.kind(node) {
            Type::Object | Type::Array => Term::Tree(Holder::Borrowed(value), node),
            Type::String => Term::Text(text()),
            Type::Number => Term::Number(text()),
            Type::True => Term::Boolean(true),
            Type::False => Term::Boolean(false),
            Type::Null => Term::Null,
        }
    }

    /// What a function made, or members picked from an object.
    pub(super) fn made(json: String) -> Term<'t> {
        match Value::parse(json.into_bytes(), &Options::UNLIMITED) {
            Ok(value) => {
                let root = value.root();
                Term::Tree(Holder::Made(Rc::new(value)), root).resolved()
            }
            Err(_) => Term::Undefined,
        }
    }

    /// Scalars out of the value that holds them.
    fn resolved(self) -> Term<'t> {
        let Term::Tree(holder, node) = self else { return self };
        match holder {
            Holder::Borrowed(value) => Term::of(value, node),
            Holder::Made(value) => match Term::of(&value, node) {
                Term::Text(text) => Term::Text(Cow::Owned(text.into_owned())),
                Term::Number(number) => Term::Number(Cow::Owned(number.into_owned())),
                Term::Boolean(value) => Term::Boolean(value),
                Term::Null => Term::Null,
                _ => Term::Tree(Holder::Made(value.clone()), node),
            },
        }
    }

    fn is_object(&self) -> bool {
        matches!(self, Term::Tree(holder, node) if holder.value().kind(*node) == Type::Object)
    }

    /// Whether both are of the same type, as `===` wants.
    pub(super) fn same_type(&self, other: &Term<'_>) -> bool {
        let rank = |term: &Term<'_>| match term {
            Term::Undefined => 0,
            Term::Null => 1,
            Term::Boolean(_) => 2,
            Term::Number(_) => 3,
            Term::Text(_) => 4,
            Term::Tree(..) | Term::List(_) => 5,
            Term::Pattern(_) => 6,
        };
        rank(self) == rank(other)
    }
}

/// Which of two numbers or two texts is larger; texts in the order of their UTF-16, as Java has it.
pub(super) fn order(left: &Term<'_>, right: &Term<'_>) -> Option<Ordering> {
    match (left, right) {
        (Term::Number(left), Term::Number(right)) => decimal::compare(left, right),
        (Term::Text(left), Term::Text(right)) => Some(left.encode_utf16().cmp(right.encode_utf16())),
        _ => None,
    }
}

/// Equality of scalars, a text and a number by what stands on the left; `None` if both are arrays or objects.
fn equal_scalars(left: &Term<'_>, right: &Term<'_>) -> Option<bool> {
    Some(match (left, right) {
        (Term::Null, Term::Null) => true,
        (Term::Boolean(left), Term::Boolean(right)) => left == right,
        (Term::Text(left), Term::Text(right) | Term::Number(right)) => left == right,
        (Term::Number(left), Term::Number(right) | Term::Text(right)) => {
            decimal::compare(left, right) == Some(Ordering::Equal)
        }
        (Term::Tree(..) | Term::List(_), Term::Tree(..) | Term::List(_)) => return None,
        _ => false,
    })
}

impl Evaluator<'_> {
    /// `==`
    pub(super) fn equal(&mut self, left: &Term<'_>, right: &Term<'_>) -> Result<bool, Error> {
        if let Some(equal) = equal_scalars(left, right) {
            return Ok(equal);
        }
        // Within arrays and objects a text is never a number.
        let mut waiting = vec![(left.clone(), right.clone())];
        while let Some((left, right)) = waiting.pop() {
            if !left.same_type(&right) || left.is_object() != right.is_object() {
                return Ok(false);
            }
            match equal_scalars(&left, &right) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    let (mut ours, mut theirs) = (self.parts(&left)?, self.parts(&right)?);
                    if ours.len() != theirs.len() {
                        return Ok(false);
                    }
                    ours.sort_by(|one, other| one.0.cmp(&other.0));
                    theirs.sort_by(|one, other| one.0.cmp(&other.0));
                    for ((our_key, ours), (their_key, theirs)) in ours.into_iter().zip(theirs) {
                        if our_key != their_key {
                            return Ok(false);
                        }
                        waiting.push((ours, theirs));
                    }
                }
            }
        }
        Ok(true)
    }

    /// Elements or members with their keys; elements have none, so that sorting leaves them as they are.
    fn parts<'t>(&mut self, term: &Term<'t>) -> Result<Vec<(Option<String>, Term<'t>)>, Error> {
        match term {
            Term::List(items) => Ok(items.iter().map(|item| (None, item.clone())).collect()),
            Term::Tree(holder, node) => {
                let value = holder.value();
                let mut children: Vec<NodeId> = value.children(*node).collect();
                self.visit(1 + children.len())?;
                children.iter().try_for_each(|&child| self.visit_text(value, child))?;
                if value.kind(*node) == Type::Object {
                    children = distinct(value, &children, self.rules.duplicates)?;
                }
                let part =
                    |child| (value.key(child).map(Cow::into_owned), Term::Tree(holder.clone(), child).resolved());
                Ok(children.into_iter().map(part).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// What is in a list; `None` for an object.
    fn items<'t>(&mut self, term: &Term<'t>) -> Result<Option<Vec<Term<'t>>>, Error> {
        match term {
            Term::Tree(..) if term.is_object() => Ok(None),
            Term::Tree(..) | Term::List(_) => Ok(Some(self.parts(term)?.into_iter().map(|(_, item)| item).collect())),
            _ => Err(Error::Inapplicable("the operator wants a list")),
        }
    }

    /// Whether `item` equals something in `list`.
    pub(super) fn within(&mut self, item: &Term<'_>, list: &Term<'_>) -> Result<bool, Error> {
        match self.items(list)? {
            Some(items) => self.among(item, &items),
            None => Ok(false),
        }
    }

    fn among(&mut self, item: &Term<'_>, items: &[Term<'_>]) -> Result<bool, Error> {
        for other in items {
            self.visit(1)?;
            if self.equal(item, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many items of `left` are in `right`, and how many there are; `None` if one of them is an object.
    pub(super) fn shared(&mut self, left: &Term<'_>, right: &Term<'_>) -> Result<Option<(usize, usize)>, Error> {
        let (Some(right), Some(left)) = (self.items(right)?, self.items(left)?) else { return Ok(None) };
        let mut shared = 0;
        for item in &left {
            shared += usize::from(self.among(item, &right)?);
        }
        Ok(Some((shared, left.len())))
    }

    /// Characters of a text as Java counts them, elements of an array, members of an object.
    pub(super) fn length(&mut self, term: &Term<'_>) -> Result<Option<usize>, Error> {
        match term {
            Term::Text(text) => Ok(Some(text.encode_utf16().count())),
            Term::Tree(..) | Term::List(_) => Ok(Some(self.parts(term)?.len())),
            _ => Ok(None),
        }
    }

    /// Whether a pattern matches a scalar, or one of the scalars in a list, from end to end.
    pub(super) fn matches(&mut self, pattern: &Regex, term: &Term<'_>) -> Result<bool, Error> {
        let matches = |term: &Term<'_>| match term {
            Term::Text(text) | Term::Number(text) => pattern.is_match(text),
            Term::Boolean(value) => pattern.is_match(if *value { "true" } else { "false" }),
            _ => pattern.is_match(""),
        };
        match term {
            Term::Tree(..) | Term::List(_) if !term.is_object() => {
                Ok(self.parts(term)?.iter().any(|(_, item)| matches(item)))
            }
            _ => Ok(matches(term)),
        }
    }
}
