//! What is checked of the files themselves, as ordinary tests.

mod circles;
mod layers;
mod links;
mod modules;
mod outside;
mod recipes;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// Longer files are a sign that two things live in one; those that must be longer stand here with the reason.
const LINE_LIMIT: usize = 700;
const LONGER: &[(&str, &str)] = &[];

/// All files of the project with one of these endings.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                // `.ci` and `.cargo` are ours; what git and cargo make is not.
                if !["target", ".git", "corpus", "artifacts", "node_modules"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no file ends in {endings:?}");
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Collects `file:line: what` for every line that `wrong` complains about.
fn check_lines(endings: &[&str], wrong: impl Fn(&Path, &str) -> Option<String>) {
    let mut complaints = Vec::new();
    for path in files(endings) {
        let text = fs::read_to_string(&path).unwrap();
        for (index, line) in text.lines().enumerate() {
            if let Some(what) = wrong(&path, line) {
                complaints.push(format!("{}:{}: {what}", shown(&path), index + 1));
            }
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn no_source_file_is_too_long_to_read() {
    let mut complaints = Vec::new();
    for path in files(&[".rs"]) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let name = shown(&path);
        let listed = LONGER.iter().any(|(longer, _)| *longer == name);
        if lines > LINE_LIMIT && !listed {
            complaints.push(format!("{name} has {lines} lines, more than {LINE_LIMIT}"));
        }
        if lines <= LINE_LIMIT && listed {
            complaints.push(format!("{name} is short enough now: take it off the list"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_source_file_opens_with_what_it_is() {
    let sources = files(&[".rs"]);
    let silent: Vec<String> = sources
        .iter()
        // A long set of tests moved out of its file is said by its name.
        .filter(|path| !path.to_string_lossy().ends_with("tests.rs"))
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            // Fuzz targets have to start with an attribute.
            !text.lines().take(3).any(|line| line.starts_with("//!"))
        })
        .map(|path| shown(path))
        .collect();
    assert!(silent.is_empty(), "these do not say what they are: {silent:#?}");
}

#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not hold them.
    let words =
        [["TO", "DO"], ["FIX", "ME"], ["XX", "X:"], ["todo", "!("], ["unimplemented", "!("]].map(|two| two.concat());
    check_lines(&[".rs", ".toml", ".md"], |_, line| {
        words.iter().find(|word| line.contains(*word)).map(|word| format!("{word} is not allowed: do it or drop it"))
    });
}

#[test]
fn no_character_is_invisible_or_turns_the_text_around() {
    check_lines(&[".rs", ".toml", ".md", ".xml", "run"], |_, line| {
        let bad = |c: char| matches!(c, '\u{a0}' | '\u{ad}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
        line.chars().find(|&c| bad(c)).map(|c| format!("U+{:04X}", u32::from(c)))
    });
}

#[test]
fn markdown_has_no_trailing_white_space() {
    check_lines(&[".md"], |_, line| (line != line.trim_end()).then(|| "white space at the end".to_owned()));
}

#[test]
fn types_are_named_for_what_they_are() {
    let empty = ["Manager", "Helper", "Util", "Utils", "Impl"];
    check_lines(&[".rs"], |_, line| {
        let name = ["struct ", "enum ", "trait "].iter().find_map(|word| {
            let rest = line
                .trim_start()
                .trim_start_matches("pub ")
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub(super) ");
            rest.strip_prefix(word)
        })?;
        let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
        empty.iter().any(|end| name.ends_with(end)).then(|| format!("{name}: say what it holds"))
    });
}

#[test]
fn a_module_lies_beside_the_folder_of_its_parts() {
    let old = files(&["mod.rs"]).into_iter().filter(|path| path.ends_with("mod.rs"));
    // In `tests` and `benches`, a file outside a folder would be a program of its own.
    let old: Vec<String> = old.map(|path| shown(&path)).filter(|path| path.contains("/src/")).collect();
    assert!(old.is_empty(), "{old:?}: name.rs beside name/, no mod.rs");
}

#[test]
fn every_package_follows_the_lints_of_the_workspace() {
    // A kit's package is compiled where the kit is unpacked.
    let elsewhere = ["fuzz", "bench/kits"].map(|folder| root().join(folder));
    for path in files(&["Cargo.toml"]) {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("[package]") && !elsewhere.iter().any(|folder| path.starts_with(folder)) {
            assert!(text.contains("[lints]\nworkspace = true"), "{}: no `[lints] workspace = true`", shown(&path));
        }
    }
}

#[test]
fn decisions_are_numbered_without_gaps_and_give_their_cost() {
    let folder = root().join("docs/decisions");
    let mut names: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for (index, path) in names.iter().enumerate() {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("{:04}-", index + 1)), "{name} should be number {}", index + 1);
        let text = fs::read_to_string(path).unwrap();
        for heading in ["## Question", "## Decision", "## Cost"] {
            assert!(text.lines().any(|line| line == heading), "{name} has no {heading:?}");
        }
    }
}
