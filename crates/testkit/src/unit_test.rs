//! Unit tests of WSO2's tools: a sequence, proxy or API is run with pretended services, and what comes out is compared.
//!
//! Nothing of it opens a socket, and time passes only where something waits.
//! [`run`] takes files of a project, [`run_message`] a test that holds all of its files, as WSO2's Maven plugin sends it.

mod descriptor;
mod mock;
mod run;
mod same;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use myelin_soap::escaped;

/// What one file of tests gave.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The file.
    pub file: PathBuf,
    /// Why none of its tests could run.
    pub error: Option<String>,
    /// In the order of the file.
    pub cases: Vec<Case>,
}

/// What one test gave.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Whether its message went through, so that its assertions could be asked.
    pub is_mediated: bool,
    /// What did not hold; none where it passed.
    pub failures: Vec<Failure>,
}

/// One thing that did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// A sentence, with further lines where both texts are shown.
    pub text: String,
    /// The assertion; `None` where this explains others, or kept the assertions from being asked.
    pub assertion: Option<FailedAssertion>,
}

/// An assertion that did not hold.
#[derive(Clone, Debug)]
pub struct FailedAssertion {
    /// `$body`, `$ctx:name` …
    pub expression: String,
    /// What was expected; `None` where anything but nothing was.
    pub expected: Option<String>,
    /// What was there, if anything.
    pub actual: Option<String>,
    /// What the test's author says when it does not hold.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure { text, assertion: None }
    }
}

/// What a folder's unit tests gave.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of their files.
    pub suites: Vec<Suite>,
}

impl Report {
    /// How many tests passed.
    pub fn passed(&self) -> usize {
        self.suites.iter().flat_map(|suite| &suite.cases).filter(|case| case.failures.is_empty()).count()
    }

    /// How many failed; a file that could not run counts as one.
    pub fn failed(&self) -> usize {
        let cases = self.suites.iter().flat_map(|suite| &suite.cases).filter(|case| !case.failures.is_empty()).count();
        cases + self.suites.iter().filter(|suite| suite.error.is_some()).count()
    }

    /// The report as JUnit's XML, which build servers read.
    pub fn to_junit(&self) -> String {
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\">\n",
            self.passed() + self.failed(),
            self.failed()
        );
        for suite in &self.suites {
            let failures = suite.cases.iter().filter(|case| !case.failures.is_empty()).count();
            let errors = usize::from(suite.error.is_some());
            out.push_str(&format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\">\n",
                attribute(&suite.file.display().to_string()),
                suite.cases.len() + errors
            ));
            if let Some(error) = &suite.error {
                out.push_str(&format!(
                    "    <testcase name=\"loading\"><error message=\"{}\"/></testcase>\n",
                    attribute(error)
                ));
            }
            for case in &suite.cases {
                let name = attribute(&case.name);
                if case.failures.is_empty() {
                    out.push_str(&format!("    <testcase name=\"{name}\"/>\n"));
                    continue;
                }
                let texts: Vec<&str> = case.failures.iter().map(|failure| failure.text.as_str()).collect();
                let message = attribute(&texts.join("\n"));
                out.push_str(&format!("    <testcase name=\"{name}\"><failure message=\"{message}\"/></testcase>\n"));
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }
}

/// Text in an attribute, whose line ends a reader would take for spaces.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;")
}

impl fmt::Display for Report {
    /// One line a test, what did not hold below those that failed, and the count at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for suite in &self.suites {
            let file = suite.file.display();
            if let Some(error) = &suite.error {
                writeln!(f, "FAILED  {file}\n    {}", error.replace('\n', "\n    "))?;
            }
            for case in &suite.cases {
                let word = if case.failures.is_empty() { "ok" } else { "FAILED" };
                writeln!(f, "{word:7} {file}: {}", case.name)?;
                for failure in &case.failures {
                    writeln!(f, "    {}", failure.text.replace('\n', "\n    "))?;
                }
            }
        }
        writeln!(f, "{} passed, {} failed", self.passed(), self.failed())
    }
}

/// Runs the unit tests of a file, or all below a folder.
///
/// Errors: a folder that cannot be read; the caller's. What is wrong with a test stands in the report.
pub fn run(path: &Path) -> io::Result<Report> {
    let mut files = Vec::new();
    find(path, 0, &mut files)?;
    Ok(Report { suites: files.iter().map(|file| run::suite(file)).collect() })
}

/// Runs a unit test that holds all of its files: artefacts and services as elements, connectors in base64.
///
/// Shape: `<synapse-unit-test>` or `<unit-test>`, as WSO2's Maven plugin sends it.
/// Errors: none; what is wrong with the test stands in the suite, whose `file` is `name`.
pub fn run_message(name: &str, text: &[u8]) -> Suite {
    run::message_suite(name, text)
}

/// No project is deeper; a link that leads back up would be endless.
const DEPTH_LIMIT: usize = 12;

fn find(path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        if descriptor::is_one(path) {
            found.push(path.to_owned());
        }
        return Ok(());
    }
    let mut below =
        std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    below.sort();
    if depth < DEPTH_LIMIT {
        below.iter().try_for_each(|path| find(path, depth + 1, found))?;
    }
    Ok(())
}
