//! The recipes of `CONTRIBUTING.md` name files and items that exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// What the recipes make: no file has these names yet.
const MADE: &[&str] = &["stamp", "pulse", "calendar"];

/// Folders of the repository that a path may begin with.
const FOLDERS: &[&str] = &["crates", "docs", "examples", "fuzz", "tests", "xtask"];

pub(super) fn is_made(path: &str) -> bool {
    MADE.iter().any(|name| path.contains(name))
}

fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}

/// Whether a name stands in a file.
fn mentions(path: &Path, name: &str) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split(|letter| !is_of_name(letter)).any(|word| word == name)
}

/// The text between single backquotes, with what stands before each piece.
fn spans(text: &str) -> Vec<(&str, &str)> {
    let pieces: Vec<&str> = text.split('`').collect();
    pieces.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The prose of a page and its blocks of Rust; each block with the path that was named last before it.
fn parts(page: &str) -> (Vec<&str>, Vec<(&str, String)>) {
    let (mut prose, mut blocks, mut last_path) = (Vec::new(), Vec::new(), "");
    let mut block: Option<(bool, String)> = None;
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), &mut block) {
            (Some(language), None) => block = Some((language == "rust", String::new())),
            (Some(_), Some(_)) => {
                let (is_rust, text) = block.take().expect("matched above");
                if is_rust {
                    blocks.push((last_path, text));
                }
            }
            (None, Some((_, text))) => {
                text.push_str(line.trim_start());
                text.push('\n');
            }
            (None, None) => {
                prose.push(line);
                let mut paths = spans(line).into_iter().filter(|(_, code)| code.starts_with("crates/"));
                last_path = paths.next_back().map_or(last_path, |(_, code)| code);
            }
        }
    }
    (prose, blocks)
}

/// The folder of the sources of a crate: `myelin_flow`, or `crate` in the file that a recipe writes.
fn sources(name: &str, file: &str) -> Option<PathBuf> {
    let Some(package) = name.strip_prefix("myelin_") else {
        let (folder, _) = file.split_once("/src/")?;
        return (name == "crate").then(|| root().join(folder).join("src"));
    };
    let package = package.replace('_', "-");
    let folders = [root().join("crates").join(&package), root().join("crates/channels").join(&package)];
    folders.into_iter().find(|folder| folder.exists()).map(|folder| folder.join("src"))
}

/// The file that holds a module, which may be written inside the file of another.
fn file_of(folder: &Path, modules: &[&str]) -> PathBuf {
    match modules {
        [] => folder.join("lib.rs"),
        [outer @ .., _] => {
            let file = folder.join(modules.join("/")).with_extension("rs");
            if file.exists() { file } else { file_of(folder, outer) }
        }
    }
}

/// What a `use` imports: the path of the module, and the names.
fn imported(line: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let path = line.strip_prefix("use ")?.strip_suffix(';')?;
    let (module, names) = path.rsplit_once("::{").unwrap_or(path.rsplit_once("::")?);
    let names = names.trim_end_matches('}').split(',').map(str::trim).collect();
    Some((module.split("::").collect(), names))
}

#[test]
fn recipes_name_files_that_exist_and_what_they_hold() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut wrong = Vec::new();
    let mut named = 0;
    for line in parts(&page).0 {
        let mut before = "";
        for (between, code) in spans(line) {
            let is_path = code.split('/').count() > 1 && FOLDERS.iter().any(|it| code.split('/').next() == Some(it));
            let is_ours = is_path && !code.contains(' ') && !is_made(code);
            let path = root().join(code);
            if is_ours && !path.exists() {
                wrong.push(format!("{code} is not there; if a recipe makes it, its name belongs to MADE"));
            } else if is_ours && between == " in " && path.is_file() && !is_made(before) {
                named += 1;
                let is_word = before.chars().all(is_of_name);
                if is_word && !before.is_empty() && !mentions(&path, before) {
                    wrong.push(format!("{code} does not hold {before}"));
                }
            }
            before = code;
        }
    }
    assert!(named > 0, "no item is named");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn recipes_import_what_exists() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let mut wrong = Vec::new();
    let mut found = 0;
    for (file, text) in parts(&page).1 {
        for (path, names) in text.lines().filter_map(imported) {
            let Some(folder) = sources(path[0], file) else { continue };
            let module = file_of(&folder, &path[1..]);
            for name in names.into_iter().filter(|name| !is_made(name)) {
                found += 1;
                if !is_made(&path.join("/")) && !mentions(&module, name) {
                    wrong.push(format!("{}::{name} is not in {}", path.join("::"), super::shown(&module)));
                }
            }
        }
    }
    assert!(found > 0, "no import is found");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
