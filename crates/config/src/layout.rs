//! Where the files of a configuration lie: what each folder is to the tools that made it.
//!
//! Source: Synapse's `MultiXMLConfigurationBuilder`, the home of a Micro Integrator, and the projects of WSO2's
//! Integration Studio (`src/main/synapse-config`) and of its extension for VS Code (`src/main/wso2mi`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::application::{self, Application};
use crate::archive::INSIDE;
use crate::dotenv;
use crate::files::{self, File};
use crate::library::{CONNECTOR, Libraries, Library};
use crate::problem::Problem;
use crate::properties;
use crate::registry::{self, Held, Resources};
use crate::sources::Sources;

/// The folders of a `synapse-configs/default` layout, and by their other names those of projects, in the order in which
/// they are read.
const FOLDERS: &[&str] = &[
    "data-sources",
    "local-entries",
    "endpoints",
    "templates",
    "sequences",
    "message-stores",
    "message-processors",
    "proxy-services",
    "api",
    "apis",
    "inbound-endpoints",
    "tasks",
    "imports",
    "event-sources",
    "priority-executors",
];

/// Folders with what is told of and not run: their names, the extension of the files, what these are, and what is said.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("data-services", "dbs", "dataService", "data services are not offered yet"),
    ("dataservices", "dbs", "dataService", "data services are not offered yet"),
];

/// Folders with archives of connectors, or with these unpacked.
const LIBRARIES: [&str; 2] = ["connectors", "synapse-libs"];

/// How deep modules of a project lie in each other, and collections of resources.
const DEPTH: usize = 8;

/// What a configuration consists of.
#[derive(Default)]
pub struct Found {
    /// The files, each with what it holds.
    pub files: Vec<File>,
    /// Folders that hold registries.
    pub roots: Vec<PathBuf>,
    /// What archives and projects put into the registry.
    pub resources: Resources,
    /// The archives that were opened.
    pub applications: Vec<Application>,
    /// What stands in the `conf/file.properties` of homes.
    pub properties: HashMap<String, String>,
    /// What stands in the `config.properties` of homes and projects.
    pub configs: HashMap<String, String>,
    /// What stands in the `.env` of projects.
    pub environment: HashMap<String, String>,
    /// The connectors, by their names.
    pub libraries: Libraries,
}

/// Finds and reads everything that paths name, in an order that does not depend on the file system.
pub fn find(paths: &[PathBuf], sources: &Sources) -> Found {
    let mut finder = Finder { sources, found: Found::default() };
    for path in paths {
        if sources.has_folder(path) {
            finder.folder(path, DEPTH);
        } else {
            finder.file(path);
        }
    }
    finder.found.check_needs();
    finder.found
}

struct Finder<'a> {
    sources: &'a Sources,
    found: Found,
}

