//! The configurations of the documentation are run as a reader would run them.
//!
//! A fenced block whose first line says `file=PATH` is that file, below the folder that the reader works in; one with
//! `shows=PATH` is what a command has written there, and one with `check=FOLDER` are lines that `myelin check` prints of
//! it.

use std::fs;
use std::path::Path;

use crate::commands::run;

/// A fenced block of a page.
struct Block<'a> {
    /// The word behind the fence: `xml`, `json`, `text`.
    language: &'a str,
    /// The file that it is.
    file: Option<&'a str>,
    /// The file whose content it shows.
    shows: Option<&'a str>,
    /// The folder that `myelin check` says it of.
    check: Option<&'a str>,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(words), None) => {
                let (language, rest) = words.split_once(' ').unwrap_or((words, ""));
                let [file, shows, check] = ["file=", "shows=", "check="].map(|key| rest.strip_prefix(key));
                open = Some(Block { language, file, shows, check, text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of the page has no end");
    found
}

/// Writes the files of a page; how many there are.
fn write_files(page: &str, folder: &Path) -> usize {
    let files = blocks(page).into_iter().filter_map(|block| Some((block.file?, block.text)));
    let mut count = 0;
    for (file, text) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        count += 1;
    }
    count
}

/// Asserts that `myelin check` finds all artefacts at a path sound, and nothing to warn of.
fn check(path: &Path) {
    let ended = run(&["check", path.to_str().unwrap()], "");
    assert!(ended.code == 0 && !ended.out.contains("warning"), "{}{}", ended.out, ended.err);
}

#[test]
fn the_artefacts_of_the_reference_run_together() {
    let page = include_str!("../../../../docs/artefacts.md");
    let examples: Vec<String> =
        blocks(page).into_iter().filter(|block| block.language == "xml").map(|block| block.text).collect();
    assert!(examples.len() > 10, "{} examples", examples.len());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synapse.xml");
    let all = examples.concat();
    fs::write(&file, format!("<definitions xmlns=\"http://ws.apache.org/ns/synapse\">{all}</definitions>")).unwrap();
    check(&file);
}

#[test]
fn the_tutorial_does_what_it_says() {
    let page = include_str!("../../../../docs/tutorial.md");
    let folder = tempfile::tempdir().unwrap();
    assert!(write_files(page, folder.path()) > 8);
    let [shop, settings] = ["shop", "deployment.toml"].map(|name| folder.path().join(name));
    let [shop, settings] = [&shop, &settings].map(|path| path.to_str().unwrap());
    let checked = run(&["check", shop, "--config", settings], "");
    assert!(checked.code == 0 && !checked.out.contains("warning"), "{}{}", checked.out, checked.err);
    assert!(checked.err.is_empty(), "{}", checked.err);
    let updated = run(&["test", shop, "--update"], "");
    assert_eq!(updated.code, 0, "{}{}", updated.out, updated.err);
    let mut shown = 0;
    for block in blocks(page) {
        let Some(file) = block.shows else { continue };
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(text.trim_end(), block.text.trim_end(), "{file}");
        shown += 1;
    }
    assert!(shown > 1, "{shown} files are shown");
    let tested = run(&["test", shop], "");
    assert!(tested.code == 0 && tested.out.contains("1 passed, 0 failed"), "{}{}", tested.out, tested.err);
}

#[test]
fn reports_are_as_troubleshooting_and_the_guide_to_migration_show_them() {
    reports(include_str!("../../../../docs/troubleshooting.md"));
    reports(include_str!("../../../../docs/migration.md"));
}

/// Asserts that `myelin check` prints what a page shows of it.
fn reports(page: &str) {
    let folder = tempfile::tempdir().unwrap();
    assert!(write_files(page, folder.path()) > 0);
    let mut compared = 0;
    for block in blocks(page) {
        let Some(checked) = block.check else { continue };
        let path = folder.path().join(checked);
        let ended = run(&["check", path.to_str().unwrap()], "");
        let out = ended.out.replace(&format!("{}/", path.display()), "");
        for line in block.text.lines() {
            assert!(out.lines().any(|printed| printed == line), "{line}\nis not in\n{out}");
            compared += 1;
        }
    }
    assert!(compared > 4, "{compared} lines");
}

#[test]
fn every_key_of_the_guide_to_migration_has_an_effect() {
    let page = include_str!("../../../../docs/migration.md");
    let folder = tempfile::tempdir().unwrap();
    assert!(write_files(page, folder.path()) > 0);
    let [home, settings] = ["mi", "deployment.toml"].map(|name| folder.path().join(name));
    // A file that is wrong would be told before anything is checked.
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_myelin"))
        .env("BACKEND_PASSWORD", "x")
        .args(["check".as_ref(), home.as_os_str(), "--config".as_ref(), settings.as_os_str()])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&command.stderr), "");
    assert!(String::from_utf8_lossy(&command.stdout).contains("ok     proxy Rates"));
}
