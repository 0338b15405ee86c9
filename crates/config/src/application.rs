//! Carbon applications: what a `.car` archive holds, by its `artifacts.xml` and the `artifact.xml` of each artefact.
//!
//! Source: WSO2's Carbon application model, as Micro Integrator's `CappDeployer` reads it. There, too, an archive with a
//! fault in it is taken back whole.

use std::sync::Arc;

use myelin_spelling::nearest;

use crate::archive::{Archive, INSIDE};
use crate::element::{Element, Structure, Unread};
use crate::files::{self, File};
use crate::layout::Found;
use crate::library::Library;
use crate::problem::{Place, Problem};
use crate::registry::{self, Held};
use crate::resource::Resource;

/// Archives within archives, which fat archives have one of.
const DEPTH: usize = 4;

/// What is known of an archive apart from its files.
pub struct Application {
    /// What others call it where they need it: that of its `descriptor.xml`, or name and version.
    pub ids: Vec<String>,
    /// The ids of those that it needs.
    pub needs: Vec<String>,
    /// Its place in the list of found files, where what is wrong with it as a whole is told.
    pub index: usize,
}

/// The types of artefacts that there are: one whose type is almost one of these would be lost without a word.
const TYPES: [&str; 23] = [
    "config/property",
    "datasource/datasource",
    "lib/carbon/ui",
    "lib/connector/dependency",
    "lib/library/bundle",
    "lib/registry/filter",
    "lib/synapse/mediator",
    "registry/resource",
    "service/dataservice",
    "service/rule",
    "synapse/api",
    "synapse/endpoint",
    "synapse/event-source",
    "synapse/inbound-endpoint",
    "synapse/lib",
    "synapse/local-entry",
    "synapse/message-processors",
    "synapse/message-store",
    "synapse/proxy-service",
    "synapse/sequence",
    "synapse/task",
    "synapse/template",
    "wso2/metadata",
];

/// The attributes of the files of an archive without which something else is read, or nothing.
const STRUCTURE: Structure = Structure { attributes: &["artifact", "name", "type", "version"], synonyms: &[] };

