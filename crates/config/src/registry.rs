//! The registry as a tree of files: what keys such as `conf:/xslt/quote.xslt` name.
//!
//! It is read while the configuration is loaded, so that nothing of it is looked for while serving.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::element::Element;
use crate::problem::Problem;
use crate::resource::Resource;
use crate::sources::Sources;
use crate::{files, included};

/// What keys may begin with, the path that it stands for, and the folders below a root that may hold that path.
///
/// Source: WSO2 Micro Integrator's `registry` folder and project layout; Apache Synapse's has no such beginnings.
const HIVES: &[(&str, &str, &[&str])] = &[
    ("conf:", CONFIG, &["config", "conf"]),
    ("/_system/config/", CONFIG, &["config", "conf"]),
    ("_system/config/", CONFIG, &["config", "conf"]),
    ("gov:", GOVERNANCE, &["governance", "gov"]),
    ("/_system/governance/", GOVERNANCE, &["governance", "gov"]),
    ("_system/governance/", GOVERNANCE, &["governance", "gov"]),
    ("resources:", MI_RESOURCES, &["governance/mi-resources", "gov/mi-resources"]),
];

const CONFIG: &str = "/_system/config/";
const GOVERNANCE: &str = "/_system/governance/";
const MI_RESOURCES: &str = "/_system/governance/mi-resources/";

/// Where a registry is, seen from a folder of the configuration or one above it.
const ROOTS: [&str; 2] = ["registry", "resources/registry"];

/// From `synapse-configs/default/proxy-services` up to what holds Micro Integrator's `repository/deployment/server`.
const LEVELS: usize = 7;

/// The folder of a project's resources that holds archives, and nothing that keys name.
const CONNECTORS: &str = "connectors";

/// How many files and folders of the registry are looked at.
const FILE_LIMIT: usize = 10_000;

/// The resources that archives and projects bring along, by the paths that [`path_of`] gives.
pub type Resources = BTreeMap<String, Held>;

/// What a resource that was brought along is.
#[derive(Clone, Debug)]
pub enum Held {
    /// What stood in an archive.
    Bytes(Resource),
    /// A file of a project.
    File(PathBuf),
}

/// Where what keys name is found.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// What was deployed; it comes first.
    resources: Arc<Resources>,
    /// The paths of these by their URIs.
    deployed: Arc<HashMap<String, String>>,
    /// Folders that keys without a beginning of their own start at.
    roots: Vec<PathBuf>,
    /// Where `file:` keys start.
    home: PathBuf,
    sources: Sources,
}

impl Registry {
    /// The registry of a configuration that names no root for it: the nearest folder `registry` or `resources/registry`
    /// beside `file` or further up, which Micro Integrator and its projects have.
    pub fn new(home: Option<&Path>, file: &str, sources: &Sources) -> Registry {
        let home = home
            .map(Path::to_owned)
            .unwrap_or_else(|| Path::new(file).parent().map(Path::to_owned).unwrap_or_default());
        let near = home.ancestors().take(LEVELS).flat_map(|folder| ROOTS.map(|root| folder.join(root)));
        let root = near.into_iter().find(|root| sources.has_folder(root)).unwrap_or_else(|| home.join(ROOTS[0]));
        Registry {
            resources: Arc::default(),
            deployed: Arc::default(),
            roots: vec![root],
            home,
            sources: sources.clone(),
        }
    }

    /// Makes the root that a `<registry>` element names, if it does, that of this registry.
    ///
    /// Errors: a [`Problem`] where its root is no folder of this machine.
    pub fn declare(&mut self, element: &Element, home: Option<&Path>) -> Result<(), Problem> {
        element.attribute("provider");
        let roots = element.children.iter().filter(|child| child.is("parameter"));
        for parameter in roots.filter(|parameter| parameter.attribute("name").is_some_and(|name| name.value == "root"))
        {
            let root = included::resolve(parameter.text().value, &element.place.file, home, &self.sources);
            self.roots = vec![root.map_err(|message| parameter.problem(message))?];
        }
        Ok(())
    }

    /// Adds what archives and projects bring along.
    pub fn deploy(&mut self, resources: Resources, roots: Vec<PathBuf>) {
        let uri = |held: &Held| match held {
            Held::Bytes(resource) => resource.uri.to_string(),
            Held::File(path) => path.display().to_string(),
        };
        self.deployed = Arc::new(resources.iter().map(|(path, held)| (uri(held), path.clone())).collect());
        self.resources = Arc::new(resources);
        // The folder that was found by going up may be one of them.
        self.roots.retain(|root| !roots.contains(root));
        self.roots.splice(0..0, roots);
    }

    /// Reads what a key names; `None` where there is no such resource.
    ///
    /// Errors: a sentence, where the file cannot be read.
    pub fn read(&self, key: &str) -> Result<Option<Resource>, String> {
        if let Some(path) = key.strip_prefix("file:") {
            let path = self.home.join(path.strip_prefix("//").unwrap_or(path));
            return self.file_if_there(&included::nearest(path, &self.home, &self.sources)).transpose();
        }
        let Some(path) = path_of(key) else { return Ok(None) };
        self.at(&path)
    }

