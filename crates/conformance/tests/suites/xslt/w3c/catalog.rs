//! The cases of the W3C's suite, each with what it runs with.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use myelin_xml::{Document, Kind, NodeId};
use myelin_xslt::{Parameter, ParameterValue};

use super::environment::{self, Environment, attribute, child, children};
use crate::xslt::engine::{self, Failure, Files, Job, Made};

/// A case as the walk comes by.
pub(crate) struct Visit<'v> {
    pub(crate) set: &'v str,
    pub(crate) id: &'v str,
    pub(crate) versions: Versions,
    /// What runs, or why the case does not apply.
    pub(crate) prepared: Result<Prepared, String>,
    /// The set's file, and the element of the case in it.
    pub(super) document: &'v Document,
    pub(super) case: NodeId,
    pub(super) folder: &'v Path,
}

/// For which processors a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// XSLT 1.0, and mostly later ones too.
    One,
    /// XSLT 2.0 or 3.0 and later.
    Later,
}

/// What runs.
pub(crate) struct Prepared {
    pub(crate) file: PathBuf,
    pub(crate) stylesheet: Vec<u8>,
    /// The document, and the file it is from.
    pub(crate) document: Option<(Vec<u8>, PathBuf)>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) mode: Option<String>,
    pub(crate) template: Option<String>,
    function: Option<String>,
    fragment: Option<String>,
    fails_on_multiple_match: bool,
    pub(crate) statics: Vec<Parameter>,
    /// Where the result would go: results of other names are seen from there.
    pub(crate) output_uri: Option<String>,
    named: Vec<(String, PathBuf)>,
}

