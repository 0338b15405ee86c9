//! Running a path on a value.
//!
//! What recurses is bounded by the path: its steps, and how deep its filters are nested; the value is walked with a stack of its own.

use std::collections::HashMap;

use super::ast::{Origin, Path, Token};
use super::found::Match;
use super::rules::{Duplicates, Rules};
use crate::error::{Error, shortened};
use crate::text;
use crate::value::{NodeId, Type, Value};

/// Members up to which keys are compared one with each other.
const FEW: usize = 8;

/// Bytes of text that count as a node: looking at them takes about as long.
const TEXT_BYTES: usize = 256;

/// The one of an object's members that counts under `key`; `passed` counts those that were looked at.
pub(super) fn lookup(
    value: &Value,
    members: impl Iterator<Item = NodeId>,
    key: &str,
    duplicates: Duplicates,
    passed: &mut usize,
) -> Result<Option<NodeId>, Error> {
    let mut found = None;
    for child in members {
        *passed += 1;
        if !value.has_key(child, key) {
            continue;
        }
        match (duplicates, found) {
            (Duplicates::First, _) => return Ok(Some(child)),
            (Duplicates::Refuse, Some(_)) => return Err(Error::Duplicate { key: shortened(key) }),
            _ => found = Some(child),
        }
    }
    Ok(found)
}

/// One evaluation: what it works on, and what it has spent.
pub(super) struct Evaluator<'a> {
    pub(super) value: &'a Value,
    pub(super) rules: &'a Rules,
    /// What `$` stands for.
    pub(super) root: NodeId,
    visited: usize,
    made_bytes: usize,
    /// Whether several names at the end pick members into a new object; for a change they are places of their own.
    picks: bool,
}

