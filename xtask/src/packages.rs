//! The packages of the workspace: their names, where they lie, and what they depend on.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::root;

/// A package of the workspace.
pub(crate) struct Package {
    /// Without the prefix `myelin-`.
    pub(crate) name: String,
    folder: PathBuf,
    /// The packages of the workspace that it depends on, tests aside.
    pub(crate) dependencies: Vec<String>,
}

/// All of them; `fuzz` is a workspace of its own.
///
/// Errors: when a folder or a `Cargo.toml` cannot be read, or a package has no name.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("xtask"), root().join("crates")];
    while let Some(folder) = folders.pop() {
        if folder.join("Cargo.toml").is_file() {
            found.push(Package::read(folder)?);
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

impl Package {
    fn read(folder: PathBuf) -> Result<Package> {
        let path = folder.join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = text.lines().find_map(|line| line.strip_prefix("name = "));
        let name = short(name.with_context(|| format!("{} names no package", path.display()))?.trim_matches('"'));
        Ok(Package { name, dependencies: dependencies(&text), folder })
    }

    /// The folder of its sources.
    pub(crate) fn sources(&self) -> PathBuf {
        self.folder.join("src")
    }

    /// Where its crates begin: the library, the program, or both.
    #[cfg(test)]
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let roots = ["lib.rs", "main.rs"].map(|name| self.sources().join(name));
        roots.into_iter().filter(|root| root.exists()).collect()
    }

    /// The sources of its library, or of its program where it has none.
    #[cfg(test)]
    pub(crate) fn source(&self) -> PathBuf {
        self.roots().remove(0)
    }
}

fn short(name: &str) -> String {
    name.strip_prefix("myelin-").unwrap_or(name).to_owned()
}

/// The packages of the workspace that a `Cargo.toml` lists under `[dependencies]`, for one platform or for all.
fn dependencies(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut counts = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            let table = line.trim_matches(['[', ']']);
            counts = table == "dependencies" || table == "build-dependencies" || table.ends_with(".dependencies");
        } else if counts && let Some(name) = line.strip_prefix("myelin-") {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
            found.push(name[..end].to_owned());
        }
    }
    found
}

#[test]
fn dependencies_are_read_without_those_of_tests() {
    let text = "[package]\nname = \"myelin-a\"\n[dependencies]\nmyelin-b.workspace = true\nserde = \"1\"\n\
                [dev-dependencies]\nmyelin-c.workspace = true\n[target.'cfg(unix)'.dependencies]\n\
                myelin-d-e = { workspace = true, optional = true }\n";
    assert_eq!(dependencies(text), ["b", "d-e"]);
}
