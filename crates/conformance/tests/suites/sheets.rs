//! Stylesheets that people bring and did not write, as they are shipped, against xsltproc and Saxon.
//!
//! `cargo xtask conformance sheets` fetches them and says where they are; without it nothing is run.

mod likeness;
mod list;
mod transformation;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use myelin_conformance::Suite;

use likeness::Likeness;
use list::{SHEETS, Sheet};
use transformation::{Program, Transformation};

const NOTE: &str = "\
Stylesheets of Debian, Maven Central and PyPI, as they are shipped, on documents that come with them or beside them.
Expected is what the processor gives that they are written for: xsltproc for XSLT 1.0, Saxon-HE 12.5 for 2.0 and 3.0.
All files that a stylesheet writes are compared: bytes first, then as XML, as HTML or as lines of text, without the \
indentation.
A stylesheet that works on what another made gets what the reference processor made.
What may differ, and why:
- names that `generate-id()` makes, also those of files, which are matched in their order; and the time of the run;
- digits of a number behind the fifteenth, which xsltproc leaves out;
- prefixes of namespaces, and declarations that no name needs;
- the `meta` with the content type, and `lang` beside `xml:lang`, which xsltproc adds to XHTML;
- `<!DOCTYPE html>`, which Saxon writes for stylesheets of 2.0 too, and `about:legacy-compat` in it, which xsltproc leaves out;
- the name of the processor, where a result tells it;
- `document-uri()` of the document, which Saxon does not tell on the command line, and `file:/` for `file:///`.";

/// The folder with what was fetched.
const FOLDER: &str = "MYELIN_SHEETS";
/// The binary that is tested.
const PROGRAM: &str = "MYELIN_PROGRAM";

#[test]
fn results_are_those_of_the_processors_that_stylesheets_are_written_for() {
    let (Some(folder), Some(program)) = (std::env::var_os(FOLDER), std::env::var_os(PROGRAM)) else {
        myelin_testkit::skip("stylesheets of others: `cargo xtask conformance sheets` fetches and runs them");
        return;
    };
    let (folder, program) = (PathBuf::from(folder), PathBuf::from(program));
    let mut suite = Suite::new("sheets", "Stylesheets of others", NOTE);
    let mut account = Account::default();
    for sheet in SHEETS {
        run(sheet, &folder, &program, &mut suite, &mut account);
    }
    account.print();
    if account.missing { suite.finish_partly() } else { suite.finish() }
}

/// How each stylesheet went, for whoever runs the suite.
#[derive(Default)]
struct Account {
    lines: Vec<String>,
    /// Whether something could not be fetched.
    missing: bool,
}

impl Account {
    #[expect(clippy::print_stdout, reason = "the table is for whoever runs the test with --nocapture")]
    fn print(&self) {
        println!("| stylesheet | documents | bytes equal | equal | different | failed | seconds | reference |");
        println!("|---|--:|--:|--:|--:|--:|--:|--:|");
        self.lines.iter().for_each(|line| println!("{line}"));
    }
}

/// How the documents of one stylesheet went.
#[derive(Default)]
struct Tally {
    identical: usize,
    equal: usize,
    different: usize,
    failed: usize,
    ours: Duration,
    reference: Duration,
}

fn run(sheet: &Sheet, folder: &Path, program: &Path, suite: &mut Suite, account: &mut Account) {
    let set = format!("{}: {}", label(folder, sheet.package), sheet.title);
    if !folder.join(sheet.package).is_dir() {
        suite.skip(&set, &format!("{} was not fetched", sheet.package));
        account.missing = true;
        return;
    }
    let mut tally = Tally::default();
    let documents = documents(folder, sheet);
    if documents.is_empty() {
        suite.skip(&set, "its documents were not fetched");
        account.missing = true;
    }
    for document in &documents {
        let name = document.file_name().map_or_else(|| "alone".into(), |name| name.to_string_lossy());
        let transformation = Transformation { sheet, document, folder, name: &name };
        let reference = match transformation.run(&Program::Reference) {
            Ok(reference) => reference,
            Err(reason) => {
                let processor = sheet.processor.name();
                suite.skip(&set, &format!("{processor} refuses {name}: {}", reason.lines().next().unwrap_or_default()));
                continue;
            }
        };
        tally.reference += reference.time;
        let judged = transformation.run(&Program::Own(program)).and_then(|own| {
            tally.ours += own.time;
            likeness::compare(&reference.folder, &own.folder)
        });
        match &judged {
            Ok(Likeness::Identical) => tally.identical += 1,
            Ok(Likeness::Equal) => tally.equal += 1,
            Err(reason) if reason.starts_with(likeness::DIFFERENT) => tally.different += 1,
            Err(_) => tally.failed += 1,
        }
        suite.judge(&set, &name, judged.map(drop));
    }
    account.lines.push(format!(
        "| {set} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
        documents.len(),
        tally.identical,
        tally.equal,
        tally.different,
        tally.failed,
        tally.ours.as_secs_f64(),
        tally.reference.as_secs_f64(),
    ));
}

/// The package with its version and where it is from, as the one who fetched it noted.
fn label(folder: &Path, package: &str) -> String {
    let noted = fs::read_to_string(folder.join(package).join(".version")).unwrap_or_default();
    if noted.trim().is_empty() { package.to_owned() } else { noted.trim().to_owned() }
}

/// The documents of a stylesheet that are there; one without a name where it needs none.
fn documents(folder: &Path, sheet: &Sheet) -> Vec<PathBuf> {
    if sheet.template.is_some() {
        return vec![PathBuf::new()];
    }
    let mut documents = Vec::new();
    for path in sheet.documents {
        match path.strip_suffix("/*") {
            None => documents.extend(Some(folder.join(path)).filter(|path| path.is_file())),
            Some(below) => {
                let entries = fs::read_dir(folder.join(below)).into_iter().flatten().flatten();
                let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
                files.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
                files.sort();
                files.truncate(sheet.most);
                documents.append(&mut files);
            }
        }
    }
    documents
}