/// What is done with an artefact of a type.
enum Kind {
    /// A file of the configuration language.
    Synapse,
    /// The archive of a connector.
    Library,
    /// Resources of the registry.
    Registry,
    /// Nothing, as it means nothing while serving.
    Ignored,
    /// Nothing, with a warning.
    Warned(&'static str),
    /// It cannot run.
    Refused(&'static str),
}

fn kind(name: &str) -> Kind {
    match name {
        "synapse/lib" => Kind::Library,
        "registry/resource" => Kind::Registry,
        "service/dataservice" => Kind::Refused("data services are not offered yet"),
        "datasource/datasource" => Kind::Synapse,
        "lib/synapse/mediator" | "lib/library/bundle" | "lib/registry/filter" | "lib/carbon/ui" => {
            Kind::Warned("it holds Java, which cannot run in a native program")
        }
        "lib/connector/dependency" => Kind::Warned("it holds Java of a connector, which has no effect"),
        "config/property" => {
            Kind::Warned("it has no effect: the values come from the environment and from file.properties")
        }
        "wso2/metadata" | "service/rule" => Kind::Ignored,
        _ if name.starts_with("synapse/") => Kind::Synapse,
        _ => Kind::Warned("nothing is known of its type"),
    }
}

/// What is found wrong with an archive while its artefacts are read.
struct Reading<'a> {
    archive: &'a Archive<'a>,
    path: &'a str,
    found: &'a mut Found,
    warnings: Vec<Problem>,
}

/// Puts what an archive holds where the rest of the configuration is.
///
/// What is wrong with it stands in the file that represents the archive as a whole.
pub fn read(path: &str, bytes: &[u8], found: &mut Found) {
    read_nested(path, bytes, found, 0);
}

fn read_nested(path: &str, bytes: &[u8], found: &mut Found, depth: usize) {
    let whole: Arc<str> = path.into();
    let index = found.files.len();
    found.files.push(File::stand_in("archive", &whole, path));
    let failed = |message: String, found: &mut Found| {
        found.files[index].root = Err(Problem::new(Place::start_of(&whole), message));
    };
    if depth == DEPTH {
        return failed(format!("archives lie deeper than {DEPTH} in each other"), found);
    }
    let archive = match Archive::open(bytes) {
        Ok(archive) => archive,
        Err(message) => return failed(message, found),
    };
    let mut reading = Reading { archive: &archive, path, found, warnings: Vec::new() };
    let outcome = reading.application(index);
    let warnings = reading.warnings;
    found.files[index].warnings = warnings;
    match outcome {
        Err(Wrong::Message(message)) => failed(message, found),
        Err(Wrong::Problem(problem)) => found.files[index].root = Err(problem),
        Ok(nested) => {
            for name in nested {
                match archive.read(&name) {
                    Ok(bytes) => {
                        read_nested(&format!("{path}{INSIDE}{name}"), &bytes.unwrap_or_default(), found, depth + 1);
                    }
                    Err(message) => return failed(message, found),
                }
            }
        }
    }
}

/// Why an archive cannot be used: something as a whole, or something at a place in it.
enum Wrong {
    Message(String),
    Problem(Problem),
}

impl From<String> for Wrong {
    fn from(message: String) -> Wrong {
        Wrong::Message(message)
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Wrong {
        Wrong::Problem(problem)
    }
}

impl Reading<'_> {
    /// Reads everything but the archives in it, whose names it gives.
    fn application(&mut self, index: usize) -> Result<Vec<String>, Wrong> {
        let root = self.element("artifacts.xml")?.ok_or("it holds no artifacts.xml".to_owned())?;
        self.expect_root(&root, "artifacts");
        let Some(application) = root.child("artifact") else {
            let misspelt = root.children.iter().find_map(|child| misspelt(child, &root, &["artifact"]));
            return Err(misspelt.unwrap_or_else(|| root.problem("<artifacts> names no artifact")).into());
        };
        let name = application.required("name")?.value.to_owned();
        let version = application.attribute("version").map_or("", |version| version.value);
        application.attribute("type");
        let mut ids = vec![format!("{name}_{version}")];
        self.found.files[index].name = name.as_str().into();
        let needs = self.descriptor(&mut ids)?;
        self.found.applications.push(Application { ids, needs, index });
        for dependency in &application.children {
            let read = match dependency.is("dependency") {
                true => self.dependency(dependency).and_then(|()| self.misspellings(dependency)),
                false => misspelt(dependency, application, &["dependency"]).map_or(Ok(()), |it| Err(it.into())),
            };
            if let Err(wrong) = read {
                self.leave_out(dependency, wrong);
            }
        }
        Ok(self.archive.names().filter(|name| is_nested(name)).map(str::to_owned).collect())
    }

    /// Reads `descriptor.xml`, which says what other archives this one needs.
    fn descriptor(&self, ids: &mut Vec<String>) -> Result<Vec<String>, Wrong> {
        let Some(root) = self.element("descriptor.xml")? else { return Ok(Vec::new()) };
        ids.extend(find(&root, "id").first().map(|id| id.text().value.to_owned()));
        let needs = find(&root, "dependency").into_iter().map(|dependency| {
            let parts = ["groupId", "artifactId", "version"].map(|part| dependency.required(part).map(|it| it.value));
            let [group, artefact, version] = parts;
            Ok(format!("{}_{}_{}", group?, artefact?, version?))
        });
        needs.collect::<Result<_, Problem>>().map_err(Wrong::from)
    }

    /// Tells what is wrong with one artefact of the archive, which holds the others up in nothing.
    fn leave_out(&mut self, dependency: &Element, wrong: Wrong) {
        let problem = match wrong {
            Wrong::Message(message) => dependency.problem(message),
            Wrong::Problem(problem) => problem,
        };
        let name = dependency.attribute("artifact").map_or("", |name| name.value);
        let file = File::stand_in("artifact", &problem.place.file, name);
        self.found.files.push(File { root: Err(problem), ..file });
    }

    /// Warns of a file whose root element has almost the name that it has to have; Micro Integrator does not look at it.
    fn expect_root(&mut self, root: &Element, name: &str) {
        if root.name != name {
            self.warnings.push(root.misnamed(format!("{}: <{name}> is expected", root.tag()), &[name]));
        }
        root.heed();
    }

    /// Tells of misspelt attributes of an element: a warning where nothing else is read for it.
    ///
    /// Errors: one without which something would be lost.
    fn misspellings(&mut self, element: &Element) -> Result<(), Wrong> {
        let mut unread = Unread::default();
        element.unread(&STRUCTURE, &mut unread);
        // An attribute that resembles no known name has no effect in Micro Integrator either: nothing is said of it.
        self.warnings.extend(unread.warnings.into_iter().filter(|warning| warning.suggestion.is_some()));
        unread.problems.into_iter().next().map_or(Ok(()), |problem| Err(problem.into()))
    }