impl Finder<'_> {
    fn file(&mut self, path: &Path) {
        if !has_extension(path, "car") {
            self.found.files.push(File::read(path, self.sources));
            return;
        }
        let name = path.display().to_string();
        match files::archive(path, self.sources) {
            Ok(bytes) => application::read(&name, &bytes, &mut self.found),
            Err(Problem { message, .. }) => self.found.files.push(File::faulty("archive", path, message)),
        }
    }

    /// Reads a folder as what it is found to be.
    fn folder(&mut self, path: &Path, depth: usize) {
        let below = |inside: &str| Some(path.join(inside)).filter(|folder| self.sources.has_folder(folder));
        let (studio, code) = (below("src/main/synapse-config"), below("src/main/wso2mi"));
        if let Some(server) = below("repository/deployment/server") {
            self.found.roots.extend(below("registry"));
            let read = |name: &str, finder: &mut Self| finder.properties(&path.join(name));
            let (properties, configs) = (read("conf/file.properties", self), read("conf/config.properties", self));
            self.found.properties.extend(properties);
            self.found.configs.extend(configs);
            self.server(&server);
        } else if below("synapse-configs").is_some() {
            self.server(path);
        } else if studio.is_some() || code.is_some() || self.sources.has_file(&path.join("artifact.xml")) {
            let environment = self.variables(&path.join(".env"), dotenv::parse);
            self.found.environment.extend(environment);
            studio.iter().for_each(|studio| self.layout(studio));
            code.iter().for_each(|code| self.wso2mi(code));
            self.resources_of(path);
        } else if below("artifacts").is_some_and(|artifacts| self.is_layout(&artifacts)) {
            self.wso2mi(path);
        } else if let Some(default) = below("default").filter(|default| self.is_layout(default)) {
            self.layout(&default);
        } else if self.is_layout(path) {
            self.layout(path);
        } else {
            let modules = self.modules(path, depth);
            if modules.is_empty() {
                self.plain(path, depth);
            }
            modules.iter().for_each(|module| self.folder(module, depth - 1));
        }
    }

    /// `repository/deployment/server`, or what else holds `synapse-configs`.
    fn server(&mut self, path: &Path) {
        let configurations = path.join("synapse-configs");
        let default = configurations.join("default");
        self.layout(if self.sources.has_folder(&default) { &default } else { &configurations });
        let archives = path.join("carbonapps");
        if self.sources.has_folder(&archives) {
            self.with_extension(&archives, &["car"]).iter().for_each(|archive| self.file(archive));
        }
        self.others(path);
    }

    fn properties(&mut self, path: &Path) -> HashMap<String, String> {
        self.variables(path, properties::parse)
    }

    /// The names and values in a file, if it is there.
    fn variables(&mut self, path: &Path, parse: fn(&str) -> HashMap<String, String>) -> HashMap<String, String> {
        if !self.sources.has_file(path) {
            return HashMap::new();
        }
        let text = files::bytes(path, self.sources).map_err(|problem| problem.message).and_then(files::decode);
        match text {
            Ok(text) => parse(&text),
            Err(message) => {
                self.found.files.push(File::faulty("file", path, message));
                HashMap::new()
            }
        }
    }

    /// `src/main/wso2mi`.
    fn wso2mi(&mut self, path: &Path) {
        let (artifacts, resources) = (path.join("artifacts"), path.join("resources"));
        self.layout_to(&artifacts, DEPTH);
        self.others(&resources);
        let configs = self.properties(&resources.join("conf/config.properties"));
        self.found.configs.extend(configs);
        let registry = resources.join("registry");
        if self.sources.has_folder(&registry) {
            self.resources_of(&registry);
        }
        self.found.roots.push(registry);
        if self.sources.has_folder(&resources) {
            self.resources_of(&resources);
        }
    }

    /// The folders of one layout.
    fn layout(&mut self, path: &Path) {
        self.layout_to(path, 0);
    }

    /// The folders of one layout, with what lies in them so deep.
    fn layout_to(&mut self, path: &Path, depth: usize) {
        for name in ["registry.xml", "synapse.xml", "task-manager.xml"] {
            let file = path.join(name);
            if self.sources.has_file(&file) {
                self.file(&file);
            }
        }
        for folder in FOLDERS {
            let folder = path.join(folder);
            if self.sources.has_folder(&folder) {
                self.files_to(&folder, depth);
            }
        }
        self.others(path);
    }

    /// The files of a folder and of those in it, so deep.
    fn files_to(&mut self, folder: &Path, depth: usize) {
        let first = self.found.files.len();
        self.with_extension(folder, &["xml"]).iter().for_each(|file| self.file(file));
        self.found.files[first..].iter_mut().for_each(|file| file.is_found_by_chance = true);
        let inside = if depth == 0 { Vec::new() } else { self.folders(folder) };
        inside.iter().for_each(|folder| self.files_to(folder, depth - 1));
    }

    /// Files that belong to no layout; where there are none, what lies in the folders below.
    fn plain(&mut self, path: &Path, depth: usize) {
        let files = self.with_extension(path, &["xml", "car"]);
        let first = self.found.files.len();
        files.iter().for_each(|file| self.file(file));
        self.found.files[first..].iter_mut().for_each(|file| file.is_found_by_chance = true);
        self.others(path);
        if self.found.files.len() > first {
            return;
        }
        let below = self.folders(path);
        let projects: Vec<&PathBuf> = below.iter().filter(|folder| self.holds_one(folder, depth)).collect();
        projects.iter().for_each(|project| self.folder(project, depth - 1));
        if projects.is_empty() {
            let names = below.iter().filter_map(|folder| folder.file_name()).map(|name| name.to_string_lossy());
            let names: Vec<_> = names.take(5).collect();
            let inside = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            let message = format!(
                "holds no configuration: neither .xml nor .car, no synapse-configs, no project; in it there is {inside}"
            );
            self.found.files.push(File::faulty("folder", path, message));
        }
    }

    /// Whether a folder is a home or a project, or one in it is, so deep.
    fn holds_one(&self, path: &Path, depth: usize) -> bool {
        depth > 0 && (self.is_one(path) || self.folders(path).iter().any(|below| self.holds_one(below, depth - 1)))
    }

    /// Whether a folder is a home, a project, or has a layout.
    fn is_one(&self, path: &Path) -> bool {
        const SIGNS: [&str; 5] = [
            "repository/deployment/server",
            "synapse-configs",
            "src/main/synapse-config",
            "src/main/wso2mi",
            "artifacts",
        ];
        let has = |sign: &&str| self.sources.has_folder(&path.join(sign));
        SIGNS.iter().any(has) || self.sources.has_file(&path.join("artifact.xml")) || self.is_layout(path)
    }

    /// The folders in a folder, but for hidden ones.
    fn folders(&self, path: &Path) -> Vec<PathBuf> {
        let is_hidden = |entry: &Path| entry.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let mut entries = self.entries(path).unwrap_or_default();
        entries.retain(|entry| entry.is_dir() && !is_hidden(entry));
        entries
    }

    /// The connectors, and what is told of and not run.
    fn others(&mut self, path: &Path) {
        for (folder, extension, kind, message) in OTHERS {
            let folder = path.join(folder);
            if self.sources.has_folder(&folder) {
                for file in self.with_extension(&folder, &[*extension]) {
                    self.found.files.push(File::faulty(kind, &file, (*message).to_owned()));
                }
            }
        }
        for folder in LIBRARIES.map(|folder| path.join(folder)) {
            if self.sources.has_folder(&folder) {
                self.with_extension(&folder, &["zip"]).iter().for_each(|archive| self.library(archive));
                let unpacked = self.entries(&folder).unwrap_or_default();
                let unpacked = unpacked.iter().filter(|entry| self.sources.has_file(&entry.join(CONNECTOR)));
                unpacked.collect::<Vec<_>>().into_iter().for_each(|connector| self.library(connector));
            }
        }
    }

    /// A connector, in an archive or unpacked; without one that cannot be read everything runs that does not call it.
    fn library(&mut self, path: &Path) {
        let name: Arc<str> = path.display().to_string().into();
        let library = match self.sources.has_folder(path) {
            true => Library::read_folder(path, self.sources),
            false => files::archive(path, self.sources)
                .map_err(|problem| problem.message)
                .and_then(|bytes| Library::read(&name, &bytes)),
        };
        let mut file = File::stand_in("connector", &name, &name);
        if let Err(message) = self.found.add_library(library) {
            file.warnings.push(Problem::new(file.place.clone(), message));
        }
        self.found.files.push(file);
    }

    fn is_layout(&self, path: &Path) -> bool {
        FOLDERS.iter().any(|name| self.sources.has_folder(&path.join(name)))
    }

    /// The folders in a folder that are projects, or hold some.
    fn modules(&self, path: &Path, depth: usize) -> Vec<PathBuf> {
        let is_project = |folder: &Path| {
            self.sources.has_folder(&folder.join("src/main/synapse-config"))
                || self.sources.has_folder(&folder.join("src/main/wso2mi"))
                || self.sources.has_file(&folder.join("artifact.xml"))
        };
        // Without a pom.xml, a folder within a folder is none of Maven's modules.
        if depth == 0 || !self.sources.has_file(&path.join("pom.xml")) {
            return Vec::new();
        }
        let mut modules = self.entries(path).unwrap_or_default();
        modules.retain(|entry| entry.is_dir() && (is_project(entry) || !self.modules(entry, depth - 1).is_empty()));
        modules
    }

    /// The resources that the `artifact.xml` of a project brings along.
    fn resources_of(&mut self, project: &Path) {
        let path = project.join("artifact.xml");
        if !self.sources.has_file(&path) {
            return;
        }
        let file = File::read(&path, self.sources);
        let root = match &file.root {
            Ok(Some(root)) => root,
            _ => return self.found.files.push(file),
        };
        let is_resource = |kind: &str| kind.trim() == "registry/resource";
        let resources = root.children.iter().filter(|child| {
            child.name == "artifact" && child.attribute("type").is_some_and(|kind| is_resource(kind.value))
        });
        let mut missing = Vec::new();
        for item in resources.flat_map(|artifact| &artifact.children) {
            let text = |name: &str| {
                let child = item.children.iter().find(|child| child.name == name);
                child.map_or("", |child| child.text().value)
            };
            match item.name.as_str() {
                "item" => {
                    let file = project.join(text("file"));
                    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                    // The extension for VS Code names the file alone; its folder follows from its path in the registry.
                    let path = format!("{}/{name}", text("path"));
                    if self.sources.has_file(&file) {
                        self.resource(&path, file);
                    } else if !registry::is_below(&project.join("registry"), &path)
                        && !registry::is_below(project, &path)
                    {
                        missing.push(
                            item.problem(format!("there is no file {}: {path} is not in the registry", file.display())),
                        );
                    }
                }
                "collection" => {
                    let (path, folder) = (text("path"), project.join(text("directory")));
                    if self.sources.has_folder(&folder) {
                        self.collection(path, &folder, DEPTH);
                    } else {
                        missing.push(item.problem(format!(
                            "there is no folder {}: {path} is not in the registry",
                            folder.display()
                        )));
                    }
                }
                _ => {}
            }
        }
        if !missing.is_empty() {
            let name = file.name;
            self.found.files.push(File { warnings: missing, ..File::stand_in("file", &name, &name) });
        }
    }

    fn collection(&mut self, path: &str, folder: &Path, depth: usize) {
        for entry in self.entries(folder).unwrap_or_default() {
            let name = entry.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let path = format!("{path}/{name}");
            match entry.is_dir() {
                true if depth > 0 => self.collection(&path, &entry, depth - 1),
                true => {}
                false => self.resource(&path, entry),
            }
        }
    }

    fn resource(&mut self, path: &str, file: PathBuf) {
        match registry::path_of(path) {
            Some(path) => drop(self.found.resources.insert(path, Held::File(file))),
            None => self.found.files.push(File::faulty("file", &file, format!("{path:?} leads out of the registry"))),
        }
    }

    /// The files of a folder that have one of some extensions, in the order of their names.
    fn with_extension(&mut self, folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
        let is_wanted =
            |file: &PathBuf| extensions.iter().any(|extension| has_extension(file, extension)) && file.is_file();
        match self.entries(folder) {
            Ok(mut entries) => {
                entries.retain(is_wanted);
                entries
            }
            Err(error) => {
                self.found.files.push(File::faulty("file", folder, format!("cannot be read: {error}")));
                Vec::new()
            }
        }
    }

    fn entries(&self, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        self.sources.look(folder);
        let mut entries =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
        entries.sort();
        Ok(entries)
    }
}

