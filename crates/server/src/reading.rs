//! How commands read XML documents: from a file or standard input, whole or in pieces.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;
use myelin_bench::units;
use myelin_xml::doctype::{self, Applied, DoctypeOptions};
use myelin_xml::encoding::{self, Decoder};
use myelin_xml::{DeclaredEncoding, DoctypePolicy, Document, Error, ErrorKind, Limit, Options, Parser, Step};

use crate::files::{self, Files};

/// What is read at a time of documents that are not kept whole.
const PIECE_BYTES: usize = 64 << 10;

/// The arguments of commands that read XML documents.
#[derive(Debug, clap::Args)]
pub(crate) struct Reading {
    /// Other bounds than the usual, such as depth=5000,token=64M
    #[arg(long, value_name = "NAME=BOUND,…", value_delimiter = ',', value_parser = bound, long_help = limits_help())]
    limits: Vec<Bound>,
    /// Skip a document type declaration; nothing in it is applied, expanded or fetched
    #[arg(long)]
    skip_doctype: bool,
    /// The documents' encoding, whatever they declare: UTF-8, windows-1252 or another of those that browsers read; only
    /// a byte order mark is stronger
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
}

/// The arguments of commands that read documents of people, whose document types may say something.
#[derive(Debug, clap::Args)]
pub(crate) struct Documents {
    #[command(flatten)]
    reading: Reading,
    /// Refuse a document type declaration, as the bus does in messages; without this and --skip-doctype, it is read
    #[arg(long, conflicts_with = "skip_doctype")]
    refuse_doctype: bool,
    /// Another folder whose files may be read; may be repeated
    #[arg(long, value_name = "FOLDER")]
    allow: Vec<PathBuf>,
    /// An XML catalog that says which files stand for public identifiers and URIs; may be repeated
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,
}

impl Documents {
    /// What documents and stylesheets may read: what lies beside some of them, and what the arguments say.
    ///
    /// Errors: a folder or a catalog that is not there.
    pub(crate) fn files<'p>(&self, beside: impl IntoIterator<Item = &'p PathBuf>) -> Result<Files, Complaint> {
        Files::new(beside, &self.allow, &self.catalog)
    }

    /// Whether document types are read.
    fn reads_doctypes(&self) -> bool {
        !self.refuse_doctype && !self.reading.skip_doctype
    }

    /// Reads a document as a tree, with what its document type says, as far as `files` has it.
    pub(crate) fn document(&self, path: &Path, files: &Files, of_type: &DoctypeOptions) -> Result<Document, Complaint> {
        if !self.reads_doctypes() {
            return self.reading.document(path);
        }
        let (source, options) = self.reading.source(path)?;
        Document::parse_with_doctype(source, &files::uri(path), &options, files, of_type)
            .map_err(|error| Complaint::malformed(path, &error))
    }

    /// Reads a document in pieces; one with a document type is read whole, and so is one where it may come later.
    pub(crate) fn pieces(&self, path: &Path, files: &Files) -> Result<Pieces, Complaint> {
        let mut pieces = self.reading.pieces(path)?;
        if !self.reads_doctypes() || memmem::find(&pieces.text, b"<!DOCTYPE").is_none() {
            return Ok(pieces);
        }
        let mut options = self.reading.options();
        while !pieces.complete {
            pieces.gather()?;
            if pieces.text.len() > options.total_bytes {
                let kind = ErrorKind::Limit(Limit::TotalBytes(options.total_bytes));
                return Err(Complaint::about(path, kind));
            }
        }
        options.doctype = DoctypePolicy::Skip;
        let declared = pieces.declared;
        pieces.parser = Parser::new(options);
        pieces.parser.set_declared_encoding(declared);
        // The parser tells of bytes that are no text.
        if let Ok(text) = std::str::from_utf8(&pieces.text) {
            let applied = doctype::apply(text, &path.to_string_lossy(), files, &DoctypeOptions::default());
            let mut applied = applied.map_err(|error| Complaint::malformed(path, &error))?;
            if let Some(new) = applied.as_mut().and_then(|applied| applied.text.take()) {
                let source = std::mem::replace(&mut pieces.text, new.into_bytes());
                pieces.applied = applied.map(|applied| (source, applied));
            }
        }
        Ok(pieces)
    }
}