    /// Reads what a resource names by a path that starts beside it, or by a key; `None` where there is nothing of that
    /// name.
    ///
    /// Errors: a sentence, where the file cannot be read.
    pub fn beside(&self, base: &str, href: &str) -> Result<Option<Resource>, String> {
        let beside = || {
            let base = self.paths_of(base).into_iter().next()?;
            let mut parts: Vec<&str> = base.split('/').collect();
            parts.pop();
            for part in href.split('/') {
                match part {
                    "" | "." => {}
                    // The first part is empty: it stands before the root.
                    ".." => parts.pop().filter(|_| !parts.is_empty()).map(drop)?,
                    part => parts.push(part),
                }
            }
            Some(parts.join("/"))
        };
        match beside().map(|path| self.at(&path)).transpose()?.flatten() {
            Some(found) => Ok(Some(found)),
            None => self.read(href),
        }
    }

    /// Reads what a path or key of a policy means: a path from the configuration's folder, or from one of those above it,
    /// as `repository/resources/…` starts at WSO2's home; or a resource of the registry.
    ///
    /// Errors: a sentence, where the file cannot be read.
    pub fn find(&self, path: &str) -> Result<Option<Resource>, String> {
        let plain = path.strip_prefix("file:").map_or(path, |path| path.strip_prefix("//").unwrap_or(path));
        let near = included::nearest(self.home.join(plain), &self.home, &self.sources);
        match self.file_if_there(&near).transpose()? {
            Some(found) => Ok(Some(found)),
            None => self.read(path),
        }
    }

    /// The resources whose names end in one of some extensions, in the order of their paths, each with its paths.
    ///
    /// Those that cannot be read are left out.
    pub fn with_extension(&self, extensions: &[&str]) -> impl Iterator<Item = (Vec<String>, Resource)> {
        self.those(move |name| {
            name.extension().and_then(|extension| extension.to_str()).is_some_and(|it| extensions.contains(&it))
        })
    }

    /// All resources, as [`Registry::with_extension`] gives them.
    pub fn all(&self) -> impl Iterator<Item = (Vec<String>, Resource)> {
        self.those(|_| true)
    }

    fn those(&self, is_wanted: impl Fn(&Path) -> bool + Clone) -> impl Iterator<Item = (Vec<String>, Resource)> {
        let wanted = is_wanted.clone();
        let deployed = self.resources.iter().filter(move |(path, _)| wanted(Path::new(path)));
        let deployed = deployed.filter_map(|(path, held)| Some((vec![path.clone()], self.held(held).ok()?)));
        let files = self.files().into_iter().filter(move |path| is_wanted(path));
        deployed.chain(files.filter_map(|path| {
            let resource = self.file(&path).ok()?;
            Some((self.paths_of(&resource.uri), resource))
        }))
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> =
            self.roots.iter().map(|root| resources_around(root).unwrap_or(root).to_owned()).collect();
        let mut found = Vec::new();
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            self.sources.look(&folder);
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten().take(FILE_LIMIT.saturating_sub(count)) {
                count += 1;
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && entry.file_name() == CONNECTORS => {}
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) => found.push(entry.path()),
                    Err(_) => {}
                }
            }
        }
        found.sort();
        found
    }

    /// Reads the resource at a path of the registry.
    fn at(&self, path: &str) -> Result<Option<Resource>, String> {
        if let Some(held) = self.resources.get(path) {
            return self.held(held).map(Some);
        }
        let candidates = self.roots.iter().flat_map(|root| candidates(root, path));
        candidates.into_iter().find_map(|path| self.file_if_there(&path)).transpose()
    }

    /// The paths in the registry of a resource, by its URI.
    fn paths_of(&self, uri: &str) -> Vec<String> {
        if let Some(path) = self.deployed.get(uri) {
            return vec![path.clone()];
        }
        let inside = self.roots.iter().find_map(|root| Path::new(uri).strip_prefix(root).ok()?.to_str());
        let Some(inside) = inside else {
            let mut around = self.roots.iter().filter_map(|root| resources_around(root));
            let inside = around.find_map(|folder| Path::new(uri).strip_prefix(folder).ok()?.to_str());
            return inside.map(|inside| format!("{MI_RESOURCES}{inside}")).into_iter().collect();
        };
        let hives = HIVES.iter().flat_map(|(_, path, folders)| folders.iter().map(move |folder| (*path, *folder)));
        let in_hive = hives.filter_map(|(path, folder)| Some((path, inside.strip_prefix(folder)?.strip_prefix('/')?)));
        let mut paths: Vec<String> = in_hive.map(|(path, rest)| format!("{path}{rest}")).collect();
        paths.dedup();
        paths.push(format!("/{inside}"));
        paths
    }

    fn held(&self, held: &Held) -> Result<Resource, String> {
        match held {
            Held::Bytes(resource) => Ok(resource.clone()),
            Held::File(path) => self.file(path),
        }
    }

    fn file_if_there(&self, path: &Path) -> Option<Result<Resource, String>> {
        self.sources.has_file(path).then(|| self.file(path))
    }

    fn file(&self, path: &Path) -> Result<Resource, String> {
        let name = path.display().to_string();
        let bytes = files::bytes(path, &self.sources).map_err(|problem| format!("{name}: {}", problem.message))?;
        Ok(Resource::new(&name, bytes))
    }
}