/// How a path is walked, apart from where it is.
#[derive(Clone, Copy)]
struct Walk<'p> {
    tokens: &'p [Token],
    /// Whether nothing before this step could have led to several nodes; then what does not fit is an error.
    definite: bool,
    /// Whether a missing member is an error even where the path is not definite, as in an existence test.
    strict: bool,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(value: &'a Value, rules: &'a Rules) -> Evaluator<'a> {
        Evaluator { value, rules, root: value.root(), visited: 0, made_bytes: 0, picks: true }
    }

    /// One that finds places to change.
    pub(super) fn for_places(value: &'a Value, rules: &'a Rules) -> Evaluator<'a> {
        Evaluator { picks: false, ..Evaluator::new(value, rules) }
    }

    /// Runs `path`, `@` being `item`: exactly one match for a definite path.
    pub(super) fn run(&mut self, path: &Path, item: NodeId) -> Result<Vec<Match>, Error> {
        let start = if path.origin == Origin::Item { item } else { self.root };
        self.run_from(path, start, false)
    }

    /// Runs `path` as if `part` were all.
    pub(super) fn run_part(&mut self, path: &Path, part: NodeId) -> Result<Vec<Match>, Error> {
        self.root = part;
        self.run(path, part)
    }

    /// Whether `path` leads anywhere from `item`.
    ///
    /// As in Jayway, `$` is the item too in an existence test, and a list exists even when it is empty, but no member on the way may be missing.
    pub(super) fn exists(&mut self, path: &Path, item: NodeId) -> Result<bool, Error> {
        match self.run_from(path, item, true) {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn run_from(&mut self, path: &Path, start: NodeId, strict: bool) -> Result<Vec<Match>, Error> {
        let mut found = Vec::new();
        let walk = Walk { tokens: &path.tokens, definite: true, strict };
        match path.tokens.split_last() {
            Some((Token::Function(function), before)) if path.gathers() => {
                self.step(Walk { tokens: before, ..walk }, start, &mut found)?;
                return Ok(vec![function.gather(self, &found)?]);
            }
            _ => self.step(walk, start, &mut found)?,
        }
        if path.is_definite() && found.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(found)
    }

    /// Counts nodes that were looked at.
    pub(super) fn visit(&mut self, nodes: usize) -> Result<(), Error> {
        self.visited += nodes;
        if self.visited > self.rules.visits { Err(Error::Visited(self.rules.visits)) } else { Ok(()) }
    }

    /// Counts the text of a scalar that is about to be looked at.
    pub(super) fn visit_text(&mut self, value: &Value, node: NodeId) -> Result<(), Error> {
        self.visit(value.scalar_bytes(node) / TEXT_BYTES)
    }

    /// How many nodes need be looked at: where there are more, that is one too many.
    fn left(&self) -> usize {
        self.rules.visits.saturating_sub(self.visited).saturating_add(1)
    }

    /// Counts bytes that were made.
    pub(super) fn made(&mut self, json: Vec<u8>) -> Result<Match, Error> {
        self.made_bytes += json.len();
        if self.made_bytes > self.rules.bytes {
            return Err(Error::Made(self.rules.bytes));
        }
        Ok(Match::Made(text::into_string(json)))
    }

    pub(super) fn get(&mut self, object: NodeId, key: &str) -> Result<Option<NodeId>, Error> {
        let mut passed = 1;
        let members = self.value.children(object).take(self.left());
        let found = lookup(self.value, members, key, self.rules.duplicates, &mut passed);
        self.visit(passed)?;
        found
    }

    /// The elements of an array, or those members of an object that count, in the order of their keys' first appearance.
    pub(super) fn children(&mut self, node: NodeId) -> Result<Vec<NodeId>, Error> {
        let children: Vec<NodeId> = self.value.children(node).take(self.left()).collect();
        self.visit(1 + children.len())?;
        if self.value.kind(node) == Type::Object {
            return distinct(self.value, &children, self.rules.duplicates);
        }
        Ok(children)
    }

    fn step(&mut self, walk: Walk<'_>, node: NodeId, found: &mut Vec<Match>) -> Result<(), Error> {
        self.visit(1)?;
        let Some((token, rest)) = walk.tokens.split_first() else {
            found.push(Match::Node(node));
            return Ok(());
        };
        let several = Walk { tokens: rest, definite: false, ..walk };
        let kind = self.value.kind(node);
        let unfit = || if walk.definite { Err(Error::NotFound) } else { Ok(()) };
        match token {
            Token::Names(_) if kind != Type::Object => unfit(),
            Token::Names(names) => match names.as_slice() {
                [name] => self.member(name, Walk { tokens: rest, ..walk }, node, found),
                names if rest.is_empty() && self.picks => {
                    let picked = self.picked(names, node, walk.strict)?;
                    found.push(picked);
                    Ok(())
                }
                names => names.iter().try_for_each(|name| self.member(name, several, node, found)),
            },
            Token::Indexes(_) | Token::Slice(..) if kind != Type::Array => unfit(),
            Token::Indexes(indexes) => match indexes.as_slice() {
                &[index] => match self.element(node, index)? {
                    Some(element) => self.step(Walk { tokens: rest, ..walk }, element, found),
                    None => Ok(()),
                },
                indexes => {
                    let elements = self.children(node)?;
                    let chosen = indexes.iter().filter_map(|&index| at(&elements, index));
                    chosen.into_iter().try_for_each(|element| self.step(several, element, found))
                }
            },
            Token::Slice(from, to) => {
                let elements = self.children(node)?;
                // Counting from the end wraps only once: `[-2:1]` begins at the end and goes on at the front, as in Jayway.
                slice(*from, *to, elements.len())
                    .filter_map(|index| at(&elements, index))
                    .try_for_each(|element| self.step(several, element, found))
            }
            Token::Wildcard => match kind {
                Type::Object | Type::Array => {
                    self.children(node)?.into_iter().try_for_each(|child| self.step(several, child, found))
                }
                _ => Ok(()),
            },
            Token::Filter(expression) => match kind {
                Type::Object if self.accepts(expression, node)? => self.step(several, node, found),
                Type::Object => Ok(()),
                Type::Array => self.children(node)?.into_iter().try_for_each(|child| {
                    if self.accepts(expression, child)? { self.step(several, child, found) } else { Ok(()) }
                }),
                _ if walk.definite => Err(Error::Inapplicable("a filter wants an array or object")),
                _ => Ok(()),
            },
            Token::Scan => self.scan(several, node, found),
            // A path that was not filled leads nowhere.
            Token::Open(_) => unfit(),
            Token::Function(function) => {
                found.push(function.apply(self, node)?);
                Ok(())
            }
        }
    }

    fn member(&mut self, name: &str, walk: Walk<'_>, node: NodeId, found: &mut Vec<Match>) -> Result<(), Error> {
        match self.get(node, name)? {
            Some(child) => self.step(walk, child, found),
            // A missing leaf is no result, which a definite path then calls an error.
            None if walk.strict || (walk.definite && !walk.tokens.is_empty()) => Err(Error::NotFound),
            None => Ok(()),
        }
    }

    fn element(&mut self, array: NodeId, index: i32) -> Result<Option<NodeId>, Error> {
        let Ok(position) = usize::try_from(index) else { return Ok(at(&self.children(array)?, index)) };
        self.visit(position)?;
        Ok(self.value.children(array).nth(position))
    }

    /// The named members as an object of their own.
    fn picked(&mut self, names: &[String], object: NodeId, strict: bool) -> Result<Match, Error> {
        let mut json = vec![b'{'];
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                continue;
            }
            match self.get(object, name)? {
                Some(member) => {
                    if json.len() > 1 {
                        json.push(b',');
                    }
                    text::write_string(name, &mut json);
                    json.push(b':');
                    self.rules.write(self.value, member, &mut json)?;
                }
                None if strict => return Err(Error::NotFound),
                None => {}
            }
        }
        json.push(b'}');
        self.made(json)
    }

    /// `..`: the next step from every array and object below, the outer before the inner.
    fn scan(&mut self, walk: Walk<'_>, top: NodeId, found: &mut Vec<Match>) -> Result<(), Error> {
        let Some(next) = walk.tokens.first() else { return Ok(()) };
        let mut waiting = vec![top];
        while let Some(node) = waiting.pop() {
            let kind = self.value.kind(node);
            if !matches!(kind, Type::Object | Type::Array) {
                continue;
            }
            let applies = match next {
                Token::Names(names) if kind == Type::Object => {
                    // Several names at the end want them all.
                    let all = names.len() == 1 || walk.tokens.len() > 1;
                    all || names.iter().try_fold(true, |all, name| Ok(all && self.get(node, name)?.is_some()))?
                }
                Token::Names(_) => false,
                Token::Indexes(_) | Token::Slice(..) => kind == Type::Array,
                // An array is filtered only if the filter accepts the array itself.
                Token::Filter(expression) => self.accepts(expression, node)?,
                _ => true,
            };
            if applies {
                // A scanned member that is missing is no error even where every member is wanted.
                self.step(Walk { strict: walk.strict && !matches!(next, Token::Names(_)), ..walk }, node, found)?;
            }
            waiting.extend(self.children(node)?.into_iter().rev());
        }
        Ok(())
    }
}