    /// A sentence of a file that is not in the archive, with the one that was probably meant.
    fn missing(&self, place: Place, name: &str) -> Problem {
        let problem = Problem::new(place, format!("the archive holds no {name}"));
        let folder = &name[..name.rfind('/').map_or(0, |slash| slash + 1)];
        let siblings = || {
            let names = self.archive.names().filter(|other| other.strip_prefix(folder).is_some_and(is_plain));
            names.filter(|other| !other.ends_with("/artifact.xml"))
        };
        let only = || siblings().next().filter(|_| siblings().count() == 1 && !folder.is_empty());
        problem.suggesting(nearest(name, siblings()).or_else(only))
    }

    /// The same of a folder, whose name is that of an artefact and its version.
    fn missing_folder(&self, place: Place, folder: &str, name: &str) -> Problem {
        let problem = Problem::new(place, format!("the archive holds no {folder}/artifact.xml"));
        let folders = || self.archive.names().filter_map(|file| file.strip_suffix("/artifact.xml"));
        let is_version = |other: &&str| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        problem.suggesting(nearest(folder, folders()).or_else(|| folders().find(is_version)))
    }

    fn dependency(&mut self, dependency: &Element) -> Result<(), Wrong> {
        let is_false = |name: &str| dependency.attribute(name).is_some_and(|it| it.value.trim() == "false");
        let roles = dependency.attribute("serverRole").map_or("", |roles| roles.value.trim());
        let artefact = dependency.required("artifact")?;
        let (name, is_left_out) = (artefact.value, is_false("include"));
        let version = dependency.attribute("version").map_or("", |version| version.value);
        if !roles.is_empty() && !roles.split(',').any(|role| role.trim().starts_with("Enterprise")) {
            let message = format!("{name} is for servers in the role {roles:?}: it is left out");
            self.warnings.push(dependency.problem(message));
            return Ok(());
        }
        let folder = format!("{name}_{version}");
        let Some(root) = self.element(&format!("{folder}/artifact.xml"))? else {
            // A misspelt version is why it is not found.
            self.misspellings(dependency)?;
            if is_left_out {
                return Ok(());
            }
            return Err(self.missing_folder(artefact.place(0), &folder, name).into());
        };
        self.expect_root(&root, "artifact");
        let named = root.required("type")?;
        // Other functions read these attributes; to ask for them marks them as known.
        for known in ["name", "version", "serverRole"] {
            root.attribute(known);
        }
        if let Some(problem) = root.children.iter().find_map(|child| misspelt(child, &root, &["file", "dependency"])) {
            return Err(problem.into());
        }
        self.misspellings(&root)?;
        let kind_name = named.value.trim();
        if !TYPES.contains(&kind_name)
            && let Some(meant) = nearest(kind_name, TYPES)
        {
            let message = format!("{name}: there is no type {kind_name:?}");
            return Err(named.problem(message).suggesting(Some(meant)).into());
        }
        match kind(kind_name) {
            Kind::Ignored => {}
            Kind::Warned(message) => self.warnings.push(named.problem(format!("{name}: {message}"))),
            Kind::Refused(message) => return Err(named.problem(format!("{name}: {message}")).into()),
            Kind::Registry => self.resources(&folder, &root)?,
            Kind::Library => {
                for file in root.children.iter().filter(|child| child.name == "file") {
                    let name = format!("{folder}/{}", file.text().value);
                    let missing = || self.missing(file.text_place(), &name);
                    let bytes = self.archive.read(&name)?.ok_or_else(missing)?;
                    let library = Library::read(&format!("{}{INSIDE}{name}", self.path), &bytes);
                    if let Err(message) = self.found.add_library(library) {
                        self.warnings.push(file.problem(format!("{name}: {message}")));
                    }
                }
            }
            Kind::Synapse => {
                for file in root.children.iter().filter(|child| child.name == "file") {
                    let name = format!("{folder}/{}", file.text().value);
                    let missing = || self.missing(file.text_place(), &name);
                    let bytes = self.archive.read(&name)?.ok_or_else(missing)?;
                    let path: Arc<str> = format!("{}{INSIDE}{name}", self.path).into();
                    self.found.files.push(File::parse(&path, bytes));
                }
            }
        }
        Ok(())
    }

