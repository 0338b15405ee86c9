//! Every name of the language, misspelt: what was meant is told at its place, and nothing that messages need is lost.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it checked")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use myelin_engine::{Problem, Settings, load};
use myelin_xml::{Document, Kind, NodeId, Options};

const SYNAPSE: &str = "http://ws.apache.org/ns/synapse";

/// Elements that hold what is not of the language: a text, a message, a policy.
const HOLD_DATA: &[&str] = &[
    "format",
    "property",
    "localEntry",
    "detail",
    "source",
    "header",
    "description",
    "policy",
    "template-data",
    "proxy/policy",
];

/// Attributes that say which way messages take, and what has to be there.
const STRUCTURE: &[&str] = &[
    "context",
    "continueParent",
    "endpoint",
    "errorSequence",
    "faultSequence",
    "inSequence",
    "key",
    "key-expression",
    "method",
    "methods",
    "name",
    "onAccept",
    "onError",
    "onReject",
    "outSequence",
    "receive",
    "regex",
    "sequence",
    "serviceURL",
    "target",
    "uri-template",
    "url-mapping",
    "version-type",
    "xpath",
];

/// A name in a configuration that loads without a word.
struct Name {
    configuration: PathBuf,
    text: String,
    /// Where the name stands; that of an element in its end tag, too.
    ranges: Vec<Range<usize>>,
    /// The line and the column of the first.
    place: (u32, u32),
}

/// What a name is: an element in its parent, or an attribute of its element.
type Key = (String, String);

#[derive(Default)]
struct Names {
    elements: BTreeMap<Key, Name>,
    attributes: BTreeMap<Key, Name>,
}

/// All names of the language in the golden cases.
fn names() -> Names {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut names = Names::default();
    let mut folders: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    for configuration in folders.iter().map(|folder| folder.join("synapse.xml")).filter(|file| file.is_file()) {
        let text = fs::read_to_string(&configuration).unwrap();
        let report = load(std::slice::from_ref(&configuration), &Settings::default()).report;
        let is_silent =
            |it: &myelin_engine::Artefact| it.problems.is_empty() && it.latent.is_empty() && it.warnings.is_empty();
        if report.artefacts.iter().all(is_silent) {
            let tree = Document::parse(text.clone().into_bytes(), &Options::default()).unwrap();
            names.add(&configuration, &text, &tree, tree.root_element().unwrap(), "");
        }
    }
    names
}

impl Names {
    fn add(&mut self, configuration: &Path, text: &str, tree: &Document, node: NodeId, parent: &str) {
        let qname = tree.qname(node);
        if qname.namespace != SYNAPSE {
            return;
        }
        let name = qname.local.to_owned();
        let range = tree.range(node).unwrap();
        let made = |ranges: Vec<Range<usize>>, start: usize| {
            let before = &text[..start];
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
            Name { configuration: configuration.to_owned(), text: text.to_owned(), ranges, place: (line, column) }
        };
        let start = range.start + 1..range.start + 1 + name.len();
        let end = format!("</{name}>");
        let mut ranges = vec![start];
        if text[range.clone()].ends_with(&end) {
            ranges.push(range.end - 1 - name.len()..range.end - 1);
        }
        if !parent.is_empty() {
            let element = made(ranges, range.start);
            self.elements.entry((parent.to_owned(), name.clone())).or_insert(element);
        }
        for attribute in tree.attributes(node) {
            let (qname, range) = (tree.qname(attribute), tree.range(attribute).unwrap());
            if qname.namespace.is_empty() {
                let local = qname.local.to_owned();
                let name_range = range.start..range.start + local.len();
                let found = made(Vec::from([name_range]), range.start);
                self.attributes.entry((name.clone(), local)).or_insert(found);
            }
        }
        if !HOLD_DATA.contains(&name.as_str()) {
            let children: Vec<NodeId> = tree.children(node).filter(|&it| tree.kind(it) == Kind::Element).collect();
            children.into_iter().for_each(|child| self.add(configuration, text, tree, child, &name));
        }
    }
}

impl Name {
    /// What loading tells where the name stands, if another one stands there; and what of it are problems.
    fn told(&self, other: &str, folder: &Path) -> (Vec<Problem>, bool) {
        let mut text = self.text.clone();
        self.ranges.iter().rev().for_each(|range| text.replace_range(range.clone(), other));
        let file = folder.join("synapse.xml");
        fs::write(&file, text).unwrap();
        // What a configuration refers to lies beside it.
        for entry in fs::read_dir(self.configuration.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_file() && entry.file_name() != self.configuration.file_name() {
                fs::copy(&entry, folder.join(entry.file_name().unwrap())).unwrap();
            }
        }
        let report = load(std::slice::from_ref(&file), &Settings::default()).report;
        let here = |it: &&Problem| (it.line(), it.column()) == self.place;
        let is_problem = report.artefacts.iter().flat_map(|it| &it.problems).any(|it| here(&it));
        let all = report.artefacts.into_iter().flat_map(|it| [it.problems, it.latent, it.warnings]).flatten();
        (all.filter(|it| here(&it)).collect(), is_problem)
    }
}

/// Misspellings: a letter too few, two that changed places, another case.
fn misspelt(name: &str) -> BTreeSet<String> {
    let letters: Vec<char> = name.chars().collect();
    let middle = letters.len() / 2;
    let dropped = letters.iter().enumerate().filter(|(at, _)| *at != middle).map(|(_, letter)| *letter).collect();
    let mut swapped = letters.clone();
    swapped.swap(middle - 1, middle);
    let cased = match name.to_lowercase() == name {
        true => name[..1].to_uppercase() + &name[1..],
        false => name.to_lowercase(),
    };
    [dropped, swapped.into_iter().collect(), cased].into_iter().filter(|other| other != name).collect()
}

#[test]
fn every_misspelt_name_is_told_with_what_was_meant() {
    let names = names();
    let folder = tempfile::tempdir().unwrap();
    let mut missed = Vec::new();
    let mut checked = 0;
    let all = names.elements.iter().map(|it| (true, it)).chain(names.attributes.iter().map(|it| (false, it)));
    for (is_element, ((parent, name), place)) in all.filter(|(_, ((_, name), _))| name.len() > 1) {
        for other in misspelt(name) {
            let (told, is_problem) = place.told(&other, folder.path());
            checked += 1;
            let suggested = told.iter().any(|it| it.suggestion() == Some(name));
            let has_excerpt = told.iter().all(|it| it.excerpt().is_some_and(|it| it.text.contains(&other)));
            let is_structure = is_element || STRUCTURE.contains(&name.as_str());
            let kind = if is_element { "element" } else { "attribute" };
            if !suggested || !has_excerpt || (is_structure && !is_problem) {
                let said: Vec<&str> = told.iter().map(Problem::message).collect();
                let file = place.configuration.parent().unwrap().file_name().unwrap().to_string_lossy();
                missed.push(format!("{kind} {parent}/{name} as {other} in {file}: {said:?}"));
            }
        }
    }
    println!("{checked} misspellings of {} names", names.elements.len() + names.attributes.len());
    assert!(missed.is_empty(), "{} of {checked}:\n{}", missed.len(), missed.join("\n"));
}