/// The element at `index`, from the end if it is negative.
fn at(elements: &[NodeId], index: i32) -> Option<NodeId> {
    let index = if index < 0 { elements.len() as i64 + i64::from(index) } else { i64::from(index) };
    usize::try_from(index).ok().and_then(|index| elements.get(index)).copied()
}

/// The indexes of a slice of an array of `length` elements.
fn slice(from: Option<i32>, to: Option<i32>, length: usize) -> std::ops::Range<i32> {
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    match (from, to) {
        (Some(from), Some(to)) => from.max(-length)..to.min(length),
        (Some(from), None) => (if from < 0 { (length + from.max(-length)).max(0) } else { from })..length,
        (None, to) => {
            let to = to.unwrap_or(length);
            0..(if to < 0 { length + to.max(-length) } else { to.min(length) })
        }
    }
}

/// Of members with the same key, the one that counts, at the place of the first.
pub(super) fn distinct(value: &Value, members: &[NodeId], duplicates: Duplicates) -> Result<Vec<NodeId>, Error> {
    let mut kept: Vec<NodeId> = Vec::with_capacity(members.len());
    let mut places = HashMap::new();
    for &member in members {
        let key = value.key(member).unwrap_or_default();
        let place = if members.len() <= FEW {
            kept.iter().position(|&earlier| value.has_key(earlier, &key))
        } else {
            let next = kept.len();
            Some(*places.entry(key.clone()).or_insert(next)).filter(|&place| place < next)
        };
        match (place, duplicates) {
            (None, _) => kept.push(member),
            (Some(_), Duplicates::First) => {}
            (Some(place), Duplicates::Last) => kept[place] = member,
            (Some(_), Duplicates::Refuse) => return Err(Error::Duplicate { key: shortened(&key) }),
        }
    }
    Ok(kept)
}