/// Goes to each case of the suite.
pub(crate) fn walk(folder: &Path, visitor: &mut dyn FnMut(Visit<'_>)) {
    let bytes = std::fs::read(folder.join("catalog.xml")).expect("the catalog is there");
    let catalog = engine::read(&bytes).expect("the catalog is well-formed");
    let root = catalog.root_element().expect("it has a root");
    for set in children(&catalog, root, "test-set") {
        let file = folder.join(attribute(&catalog, set, "file").unwrap_or_default());
        // About half of the sets are here.
        if file.is_file() {
            walk_set(&attribute(&catalog, set, "name").unwrap_or_default(), &file, visitor);
        }
    }
}

fn walk_set(name: &str, file: &Path, visitor: &mut dyn FnMut(Visit<'_>)) {
    let set = engine::read(&std::fs::read(file).expect("the set is there")).expect("the set is well-formed");
    let root = set.root_element().expect("it has a root");
    let folder = file.parent().expect("it is in a folder");
    let environments: HashMap<String, Result<Environment, String>> = children(&set, root, "environment")
        .filter_map(|element| Some((attribute(&set, element, "name")?, environment::read(&set, element, folder))))
        .collect();
    for case in children(&set, root, "test-case") {
        let id = attribute(&set, case, "name").unwrap_or_default();
        let (versions, unmet) = applies(&set, root, case);
        let prepared = match unmet {
            Some(reason) => Err(reason),
            None => prepare(&set, case, folder, &environments),
        };
        visitor(Visit { set: name, id: &id, versions, prepared, document: &set, case, folder });
    }
}

/// What a case runs with, or why it does not apply.
fn prepare(
    set: &Document,
    case: NodeId,
    folder: &Path,
    environments: &HashMap<String, Result<Environment, String>>,
) -> Result<Prepared, String> {
    let environment = match child(set, case, "environment") {
        None => Environment::default(),
        Some(element) => match attribute(set, element, "ref") {
            Some(name) => environments.get(&name).cloned().ok_or("needs an environment that is not there")??,
            None => environment::read(set, element, folder)?,
        },
    };
    let test = child(set, case, "test").ok_or("has no test")?;
    if child(set, test, "package").is_some() {
        return Err("needs packages".to_owned());
    }
    let principal = children(set, test, "stylesheet")
        .find(|&sheet| attribute(set, sheet, "role").is_none_or(|role| role == "principal"))
        .and_then(|sheet| attribute(set, sheet, "file"));
    let mut fragment = None;
    let (file, stylesheet) =
        match (principal.map(|file| folder.join(file)).or(environment.stylesheet), &environment.document) {
            (Some(file), _) => (file.clone(), std::fs::read(&file).map_err(|_| "needs a file that is not there")?),
            (None, Some((bytes, file))) if environment.embedded => {
                let href = engine::read(bytes).ok().and_then(|document| myelin_xslt::associated_stylesheet(&document));
                match href.as_deref().map(|href| href.strip_prefix('#').ok_or(href)) {
                    Some(Err(href)) => {
                        let file = folder.join(href);
                        (file.clone(), std::fs::read(&file).map_err(|_| "needs a file that is not there")?)
                    }
                    Some(Ok(inside)) => {
                        fragment = Some(inside.to_owned());
                        (file.clone(), bytes.clone())
                    }
                    None => (file.clone(), bytes.clone()),
                }
            }
            _ => return Err("has no stylesheet".to_owned()),
        };
    let text = String::from_utf8_lossy(&stylesheet);
    if text.contains("<xsl:package") && text.contains("<xsl:use-package") {
        return Err("needs packages".to_owned());
    }
    let mut parameters = environment.parameters;
    let mut statics = Vec::new();
    for parameter in children(set, test, "param") {
        let given = attribute(set, parameter, "name").zip(attribute(set, parameter, "select"));
        match attribute(set, parameter, "static").as_deref() {
            Some("yes") => statics.extend(given),
            _ => parameters.extend(given),
        }
    }
    let parameter = |(name, select): (String, String)| Parameter {
        name: expanded(set, test, &name),
        value: ParameterValue::Expression(select),
    };
    let parameters: Vec<Parameter> = parameters.into_iter().map(parameter).collect();
    let statics: Vec<Parameter> = statics.into_iter().map(parameter).collect();
    let initial = |name| {
        let element = child(set, test, name)?;
        Some(expanded(set, element, &attribute(set, element, "name")?))
    };
    let (mode, template) = (initial("initial-mode"), initial("initial-template"));
    let fails_on_multiple_match = dependencies(set, case).any(|part| {
        set.qname(part).local == "on-multiple-match" && attribute(set, part, "value").as_deref() == Some("error")
    });
    Ok(Prepared {
        file,
        stylesheet,
        document: environment.document,
        parameters,
        mode,
        template,
        function: initial("initial-function"),
        fragment,
        fails_on_multiple_match,
        statics,
        output_uri: child(set, test, "output")
            .and_then(|output| attribute(set, output, "file"))
            .filter(|file| file != "#absent")
            .map(|file| engine::uri(&folder.join(file))),
        named: environment.named,
    })
}

impl Prepared {
    /// The case by our own engine.
    pub(crate) fn run(&self, folder: &Path) -> Result<Made, Failure> {
        engine::run(&Job {
            stylesheet: &self.stylesheet,
            file: &self.file,
            document: self.document.as_ref().map(|(bytes, file)| (bytes.as_slice(), file.as_path())),
            files: &Files { folder: folder.to_owned(), named: self.named.clone() },
            parameters: &self.parameters,
            mode: self.mode.as_deref(),
            template: self.template.as_deref(),
            function: self.function.as_deref(),
            fragment: self.fragment.as_deref(),
            fails_on_multiple_match: self.fails_on_multiple_match,
            statics: &self.statics,
            output_uri: self.output_uri.as_deref(),
        })
    }
}

/// A name as the engine wants it: `local` or `{namespace}local`.
fn expanded(set: &Document, element: NodeId, name: &str) -> String {
    match name.split_once(':') {
        Some((prefix, local)) if !name.starts_with("Q{") => {
            format!("{{{}}}{local}", set.lookup_namespace(element, prefix).unwrap_or_default())
        }
        _ => name.trim_start_matches('Q').to_owned(),
    }
}

/// What a case or a set says that it depends on.
fn dependencies(set: &Document, element: NodeId) -> impl Iterator<Item = NodeId> {
    let all = child(set, element, "dependencies").into_iter();
    all.flat_map(|element| set.children(element).filter(|&part| set.kind(part) == Kind::Element))
}

/// For which processors a case is, and why it does not apply if it does not.
fn applies(set: &Document, root: NodeId, case: NodeId) -> (Versions, Option<String>) {
    let dependencies: Vec<NodeId> = dependencies(set, root).chain(dependencies(set, case)).collect();
    let value = |dependency| attribute(set, dependency, "value").unwrap_or_default();
    // What a case says of versions is narrower than what its set says.
    let spec = dependencies.iter().rfind(|&&part| set.qname(part).local == "spec").map(|&part| value(part));
    let spec = spec.unwrap_or_else(|| "XSLT10+".to_owned());
    let is_for = |wanted: &[&str]| spec.split_whitespace().any(|version| wanted.contains(&version));
    let one = is_for(&["XSLT10", "XSLT10+"]);
    let versions = if one { Versions::One } else { Versions::Later };
    if !one && !is_for(&["XSLT20+", "XSLT30", "XSLT30+"]) {
        return (versions, Some("is for XSLT 2.0 alone".to_owned()));
    }
    let unmet = dependencies.iter().find_map(|&dependency| {
        let (kind, value) = (set.qname(dependency).local, value(dependency));
        let wanted = attribute(set, dependency, "satisfied").is_none_or(|satisfied| satisfied == "true");
        (is_offered(kind, &value) != wanted).then(|| {
            let not = if wanted { "" } else { "the absence of " };
            format!("needs {not}{} {value}", kind.replace('_', " "))
        })
    });
    (versions, unmet)
}

/// Whether this library has what the suite has a name for.
fn is_offered(kind: &str, value: &str) -> bool {
    match kind {
        "spec" | "enable_assertions" => true,
        "feature" => !matches!(value, "schema_aware" | "streaming" | "XML_1.1" | "HTML4"),
        "additional_normalization_form" => {
            value.split_whitespace().all(|form| matches!(form, "support" | "NFC" | "NFD" | "NFKC" | "NFKD"))
        }
        // The last of several templates is taken, or it is an error where that is wanted (XSLT 1.0 §5.5).
        "on-multiple-match" => matches!(value, "recover" | "error"),
        "default_output_encoding" => value == "UTF-8",
        "default_html_version" => value == "5",
        "default_calendar_in_date_formatting_functions" => value == "AD",
        "year_component_values" => true,
        _ => false,
    }
}
