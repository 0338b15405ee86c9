//! XML catalogs: which files stand for public identifiers, system identifiers and URIs.
//!
//! Source: OASIS XML Catalogs 1.1. Delegating entries are taken for catalogs that come next, and entries of SGML's
//! catalogs are left out.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use myelin_xml::{DoctypePolicy, Document, Kind as NodeKind, NodeId, Options, XML_NAMESPACE};

use crate::files;
use crate::reading::Complaint;

const NAMESPACE: &str = "urn:oasis:names:tc:entity:xmlns:xml:catalog";

/// Catalogs that catalogs name; more are left out.
const MOST: usize = 1_000;

/// For what a file is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A document type or a part of a document.
    Entity,
    /// A stylesheet or a document.
    Uri,
}

/// What an entry compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    Public,
    /// A system identifier: all of it, its beginning, its end.
    System,
    SystemStart,
    SystemEnd,
    /// A URI: likewise.
    Uri,
    UriStart,
    UriEnd,
}

impl Match {
    const NAMES: [(&str, &str, &str, Match); 7] = [
        ("public", "publicId", "uri", Match::Public),
        ("system", "systemId", "uri", Match::System),
        ("rewriteSystem", "systemIdStartString", "rewritePrefix", Match::SystemStart),
        ("systemSuffix", "systemIdSuffix", "uri", Match::SystemEnd),
        ("uri", "name", "uri", Match::Uri),
        ("rewriteURI", "uriStartString", "rewritePrefix", Match::UriStart),
        ("uriSuffix", "uriSuffix", "uri", Match::UriEnd),
    ];
}

/// An entry: what it compares with what, and what it gives.
#[derive(Debug)]
struct Entry {
    compares: Match,
    with: String,
    gives: String,
}

/// The entries of all catalogs, in their order.
#[derive(Debug, Default)]
pub(crate) struct Catalogs {
    entries: Vec<Entry>,
}

impl Catalogs {
    /// Reads catalogs, and those that they name.
    ///
    /// Errors: one of the first that is not there or no catalog; those that catalogs name may be missing.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Catalogs, Complaint> {
        let mut catalogs = Catalogs::default();
        let mut known = HashSet::new();
        let mut next: Vec<PathBuf> = Vec::new();
        for path in paths {
            catalogs.add(path, &mut known, &mut next)?;
            while let Some(path) = next.pop() {
                if known.len() < MOST {
                    // A system has catalogs for what is not installed.
                    let _: Result<(), Complaint> = catalogs.add(&path, &mut known, &mut next);
                }
            }
        }
        Ok(catalogs)
    }

    fn add(&mut self, path: &Path, known: &mut HashSet<PathBuf>, next: &mut Vec<PathBuf>) -> Result<(), Complaint> {
        if !known.insert(path.to_owned()) {
            return Ok(());
        }
        let source = files::read(path)?;
        let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
        let document = Document::parse(source, &options).map_err(|error| Complaint::malformed(path, &error))?;
        let mut named = Vec::new();
        for node in document.descendants(document.document_node()) {
            let name = document.qname(node);
            if document.kind(node) != NodeKind::Element || name.namespace != NAMESPACE {
                continue;
            }
            let attribute = |local: &str| document.attribute(node, "", local).map(|value| value.into_owned());
            let base = base(&document, node, path);
            if let Some((_, with, gives, compares)) = Match::NAMES.iter().find(|(element, ..)| *element == name.local) {
                if let (Some(with), Some(gives)) = (attribute(with), attribute(gives)) {
                    let with = if *compares == Match::Public { normal(&with) } else { with };
                    self.entries.push(Entry { compares: *compares, with, gives: beside(&gives, &base) });
                }
            } else if matches!(name.local, "nextCatalog" | "delegatePublic" | "delegateSystem" | "delegateURI")
                && let Some(catalog) = attribute("catalog")
                && let Ok(path) = files::located(&beside(&catalog, &base), "")
            {
                named.push(path);
            }
        }
        // The first that is named is the first to be read.
        named.reverse();
        next.extend(named);
        Ok(())
    }

    /// The URI of the file that stands for an identifier; `None`: no entry names it.
    pub(crate) fn find(&self, kind: Kind, public: Option<&str>, system: &str) -> Option<String> {
        let whole = |compares: Match, text: &str| {
            self.entries.iter().find(|it| it.compares == compares && it.with == text).map(|it| it.gives.clone())
        };
        let ends = |compares: Match| {
            let fits = |it: &&Entry| it.compares == compares && system.ends_with(&it.with);
            self.entries.iter().filter(fits).max_by_key(|it| it.with.len()).map(|it| it.gives.clone())
        };
        let starts = |compares: Match| {
            let fits = |it: &&Entry| it.compares == compares && system.starts_with(&it.with);
            let entry = self.entries.iter().filter(fits).max_by_key(|it| it.with.len())?;
            Some(format!("{}{}", entry.gives, &system[entry.with.len()..]))
        };
        match kind {
            Kind::Uri => whole(Match::Uri, system).or_else(|| starts(Match::UriStart)).or_else(|| ends(Match::UriEnd)),
            Kind::Entity => whole(Match::System, system)
                .or_else(|| starts(Match::SystemStart))
                .or_else(|| ends(Match::SystemEnd))
                .or_else(|| whole(Match::Public, &normal(public?))),
        }
    }
}

