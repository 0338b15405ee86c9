//! `myelin xpath`: what an expression gives on documents, in one pass where that will do, otherwise on a tree.

mod bindings;
mod json;
mod printer;
mod stream;
mod xml;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use myelin_xpath::Version;

use crate::reading::{Complaint, Documents};
use printer::{Format, Printer};

/// The arguments of `myelin xpath`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// An XPath expression, or a JSONPath if it begins with $. or $[
    #[arg(value_name = "EXPR")]
    expression: String,
    /// Documents to read; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A prefix of the expression and its namespace; may be repeated
    #[arg(long = "ns", value_name = "PREFIX=URI", value_parser = pair)]
    namespaces: Vec<(String, String)>,
    /// A variable of the expression and its text; may be repeated
    #[arg(long = "var", value_name = "NAME=TEXT", value_parser = pair)]
    variables: Vec<(String, String)>,
    /// By the rules of which XPath the expression runs; either may call functions of the other
    #[arg(long = "xpath", value_enum, default_value_t = Rules::V1, value_name = "VERSION")]
    version: Rules,
    /// Read in one pass and stop as soon as the result is known; refuse an expression that needs a tree
    #[arg(long, conflicts_with = "tree")]
    stream: bool,
    /// Read whole documents, even where one pass would suffice
    #[arg(long)]
    tree: bool,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    documents: Documents,
}

/// The rules of a version of XPath.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Rules {
    #[value(name = "1.0")]
    V1,
    #[value(name = "3.1")]
    V3,
}

impl From<Rules> for Version {
    fn from(rules: Rules) -> Version {
        match rules {
            Rules::V1 => Version::V1,
            Rules::V3 => Version::V3,
        }
    }
}

const AFTER_HELP: &str = "\
Paths start at the document. An expression runs by the rules of XPath 1.0, with --xpath 3.1 by those of XPath 3.1; it may \
call the functions of all versions, and those of XSLT and EXSLT that need no stylesheet. doc() and unparsed-text() read files \
below the folder of each document, below those of --allow, and what a --catalog names; never the network.

One pass gives texts, numbers, true and false. Nodes need a tree; use string(…), count(…) or boolean(…) to avoid one. \
Without --stream and --tree, files are read in one pass where that suffices, and standard input as a tree. One pass needs \
little memory whatever the size of the document, and reports an error in the document only if it reads that far.

Exit status: 0 if a document gives a result (nodes, true, a number other than 0 and NaN, a text that is not empty, or any \
JSON), 1 if no document does, 2 if the expression, a document or the arguments are wrong.";

/// Nothing was found.
const NOTHING: u8 = 1;
/// The expression or a document is wrong.
const TROUBLE: u8 = 2;

/// Asks each document and prints what it answers.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let question = match Question::new(arguments) {
        Ok(question) => question,
        Err(sentence) => {
            writeln!(io::stderr(), "myelin: {sentence}")?;
            return Ok(ExitCode::from(TROUBLE));
        }
    };
    let mut printer = Printer::new(out, arguments.format, arguments.files.len() > 1);
    let mut code = NOTHING;
    for file in &arguments.files {
        match question.ask(arguments, file, &mut printer)? {
            Ok(found) => code = if found && code == NOTHING { 0 } else { code },
            Err(complaint) => {
                code = TROUBLE;
                // What was printed before it comes before it where both go to one terminal.
                printer.flush()?;
                writeln!(io::stderr(), "{complaint}")?;
            }
        }
    }
    printer.finish()?;
    Ok(ExitCode::from(code))
}

/// What documents are asked.
enum Question {
    Xml(Box<xml::Question>),
    Json(json::Question),
}

impl Question {
    /// Compiles the expression.
    ///
    /// Errors: a sentence; the typist's.
    fn new(arguments: &Arguments) -> Result<Question, String> {
        if json::is_path(&arguments.expression) {
            json::Question::new(arguments).map(Question::Json)
        } else {
            xml::Question::new(arguments).map(|question| Question::Xml(Box::new(question)))
        }
    }

    /// Prints what a document answers; whether it is something.
    ///
    /// Errors: the outer ones are of printing, the inner ones the document's.
    fn ask(
        &self,
        arguments: &Arguments,
        file: &PathBuf,
        printer: &mut Printer<'_>,
    ) -> io::Result<Result<bool, Complaint>> {
        match self {
            Question::Xml(question) => question.ask(arguments, file, printer),
            Question::Json(question) => question.ask(file, printer),
        }
    }
}

/// A sentence about an expression, with the place below it where it goes wrong.
fn misplaced(expression: &str, offset: usize, sentence: &str) -> String {
    let before = expression.get(..offset).unwrap_or(expression);
    // Wherever lines end in it, the mark stands below the line that goes wrong.
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = expression[start..].lines().next().unwrap_or_default();
    format!("{sentence}\n{line}\n{}^", " ".repeat(before[start..].chars().count()))
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a name, = and a value".to_owned()),
    }
}