/// Whether a key can name nothing but a resource of the registry or a file.
pub fn is_key(key: &str) -> bool {
    key.starts_with("file:") || HIVES.iter().any(|(beginning, ..)| key.starts_with(beginning))
}

/// The path in the registry that a key means; `None` where it would lead out of it.
pub fn path_of(key: &str) -> Option<String> {
    if key.split(['/', '\\']).any(|part| part == "..") {
        return None;
    }
    let hive = HIVES.iter().find_map(|(beginning, path, _)| Some((*path, key.strip_prefix(beginning)?)));
    let (path, rest) = hive.unwrap_or(("/", key));
    Some(format!("{path}{}", rest.trim_start_matches('/')))
}

/// The folder `resources` of a project, of which `registry` is a part: what `resources:` keys name lies in it.
fn resources_around(root: &Path) -> Option<&Path> {
    let folder = root.parent().filter(|_| root.ends_with("registry"))?;
    Some(folder).filter(|folder| folder.ends_with("resources"))
}

/// Whether what a key names in the registry is a file below a root.
pub fn is_below(root: &Path, key: &str) -> bool {
    path_of(key).is_some_and(|path| candidates(root, &path).iter().any(|file| file.is_file()))
}

/// The files below a root that may hold what is at a path of the registry.
fn candidates(root: &Path, path: &str) -> Vec<PathBuf> {
    let hives = HIVES.iter().filter_map(|(beginning, hive, folders)| {
        // Two beginnings of one hive have the same folders.
        let rest = path.strip_prefix(hive).filter(|_| beginning.ends_with(':'))?;
        Some(folders.iter().map(move |folder| root.join(folder).join(rest)))
    });
    let mut hives: Vec<PathBuf> = hives.flatten().collect();
    if let (Some(rest), Some(folder)) = (path.strip_prefix(MI_RESOURCES), resources_around(root)) {
        hives.push(folder.join(rest));
    }
    if hives.is_empty() { vec![root.join(path.trim_start_matches('/'))] } else { hives }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_paths_and_none_leads_out() {
        let check = |key: &str, expected: Option<&str>| assert_eq!(path_of(key).as_deref(), expected, "{key}");
        check("conf:/xslt/a.xslt", Some("/_system/config/xslt/a.xslt"));
        check("conf:xslt/a.xslt", Some("/_system/config/xslt/a.xslt"));
        check("_system/governance/a.xml", Some("/_system/governance/a.xml"));
        check("resources:a.xsd", Some("/_system/governance/mi-resources/a.xsd"));
        check("transform/a.xslt", Some("/transform/a.xslt"));
        check("conf:/../a.xslt", None);
        check("gov:/a/..\\b", None);
    }

    #[test]
    fn what_an_archive_brings_comes_before_files_and_names_what_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("registry");
        fs::create_dir_all(root.join("gov/x")).unwrap();
        fs::write(root.join("gov/x/a.xslt"), "file").unwrap();
        fs::write(root.join("gov/b.xslt"), "b").unwrap();
        let file = folder.path().join("synapse.xml");
        let mut registry = Registry::new(None, &file.display().to_string(), &Sources::default());
        let text = |found: Result<Option<Resource>, String>| {
            found.unwrap().map(|found| String::from_utf8(found.bytes.to_vec()).unwrap())
        };
        assert_eq!(text(registry.read("gov:/x/a.xslt")).as_deref(), Some("file"));
        let path = root.join("gov/x/a.xslt").display().to_string();
        assert_eq!(text(registry.beside(&path, "../b.xslt")).as_deref(), Some("b"));
        assert_eq!(text(registry.beside(&path, "../../../../b.xslt")), None);
        let resources = [("x/a.xslt", "app.car!/a", "archive"), ("x/c.xslt", "app.car!/c", "c")];
        let resources = resources.map(|(key, uri, text)| {
            (path_of(&format!("gov:/{key}")).unwrap(), Held::Bytes(Resource::new(uri, text.into())))
        });
        registry.deploy(resources.into(), Vec::new());
        assert_eq!(text(registry.read("/_system/governance/x/a.xslt")).as_deref(), Some("archive"));
        assert_eq!(text(registry.beside("app.car!/a", "c.xslt")).as_deref(), Some("c"));
        assert_eq!(text(registry.beside("app.car!/a", "../b.xslt")).as_deref(), Some("b"));
        let found: Vec<_> = registry.with_extension(&["xslt"]).collect();
        let paths: Vec<&str> = found.iter().map(|(paths, _)| &*paths[0]).collect();
        let expected = ["x/a.xslt", "x/c.xslt", "b.xslt", "x/a.xslt"].map(|key| format!("/_system/governance/{key}"));
        assert_eq!(paths, expected);
    }
}
