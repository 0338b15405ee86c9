//! `myelin xslt`: what a stylesheet makes of documents, for people who know xsltproc.

mod results;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use myelin_xslt::{
    Charset, Error, Limits, Message, Method, Options, OutputProperties, Parameter, ParameterValue, Place, Stylesheet,
};

use crate::clock;
use crate::files::{self, Files};
use crate::reading::{Documents, is_standard_input};
use results::Folder;

/// The arguments of `myelin xslt`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The stylesheet; - is standard input
    #[arg(value_name = "SHEET")]
    sheet: PathBuf,
    /// Documents to transform, one after the other; - is standard input; --template and --function need none
    #[arg(required_unless_present_any = ["explain", "template", "function", "associated"], value_name = "DOC")]
    files: Vec<PathBuf>,
    /// A parameter of the stylesheet, as an XPath expression on the document; may be repeated
    #[arg(long = "param", value_name = "NAME=XPATH", value_parser = expression)]
    expressions: Vec<Parameter>,
    /// A parameter of the stylesheet, as a text; may be repeated
    #[arg(long = "string-param", visible_alias = "stringparam", value_name = "NAME=TEXT", value_parser = text)]
    texts: Vec<Parameter>,
    /// Write the results to a file instead of standard output; it is written when there is a result
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write what xsl:result-document makes below this folder; without it, such a result is an error
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// The mode to start in
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,
    /// The template to start with, instead of the one that matches the document
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// The public function to start with, without arguments
    #[arg(long, value_name = "NAME", conflicts_with_all = ["mode", "template"])]
    function: Option<String>,
    /// Fail where several templates match a node equally well, instead of taking the last one
    #[arg(long)]
    fail_on_multiple_match: bool,
    /// SHEET is a document that names its stylesheet by <?xml-stylesheet?>, and is transformed first
    #[arg(long, conflicts_with = "explain")]
    associated: bool,
    /// Templates and functions inside each other
    #[arg(long, visible_alias = "maxdepth", value_name = "LEVELS", default_value_t = Limits::default().depth)]
    max_depth: u32,
    /// Print the program that the stylesheet was compiled to, and whether it runs in one pass, instead of transforming
    #[arg(long, conflicts_with = "files")]
    explain: bool,
    /// Print on standard error how long reading, compiling and transforming took
    #[arg(long)]
    timing: bool,
    #[command(flatten)]
    documents: Documents,
}

const AFTER_HELP: &str = "\
Names of parameters, modes and templates are written NAME or {NAMESPACE}NAME.

document(), unparsed-text() and document types read files below the folders of SHEET, of what it imports and includes, and \
of each DOC, below those of --allow, and what a --catalog names. They read no other file, and never the network. Stylesheets \
may import and include stylesheets of other folders.

Messages, warnings and errors go to standard error, each with FILE:LINE:COLUMN. All errors of a stylesheet are reported \
at once.

Exit status: 0 if all documents were transformed, 1 if one cannot be read or its transformation fails, 2 if the stylesheet \
or the arguments are wrong.";

/// Who typed the command waits for it and may interrupt it; what grows is still bounded.
const LIMITS: Limits = Limits { depth: 0, instructions: 100_000_000_000, output_bytes: 4 << 30, memory_bytes: 4 << 30 };

/// A document cannot be read, or its transformation fails.
const FAILED: u8 = 1;
/// The stylesheet or the arguments are wrong.
const TROUBLE: u8 = 2;

