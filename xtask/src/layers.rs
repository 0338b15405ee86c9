//! The layers of the house, and their drawing in `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::packages::packages;
use crate::workspace::root;

/// The crates, the lowest first. A crate knows those of lower rows only; those of one row do not know each other.
pub(crate) const LAYERS: &[&[&str]] = &[
    // Bytes in, bytes out: nothing of protocols, of Synapse or of waiting.
    &["java-text", "spelling", "xml"],
    &["json", "secrets", "soap", "wsdl"],
    &["xpath"],
    &["freemarker", "script", "wss", "xslt"],
    &["message"],
    &["channel", "content"],
    // What speaks a protocol has heard of no mediator, and what mediates of no protocol.
    &["config", "file", "http", "local"],
    &["flow"],
    &["expression", "logging", "sql"],
    &["artefacts"],
    &["engine"],
    &["observe"],
    &["telemetry"],
    &["manage", "testkit"],
    &["bench"],
    &["server"],
    &["conformance", "xtask"],
];

/// Between these lines stands what this module writes.
const BEGIN: &str = "<!-- The crates and their arrows: written by `cargo xtask docs` from what they import. -->";
const END: &str = "<!-- The end of what `cargo xtask docs` writes. -->";

/// What each crate knows, by name.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// `ARCHITECTURE.md` with the drawing of the crates as they are now.
///
/// Errors: when a file cannot be read, or the page has lost the lines between which the drawing stands.
pub(crate) fn architecture() -> Result<String> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).context("reading ARCHITECTURE.md")?;
    let drawing = drawing(&reduced(&arrows()?));
    between(&page, (BEGIN, END), &drawing).context("ARCHITECTURE.md has no place for the drawing of the crates")
}

/// A page with another text between two of its lines; `None` where it lacks one of them.
pub(crate) fn between(page: &str, (begin, end): (&str, &str), text: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, behind) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{text}\n{end}{behind}"))
}

/// The dependencies that the sources of each crate import.
fn arrows() -> Result<Arrows> {
    let mut arrows = Arrows::new();
    for package in packages()? {
        let imported = crates_named(&package.sources())?;
        let known = package.dependencies.iter().filter(|name| imported.contains(*name));
        arrows.insert(package.name, known.cloned().collect());
    }
    for (name, known) in &arrows {
        let missing: Vec<&String> = known.iter().filter(|other| !arrows.contains_key(*other)).collect();
        ensure!(missing.is_empty(), "{name} imports {missing:?}, which are no packages of this workspace");
    }
    Ok(arrows)
}

/// The crates of ours that the sources in a folder name, without their prefix.
fn crates_named(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            names.append(&mut crates_named(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            for rest in text.split("myelin_").skip(1) {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                names.insert(rest[..end].replace('_', "-"));
            }
        }
    }
    Ok(names)
}

/// Without the arrows that a way over others stands for as well.
fn reduced(arrows: &Arrows) -> Arrows {
    let below = |name: &str| -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<&String> = arrows.get(name).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if found.insert(next.clone()) {
                open.extend(arrows.get(next).into_iter().flatten());
            }
        }
        found
    };
    let direct = |known: &BTreeSet<String>| {
        let farther: BTreeSet<String> = known.iter().flat_map(|other| below(other)).collect();
        known.difference(&farther).cloned().collect()
    };
    arrows.iter().map(|(name, known)| (name.clone(), direct(known))).collect()
}

/// A Mermaid graph, and the same as a table; the highest layer first.
fn drawing(arrows: &Arrows) -> String {
    let row = |name: &str| LAYERS.iter().position(|row| row.contains(&name));
    let mut names: Vec<&String> = arrows.keys().collect();
    names.sort_by_key(|name| (std::cmp::Reverse(row(name)), *name));
    let mut graph = "```mermaid\ngraph TD\n".to_owned();
    let mut table = "| crate | stands on |\n|---|---|\n".to_owned();
    for name in names {
        for other in &arrows[name] {
            graph.push_str(&format!("    {name} --> {other}\n"));
        }
        let known: Vec<String> = arrows[name].iter().map(|other| format!("`{other}`")).collect();
        let known = if known.is_empty() { "nothing of ours".to_owned() } else { known.join(", ") };
        table.push_str(&format!("| `{name}` | {known} |\n"));
    }
    format!("{graph}```\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows_of(lines: &[(&str, &[&str])]) -> Arrows {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        lines.iter().map(|(name, known)| ((*name).to_owned(), owned(known))).collect()
    }

    #[test]
    fn what_is_reached_over_others_has_no_arrow_of_its_own() {
        let all = arrows_of(&[("a", &["b", "c", "d"]), ("b", &["c"]), ("c", &["d"]), ("d", &[]), ("e", &["d"])]);
        let few = arrows_of(&[("a", &["b"]), ("b", &["c"]), ("c", &["d"]), ("d", &[]), ("e", &["d"])]);
        assert_eq!(reduced(&all), few);
    }

    #[test]
    fn the_drawing_takes_the_place_of_the_old_one_and_nothing_else() {
        let drawing = drawing(&arrows_of(&[("json", &["xml"]), ("xml", &[])]));
        assert_eq!(
            drawing,
            "```mermaid\ngraph TD\n    json --> xml\n```\n\n\
             | crate | stands on |\n|---|---|\n| `json` | `xml` |\n| `xml` | nothing of ours |\n"
        );
        let page = format!("before\n{BEGIN}\nold\n{END}\nbehind\n");
        let new = between(&page, (BEGIN, END), &drawing).unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\n\n{drawing}\n{END}\nbehind\n"));
        assert_eq!(between(&new, (BEGIN, END), &drawing).unwrap(), new);
        assert_eq!(between("nothing", (BEGIN, END), &drawing), None);
    }
}
