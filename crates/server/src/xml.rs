//! `myelin xml`: whether documents are well formed, and their canonical or indented form.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use myelin_xml::WriteOptions;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::doctype::DoctypeOptions;

use crate::reading::{Complaint, Documents};

/// How far each level of `--pretty` is indented.
const INDENT: usize = 2;

/// The arguments of `myelin xml`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// Documents to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print the canonical form of XML 1.0
    #[arg(long, group = "form")]
    c14n: bool,
    /// Print the canonical form of XML 1.1
    #[arg(long, group = "form")]
    c14n11: bool,
    /// Print the exclusive canonical form of XML 1.0
    #[arg(long, group = "form")]
    exc_c14n: bool,
    /// Keep comments in a canonical form
    #[arg(long, conflicts_with = "pretty", requires = "form")]
    with_comments: bool,
    /// Print with elements on lines of their own
    #[arg(long, group = "form")]
    pretty: bool,
    #[command(flatten)]
    documents: Documents,
}

const AFTER_HELP: &str = "\
Without an option that names a form, the command prints nothing on success, and one line FILE:LINE:COLUMN: SENTENCE on \
standard error for each document that is not well formed. It then reads documents in pieces, whatever their size.

Exit status: 0 if all documents are well formed, 1 if one is not or cannot be read, 2 if the arguments are wrong.";

/// Reads each document; success only if all are well formed.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(out);
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        match arguments.formed(file) {
            Ok(text) => out.write_all(&text)?,
            Err(complaint) => {
                code = ExitCode::FAILURE;
                // What was printed before it comes before it where both go to one terminal.
                out.flush()?;
                writeln!(io::stderr(), "{complaint}")?;
            }
        }
    }
    out.flush()?;
    Ok(code)
}

impl Arguments {
    /// What is to be printed of a document.
    fn formed(&self, file: &PathBuf) -> Result<Vec<u8>, Complaint> {
        let mut text = Vec::new();
        let beside = self.documents.files([file])?;
        if self.pretty {
            let options = WriteOptions { indent: Some(INDENT), ..WriteOptions::default() };
            let document = self.documents.document(file, &beside, &DoctypeOptions::default())?;
            myelin_xml::write(&document, document.document_node(), &options, &mut text);
        } else if let Some(how) = self.canonical() {
            let document = self.documents.document(file, &beside, &DoctypeOptions::default())?;
            let whole = Subset { apex: document.document_node(), excluded: &[] };
            canonicalize(&document, whole, &how, &mut text).map_err(|error| Complaint::about(file, error))?;
        } else {
            self.documents.pieces(file, &beside)?.check()?;
        }
        Ok(text)
    }

    /// The canonical form that is asked for.
    fn canonical(&self) -> Option<Canonical> {
        let method = match self {
            _ if self.c14n => Method::Inclusive,
            _ if self.c14n11 => Method::Inclusive11,
            _ if self.exc_c14n => Method::Exclusive,
            _ => return None,
        };
        Some(Canonical { comments: self.with_comments, ..Canonical::new(method) })
    }
}
