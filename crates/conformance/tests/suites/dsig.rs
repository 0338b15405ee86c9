//! XML Signature and XML Encryption against the vectors of others: each is right, or refused by the rule that a list
//! in git names for it.

mod encryption;
mod keys;
mod refused;
mod signatures;

use std::fs;
use std::path::{Path, PathBuf};

use myelin_conformance::{Suite, data};
use myelin_wss::Refusal;
use myelin_xml::{DeclaredEncoding, DoctypePolicy, Document, Kind, NodeId, Options, encoding};

use keys::Keys;
use refused::Expected;

const NOTE: &str = "Every XML file in `xmldsig-xmlenc/tests`.
A signature passes when it verifies with the suite's keys; a ciphertext passes when it decrypts to what the suite keeps beside it.
The rows `refused` count the files that are refused by the very rule that `crates/conformance/known/dsig-refused.txt` names for them, for the reason that the list gives: some are wrong on purpose, the others ask for what this bus never does.
Rules are applied before keys are used, so that a file with several such wishes is counted under the first.";

#[test]
fn dsig() {
    let Some(folder) = data("xmldsig-xmlenc/tests") else { return };
    let mut suite = Suite::new("dsig", "XML Signature and XML Encryption", NOTE);
    let mut expected = Expected::read();
    let keys = Keys::of(&folder);
    for file in files(&folder) {
        let name = file.strip_prefix(&folder).expect("it is in the folder").to_string_lossy();
        let (set, _) = name.split_once('/').unwrap_or_default();
        if name.ends_with(".tmpl") {
            suite.skip(set, "templates, for programs that sign or encrypt in their place");
            continue;
        }
        let result = match read(&file) {
            Err(reason) => Err(Outcome::Failed(reason)),
            Ok(document) if first(&document, "Signature").is_some() => signatures::verify(&keys, set, &document),
            Ok(document) if first(&document, "EncryptedData").is_some() => encryption::decrypt(&keys, &file, &document),
            Ok(_) => {
                suite.skip(set, "keys, plaintexts and documents that signatures refer to");
                continue;
            }
        };
        expected.judge(&mut suite, set, &name, result);
    }
    expected.finish(&mut suite);
    suite.finish();
}

/// How a vector can go wrong.
#[derive(Debug)]
enum Outcome {
    /// A rule forbids it.
    Refused(Refusal),
    /// It should have been accepted.
    Failed(String),
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Outcome {
        Outcome::Refused(refusal)
    }
}

/// All XML files and templates below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder can be read") {
            let path = entry.expect("a folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "xml" || extension == "tmpl") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What documents may hold here; many have a document type, which is skipped.
fn options() -> Options {
    Options { doctype: DoctypePolicy::Skip, declared_encoding: DeclaredEncoding::Any, ..Options::default() }
}

fn read(file: &Path) -> Result<Document, String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    parse(&bytes)
}

/// Reads a document in any of the encodings that are known.
fn parse(bytes: &[u8]) -> Result<Document, String> {
    let (text, _) = encoding::decode(None, bytes).map_err(|error| error.to_string())?;
    Document::parse(text.into_owned(), &options()).map_err(|error| error.to_string())
}

/// The first element with that local name.
fn first(document: &Document, local: &str) -> Option<NodeId> {
    let mut descendants = document.descendants(document.document_node());
    descendants.find(|&node| document.kind(node) == Kind::Element && document.qname(node).local == local)
}

/// All elements with that local name below a node.
fn below<'a>(document: &'a Document, top: NodeId, local: &'a str) -> impl Iterator<Item = NodeId> + 'a {
    let elements = document.descendants(top).filter(|&node| document.kind(node) == Kind::Element);
    elements.filter(move |&node| document.qname(node).local == local)
}

/// The text of a node, and of all below it.
fn text(document: &Document, node: NodeId) -> String {
    let texts = document.descendants(node).filter(|&node| document.kind(node) == Kind::Text);
    texts.map(|node| document.value(node)).collect()
}