/// A public identifier with its white space as it is compared.
fn normal(public: &str) -> String {
    public.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The base URI of an entry's references: `xml:base` around it, resolved against the catalog's own.
fn base(document: &Document, node: NodeId, path: &Path) -> String {
    let mut bases = Vec::new();
    let mut at = Some(node);
    while let Some(node) = at {
        bases.extend(document.attribute(node, XML_NAMESPACE, "base").map(|base| base.into_owned()));
        at = document.parent(node);
    }
    let own = path.to_string_lossy().into_owned();
    bases.into_iter().rev().fold(own, |base, next| beside(&next, &base))
}

/// A reference seen from a base; what names no file stays as it is.
fn beside(reference: &str, base: &str) -> String {
    let ends = if reference.ends_with('/') { "/" } else { "" };
    match files::located(reference, base) {
        Ok(path) => format!("{}{ends}", path.display()),
        Err(_) => reference.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_files_by_identifiers() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, entries: &str| {
            let text =
                format!("<!DOCTYPE catalog PUBLIC 'x' 'http://x'><catalog xmlns='{NAMESPACE}'>{entries}</catalog>");
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write(
            "a.xml",
            "<group xml:base='dtd/'><public publicId='-//X//Y  Z' uri='y.dtd'/></group>
             <system systemId='http://s/s.dtd' uri='file:///s/s.dtd'/><nextCatalog catalog='b.xml'/>
             <nextCatalog catalog='none.xml'/>",
        );
        write(
            "b.xml",
            "<rewriteURI uriStartString='http://s/' rewritePrefix='sheets/'/>
             <rewriteURI uriStartString='http://s/current/' rewritePrefix='file:///usr/sheets/'/>
             <nextCatalog catalog='a.xml'/>",
        );
        let catalogs = Catalogs::read(&[folder.path().join("a.xml")]).map_err(|it| it.to_string()).expect("catalogs");
        let below = |name: &str| Some(folder.path().join(name).to_string_lossy().into_owned());
        assert_eq!(catalogs.find(Kind::Entity, Some("-//X//Y Z"), "y"), below("dtd/y.dtd"));
        assert_eq!(catalogs.find(Kind::Entity, None, "http://s/s.dtd").as_deref(), Some("/s/s.dtd"));
        assert_eq!(catalogs.find(Kind::Uri, None, "http://s/current/a.xsl").as_deref(), Some("/usr/sheets/a.xsl"));
        assert_eq!(catalogs.find(Kind::Uri, None, "http://s/a.xsl"), below("sheets/a.xsl"));
        assert_eq!(catalogs.find(Kind::Entity, None, "http://t"), None);
        assert!(Catalogs::read(&[folder.path().join("none.xml")]).is_err());
    }
}
