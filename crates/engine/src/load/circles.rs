//! Sequences that lead back to themselves: a message in such a circle runs until a condition or a limit ends it.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::load::item::Item;
use crate::load::loops;
use myelin_artefacts::loader::Reference;
use myelin_config::problem::{Place, Problem};

/// Warns of each circle once, at the first of its artefacts, with the whole way.
pub(super) fn warn_of_circles(items: &mut [Item]) {
    let is_flow = |reference: &Reference| matches!(reference, Reference::Sequence(_) | Reference::Template(_));
    let owners: HashMap<Reference, usize> =
        items.iter().enumerate().filter_map(|(index, item)| Some((item.id.filter(is_flow)?, index))).collect();
    let mut ways: HashMap<usize, Vec<(usize, Place)>> = HashMap::new();
    for index in owners.values().copied() {
        let named = items[index].references.iter();
        let named = named.filter_map(|(reference, place)| Some((*owners.get(reference)?, place.clone())));
        ways.insert(index, named.collect());
    }
    let pairs: Vec<(usize, usize)> =
        ways.iter().flat_map(|(from, named)| named.iter().map(|(to, _)| (*from, *to))).collect();
    let mut open = loops::endless(&pairs);
    open.sort_unstable();
    let mut told: HashSet<usize> = HashSet::new();
    for start in open {
        let Some(way) = way_back(start, &ways).filter(|_| !told.contains(&start)) else { continue };
        let name = |index: usize| format!("{} {:?}", items[index].element_name, items[index].name);
        let steps: Vec<String> = way.iter().map(|(index, place)| format!("{} ({place})", name(*index))).collect();
        let message = format!(
            "{} leads back to itself, so that a message may run in it without end: {} → {}",
            name(start),
            name(start),
            steps.join(" → ")
        );
        told.extend(way.iter().map(|(index, _)| *index));
        items[start].warnings.push(Problem::new(way[0].1.clone(), message));
    }
}

/// The shortest way from an artefact back to it: each next one, with the place that names it.
fn way_back(start: usize, ways: &HashMap<usize, Vec<(usize, Place)>>) -> Option<Vec<(usize, Place)>> {
    let mut from: HashMap<usize, (usize, Place)> = HashMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(index) = next.pop_front() {
        for (to, place) in ways.get(&index).into_iter().flatten() {
            if from.contains_key(to) {
                continue;
            }
            from.insert(*to, (index, place.clone()));
            if *to == start {
                let mut way = Vec::new();
                let mut at = start;
                loop {
                    let (before, place) = from.get(&at)?.clone();
                    way.push((at, place));
                    at = before;
                    if at == start {
                        way.reverse();
                        return Some(way);
                    }
                }
            }
            next.push_back(*to);
        }
    }
    None
}
