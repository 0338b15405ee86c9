//! The registry as a tree of files: what keys such as `conf:/xslt/quote.xslt` name.

use std::fs;
use std::path::{Path, PathBuf};

use super::element::Element;
use super::files;
use super::included;
use super::problem::Problem;
use crate::bus::Settings;
use crate::stylesheet::Resource;

/// What keys of the registry begin with, and the folders below its root that may stand for that.
///
/// Source: WSO2 Micro Integrator's `registry` folder and project layout; Apache Synapse's has no such beginnings.
const HIVES: &[(&str, &[&str])] = &[
    ("conf:", &["config", "conf"]),
    ("gov:", &["governance", "gov"]),
    ("/_system/config/", &["config", "conf"]),
    ("_system/config/", &["config", "conf"]),
    ("/_system/governance/", &["governance", "gov"]),
    ("_system/governance/", &["governance", "gov"]),
    ("resources:", &["governance/mi-resources", "gov/mi-resources"]),
];

/// Where a registry is, seen from a folder of the configuration or one above it.
const ROOTS: [&str; 2] = ["registry", "resources/registry"];

/// From `synapse-configs/default/proxy-services` up to what holds Micro Integrator's `repository/deployment/server`.
const LEVELS: usize = 7;

/// How many files and folders of the registry are looked at.
const FILE_LIMIT: usize = 10_000;

/// Where the registry's files are.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry {
    /// The folder that keys without a beginning of their own start at.
    root: PathBuf,
    /// Where `file:` keys start.
    home: PathBuf,
}

impl Registry {
    /// The registry of a configuration that names no root for it: the nearest folder `registry` or `resources/registry`
    /// beside `file` or further up, which Micro Integrator and its projects have.
    pub(super) fn new(settings: &Settings, file: &str) -> Registry {
        let home = settings.home.clone();
        let home = home.unwrap_or_else(|| Path::new(file).parent().map(Path::to_owned).unwrap_or_default());
        let near = home.ancestors().take(LEVELS).flat_map(|folder| ROOTS.map(|root| folder.join(root)));
        let root = near.into_iter().find(|root| root.is_dir()).unwrap_or_else(|| home.join(ROOTS[0]));
        Registry { root, home }
    }

    /// The registry that a `<registry>` element declares.
    ///
    /// Errors: a [`Problem`] where its root is no folder of this machine.
    pub(super) fn of(element: &Element, settings: &Settings) -> Result<Registry, Problem> {
        let mut registry = Registry::new(settings, &element.place.file);
        let roots = element.children.iter().filter(|child| child.is("parameter"));
        for parameter in roots.filter(|parameter| parameter.attribute("name").is_some_and(|name| name.value == "root"))
        {
            let root = included::resolve(parameter.text().value, &element.place.file, settings);
            registry.root = root.map_err(|message| parameter.problem(message))?;
        }
        Ok(registry)
    }

    /// Reads what a key names; `None` where there is no such file.
    ///
    /// Errors: a sentence, where the file cannot be read.
    pub(super) fn read(&self, key: &str) -> Result<Option<Resource>, String> {
        let path = match key.strip_prefix("file:") {
            Some(path) => Some(self.home.join(path.strip_prefix("//").unwrap_or(path))).filter(|path| path.is_file()),
            None => self.candidates(key).into_iter().find(|path| path.is_file()),
        };
        path.map(|path| Registry::file(&path)).transpose()
    }

    /// Reads what a file of the registry names by a path that starts beside it, or by a key; `None` where there is
    /// nothing of that name.
    ///
    /// Errors: a sentence, where the file cannot be read.
    pub(super) fn beside(&self, base: &str, href: &str) -> Result<Option<Resource>, String> {
        let beside = || {
            let mut path = Path::new(base).strip_prefix(&self.root).ok()?.parent()?.to_owned();
            for part in href.split('/') {
                match part {
                    "" | "." => {}
                    ".." => path.pop().then_some(())?,
                    part => path.push(part),
                }
            }
            Some(self.root.join(path)).filter(|path| path.is_file())
        };
        let path = beside().or_else(|| self.candidates(href).into_iter().find(|path| path.is_file()));
        path.map(|path| Registry::file(&path)).transpose()
    }

    /// The file that a path or key of a policy means: a path from the configuration's folder, or from one of those above
    /// it, as `repository/resources/…` starts at WSO2's home; or a file of the registry.
    pub(super) fn find(&self, path: &str) -> Option<PathBuf> {
        let path = path.strip_prefix("file:").map_or(path, |path| path.strip_prefix("//").unwrap_or(path));
        let above = self.home.ancestors().take(LEVELS).map(|folder| folder.join(path));
        above.chain(self.candidates(path)).find(|path| path.is_file())
    }

    /// Reads a file.
    ///
    /// Errors: a sentence.
    pub(super) fn file(path: &Path) -> Result<Resource, String> {
        let name = path.display().to_string();
        let bytes = files::bytes(path).map_err(|problem| format!("{name}: {}", problem.message))?;
        Ok(Resource::new(&name, bytes))
    }

    /// The paths that a key may mean; none of one that would lead out of the registry.
    pub(super) fn candidates(&self, key: &str) -> Vec<PathBuf> {
        if key.split(['/', '\\']).any(|part| part == "..") {
            return Vec::new();
        }
        let below = |folder: &str, rest: &str| self.root.join(folder).join(rest.trim_start_matches('/'));
        let hive = HIVES.iter().find_map(|(beginning, folders)| Some((key.strip_prefix(beginning)?, folders)));
        match hive {
            Some((rest, folders)) => folders.iter().map(|folder| below(folder, rest)).collect(),
            None => vec![below("", key)],
        }
    }

    /// The stylesheets in the registry, in the order of their paths.
    pub(super) fn stylesheets(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.root.clone()];
        let mut found = Vec::new();
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten().take(FILE_LIMIT.saturating_sub(count)) {
                count += 1;
                let path = entry.path();
                let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    Ok(_) if matches!(extension, "xsl" | "xslt") => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}
