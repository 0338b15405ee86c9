//! The same stylesheets through `xsltproc`, where it is installed: an XSLT 1.0 that somebody else wrote.

use std::fs;
use std::path::Path;

use myelin_conformance::data;
use myelin_xslt::ParameterValue;

use crate::xslt::compare::same_names;
use crate::xslt::engine::{self, Failure, Files, Job, Made};
use crate::xslt::generate::{self, Pair};
use crate::xslt::libxslt::{self, Expected};
use crate::xslt::w3c::{Prepared, Verdict, Versions, verdict, walk};
use crate::xslt::xsltproc;

/// How many pairs are made by chance.
const SEEDS: u64 = 600;

/// Seeds of pairs for which the standard explains why xsltproc's result is another.
const EXPLAINED: [(u64, &str); 1] =
    [(378, "what follows an attribute are all nodes behind it, its element's children too (XPath 1.0 §2.2)")];

/// Cases that the suites count as failed.
const KNOWN: [&str; 3] = [
    include_str!("../../../known/xslt-libxslt.txt"),
    include_str!("../../../known/xslt-libxslt-exslt.txt"),
    include_str!("../../../known/xslt-w3c-1.txt"),
];

#[test]
fn xsltproc_agrees_on_stylesheets_by_chance() {
    if !xsltproc::is_installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let folder = folder.path().canonicalize().expect("it is there");
    let (mut others, mut explained) = (0, 0);
    for seed in 0..SEEDS {
        let pair = generate::pair(seed);
        let reason = EXPLAINED.iter().find(|(known, _)| *known == seed).map(|(_, reason)| reason);
        match (agrees(&pair, &folder), reason) {
            (Ok(()), None) => {}
            (Ok(()), Some(reason)) => panic!("xsltproc agrees on {seed}, where it should not: {reason}"),
            (Err(_), Some(_)) => explained += 1,
            (Err(difference), None) => {
                others += 1;
                println!("seed {seed}: {difference}\n{}\n{}", pair.document, pair.stylesheet);
                println!("imported.xsl:\n{}", pair.imported);
            }
        }
    }
    println!(
        "xsltproc: {} results by chance are the same, {explained} others are explained",
        SEEDS - others - explained
    );
    assert!(others == 0, "xsltproc has other results, unexplained, for {others} pairs");
}

#[test]
fn xsltproc_agrees_on_the_stylesheets_of_the_suites() {
    let (Some(libxslt), Some(w3c)) = (data("xslt-libxslt/tests"), data("xslt-w3c")) else { return };
    if !xsltproc::is_installed() {
        return;
    }
    let (libxslt, w3c) = (libxslt.canonicalize().expect("it is there"), w3c.canonicalize().expect("it is there"));
    let mut account = Account::default();
    for case in libxslt::cases(&libxslt) {
        if matches!(case.expected, Expected::Result(_)) {
            let theirs = xsltproc::run(&case.stylesheet, &case.document, &libxslt::PARAMETERS);
            let name = format!("{}/{}", case.set, case.name);
            account.enter(&name, theirs, libxslt::run(&case, &libxslt), || {
                matches!(libxslt::judge(&case, &libxslt), Ok(Ok(())))
            });
        }
    }
    let temporary = tempfile::tempdir().expect("there is a temporary folder");
    walk(&w3c, &mut |visit| {
        if let (Versions::One, Ok(prepared)) = (visit.versions, &visit.prepared)
            && let Some(theirs) = by_xsltproc(prepared, temporary.path())
        {
            let name = format!("{}/{}", visit.set, visit.id);
            account.enter(&name, theirs, prepared.run(&w3c), || {
                matches!(verdict(&visit, &w3c), Ok(Verdict::Holds | Verdict::SameCode | Verdict::OtherCode))
            });
        }
    });
    println!(
        "xsltproc: {} results of the suites are the same, {} others are as the suite wants ours, {} are known failures",
        account.same, account.as_expected, account.known
    );
    assert!(account.unexplained.is_empty(), "{}", account.unexplained.join("\n"));
}

/// How the cases went that both can do.
#[derive(Default)]
struct Account {
    same: usize,
    /// xsltproc does otherwise, and the suite says that our result is right.
    as_expected: usize,
    /// Listed, with the reasons that there are.
    known: usize,
    unexplained: Vec<String>,
}

impl Account {
    fn enter(
        &mut self,
        name: &str,
        theirs: Result<Vec<u8>, String>,
        ours: Result<Made, Failure>,
        is_expected: impl FnOnce() -> bool,
    ) {
        let Ok(theirs) = theirs else { return };
        let difference = match ours {
            Err(Failure::Document(_)) => return,
            Err(failure) => failure.to_string(),
            Ok(made) => match same_names(&theirs, &made.output, made.space) {
                Ok(()) => {
                    self.same += 1;
                    return;
                }
                Err(difference) => difference,
            },
        };
        if KNOWN.iter().any(|list| list.lines().any(|line| line == name)) {
            self.known += 1;
        } else if is_expected() {
            self.as_expected += 1;
        } else {
            self.unexplained.push(format!("{name}: {difference}"));
        }
    }
}

/// A case of the W3C's suite by xsltproc, if it can be put to it.
fn by_xsltproc(prepared: &Prepared, temporary: &Path) -> Option<Result<Vec<u8>, String>> {
    if prepared.mode.is_some() || prepared.template.is_some() {
        return None;
    }
    let (bytes, file) = prepared.document.as_ref()?;
    let file = if file.is_file() {
        file.clone()
    } else {
        let file = temporary.join("inside.xml");
        fs::write(&file, bytes).expect("the folder can be written");
        file
    };
    let parameters: Vec<(&str, &str)> = prepared
        .parameters
        .iter()
        .map(|parameter| match &parameter.value {
            ParameterValue::Expression(text) | ParameterValue::Text(text) => (parameter.name.as_str(), text.as_str()),
        })
        .collect();
    Some(xsltproc::run(&prepared.file, &file, &parameters))
}

fn agrees(pair: &Pair, folder: &Path) -> Result<(), String> {
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("the folder can be written");
        path
    };
    let stylesheet = file("stylesheet.xsl", &pair.stylesheet);
    let document = file("document.xml", &pair.document);
    file("imported.xsl", &pair.imported);
    let theirs = xsltproc::run(&stylesheet, &document, &[]).map_err(|error| format!("xsltproc: {error}"))?;
    let ours = engine::run(&Job {
        stylesheet: pair.stylesheet.as_bytes(),
        file: &stylesheet,
        document: Some((pair.document.as_bytes(), &document)),
        files: &Files { folder: folder.to_owned(), named: Vec::new() },
        parameters: &[],
        mode: None,
        template: None,
        function: None,
        fragment: None,
        fails_on_multiple_match: false,
        statics: &[],
        output_uri: None,
    });
    let made = ours.map_err(|failure| failure.to_string())?;
    same_names(&theirs, &made.output, made.space)
}