impl Found {
    /// Adds a connector that was read, if it was.
    ///
    /// Errors: a sentence, where it cannot be used.
    pub fn add_library(&mut self, library: Result<Option<Library>, String>) -> Result<(), String> {
        match library {
            Ok(Some(library)) if self.libraries.contains_key(&library.name) => {
                Err(format!("it has no effect: there is another archive of the connector {:?}", library.name))
            }
            Ok(Some(library)) => {
                self.libraries.insert(library.name.clone(), library);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(message) => Err(format!("this connector cannot be used: {message}")),
        }
    }

    /// Tells of archives that need others which are not there, and leaves out those that go by the name of another.
    fn check_needs(&mut self) {
        let mut holders: HashMap<&str, usize> = HashMap::new();
        for application in &self.applications {
            for id in &application.ids {
                holders.entry(id).or_insert(application.index);
            }
        }
        let mut doubled: Vec<String> = Vec::new();
        for application in &self.applications {
            let earlier =
                application.ids.iter().map(|id| holders[id.as_str()]).find(|&first| first != application.index);
            let missing = application.needs.iter().filter(|id| !holders.contains_key(id.as_str()));
            let missing: Vec<String> =
                missing.map(|id| format!("it needs the archive {id}, which is not there")).collect();
            let first = earlier.map(|first| Arc::clone(&self.files[first].place.file));
            let file = &mut self.files[application.index];
            if let (Some(first), Ok(_)) = (first, &file.root) {
                let message = format!("it goes by the name of another archive and is left out: {first}");
                file.root = Err(Problem::new(file.place.clone(), message));
                doubled.push(format!("{}{INSIDE}", file.place.file));
            } else {
                file.warnings.extend(missing.into_iter().map(|message| Problem::new(file.place.clone(), message)));
            }
        }
        self.files.retain(|file| !doubled.iter().any(|archive| file.place.file.starts_with(archive.as_str())));
    }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}
