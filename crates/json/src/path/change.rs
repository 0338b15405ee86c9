//! Changing what a path leads to: what Jayway's `set`, `put`, `add` and `delete` do.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::ast::{Path, Token};
use super::evaluate::{Evaluator, lookup};
use super::found::Match;
use super::rules::{Duplicates, Rules};
use crate::error::{Error, shortened};
use crate::value::{New, NodeId, Type, Value};

impl Path {
    /// The nodes the path leads to; several names at its end lead to each of them.
    ///
    /// Errors: as [`Path::find`], and `Inapplicable` for what is not in the value, such as a function's result.
    pub fn nodes(&self, value: &Value, rules: &Rules) -> Result<Vec<NodeId>, Error> {
        let place = |found| match found {
            Match::Node(node) => Ok(node),
            Match::Made(_) => Err(Error::Inapplicable("what a function makes is no place in the value")),
        };
        Evaluator::for_places(value, rules).run(self, value.root())?.into_iter().map(place).collect()
    }

    /// Puts `new` in the place of everything the path leads to; gives how many places that were.
    ///
    /// A missing member at the end of a definite path, and one of several names at the end of any, is added to the object that lacks it; Jayway's `set` adds only the latter.
    /// Errors: as [`Path::nodes`]; `Made` if the copies are larger than the rules allow; those of reading `new`.
    pub fn set(&self, value: &mut Value, new: New<'_>, rules: &Rules) -> Result<usize, Error> {
        let named = matches!(self.tokens.last(), Some(Token::Names(names)) if names.len() > 1);
        match if named { Err(Error::NotFound) } else { self.nodes(value, rules) } {
            Err(Error::NotFound) => self.set_members(value, new, rules),
            Err(error) => Err(error),
            Ok(nodes) => {
                bounded(nodes.len(), new, rules)?;
                remove_namesakes(value, &nodes);
                for &node in &nodes {
                    value.replace(node, new)?;
                }
                Ok(nodes.len())
            }
        }
    }

    /// Sets a member of every object the path leads to, whether it was there or not.
    ///
    /// Errors: as [`Path::set`], and `Unchangeable` if something the path leads to is no object.
    pub fn put(&self, value: &mut Value, key: &str, new: New<'_>, rules: &Rules) -> Result<usize, Error> {
        let nodes = self.nodes(value, rules)?;
        bounded(nodes.len(), new, rules)?;
        for &node in &nodes {
            put(value, node, key, new, rules)?;
        }
        Ok(nodes.len())
    }

    /// Sets all members of the object `new` in every object the path leads to, as [`Path::put`] sets one.
    ///
    /// Errors: as [`Path::put`]; `Made` for all copies together.
    pub fn merge(&self, value: &mut Value, new: &Value, rules: &Rules) -> Result<usize, Error> {
        let objects = self.nodes(value, rules)?;
        bounded(objects.len(), New::Node(new, new.root()), rules)?;
        // Each key once, with its last value, as if the members were put one after the other.
        let (mut keys, mut members) = (HashMap::new(), Vec::new());
        for member in new.children(new.root()) {
            let key = new.key(member).unwrap_or_default();
            match keys.get(&*key) {
                Some(&place) => members[place] = member,
                None => {
                    keys.insert(key.into_owned(), members.len());
                    members.push(member);
                }
            }
        }
        for &object in &objects {
            if value.kind(object) != Type::Object {
                return Err(Error::Unchangeable("only an object takes members"));
            }
            let mut there: Vec<Vec<NodeId>> = vec![Vec::new(); members.len()];
            for child in value.children(object) {
                if let Some(&place) = value.key(child).and_then(|key| keys.get(&*key)) {
                    there[place].push(child);
                }
            }
            for (&member, there) in members.iter().zip(there) {
                merge_member(value, object, &there, (new, member), rules)?;
            }
        }
        Ok(objects.len())
    }

    /// Adds `new` to the end of every array the path leads to.
    ///
    /// Errors: as [`Path::set`], and `Unchangeable` if something the path leads to is no array.
    pub fn add(&self, value: &mut Value, new: New<'_>, rules: &Rules) -> Result<usize, Error> {
        let nodes = self.nodes(value, rules)?;
        bounded(nodes.len(), new, rules)?;
        for &node in &nodes {
            value.push(node, new)?;
        }
        Ok(nodes.len())
    }