    /// Deploys the resources that a `registry-info.xml` lists.
    fn resources(&mut self, folder: &str, artefact: &Element) -> Result<(), Wrong> {
        let file = artefact.children.iter().find(|child| child.name == "file");
        let name = format!("{folder}/{}", file.map_or("registry-info.xml", |file| file.text().value));
        let Some(root) = self.element(&name)? else {
            let place = file.map_or_else(|| artefact.place.clone(), Element::text_place);
            return Err(self.missing(place, &name).into());
        };
        self.expect_root(&root, "resources");
        for item in &root.children {
            let parts: &[&str] = match item.name.as_str() {
                "item" => &["file", "path", "mediaType", "registry-type", "properties"],
                "collection" => &["directory", "path", "registry-type", "properties"],
                _ => &[],
            };
            let wrong = item.children.iter().find_map(|part| misspelt(part, item, parts));
            if let Some(problem) = misspelt(item, &root, &["item", "collection"]).or(wrong) {
                return Err(problem.into());
            }
            let named = |name: &str| item.children.iter().find(|child| child.name == name);
            let path = named("path").map_or("", |path| path.text().value);
            match item.name.as_str() {
                "item" => {
                    let file = named("file").map_or("", |file| file.text().value);
                    self.resource(item, &format!("{folder}/resources/{file}"), &format!("{path}/{}", last(file)))?;
                }
                "collection" => {
                    let directory = named("directory").map_or("", |it| it.text().value);
                    let below = format!("{folder}/resources/{directory}/");
                    let files: Vec<String> =
                        self.archive.names().filter(|name| name.starts_with(&below)).map(str::to_owned).collect();
                    for file in files {
                        self.resource(item, &file, &format!("{path}/{}", &file[below.len()..]))?;
                    }
                }
                other => self.warnings.push(item.problem(format!("<{other}> has no effect in a registry of files"))),
            }
        }
        Ok(())
    }

    fn resource(&mut self, item: &Element, name: &str, path: &str) -> Result<(), Wrong> {
        let missing = || {
            let file = item.children.iter().find(|child| child.name == "file");
            self.missing(file.map_or_else(|| item.place.clone(), Element::text_place), name)
        };
        let bytes = self.archive.read(name)?.ok_or_else(missing)?;
        let resource = Resource::new(&format!("{}{INSIDE}{name}", self.path), bytes);
        let Some(path) = registry::path_of(path) else {
            return Err(item.problem(format!("{path:?} leads out of the registry")).into());
        };
        match self.found.resources.get(&path) {
            Some(Held::Bytes(other)) if other.bytes != resource.bytes => {
                Err(item.problem(format!("{} brings another {path} along", other.uri)).into())
            }
            _ => {
                self.found.resources.insert(path, Held::Bytes(resource));
                Ok(())
            }
        }
    }

    /// The root element of a file in the archive; `None` where there is no such file.
    fn element(&self, name: &str) -> Result<Option<Element>, Wrong> {
        let Some(bytes) = self.archive.read(name)? else { return Ok(None) };
        let text = files::decode(bytes).map_err(|message| format!("{name}: {message}"))?;
        Ok(Some(Element::parse(&format!("{}{INSIDE}{name}", self.path).into(), text)?))
    }
}

/// The problem of an element that has almost the name of one of those that its parent may hold.
fn misspelt(element: &Element, parent: &Element, names: &[&str]) -> Option<Problem> {
    if names.contains(&element.name.as_str()) {
        return None;
    }
    Some(element.unknown_in(&parent.tag(), nearest(&element.name, names.iter().copied())?))
}

/// Whether a path names no folder.
fn is_plain(path: &str) -> bool {
    !path.contains('/')
}

/// Whether a file in an archive is one of those that a fat archive brings along.
fn is_nested(name: &str) -> bool {
    name.strip_prefix("dependencies/").is_some_and(|name| is_plain(name) && name.ends_with(".car"))
}

/// All elements of a name below one, in document order.
fn find<'a>(element: &'a Element, name: &str) -> Vec<&'a Element> {
    let below = element.children.iter().flat_map(|child| {
        let own = (child.name == name).then_some(child);
        own.into_iter().chain(find(child, name))
    });
    below.collect()
}

/// The last part of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