/// A bound of the parser that was asked for.
#[derive(Clone, Copy, Debug)]
struct Bound {
    of: fn(&mut Options) -> &mut usize,
    value: usize,
}

/// The name of a bound in `--limits`, where it is kept, and what it counts.
type Named = (&'static str, fn(&mut Options) -> &mut usize, &'static str);

const BOUNDS: [Named; 10] = [
    ("depth", |options| &mut options.depth, "elements inside each other"),
    ("attributes", |options| &mut options.attributes, "attributes of one element"),
    ("declarations", |options| &mut options.declarations, "namespace declarations of one element"),
    ("open-declarations", |options| &mut options.open_declarations, "namespace declarations of open elements"),
    ("name", |options| &mut options.name_bytes, "bytes of one name or namespace"),
    ("names", |options| &mut options.names, "different names"),
    ("names-bytes", |options| &mut options.names_bytes, "bytes of all different names together"),
    ("token", |options| &mut options.token_bytes, "bytes of one tag, text, comment or instruction"),
    ("total", |options| &mut options.total_bytes, "bytes of one document, in UTF-8"),
    ("nodes", |options| &mut options.nodes, "nodes of a document that is read as a tree"),
];

fn limits_help() -> String {
    let mut usual = Options::default();
    let mut help = "Other bounds than the usual, such as depth=5000,token=64M:".to_owned();
    for (name, of, what) in BOUNDS {
        let bound = match *of(&mut usual) {
            usize::MAX => "none".to_owned(),
            bound if what.starts_with("bytes") => units::show_size(bound as u64),
            bound => bound.to_string(),
        };
        help.push_str(&format!("\n- {name}: {what} [default: {bound}]"));
    }
    help
}

fn bound(text: &str) -> Result<Bound, String> {
    let (name, value) = text.split_once('=').ok_or("a bound looks like depth=5000")?;
    let Some((_, of, _)) = BOUNDS.iter().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = BOUNDS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("there is no bound named `{name}`; there are {}", known.join(", ")));
    };
    let value = usize::try_from(units::size(value)?).map_err(|_| format!("{value} is more than memory can have"))?;
    Ok(Bound { of: *of, value })
}

/// What is wrong with a file: a line for its user.
#[derive(Debug)]
pub(crate) struct Complaint(String);

impl Complaint {
    /// As compilers say it, so that editors find the place.
    pub(crate) fn at(path: &Path, line: u64, column: u64, what: impl fmt::Display) -> Complaint {
        Complaint(format!("{}:{line}:{column}: {what}", path.display()))
    }

    pub(crate) fn malformed(path: &Path, error: &Error) -> Complaint {
        Complaint::at(path, error.line, error.column, &error.kind)
    }

    /// Something about the file that has no place in it.
    pub(crate) fn about(path: &Path, what: impl fmt::Display) -> Complaint {
        Complaint(format!("{}: {what}", path.display()))
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, Complaint> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| Complaint::about(path, error))?;
    Ok(Box::new(file))
}

impl Reading {
    fn options(&self) -> Options {
        let mut options = Options::default();
        for bound in &self.limits {
            *(bound.of)(&mut options) = bound.value;
        }
        if self.skip_doctype {
            options.doctype = DoctypePolicy::Skip;
        }
        options
    }

    /// Reads a document as a tree.
    pub(crate) fn document(&self, path: &Path) -> Result<Document, Complaint> {
        let (source, options) = self.source(path)?;
        Document::parse(source, &options).map_err(|error| Complaint::malformed(path, &error))
    }