    /// Takes out everything the path leads to.
    ///
    /// Errors: as [`Path::nodes`], and `Unchangeable` for the outermost value.
    pub fn delete(&self, value: &mut Value, rules: &Rules) -> Result<usize, Error> {
        let nodes = self.nodes(value, rules)?;
        if nodes.contains(&value.root()) {
            return Err(Error::Unchangeable("the outermost value cannot be taken out"));
        }
        remove_namesakes(value, &nodes);
        for &node in &nodes {
            value.remove(node);
        }
        Ok(nodes.len())
    }

    /// Sets the members at the end of the path, whether they were there or not.
    fn set_members(&self, value: &mut Value, new: New<'_>, rules: &Rules) -> Result<usize, Error> {
        let Some((Token::Names(names), before)) = self.tokens.split_last() else { return Err(Error::NotFound) };
        let holder = Path { text: String::new(), origin: self.origin, tokens: before.to_vec() };
        let objects = holder.nodes(value, rules)?;
        bounded(objects.len().saturating_mul(names.len()), new, rules)?;
        for &object in &objects {
            for name in names {
                put(value, object, name, new, rules)?;
            }
        }
        Ok(objects.len() * names.len())
    }
}

fn put(value: &mut Value, object: NodeId, key: &str, new: New<'_>, rules: &Rules) -> Result<(), Error> {
    if value.kind(object) != Type::Object {
        return Err(Error::Unchangeable("only an object takes members"));
    }
    match lookup(value, value.children(object), key, rules.duplicates, &mut 0)? {
        Some(member) => {
            remove_namesakes(value, &[member]);
            value.replace(member, new)
        }
        None => value.insert(object, key, new).map(drop),
    }
}

/// Sets a member of an object in which those of its key are `there`.
fn merge_member(
    value: &mut Value,
    object: NodeId,
    there: &[NodeId],
    (new, member): (&Value, NodeId),
    rules: &Rules,
) -> Result<(), Error> {
    let counting = match (there, rules.duplicates) {
        ([], _) => {
            let key = new.key(member).unwrap_or_default();
            return value.insert(object, &key, New::Node(new, member)).map(drop);
        }
        ([_, _, ..], Duplicates::Refuse) => {
            return Err(Error::Duplicate { key: shortened(&new.key(member).unwrap_or_default()) });
        }
        ([.., last], Duplicates::Last) => *last,
        ([first, ..], _) => *first,
    };
    there.iter().filter(|&&other| other != counting).for_each(|&other| value.remove(other));
    value.replace(counting, New::Node(new, member))
}

/// Takes out all other members with the keys of `members`: after a change everybody reads the same, whichever of two counts for them.
fn remove_namesakes(value: &mut Value, members: &[NodeId]) {
    let kept: HashSet<NodeId> = members.iter().copied().collect();
    let mut keys: HashMap<NodeId, HashSet<Cow<'_, str>>> = HashMap::new();
    for &member in members {
        if let (Some(object), Some(key)) = (value.parent(member), value.key(member)) {
            keys.entry(object).or_default().insert(key);
        }
    }
    let mut namesakes = Vec::new();
    for (object, keys) in keys {
        let named = |&other: &NodeId| value.key(other).is_some_and(|key| keys.contains(&key));
        namesakes.extend(value.children(object).filter(|other| !kept.contains(other)).filter(named));
    }
    for namesake in namesakes {
        value.remove(namesake);
    }
}

/// That `times` copies of `new` stay within the rules.
fn bounded(times: usize, new: New<'_>, rules: &Rules) -> Result<(), Error> {
    let bytes = match new {
        New::Json(json) => json.len(),
        New::Text(text) => text.len(),
        New::Node(value, node) => value.range(node).map_or_else(
            || {
                let mut out = Vec::new();
                value.write(node, &mut out);
                out.len()
            },
            |range| range.len(),
        ),
    };
    if times.saturating_mul(bytes.max(1)) > rules.bytes { Err(Error::Made(rules.bytes)) } else { Ok(()) }
}