/// Transforms each document.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let inputs = std::iter::once(&arguments.sheet).chain(&arguments.files);
    if inputs.filter(|path| is_standard_input(path)).count() > 1 {
        writeln!(io::stderr(), "myelin: standard input can be read only once")?;
        return Ok(ExitCode::from(TROUBLE));
    }
    let files = match arguments.documents.files(std::iter::once(&arguments.sheet).chain(&arguments.files)) {
        Ok(files) => files,
        Err(complaint) => {
            writeln!(io::stderr(), "{complaint}")?;
            return Ok(ExitCode::from(TROUBLE));
        }
    };
    let begun = Instant::now();
    let parameters = [&arguments.expressions[..], &arguments.texts[..]].concat();
    let Some(stylesheet) = compile(arguments, &parameters, &files)? else { return Ok(ExitCode::from(TROUBLE)) };
    arguments.took("compiling", &arguments.sheet, begun.elapsed())?;
    if arguments.explain {
        writeln!(out, "{}", stylesheet.explain().trim_end())?;
        match stylesheet.tree_reason() {
            None => writeln!(out, "\nin one pass over documents whose children come in its order, without a tree")?,
            Some(reason) => writeln!(out, "\nby way of a tree: {reason}")?,
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut target = Target { out, file: arguments.output.as_deref(), opened: None };
    let folder = match arguments.output_dir.as_deref().map(Folder::new).transpose() {
        Ok(folder) => folder,
        Err(complaint) => {
            writeln!(io::stderr(), "{complaint}")?;
            return Ok(ExitCode::from(TROUBLE));
        }
    };
    let mut code = ExitCode::SUCCESS;
    let alone = [None];
    let first = arguments.associated.then_some(&arguments.sheet).into_iter();
    let documents: Vec<Option<&Path>> = first.chain(&arguments.files).map(|path| Some(path.as_path())).collect();
    for path in if documents.is_empty() { &alone[..] } else { &documents } {
        match arguments.transform(&stylesheet, &parameters, *path, &files, folder.as_ref())? {
            Some(result) => target.write(&result)?,
            None => code = ExitCode::from(FAILED),
        }
    }
    target.finish()?;
    Ok(code)
}

/// Compiles the stylesheet and tells what is doubtful or wrong with it; none if it is wrong.
fn compile(arguments: &Arguments, parameters: &[Parameter], files: &Files) -> io::Result<Option<Stylesheet>> {
    let mut said = io::stderr().lock();
    let named = files.named(&arguments.sheet);
    let (sheet, fragment) = match arguments.associated {
        true => match associated(&named) {
            Ok(found) => found,
            Err(complaint) => {
                writeln!(said, "{complaint}")?;
                return Ok(None);
            }
        },
        false => (named, String::new()),
    };
    let source = match files::read(&sheet) {
        Ok(source) => source,
        Err(complaint) => {
            writeln!(said, "{complaint}")?;
            return Ok(None);
        }
    };
    match Stylesheet::compile_with(&source, &format!("{}{fragment}", files::uri(&sheet)), files, parameters) {
        Ok(stylesheet) => {
            for warning in stylesheet.warnings() {
                writeln!(said, "{}: warning: {} ({})", shown(&warning.place), warning.message, warning.code)?;
            }
            Ok(Some(stylesheet))
        }
        Err(problems) => {
            problems.iter().try_for_each(|problem| {
                writeln!(said, "{}: {} ({})", shown(&problem.place), problem.message, problem.code)
            })?;
            Ok(None)
        }
    }
}

/// The stylesheet that a document names: its file, and the fragment that says which element of it; or a sentence for
/// whoever typed the name.
fn associated(path: &Path) -> Result<(PathBuf, String), String> {
    let source = files::read(path).map_err(|complaint| complaint.to_string())?;
    let about = |what: &str| format!("{}: {what}", path.display());
    let (text, declared_encoding) =
        myelin_xml::encoding::decode(None, &source).map_err(|error| about(&error.to_string()))?;
    let doctype = myelin_xml::DoctypePolicy::Skip;
    let options = myelin_xml::Options { declared_encoding, doctype, ..myelin_xml::Options::default() };
    let document =
        myelin_xml::Document::parse(text.into_owned(), &options).map_err(|error| about(&error.to_string()))?;
    let named = myelin_xslt::associated_stylesheet(&document);
    let href = named
        .ok_or_else(|| about("the document names no stylesheet by <?xml-stylesheet type=\"text/xsl\" href=\"…\"?>"))?;
    let (file, fragment) =
        href.split_once('#').map_or((&*href, String::new()), |(file, name)| (file, format!("#{name}")));
    match file {
        "" => Ok((path.to_owned(), fragment)),
        file if file.contains(':') => {
            Err(about(&format!("the stylesheet {file:?} is not read: it is no file beside the document")))
        }
        file => Ok((path.parent().unwrap_or(Path::new("")).join(file), fragment)),
    }
}

impl Arguments {
    /// The result for one document, or for none; none if something is wrong with it, which is told.
    fn transform(
        &self,
        stylesheet: &Stylesheet,
        parameters: &[Parameter],
        path: Option<&Path>,
        files: &Files,
        folder: Option<&Folder>,
    ) -> io::Result<Option<Vec<u8>>> {
        let begun = Instant::now();
        let read = match path {
            Some(path) => self.documents.document(path, files, &stylesheet.doctype_options()),
            None => Ok(myelin_xml::TreeBuilder::new(myelin_xml::Arena::default()).finish()),
        };
        let mut document = match read {
            Ok(document) => document,
            Err(complaint) => {
                writeln!(io::stderr(), "{complaint}")?;
                return Ok(None);
            }
        };
        let uri = path.map(files::uri);
        let is_absent = path.is_none();
        // Without a document, what is told is told of the stylesheet.
        let path = path.unwrap_or(&self.sheet);
        self.took("reading", path, begun.elapsed())?;
        let options = Options {
            parameters,
            source_uri: uri.as_deref(),
            source_is_absent: is_absent,
            resolver: files,
            limits: Limits { depth: self.max_depth, ..LIMITS },
            now: clock::now(),
            initial_mode: self.mode.as_deref(),
            initial_template: self.template.as_deref(),
            initial_function: self.function.as_deref(),
            fails_on_multiple_match: self.fail_on_multiple_match,
            output_uri: folder.map(Folder::uri),
            other_results: folder.is_some(),
            ..Options::default()
        };
        let (begun, mut result) = (Instant::now(), Vec::new());
        let source = document.document_node();
        let ended = stylesheet.transform(&mut document, source, &options, &mut result);
        let time = begun.elapsed();
        match ended {
            Ok(outcome) => {
                tell(&outcome.messages)?;
                let written = folder.map_or(Ok(()), |folder| folder.write(&outcome.results));
                if let Err(complaint) = written {
                    writeln!(io::stderr(), "{complaint}")?;
                    return Ok(None);
                }
                if takes_line_end(outcome.output.as_ref().unwrap_or(stylesheet.output()))
                    && !result.is_empty()
                    && !result.ends_with(b"\n")
                {
                    result.push(b'\n');
                }
            }
            Err(error) => {
                explain(&error, path)?;
                return Ok(None);
            }
        }
        self.took("transforming", path, time)?;
        Ok(Some(result))
    }

    /// Tells how long something took, if that was asked for.
    fn took(&self, what: &str, path: &Path, time: Duration) -> io::Result<()> {
        if self.timing {
            let milliseconds = time.as_secs_f64() * 1_000.0;
            writeln!(io::stderr(), "{}: {what} took {milliseconds:.1} ms", path.display())?;
        }
        Ok(())
    }
}

/// Whether a result may end with a line end that the stylesheet does not ask for, as xsltproc's do: of markup, where a
/// line end is one byte.
fn takes_line_end(output: &OutputProperties) -> bool {
    let wide = matches!(output.encoding, Charset::Utf16 | Charset::Utf16Be | Charset::Utf16Le);
    !matches!(output.method, Some(Method::Text | Method::Json | Method::Adaptive)) && !wide
}

/// A place with the name of its file, which the stylesheet knows by its URI.
fn shown(place: &Place) -> Place {
    Place { file: files::shown(&place.file), ..place.clone() }
}

fn tell(messages: &[Message]) -> io::Result<()> {
    let mut said = io::stderr().lock();
    messages.iter().try_for_each(|message| writeln!(said, "{}: {}", shown(&message.place), message.text))
}

/// Tells why a transformation fails: what the stylesheet said before, the sentence, and how it came there.
fn explain(error: &Error, path: &Path) -> io::Result<()> {
    // A message that ends the transformation is the error itself.
    let is_error = |last: &Message| Some(&last.place) == error.place.as_ref() && last.text == error.message;
    let before = error.messages.len() - usize::from(error.messages.last().is_some_and(is_error));
    tell(&error.messages[..before])?;
    let mut said = io::stderr().lock();
    match &error.place {
        Some(place) => writeln!(said, "{}: {} ({})", shown(place), error.message, error.code)?,
        None => writeln!(said, "{}: {} ({})", path.display(), error.message, error.code)?,
    }
    if let Some(node) = &error.node {
        writeln!(said, "  at {node} of {}", path.display())?;
    }
    for (index, step) in error.trail.iter().enumerate() {
        writeln!(said, "  {} {}", if index == 0 { "in" } else { "from" }, files::shown(step))?;
    }
    Ok(())
}

/// Where results go: standard output, or a file that is made when there is the first.
struct Target<'t> {
    out: &'t mut dyn Write,
    file: Option<&'t Path>,
    opened: Option<fs::File>,
}

