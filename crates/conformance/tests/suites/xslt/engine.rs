//! One transformation by our own engine, with whatever may go wrong.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::xslt::compare::Space;
use myelin_xml::doctype::{DoctypeOptions, ExternalEntity, Externals, NoExternals};
use myelin_xml::{DeclaredEncoding, Document, encoding};
use myelin_xpath::Moment;
use myelin_xslt::{Limits, Method, Options, OutputProperties, Parameter, Resolver, Resource, Stylesheet, Wanted};

/// How long a case may take in a build for tests, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be done.
pub(crate) struct Job<'j> {
    /// The stylesheet's text, and the file it is from.
    pub(crate) stylesheet: &'j [u8],
    pub(crate) file: &'j Path,
    /// The document's text, and the file it is from; without one, the initial template runs on an empty document.
    pub(crate) document: Option<(&'j [u8], &'j Path)>,
    pub(crate) files: &'j Files,
    pub(crate) parameters: &'j [Parameter],
    pub(crate) mode: Option<&'j str>,
    pub(crate) template: Option<&'j str>,
    pub(crate) function: Option<&'j str>,
    /// The element of the file that is the stylesheet.
    pub(crate) fragment: Option<&'j str>,
    pub(crate) fails_on_multiple_match: bool,
    /// Values of static parameters.
    pub(crate) statics: &'j [Parameter],
    /// Where the result would go.
    pub(crate) output_uri: Option<&'j str>,
}

/// What came out.
pub(crate) struct Made {
    pub(crate) output: Vec<u8>,
    pub(crate) messages: Vec<String>,
    /// Whether white space may have been put between tags.
    pub(crate) space: Space,
    /// What was written beside it, by its URI.
    pub(crate) others: Vec<(String, Made)>,
}

impl Made {
    /// A result without messages and without others beside it.
    pub(crate) fn alone(output: Vec<u8>, space: Space) -> Made {
        Made { output, messages: Vec::new(), space, others: Vec::new() }
    }
}

/// Why nothing came out.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The document is nothing that we read: its type declares entities, or it is in another encoding.
    Document(String),
    /// An error of stylesheet or document, with its code.
    Error { code: String, message: String },
    /// A bug.
    Panic(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Document(reason) => write!(f, "document: {reason}"),
            Failure::Error { code, message } => write!(f, "{code}: {message}"),
            Failure::Panic(message) => write!(f, "panic: {message}"),
        }
    }
}

/// Compiles and transforms; a panic is caught, so that the suite goes on.
pub(crate) fn run(job: &Job<'_>) -> Result<Made, Failure> {
    catch_unwind(AssertUnwindSafe(|| transform(job))).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        Err(Failure::Panic(
            text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default(),
        ))
    })
}

