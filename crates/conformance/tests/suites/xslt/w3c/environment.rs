//! What a case of the W3C's suite runs with.

use std::path::{Path, PathBuf};

use myelin_xml::{Document, Kind, NodeId};

/// A case's document and the files that go by other names.
#[derive(Clone, Default)]
pub(super) struct Environment {
    /// The document to transform, and the file it is from: a made-up one where the set itself holds the text.
    pub(super) document: Option<(Vec<u8>, PathBuf)>,
    /// The stylesheet, where the environment has it and the case has none.
    pub(super) stylesheet: Option<PathBuf>,
    /// Whether the stylesheet is inside the document.
    pub(super) embedded: bool,
    pub(super) named: Vec<(String, PathBuf)>,
    pub(super) parameters: Vec<(String, String)>,
    /// Whether results are to be seen as they are written.
    pub(super) serialized: bool,
}

pub(super) fn attribute(document: &Document, element: NodeId, name: &str) -> Option<String> {
    document.attribute(element, "", name).map(|value| value.into_owned())
}

pub(super) fn children<'d>(document: &'d Document, parent: NodeId, name: &'d str) -> impl Iterator<Item = NodeId> + 'd {
    document
        .children(parent)
        .filter(move |&child| document.kind(child) == Kind::Element && document.qname(child).local == name)
}

pub(super) fn child(document: &Document, parent: NodeId, name: &str) -> Option<NodeId> {
    children(document, parent, name).next()
}

/// Reads an `environment` element; `Err`: why its cases cannot run.
pub(super) fn read(set: &Document, element: NodeId, folder: &Path) -> Result<Environment, String> {
    let mut environment = Environment::default();
    for part in set.children(element).filter(|&part| set.kind(part) == Kind::Element) {
        let file = attribute(set, part, "file").map(|file| folder.join(file));
        let named = attribute(set, part, "uri").zip(file.clone());
        match set.qname(part).local {
            "source" => {
                if attribute(set, part, "validation").is_some_and(|validation| validation != "skip") {
                    return Err("needs a schema".to_owned());
                }
                if attribute(set, part, "select").is_some() {
                    return Err("begins at a node inside the document".to_owned());
                }
                environment.named.extend(named);
                if attribute(set, part, "role").as_deref() == Some(".") {
                    let inside =
                        child(set, part, "content").map(|content| set.string_value(content).into_owned().into_bytes());
                    let read =
                        |file: &PathBuf| std::fs::read(file).map_err(|_| "needs a file that is not there".to_owned());
                    let bytes = match (inside, &file) {
                        (Some(bytes), _) => bytes,
                        (None, Some(file)) => read(file)?,
                        (None, None) => return Err("needs a file that is not there".to_owned()),
                    };
                    environment.document = Some((bytes, file.unwrap_or_else(|| folder.join("inside.xml"))));
                    environment.embedded = attribute(set, part, "defines-stylesheet").as_deref() == Some("true");
                }
            }
            "resource" => environment.named.extend(named),
            "stylesheet" if attribute(set, part, "role").is_some_and(|role| role == "secondary") => {}
            "stylesheet" => environment.stylesheet = file,
            "param" => environment.parameters.extend(attribute(set, part, "name").zip(attribute(set, part, "select"))),
            "output" => environment.serialized = attribute(set, part, "serialize").as_deref() == Some("yes"),
            "package" => return Err("needs packages".to_owned()),
            "schema" => return Err("needs a schema".to_owned()),
            "collection" | "collation" => return Err(format!("needs a {}", set.qname(part).local)),
            other => return Err(format!("has an environment with {other}")),
        }
    }
    Ok(environment)
}