impl Target<'_> {
    fn write(&mut self, result: &[u8]) -> anyhow::Result<()> {
        let Some(path) = self.file else { return Ok(self.out.write_all(result)?) };
        let about = || path.display().to_string();
        if self.opened.is_none() {
            self.opened = Some(fs::File::create(path).with_context(about)?);
        }
        self.opened.iter_mut().try_for_each(|file| file.write_all(result)).with_context(about)
    }

    fn finish(self) -> io::Result<()> {
        self.out.flush()
    }
}

fn expression(argument: &str) -> Result<Parameter, String> {
    let (name, value) = pair(argument)?;
    Ok(Parameter { name, value: ParameterValue::Expression(value) })
}

fn text(argument: &str) -> Result<Parameter, String> {
    let (name, value) = pair(argument)?;
    Ok(Parameter { name, value: ParameterValue::Text(value) })
}

/// A name and a value; the name's namespace may itself have an `=`.
fn pair(argument: &str) -> Result<(String, String), String> {
    let namespace = if argument.starts_with('{') { argument.find('}').map_or(0, |end| end + 1) } else { 0 };
    match argument[namespace..].split_once('=') {
        Some((local, value)) if !local.is_empty() => {
            Ok((format!("{}{local}", &argument[..namespace]), value.to_owned()))
        }
        _ => Err("a name, = and a value".to_owned()),
    }
}