fn transform(job: &Job<'_>) -> Result<Made, Failure> {
    let fragment = job.fragment.map_or_else(String::new, |fragment| format!("#{fragment}"));
    let named = format!("{}{fragment}", uri(job.file));
    let compiled = Stylesheet::compile_with(job.stylesheet, &named, job.files, job.statics);
    let stylesheet = compiled.map_err(|problems| {
        let first = problems.first();
        let message = problems.iter().map(|problem| {
            format!(
                "{}:{}: {}",
                problem.place.file.rsplit('/').next().unwrap_or_default(),
                problem.place.line,
                problem.message
            )
        });
        Failure::Error {
            code: first.map(|problem| problem.code.to_owned()).unwrap_or_default(),
            message: message.collect::<Vec<_>>().join("; "),
        }
    })?;
    let mut document = match job.document {
        Some((bytes, file)) => {
            read_with(bytes, &uri(file), job.files, &stylesheet.doctype_options()).map_err(Failure::Document)?
        }
        None => Document::new(),
    };
    let begin = Instant::now();
    let expired = || begin.elapsed() > PATIENCE;
    let source_uri = job.document.map(|(_, file)| uri(file));
    let options = Options {
        source_uri: source_uri.as_deref(),
        parameters: job.parameters,
        resolver: job.files,
        limits: Limits { instructions: 20_000_000, ..Limits::default() },
        now: Some(Moment::at(1_600_000_000_000_000_000, Some(0))),
        expired: Some(&expired),
        initial_mode: job.mode,
        initial_template: job.template,
        initial_function: job.function,
        fails_on_multiple_match: job.fails_on_multiple_match,
        // A mode begins with an item that a case may name, which is not told here.
        source_is_absent: job.document.is_none() && job.mode.is_none(),
        output_uri: job.output_uri,
        other_results: true,
        ..Options::default()
    };
    let source = document.document_node();
    let mut output = Vec::new();
    match stylesheet.transform(&mut document, source, &options, &mut output) {
        Ok(outcome) => {
            let other = |made: myelin_xslt::ResultDocument| {
                let space = space(&made.properties, &made.bytes);
                (made.uri, Made::alone(made.bytes, space))
            };
            Ok(Made {
                space: space(outcome.output.as_ref().unwrap_or(stylesheet.output()), &output),
                output,
                messages: outcome.messages.into_iter().map(|message| message.text).collect(),
                others: outcome.results.into_iter().map(other).collect(),
            })
        }
        Err(error) => Err(Failure::Error { code: error.code.clone(), message: error.to_string() }),
    }
}

/// A document without what its type names elsewhere.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, String> {
    read_with(bytes, "", &NoExternals, &DoctypeOptions::default())
}

/// A document with what its type says, as stylesheets are given it.
fn read_with(bytes: &[u8], uri: &str, externals: &dyn Externals, of_type: &DoctypeOptions) -> Result<Document, String> {
    let (text, declared) = encoding::decode(None, bytes).map_err(|error| error.to_string())?;
    let options = myelin_xml::Options {
        declared_encoding: if declared == DeclaredEncoding::Utf8 { declared } else { DeclaredEncoding::Any },
        attributes: 10_000,
        declarations: 10_000,
        ..myelin_xml::Options::default()
    };
    Document::parse_with_doctype(text.into_owned(), uri, &options, externals, of_type)
        .map_err(|error| error.to_string())
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Files that a stylesheet may read: those below a folder, and those with names of their own.
pub(crate) struct Files {
    pub(crate) folder: PathBuf,
    pub(crate) named: Vec<(String, PathBuf)>,
}

impl Resolver for Files {
    fn resolve(&self, href: &str, base: &str, _: Wanted) -> Result<Resource, String> {
        let href = href.split('#').next().unwrap_or_default().replace("%5F", "_").replace("%20", " ");
        let base = PathBuf::from(base.trim_start_matches("file://"));
        let named = self.named.iter().find(|(name, _)| *name == href);
        let path = match (named, href.strip_prefix("file://")) {
            (Some((_, path)), _) => path.clone(),
            (None, Some(path)) => PathBuf::from(path),
            (None, None) if href.is_empty() => base,
            (None, None) => base.parent().unwrap_or(Path::new("/")).join(&href),
        };
        let path = path.canonicalize().map_err(|error| format!("{href}: {error}"))?;
        if !path.starts_with(&self.folder) {
            return Err(format!("{href} is outside of the suite"));
        }
        let bytes = fs::read(&path).map_err(|error| format!("{href}: {error}"))?;
        Ok(Resource { uri: uri(&path), bytes })
    }
}

impl Externals for Files {
    fn find(&self, _: Option<&str>, system: &str, base: &str) -> Result<ExternalEntity, String> {
        let Resource { uri, bytes } = self.resolve(system, base, Wanted::Entity)?;
        Ok(ExternalEntity { uri, bytes })
    }
}

/// How results of a stylesheet are compared.
fn space(properties: &OutputProperties, output: &[u8]) -> Space {
    let indented = properties.indent.unwrap_or_else(|| match properties.method {
        Some(method) => matches!(method, Method::Html | Method::Xhtml),
        None => output.starts_with(b"<html"),
    });
    if indented { Space::Indents } else { Space::Counts }
}
