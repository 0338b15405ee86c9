//! libxslt's own tests: a stylesheet, a document of the same name, and what libxslt makes of them.

use std::fs;
use std::path::{Path, PathBuf};

use myelin_conformance::{Suite, data};
use myelin_xslt::{Parameter, ParameterValue};

use crate::xslt::compare::same;
use crate::xslt::engine::{self, Failure, Files, Job, Made};

/// Folders of the suite whose cases nothing here can run, and why.
const OUT_OF_SCOPE: [(&str, &str); 5] = [
    ("extensions", "calls functions of libxslt's test program"),
    ("exslt/crypto", "calls functions for cryptography, which are no part of EXSLT"),
    ("exslt/saxon", "calls functions of an old Saxon"),
    ("multiple", "writes several result documents, which is refused"),
    ("xinclude", "is about XInclude"),
];

/// What upstream passes to each stylesheet.
pub(crate) const PARAMETERS: [(&str, &str); 2] = [("test", "'passed_value'"), ("test2", "'passed_value2'")];

/// A case of the suite.
pub(crate) struct Case {
    /// The folder, as the suite names it.
    pub(crate) set: String,
    pub(crate) name: String,
    pub(crate) stylesheet: PathBuf,
    pub(crate) document: PathBuf,
    pub(crate) expected: Expected,
}

/// How a case should end.
pub(crate) enum Expected {
    Result(Vec<u8>),
    /// An error, or an empty result after a complaint.
    Failure,
    /// It is not run, with the reason.
    Skipped(&'static str),
}

/// All cases in the suite's folder, in order.
pub(crate) fn cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        let set = inside.strip_prefix(folder).unwrap_or(&inside).to_string_lossy().into_owned();
        for path in files(&inside) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "xsl") {
                cases.extend(case(&set, path));
            }
        }
    }
    cases.sort_by(|one, other| (&one.set, &one.name).cmp(&(&other.set, &other.name)));
    cases
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).expect("the suite can be read").map(|entry| entry.expect("it can be read").path()).collect()
}

/// The case of a stylesheet; none where it is a part of others.
fn case(set: &str, stylesheet: PathBuf) -> Option<Case> {
    let document = stylesheet.with_extension("xml");
    if !document.is_file() {
        return None;
    }
    let reason = OUT_OF_SCOPE.iter().find(|(folder, _)| *folder == set);
    let expected = match (reason, fs::read(stylesheet.with_extension("out"))) {
        (Some((_, reason)), _) => Expected::Skipped(reason),
        (None, Ok(result)) => Expected::Result(result),
        // libxslt goes on after some errors, with nothing to show for it.
        (None, Err(_)) if stylesheet.with_extension("err").is_file() => Expected::Failure,
        (None, Err(_)) => Expected::Result(Vec::new()),
    };
    let name = stylesheet.file_stem().expect("it has a name").to_string_lossy().into_owned();
    Some(Case { set: set.to_owned(), name, stylesheet, document, expected })
}

const NOTE: &str = "The tests that libxslt keeps: `name.xsl` with `name.xml` gives `name.out`.
XML is compared by its nodes, HTML by its tags and words, text to the byte.
Where libxslt has no result, there must be an error or an empty result.";

const NOTE_EXSLT: &str = "The tests that libxslt keeps for EXSLT, judged as its others are.";

#[test]
fn libxslt() {
    account(Suite::new("xslt-libxslt", "XSLT 1.0: libxslt's tests", NOTE), |set| !set.starts_with("exslt"));
}

#[test]
fn exslt() {
    account(Suite::new("xslt-libxslt-exslt", "EXSLT: libxslt's tests", NOTE_EXSLT), |set| set.starts_with("exslt"));
}

/// Runs the cases of some sets.
fn account(mut suite: Suite, belongs: fn(&str) -> bool) {
    let Some(folder) = data("xslt-libxslt/tests") else { return };
    let folder = folder.canonicalize().expect("it is there");
    for case in cases(&folder).iter().filter(|case| belongs(&case.set)) {
        match judge(case, &folder) {
            Err(reason) => suite.skip(&case.set, &reason),
            Ok(result) => suite.judge(&case.set, &case.name, result),
        }
    }
    suite.finish();
}

/// How a case ended, or why it does not apply.
pub(crate) fn judge(case: &Case, folder: &Path) -> Result<Result<(), String>, String> {
    if let Expected::Skipped(reason) = case.expected {
        return Err(reason.to_owned());
    }
    let outcome = run(case, folder);
    match (&case.expected, outcome) {
        (_, Err(Failure::Document(reason))) => Err(format!("has a document that is not read: {reason}")),
        (_, Err(Failure::Panic(message))) => Ok(Err(format!("panic: {message}"))),
        (Expected::Result(expected), Ok(made)) => Ok(same(expected, &made.output, made.space)),
        (Expected::Result(_), Err(failure)) => Ok(Err(failure.to_string())),
        (_, Err(_)) => Ok(Ok(())),
        (_, Ok(made)) => Ok(same(b"", &made.output, made.space)),
    }
}

/// A case by our own engine.
pub(crate) fn run(case: &Case, folder: &Path) -> Result<Made, Failure> {
    let read = |path: &Path| fs::read(path).expect("a case's files can be read");
    let parameters = PARAMETERS.map(|(name, expression)| Parameter {
        name: name.to_owned(),
        value: ParameterValue::Expression(expression.to_owned()),
    });
    engine::run(&Job {
        stylesheet: &read(&case.stylesheet),
        file: &case.stylesheet,
        document: Some((&read(&case.document), &case.document)),
        files: &Files { folder: folder.to_owned(), named: Vec::new() },
        parameters: &parameters,
        mode: None,
        template: None,
        function: None,
        fragment: None,
        fails_on_multiple_match: false,
        statics: &[],
        output_uri: None,
    })
}
