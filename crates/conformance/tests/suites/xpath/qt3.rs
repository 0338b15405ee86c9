//! The W3C's XPath and XQuery test suite, version 3.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use myelin_conformance::{Suite, data};
use myelin_xml::{Document, Kind, NodeId};

use crate::xpath::assertion::{UNJUDGED, holds};
use crate::xpath::environment::{Documents, Failure, Scope, read, scope};

const NOTE: &str = "[QT3](https://github.com/w3c/qt3tests), the cases for XPath 2.0, 3.0 and 3.1 whose files are there.
Functions of XSLT's library, documents and texts come from where `myelin xpath` has them.
An error passes only with the very code the suite names.
Cases count as skipped where all they test is not offered: schemas, static types, collections.";

/// Features of the suite that this library does not have.
fn is_missing(kind: &str, value: &str) -> bool {
    match kind {
        "feature" => !matches!(
            value,
            "namespace-axis" | "higherOrderFunctions" | "advanced-uca-fallback" | "infoset-dtd" | "serialization"
        ),
        "unicode-normalization-form" => value == "FULLY-NORMALIZED",
        "xml-version" => value != "1.0",
        "xsd-version" => value != "1.1",
        "default-language" => value != "en",
        "language" => !matches!(value, "en" | "de" | "fr" | "it"),
        "format-integer-sequence" => !"Αα١①⑴⒈一".contains(value),
        "limits" => value != "year_lt_0",
        _ => true,
    }
}

struct Run {
    suite: Suite,
    documents: Documents,
    /// The environments of the catalog, or why they cannot be had.
    shared: HashMap<String, Rc<Result<Scope, String>>>,
}

#[test]
fn qt3() {
    let Some(folder) = data("xpath-qt3") else { return };
    let catalog = read(&folder.join("catalog.xml")).expect("the catalog is well-formed");
    let mut run = Run {
        suite: Suite::new("xpath", "XPath 2.0 and later", NOTE),
        documents: Documents::default(),
        shared: HashMap::new(),
    };
    run.shared = run.environments(catalog, &folder);
    let root = catalog.root_element().expect("a root");
    for set in elements(catalog, root, "test-set") {
        let file = catalog.attribute(set, "", "file").unwrap_or_default();
        let path = folder.join(&*file);
        // About half of the sets are here.
        if path.is_file() {
            run.set(&file.replace(".xml", ""), &path);
        }
    }
    run.suite.finish();
}

fn elements<'a>(document: &'a Document, parent: NodeId, local: &'a str) -> impl Iterator<Item = NodeId> + 'a {
    document
        .children(parent)
        .filter(move |child| document.kind(*child) == Kind::Element && document.qname(*child).local == local)
}

impl Run {
    fn environments(&mut self, document: &Document, folder: &Path) -> HashMap<String, Rc<Result<Scope, String>>> {
        let root = document.root_element().expect("a root");
        let mut found = HashMap::new();
        for element in elements(document, root, "environment") {
            let name = document.attribute(element, "", "name").unwrap_or_default().into_owned();
            found.insert(name, Rc::new(scope(document, element, folder, &mut self.documents)));
        }
        found
    }

    fn set(&mut self, name: &str, path: &Path) {
        let document = match read(path) {
            Ok(document) => document,
            Err(reason) => return self.suite.skip(name, &format!("is {reason}")),
        };
        let folder = path.parent().expect("it is in a folder");
        let root = document.root_element().expect("a root");
        let environments = self.environments(document, folder);
        let of_set = unmet(document, root);
        for case in elements(document, root, "test-case") {
            let id = document.attribute(case, "", "name").unwrap_or_default();
            let result = match &of_set {
                Some(reason) => Err(reason.clone()),
                None => self.case(document, case, folder, &environments),
            };
            match result {
                Err(reason) => self.suite.skip(name, &reason),
                Ok(Err(reason)) if reason == UNJUDGED => self.suite.skip(name, UNJUDGED),
                Ok(result) => self.suite.judge(name, &id, result),
            }
        }
    }

    /// How a case ended, or why it does not apply.
    fn case(
        &mut self,
        set: &Document,
        case: NodeId,
        folder: &Path,
        environments: &HashMap<String, Rc<Result<Scope, String>>>,
    ) -> Result<Result<(), String>, String> {
        if let Some(reason) = unmet(set, case) {
            return Err(reason);
        }
        if elements(set, case, "module").next().is_some() {
            return Err("is XQuery only".to_owned());
        }
        let mut here = Scope::default();
        if let Some(element) = elements(set, case, "environment").next() {
            here = match set.attribute(element, "", "ref") {
                Some(name) => match environments.get(&*name).or_else(|| self.shared.get(&*name)) {
                    Some(known) => (**known).clone()?,
                    None => return Err("needs an environment that is not there".to_owned()),
                },
                None => scope(set, element, folder, &mut self.documents)?,
            };
        }
        let test = elements(set, case, "test").next().ok_or("has no expression")?;
        if set.attribute(test, "", "file").is_some() {
            return Err("is XQuery only".to_owned());
        }
        let result = elements(set, case, "result").next().ok_or("has no result")?;
        let assertion = set.children(result).find(|child| set.kind(*child) == Kind::Element).ok_or("has no result")?;
        let outcome = here.run(&set.string_value(test));
        let judged = holds(set, assertion, &outcome, &here, folder);
        match (&outcome, &judged) {
            (Err(Failure::Syntax(error)), Err(_)) if error.code == "XPST0017" => {
                Err("calls a function that is not offered".to_owned())
            }
            _ => Ok(judged),
        }
    }
}

/// A dependency of a set or a case that is not met.
fn unmet(document: &Document, element: NodeId) -> Option<String> {
    elements(document, element, "dependency").find_map(|dependency| {
        let attribute = |name: &str| document.attribute(dependency, "", name).unwrap_or_default();
        let (kind, value) = (attribute("type"), attribute("value"));
        let satisfied = attribute("satisfied") != "false";
        if kind == "spec" {
            let ours = value.split_whitespace().any(|spec| matches!(spec, "XP20+" | "XP30+" | "XP31+" | "XP31"));
            let reason = if value.contains("XP") { "is for an older version only" } else { "is XQuery only" };
            return (!ours).then(|| reason.to_owned());
        }
        (is_missing(&kind, &value) == satisfied).then(|| format!("needs {kind} {value}"))
    })
}
