//! The same documents through xmllint, where it is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use myelin_conformance::data;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, Options};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const METHODS: [(&str, Method); 3] =
    [("--c14n", Method::Inclusive), ("--c14n11", Method::Inclusive11), ("--exc-c14n", Method::Exclusive)];

#[test]
fn xmllint_gives_the_same_canonical_forms() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        return myelin_testkit::skip("there is no xmllint (Debian: libxml2-utils)");
    }
    let folder = std::env::temp_dir().join(format!("myelin-c14n-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is a temporary folder");
    let mut compared = 0;
    // Random documents, the same ones each time.
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for number in 0..100 {
        let text = document().new_tree(&mut runner).expect("nothing is filtered").current();
        let file = folder.join(format!("{number}.xml"));
        fs::write(&file, text).expect("the folder can be written");
        compared += compare(&file);
    }
    let random = compared;
    if let Some(suite) = data("xml-w3c") {
        let mut folders = vec![suite];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the suite can be read") {
                let path: PathBuf = entry.expect("the suite can be read").path();
                match path.extension() {
                    Some(extension) if extension == "xml" => compared += compare(&path),
                    _ if path.is_dir() => folders.push(path),
                    _ => {}
                }
            }
        }
    }
    fs::remove_dir_all(&folder).expect("the folder is ours");
    assert!(random > 150, "only {random} random documents could be compared");
    println!(
        "xmllint: {random} forms of random documents and {} of documents of the XML suite are the same",
        compared - random
    );
}

/// Compares by all methods; how many of them both could do.
fn compare(file: &Path) -> usize {
    let bytes = fs::read(file).expect("the file is there");
    // Only what needs no document type: xmllint would apply it.
    let Ok(document) = Document::parse(bytes, &Options::default()) else { return 0 };
    let mut compared = 0;
    for (argument, method) in METHODS {
        let how = Canonical { comments: true, ..Canonical::new(method) };
        let mut own = Vec::new();
        let subset = Subset { apex: document.document_node(), excluded: &[] };
        let result = canonicalize(&document, subset, &how, &mut own);
        let theirs = Command::new("xmllint").args(["--nonet", argument]).arg(file).output().expect("it ran before");
        match result {
            Ok(()) if theirs.status.success() => {
                let (own, theirs) = (String::from_utf8_lossy(&own), String::from_utf8_lossy(&theirs.stdout));
                assert_eq!(own, theirs, "{} {argument}", file.display());
                compared += 1;
            }
            // Relative namespaces are refused by both, and xmllint does not know all of the fifth edition.
            _ => {}
        }
    }
    compared
}

/// Documents over few names and namespaces, with all that canonical forms treat.
fn document() -> impl Strategy<Value = String> {
    let attributes = vec![
        "xmlns='u:1'",
        "xmlns:p='u:2'",
        "xmlns:q='u:1'",
        "xmlns=''",
        "z='&#10;&#13;&#9;'",
        "a='\"&lt;&amp;>'",
        "p:a='x'",
        "q:b=\" '\t\"",
        "xml:lang='en'",
        "xml:space='preserve'",
        "xml:base='../a'",
    ];
    let tag = (
        proptest::sample::select(vec!["", "p:", "q:"]),
        proptest::sample::select(vec!["a", "b"]),
        proptest::sample::subsequence(attributes, 0..6).prop_shuffle(),
    );
    let leaf = proptest::sample::select(vec![
        "t",
        " \n",
        "]]&gt;&#13;\r\n",
        "<![CDATA[<&\"]]>",
        "<!--c-->",
        "<?p  d ?>",
        "<?q?>",
        "é\u{10000}",
    ]);
    let inner = leaf.prop_map(str::to_owned).prop_recursive(5, 40, 5, move |inner| {
        (tag.clone(), proptest::collection::vec(inner, 0..5)).prop_map(|((prefix, local, attributes), children)| {
            let name = format!("{prefix}{local}");
            format!("<{name} {}>{}</{name}>", attributes.join(" "), children.concat())
        })
    });
    inner.prop_map(|inner| format!("<?x y?>\n<!--1--><r xmlns:p='u:1' xmlns:q='u:2'>{inner}</r>\n<?x?><!--2-->"))
}