    /// A document in UTF-8, and how it is to be read.
    fn source(&self, path: &Path) -> Result<(Vec<u8>, Options), Complaint> {
        let mut options = self.options();
        let mut bytes = Vec::new();
        // No encoding needs more than four bytes for what is one in UTF-8; the parser counts exactly.
        let bound = (options.total_bytes as u64).saturating_mul(4).saturating_add(1);
        open(path)?.take(bound).read_to_end(&mut bytes).map_err(|error| Complaint::about(path, error))?;
        let malformed = |error: Error| Complaint::malformed(path, &error);
        let (text, declared) = encoding::decode(self.encoding.as_deref(), &bytes).map_err(malformed)?;
        options.declared_encoding = declared;
        let source = match text {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => bytes,
        };
        Ok((source, options))
    }

    /// Reads a document in pieces, of which only what is not decided stays in memory.
    pub(crate) fn pieces(&self, path: &Path) -> Result<Pieces, Complaint> {
        let malformed = |error: Error| Complaint::malformed(path, &error);
        let mut reader = open(path)?;
        let mut begin = vec![0; PIECE_BYTES];
        let (mut length, mut complete) = (0, false);
        let detected = loop {
            if let Some(found) =
                encoding::detect(self.encoding.as_deref(), &begin[..length], complete).map_err(malformed)?
            {
                break found;
            }
            let more = read(&mut *reader, &mut begin[length..]).map_err(|error| Complaint::about(path, error))?;
            length += more;
            complete = more == 0;
        };
        let mut parser = Parser::new(self.options());
        parser.set_declared_encoding(detected.declared);
        let (mut decoder, mut text) = (Decoder::new(detected.encoding), Vec::new());
        decoder.push(&begin[..length], &mut text);
        let path = path.to_owned();
        let declared = detected.declared;
        let mut pieces = Pieces {
            path,
            reader,
            decoder,
            piece: begin,
            parser,
            text,
            complete: false,
            forgotten: 0,
            declared,
            applied: None,
        };
        if complete {
            pieces.end();
        }
        Ok(pieces)
    }
}

/// A document of which only the piece in work is in memory.
pub(crate) struct Pieces {
    path: PathBuf,
    reader: Box<dyn Read>,
    decoder: Decoder,
    piece: Vec<u8>,
    /// Reads what is in `text`.
    pub(crate) parser: Parser,
    /// What the parser has not decided, in UTF-8.
    pub(crate) text: Vec<u8>,
    /// Whether nothing comes behind it.
    pub(crate) complete: bool,
    /// How much of the document was before `text`.
    forgotten: usize,
    /// How the parser treats the declared encoding.
    declared: DeclaredEncoding,
    /// The text as it was before its document type was applied.
    applied: Option<(Vec<u8>, Applied)>,
}

impl Pieces {
    /// Lets go of what the parser has decided and reads another piece.
    pub(crate) fn more(&mut self) -> Result<(), Complaint> {
        let decided = self.parser.position() - self.forgotten;
        self.parser.forget(&self.text[..decided]);
        self.text.drain(..decided);
        self.forgotten += decided;
        self.gather()
    }

    /// Reads another piece behind what there is.
    fn gather(&mut self) -> Result<(), Complaint> {
        match read(&mut *self.reader, &mut self.piece).map_err(|error| Complaint::about(&self.path, error))? {
            0 => self.end(),
            length => self.decoder.push(&self.piece[..length], &mut self.text),
        }
        Ok(())
    }

    fn end(&mut self) {
        self.decoder.finish(&mut self.text);
        self.complete = true;
    }

    /// Reads on to the end; whether the document is well formed.
    pub(crate) fn check(mut self) -> Result<(), Complaint> {
        loop {
            match self.parser.next(&self.text, self.complete) {
                Ok(Step::Event(_)) => {}
                Ok(Step::More) => self.more()?,
                Ok(Step::End) => return Ok(()),
                Err(error) => return Err(self.malformed(error)),
            }
        }
    }

    /// What is wrong with the document, at a place of its file.
    pub(crate) fn malformed(&self, mut error: Error) -> Complaint {
        if let Some((source, applied)) = &self.applied {
            error = applied.of_source(&String::from_utf8_lossy(source), error);
        }
        Complaint::malformed(&self.path, &error)
    }
}

/// Reads what is there; nothing at the end.
fn read(reader: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
