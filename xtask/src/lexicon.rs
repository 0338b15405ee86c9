//! The types of the workspace in `docs/lexicon.md`: each with the first sentence of its documentation.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::layers::{LAYERS, between};
use crate::packages::packages;
use crate::workspace::root;

/// Between these lines stands what this module writes.
const BEGIN: &str = "<!-- The public types: written by `cargo xtask docs` from the sources. -->";
const END: &str = "<!-- The end of what `cargo xtask docs` writes. -->";

/// Programs, which nobody imports.
const PROGRAMS: &[&str] = &["xtask"];

/// A public type.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Type {
    name: String,
    /// Relative to the sources of its crate.
    file: String,
    meaning: String,
}

/// `docs/lexicon.md` with the public types as they are now.
///
/// Errors: when a file cannot be read, a type has no documentation, or the page has lost the lines between which the
/// types stand.
pub(crate) fn page() -> Result<String> {
    let page = fs::read_to_string(root().join("docs/lexicon.md")).context("reading docs/lexicon.md")?;
    between(&page, (BEGIN, END), &tables()?).context("docs/lexicon.md has no place for the types")
}

fn tables() -> Result<String> {
    let mut packages = packages()?;
    packages.retain(|package| !PROGRAMS.contains(&&*package.name));
    packages.sort_by_key(|package| LAYERS.iter().position(|layer| layer.contains(&&*package.name)));
    let mut text = String::new();
    for package in packages {
        let sources = package.sources();
        let mut types = Vec::new();
        for path in files(&sources)? {
            let file = path.strip_prefix(&sources)?.display().to_string();
            let source = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            types.extend(types_of(&source, &file)?);
        }
        if types.is_empty() {
            continue;
        }
        types.sort();
        write!(text, "### {}\n\n| type | meaning | file |\n|---|---|---|\n", package.name)?;
        for Type { name, file, meaning } in types {
            writeln!(text, "| `{name}` | {meaning} | {file} |")?;
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    Ok(found)
}

/// The public types of one file, those for tests left out.
fn types_of(source: &str, file: &str) -> Result<Vec<Type>> {
    let mut found = Vec::new();
    let mut documentation: Vec<&str> = Vec::new();
    for line in source.lines() {
        let trimmed = line.trim();
        if let Some(text) = trimmed.strip_prefix("///") {
            documentation.push(text.trim());
        } else if let Some(name) = type_name(trimmed) {
            let meaning = first_sentence(&documentation);
            ensure!(!meaning.is_empty(), "{file}: the public type {name} has no documentation");
            found.push(Type { name, file: file.to_owned(), meaning });
            documentation.clear();
        } else if trimmed == "#[cfg(test)]" && !line.starts_with(' ') {
            // Tests stand at the foot of a file.
            break;
        } else if !trimmed.starts_with("#[") {
            documentation.clear();
        }
    }
    Ok(found)
}

/// The name of the type that a line defines for everybody.
fn type_name(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type ", "union "].iter().find_map(|word| rest.strip_prefix(word))?;
    Some(rest.chars().take_while(|character| character.is_alphanumeric()).collect())
}

/// The first sentence of a documentation, without the links in it.
fn first_sentence(lines: &[&str]) -> String {
    let paragraph: Vec<&str> = lines.iter().copied().take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    let sentence = paragraph[..end].trim_end_matches('.');
    without_links(sentence).replace('|', "\\|")
}

/// What is shown of links such as ``[`Tree`](crate::Tree)``.
fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("[`") {
        shown.push_str(before);
        let Some((code, behind)) = link.split_once("`]") else {
            rest = &rest[before.len()..];
            break;
        };
        write!(shown, "`{code}`").unwrap_or_default();
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(behind, |(_, behind)| behind);
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(&str, &str)]) {
        let types = types_of(source, "a.rs").unwrap();
        let found: Vec<_> = types.iter().map(|found| (&*found.name, &*found.meaning)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_type_is_known_by_its_first_sentence() {
        check(
            "/// A body, see\n/// [`Tree`](crate::Tree). It is gone later.\n#[derive(Debug)]\npub struct Body<T> {\n    /// Text.\n    pub text: T,\n}\n",
            &[("Body", "A body, see `Tree`")],
        );
        check(
            "/// Mine.\npub(crate) struct Mine;\n\n/// Either | or.\n///\n/// More.\npub enum Kind {}\n",
            &[("Kind", "Either \\| or")],
        );
        check("#[cfg(test)]\nmod tests {\n    /// Faked.\n    pub struct Fake;\n}\n", &[]);
    }

    #[test]
    fn a_type_without_documentation_is_an_error() {
        let error = types_of("/// Of the use.\npub use a::B;\npub trait Naked {}\n", "a.rs").unwrap_err().to_string();
        assert_eq!(error, "a.rs: the public type Naked has no documentation");
    }
}
