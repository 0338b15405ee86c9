//! Modules that import each other in a circle: no more than three files, so that each can be read before the others.
//!
//! An import counts from file to file, as does a path in the code; what a file hands on and does not use itself does
//! not count, and who imports it from there imports it from where it is defined.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Modules;
use crate::packages::{Package, packages};

/// So many files may import each other in a circle.
const MOST: usize = 3;

/// A larger circle: one grammar or one evaluator whose parts are truly mutual.
struct Circle {
    package: &'static str,
    files: &'static [&'static str],
    #[expect(dead_code, reason = "for those who read the list")]
    reason: &'static str,
}

const CIRCLES: &[Circle] = &[
    Circle {
        package: "flow",
        files: &["context", "definitions", "mediator", "observer", "recorder"],
        reason: "a mediator is given the context, which holds the definitions, which hold mediators; it also holds what \
                 records the exchange, which is told of sequences and flows and reads them with the same context: \
                 these files define the types, and nothing that is done with them",
    },
    Circle {
        package: "xpath",
        files: &["ast", "context", "function", "run", "value", "value/function"],
        reason: "values hold functions, functions hold expressions, expressions name functions of the library, whose \
                 calls hold the run with its host, which gives values: these files define the types, and nothing that \
                 is done with them",
    },
];

#[test]
fn modules_import_each_other_in_no_large_circle() {
    let mut complaints = Vec::new();
    for package in packages().unwrap() {
        let found: Vec<(Modules, BTreeSet<usize>)> = large_circles(&package);
        let listed: Vec<&Circle> = CIRCLES.iter().filter(|circle| circle.package == package.name).collect();
        let names = |(modules, circle): &(Modules, BTreeSet<usize>)| -> BTreeSet<String> {
            circle.iter().map(|&file| modules.names[file].clone()).collect()
        };
        let found_names: Vec<BTreeSet<String>> = found.iter().map(names).collect();
        for circle in &listed {
            if !found_names.iter().any(|names| is_same(circle, names)) {
                let files = circle.files.join(", ");
                complaints.push(format!("{}: this circle is not there any more: {files}", package.name));
            }
        }
        for (at, names) in found_names.iter().enumerate() {
            if !listed.iter().any(|circle| is_same(circle, names)) {
                let (modules, circle) = &found[at];
                complaints.push(format!(
                    "{}: {} files in a circle:\n{}",
                    package.name,
                    names.len(),
                    shown(modules, circle)
                ));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn is_same(circle: &Circle, names: &BTreeSet<String>) -> bool {
    circle.files.len() == names.len() && circle.files.iter().all(|file| names.contains(*file))
}

fn large_circles(package: &Package) -> Vec<(Modules, BTreeSet<usize>)> {
    let mut large = Vec::new();
    for root in package.roots() {
        let modules = Modules::read(&root);
        let found: Vec<BTreeSet<usize>> = circles(&modules.uses).into_iter().filter(|it| it.len() > MOST).collect();
        large.extend(found.into_iter().map(|circle| (modules.clone(), circle)));
    }
    large
}

/// What each file of a circle uses of the others.
fn shown(modules: &Modules, circle: &BTreeSet<usize>) -> String {
    let mut lines = Vec::new();
    for &file in circle {
        for (other, names) in modules.uses[file].iter().filter(|(other, _)| circle.contains(other)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            lines.push(format!("    {} → {}: {}", modules.names[file], modules.names[*other], names.join(", ")));
        }
    }
    lines.join("\n")
}

/// The strongly connected components with more than one file.
///
/// Source: Tarjan, Depth-first search and linear graph algorithms (1972), without recursion.
fn circles(uses: &[BTreeMap<usize, BTreeSet<String>>]) -> Vec<BTreeSet<usize>> {
    let mut numbers: Vec<Option<usize>> = vec![None; uses.len()];
    let mut lowest = vec![0; uses.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    let mut next_number = 0;
    for start in 0..uses.len() {
        if numbers[start].is_some() {
            continue;
        }
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut entered = Some(start);
        loop {
            if let Some(file) = entered.take() {
                numbers[file] = Some(next_number);
                lowest[file] = next_number;
                next_number += 1;
                open.push(file);
                path.push((file, uses[file].keys().copied().collect()));
            }
            let Some((file, rest)) = path.last_mut() else { break };
            let file = *file;
            match rest.pop() {
                Some(other) => match numbers[other] {
                    None => entered = Some(other),
                    Some(number) if open.contains(&other) => lowest[file] = lowest[file].min(number),
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    if let Some((outer, _)) = path.last() {
                        lowest[*outer] = lowest[*outer].min(lowest[file]);
                    }
                    if Some(lowest[file]) == numbers[file] {
                        let at = open.iter().position(|other| *other == file).expect("it was opened");
                        let circle: BTreeSet<usize> = open.drain(at..).collect();
                        found.extend((circle.len() > 1).then_some(circle));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn circles_are_found() {
    let check = |edges: &[(usize, usize)], expected: &[&[usize]]| {
        let mut uses = vec![BTreeMap::new(); 6];
        for &(from, to) in edges {
            uses[from].insert(to, BTreeSet::new());
        }
        let expected: Vec<BTreeSet<usize>> = expected.iter().map(|circle| circle.iter().copied().collect()).collect();
        let mut found = circles(&uses);
        found.sort();
        assert_eq!(found, expected, "{edges:?}");
    };
    check(&[(0, 1), (1, 2), (0, 2)], &[]);
    check(&[(0, 1), (1, 0)], &[&[0, 1]]);
    check(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0)], &[&[0, 1, 2], &[3, 4]]);
    check(&[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 0)], &[&[0, 1, 2, 3, 4]]);
}
