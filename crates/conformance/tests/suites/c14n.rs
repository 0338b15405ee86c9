//! Canonical XML against the signatures of others, whose digests say what its bytes must be, and against xmllint.

mod filters;
mod references;
mod xmllint;

use std::fs;
use std::path::{Path, PathBuf};

use myelin_conformance::{Suite, data};
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{DoctypePolicy, Document, Kind, NodeId, Options};

pub(crate) const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";

const NOTE: &str = "References of the signatures in `xmldsig-xmlenc/tests`.
A reference passes when the digest of its canonical form is the one in the signature, or is not where the file is about a wrong digest.
References without XPath go both the way for subtrees and the way for sets of nodes; XPath expressions are done by hand, as the engine is not what is tested.
The row `output` compares bytes with the canonical forms that the merlin suites keep beside their signatures.
Documents that xmllint can read and canonicalise are compared with it in another test, where it is installed.";

/// Folders of the suite that hold signatures.
const SETS: [&str; 7] = [
    "aleksey-xmldsig-01",
    "merlin-c14n-three",
    "merlin-exc-c14n-one",
    "merlin-xmldsig-twenty-three",
    "phaos-xmldsig-three",
    "xmldsig11-interop-2012",
    "xmldsig2ed-tests",
];

#[test]
fn c14n() {
    let Some(folder) = data("xmldsig-xmlenc/tests") else { return };
    let mut suite = Suite::new("c14n", "Canonical XML", NOTE);
    for set in SETS {
        for file in files(&folder.join(set)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match read(&file) {
                Ok(document) => {
                    for (number, reference) in all(&document, "Reference").into_iter().enumerate() {
                        references::judge(&mut suite, set, &file, &document, (number, reference));
                    }
                }
                Err(error) => suite.skip(set, &format!("documents that are not read: {error}")),
            }
            if set == "merlin-c14n-three" && name == "signature.xml" {
                outputs(&mut suite, set, &file);
            }
        }
    }
    suite.finish();
}

/// Compares with the canonical forms beside a signature: one for each reference, then one of what is signed.
fn outputs(suite: &mut Suite, set: &str, file: &Path) {
    let document = read(file).expect("it was read before");
    let mut forms: Vec<Result<Vec<u8>, String>> = all(&document, "Reference")
        .into_iter()
        .map(|reference| references::bytes(&document, reference, file).map(|(bytes, _)| bytes))
        .collect();
    let mut signed = Vec::new();
    let subset = Subset { apex: all(&document, "SignedInfo")[0], excluded: &[] };
    canonicalize(&document, subset, &Canonical::new(Method::Inclusive), &mut signed).expect("no namespace is relative");
    forms.push(Ok(signed));
    for (number, form) in forms.into_iter().enumerate() {
        let name = format!("c14n-{number}.txt");
        let expected = fs::read(file.with_file_name(&name)).expect("there is a form for each");
        let result = form
            .and_then(|form| if form == expected { Ok(()) } else { Err(String::from_utf8_lossy(&form).into_owned()) });
        suite.judge(&format!("{set}, output"), &name, result);
    }
}

fn read(file: &Path) -> Result<Document, String> {
    let options = Options { doctype: DoctypePolicy::Skip, ..Options::default() };
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    Document::parse(bytes, &options).map_err(|error| error.kind.to_string())
}

/// The XML documents of a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the suite has this folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    files
}

/// All elements of XML Signature with that local name.
pub(crate) fn all(document: &Document, local: &str) -> Vec<NodeId> {
    let descendants = document.descendants(document.document_node());
    descendants.filter(|&node| is(document, node, DSIG, local)).collect()
}

pub(crate) fn is(document: &Document, node: NodeId, namespace: &str, local: &str) -> bool {
    let name = document.qname(node);
    document.kind(node) == Kind::Element && name.local == local && name.namespace == namespace
}
