//! Loops: for-each, groups, iterate, and the pieces of a string.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use myelin_xpath::{Atomic, Collation, Distinct, Item, Moment, Pattern, Segment, Value, Version};

use super::content::Typed;
use super::failure::Failure;
use super::failure::Outcome;
use super::focus::Focus;
use super::frame::{Flow, Group};
use super::host::Explain;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::program::{AnalyzeString, Expr, ForEach, ForEachGroup, GroupBy, Iterate};

impl<'a> Machine<'a> {
    /// `xsl:for-each` (XSLT 1.0 §8)
    #[inline(never)]
    pub(super) fn for_each(
        &'a self,
        for_each: &'a ForEach,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        // Inside there is no template that apply-imports could go on from.
        let rule = self.rule.take();
        let flow = self.each(for_each, focus, out);
        self.rule.set(rule);
        flow
    }

    fn each(&'a self, for_each: &'a ForEach, focus: &Focus<'a>, out: &mut Receiver<'_, 'a>) -> Outcome<Flow> {
        let shape = &for_each.select.shape;
        if let (Some((document, node)), true) = (focus.tree(), for_each.sorts.is_empty())
            && shape.is_walked()
        {
            let mut flow = Flow::Next;
            self.each_focus(shape, document, node, &mut |focus| {
                flow = self.run(&for_each.body, focus, out)?;
                Ok(flow == Flow::Next)
            })?;
            return Ok(flow);
        }
        let value = self.select(&for_each.select, focus)?;
        let value = self.sorted(value, &for_each.sorts, focus)?;
        let size = value.len() as u64;
        for (index, item) in value.into_items().enumerate() {
            self.count()?;
            let focus = Focus { item: Some(item), position: index as u64 + 1, size };
            let flow = self.run(&for_each.body, &focus, out)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// `xsl:for-each-group` (XSLT 2.0 §14)
    pub(super) fn for_each_group(
        &'a self,
        grouping: &'a ForEachGroup,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        let items: Vec<Item<'a>> = self.select(&grouping.select, focus)?.into_items().collect();
        let collation = self.optional_avt(grouping.collation.as_ref(), focus)?;
        let collation = Collation::of_sort(None, None, collation.as_deref())
            .map_err(|message| Failure::new("XTDE1110", message))?;
        let groups = self.groups(items, &grouping.by, &collation)?;
        let firsts: Vec<Item<'a>> = groups.iter().filter_map(|group| group.items.get(0)).collect();
        let (outer, rule) = (self.group.take(), self.rule.take());
        let result = (|| {
            let order = if grouping.sorts.is_empty() {
                (0..groups.len()).collect()
            } else {
                self.order_of(&firsts, &grouping.sorts, focus, |machine, index| {
                    machine.group.replace(Some(Rc::clone(&groups[index])));
                })?
            };
            let size = groups.len() as u64;
            for (position, index) in order.into_iter().enumerate() {
                self.count()?;
                self.group.replace(Some(Rc::clone(&groups[index])));
                let focus = Focus { item: Some(firsts[index].clone()), position: position as u64 + 1, size };
                let flow = self.run(&grouping.body, &focus, out)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })();
        self.group.replace(outer);
        self.rule.set(rule);
        result
    }

    fn groups(&'a self, items: Vec<Item<'a>>, by: &'a GroupBy, collation: &Collation) -> Outcome<Vec<Rc<Group<'a>>>> {
        self.build(items.len() * size_of::<Item<'_>>())?;
        match by {
            GroupBy::Value(key, composite) => self.groups_by_value(&items, key, *composite, collation),
            GroupBy::Adjacent(key, composite) => self.groups_of_adjacent(&items, key, *composite, collation),
            GroupBy::StartingWith(patterns) => {
                let mut groups: Vec<Vec<Item<'a>>> = Vec::new();
                for item in items {
                    let focus = Focus { item: Some(item.clone()), position: 1, size: 1 };
                    let starts = self.matches_any(patterns, &focus)?;
                    match groups.last_mut() {
                        Some(group) if !starts => group.push(item),
                        _ => groups.push(vec![item]),
                    }
                }
                Ok(without_keys(groups))
            }
            GroupBy::EndingWith(patterns) => {
                let mut groups: Vec<Vec<Item<'a>>> = Vec::new();
                let mut ended = true;
                for item in items {
                    let focus = Focus { item: Some(item.clone()), position: 1, size: 1 };
                    let ends = self.matches_any(patterns, &focus)?;
                    match groups.last_mut() {
                        Some(group) if !ended => group.push(item),
                        _ => groups.push(vec![item]),
                    }
                    ended = ends;
                }
                Ok(without_keys(groups))
            }
        }
    }

    /// The values of a grouping key for one item.
    fn key_values(&'a self, items: &[Item<'a>], index: usize, key: &'a Expr) -> Outcome<Vec<Atomic<'a>>> {
        self.count()?;
        let focus = Focus { item: Some(items[index].clone()), position: index as u64 + 1, size: items.len() as u64 };
        let value = self.evaluate(key, &focus)?.atomized().explain(self, &key.text)?;
        Ok(value.into_items().filter_map(atomic).collect())
    }

    fn groups_by_value(
        &'a self,
        items: &[Item<'a>],
        key: &'a Expr,
        composite: bool,
        collation: &Collation,
    ) -> Outcome<Vec<Rc<Group<'a>>>> {
        let mut values_seen = Keys::new(self.options.now, collation);
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut groups: Vec<(Vec<Atomic<'a>>, Vec<Item<'a>>)> = Vec::new();
        for index in 0..items.len() {
            let values = self.key_values(items, index, key)?;
            let keys: Vec<Vec<Atomic<'a>>> =
                if composite { vec![values] } else { values.into_iter().map(|value| vec![value]).collect() };
            let mut joined: Vec<usize> = Vec::new();
            for key in keys {
                let numbers: Vec<u32> = key.iter().map(|value| values_seen.number(value)).collect();
                self.build(size_of::<Item<'_>>() * (key.len() + 1))?;
                let place = *places.entry(numbers).or_insert_with(|| {
                    groups.push((key, Vec::new()));
                    groups.len() - 1
                });
                // An item whose keys are equal to each other is in their group once.
                if !joined.contains(&place) {
                    joined.push(place);
                    groups[place].1.push(items[index].clone());
                }
            }
        }
        Ok(groups.into_iter().map(|(key, items)| group(items, key)).collect())
    }

    fn groups_of_adjacent(
        &'a self,
        items: &[Item<'a>],
        key: &'a Expr,
        composite: bool,
        collation: &Collation,
    ) -> Outcome<Vec<Rc<Group<'a>>>> {
        let mut values_seen = Keys::new(self.options.now, collation);
        let mut last: Option<Vec<u32>> = None;
        let mut groups: Vec<(Vec<Atomic<'a>>, Vec<Item<'a>>)> = Vec::new();
        for index in 0..items.len() {
            let values = self.key_values(items, index, key)?;
            if !composite && values.len() != 1 {
                return Err(Failure::new("XTTE1100", "group-adjacent gives one value for each item"));
            }
            let numbers: Vec<u32> = values.iter().map(|value| values_seen.number(value)).collect();
            match groups.last_mut() {
                Some((_, group)) if last.as_ref() == Some(&numbers) => group.push(items[index].clone()),
                _ => groups.push((values, vec![items[index].clone()])),
            }
            last = Some(numbers);
        }
        Ok(groups.into_iter().map(|(key, items)| group(items, key)).collect())
    }

    /// `xsl:iterate` (XSLT 3.0 §8)
    pub(super) fn iterate(
        &'a self,
        iterate: &'a Iterate,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<Flow> {
        for parameter in &iterate.parameters {
            let value = self.bind(&parameter.value, focus)?;
            self.assign(parameter.slot, self.convert(value, parameter.kind.as_ref(), Typed::DEFAULT)?);
        }
        let value = self.select(&iterate.select, focus)?;
        let size = value.len() as u64;
        for (index, item) in value.into_items().enumerate() {
            self.count()?;
            let focus = Focus { item: Some(item), position: index as u64 + 1, size };
            match self.run(&iterate.body, &focus, out)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => {
                    let left = self.left.borrow_mut().value.take();
                    out.give(left.unwrap_or(Value::EMPTY), Version::V3)?;
                    return Ok(Flow::Next);
                }
                flow @ (Flow::Return | Flow::Tail) => return Ok(flow),
            }
        }
        let last = self.bind(&iterate.on_completion, &Focus::nothing())?;
        out.give(last, Version::V3)?;
        Ok(Flow::Next)
    }

    /// `xsl:analyze-string` (XSLT 2.0 §15)
    pub(super) fn analyze_string(
        &'a self,
        analyze: &'a AnalyzeString,
        focus: &Focus<'a>,
        out: &mut Receiver<'_, 'a>,
    ) -> Outcome<()> {
        let value = self.evaluate(&analyze.select, focus)?;
        let text = match analyze.select.version() {
            Version::V1 => value.string(),
            _ if value.is_empty() => Cow::Borrowed(""),
            _ => self.only_text(value, &analyze.select)?,
        };
        let (regex, flags) = (self.avt(&analyze.regex, focus)?, self.avt(&analyze.flags, focus)?);
        let pattern = Pattern::new(&regex, &flags).explain(self, &regex).map_err(|mut failure| {
            match &*failure.code {
                "FORX0001" => failure.code = "XTDE1145".into(),
                "FORX0002" => failure.code = "XTDE1140".into(),
                _ => {}
            }
            failure
        })?;
        let segments: Result<Vec<_>, _> = pattern.segments(&text).collect();
        let segments = segments.explain(self, &regex)?;
        let size = segments.len() as u64;
        let outer = self.captures.take();
        let mut result = Ok(());
        for (index, segment) in segments.into_iter().enumerate() {
            let (block, groups) = match segment {
                Segment::Match(groups) => (&analyze.matching, groups),
                Segment::Between(text) => (&analyze.other, vec![text]),
            };
            let piece = groups.first().copied().unwrap_or_default().to_owned();
            let matching = std::ptr::eq(block, &analyze.matching);
            let captures = matching.then(|| Rc::new(groups.into_iter().map(str::to_owned).collect()));
            self.captures.replace(captures);
            let focus = Focus { item: Some(Item::Atomic(piece.into())), position: index as u64 + 1, size };
            result = self.count().and_then(|()| self.run_inside(block, &focus, out));
            if result.is_err() {
                break;
            }
        }
        self.captures.replace(outer);
        result
    }
}

fn group<'a>(items: Vec<Item<'a>>, key: Vec<Atomic<'a>>) -> Rc<Group<'a>> {
    let key = Value::from_items(key.into_iter().map(Item::Atomic).collect());
    Rc::new(Group { items: Value::from_items(items).shared(), key: Some(key) })
}

fn without_keys(groups: Vec<Vec<Item<'_>>>) -> Vec<Rc<Group<'_>>> {
    groups.into_iter().map(|items| Rc::new(Group { items: Value::from_items(items).shared(), key: None })).collect()
}

/// Numbers keys: the same key gets the same number.
struct Keys<'c, 'a> {
    collation: &'c Collation,
    distinct: Distinct<'a>,
    /// Texts that the collation told apart.
    texts: Vec<Atomic<'a>>,
}

impl<'c, 'a> Keys<'c, 'a> {
    fn new(now: Option<Moment>, collation: &'c Collation) -> Keys<'c, 'a> {
        Keys { collation, distinct: Distinct::new(now), texts: Vec::new() }
    }

    fn number(&mut self, value: &Atomic<'a>) -> u32 {
        let Atomic::Text(text, _) = value else { return self.distinct.number(value) };
        if self.collation.is_codepoints() {
            return self.distinct.number(value);
        }
        // The first text that is equal by the collation stands for all of them.
        let same = |known: &&Atomic<'a>| matches!(known, Atomic::Text(known, _) if self.collation.compare(known, text).is_eq());
        match self.texts.iter().find(same) {
            Some(known) => self.distinct.number(known),
            None => {
                self.texts.push(value.clone());
                self.distinct.number(value)
            }
        }
    }
}

fn atomic(item: Item<'_>) -> Option<Atomic<'_>> {
    match item {
        Item::Atomic(atomic) => Some(atomic),
        _ => None,
    }
}
