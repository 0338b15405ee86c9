//! The files that a configuration consists of, and their text.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::element::Element;
use crate::problem::{Place, Problem};
use crate::sources::Sources;

/// A larger file is no configuration.
const FILE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// The largest archive that is read.
const ARCHIVE_BYTES: u64 = 64 << 20;

/// So much of a file with a secret is read.
const SECRET_LIMIT_BYTES: u64 = 64 * 1024;

/// A file of a configuration, or something else that is reported as a part of it.
pub struct File {
    /// What it is in a report, unless it is a file of the language that could be read.
    pub kind: &'static str,
    /// Its path, or what else it is called in a report.
    pub name: Arc<str>,
    /// Where the file begins.
    pub place: Place,
    /// Its root element, or why there is none; neither where it is no file of the language.
    pub root: Result<Option<Element>, Problem>,
    /// What is odd about it and keeps nothing from running.
    pub warnings: Vec<Problem>,
    /// Whether it may be anything: it was found in a folder, and nobody named it.
    pub is_found_by_chance: bool,
    /// The name of the root element of a file that cannot be read as a document, as far as one can tell.
    pub broken_root: Option<String>,
}

impl File {
    /// A file of the language.
    pub fn read(path: &Path, sources: &Sources) -> File {
        let name: Arc<str> = path.display().to_string().into();
        match bytes(path, sources) {
            Ok(bytes) => File::parse(&name, bytes),
            Err(problem) => File { root: Err(problem), ..File::stand_in("file", &name, &name) },
        }
    }

    /// The same from its bytes.
    pub fn parse(path: &Arc<str>, bytes: Vec<u8>) -> File {
        let at_start = |message| Problem::new(Place::start_of(path), message);
        let mut broken_root = None;
        let root = decode(bytes).map_err(at_start).and_then(|text| {
            let name = root_name(&text).map(str::to_owned);
            Element::parse(path, text).map(Some).inspect_err(|_| broken_root = name)
        });
        File { root, broken_root, ..File::stand_in("file", path, path) }
    }

    /// Something that is no file of the language.
    pub fn stand_in(kind: &'static str, path: &Arc<str>, name: &str) -> File {
        File {
            kind,
            name: name.into(),
            place: Place::start_of(path),
            root: Ok(None),
            warnings: Vec::new(),
            is_found_by_chance: false,
            broken_root: None,
        }
    }

    /// A file or folder with a problem.
    pub fn faulty(kind: &'static str, path: &Path, message: String) -> File {
        let name: Arc<str> = path.display().to_string().into();
        let file = File::stand_in(kind, &name, &name);
        File { root: Err(Problem::new(file.place.clone(), message)), ..file }
    }
}

/// The local name of the first element of a text that need not be well formed.
fn root_name(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find('<')? + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = &comment[comment.find("-->")?..];
        } else if rest.starts_with(|it: char| it.is_alphabetic() || it == '_') {
            let end = rest.find(|it: char| it.is_whitespace() || it == '>' || it == '/').unwrap_or(rest.len());
            return rest[..end].rsplit(':').next();
        }
    }
}

/// The bytes of a file that a configuration consists of or names.
///
/// Errors: a [`Problem`] at line 1 where it cannot be read or is too large.
pub fn bytes(path: &Path, sources: &Sources) -> Result<Vec<u8>, Problem> {
    bytes_up_to(FILE_LIMIT_BYTES, path, sources)
}

/// The same with another limit.
fn bytes_up_to(limit: u64, path: &Path, sources: &Sources) -> Result<Vec<u8>, Problem> {
    sources.look(path);
    let at_start = |message| Problem::new(Place::start_of(&path.display().to_string().into()), message);
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(at_start(format!("cannot be read: {error}")));
    }
    if bytes.len() as u64 > limit {
        return Err(at_start(format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// The bytes of an archive, which may be larger.
///
/// Errors: as those of [`bytes`].
pub fn archive(path: &Path, sources: &Sources) -> Result<Vec<u8>, Problem> {
    bytes_up_to(ARCHIVE_BYTES, path, sources)
}

/// A secret that stands in a file, without the line ends behind it.
///
/// Errors: the file cannot be read; of a larger one than 64 KiB the beginning is the secret.
pub fn secret(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(SECRET_LIMIT_BYTES).read_to_end(&mut bytes)?;
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(bytes)
}

/// Text in one of the encodings that configurations have.
///
/// Errors: a sentence, where it is in none of them.
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect()
    };
    let utf16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => Some(units(&bytes[2..], u16::from_le_bytes)),
        Some([0xfe, 0xff]) => Some(units(&bytes[2..], u16::from_be_bytes)),
        _ => None,
    };
    if let Some(units) = utf16 {
        return String::from_utf16(&units).map_err(|_| "not valid UTF-16".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned)),
        Err(error) => {
            let bytes = error.into_bytes();
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).to_ascii_lowercase();
            if head.starts_with("<?xml") && (head.contains("iso-8859-1") || head.contains("latin1")) {
                // Every byte of Latin-1 is the character of that number.
                Ok(bytes.into_iter().map(char::from).collect())
            } else {
                Err("not valid UTF-8".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_root_is_found_in_what_is_not_well_formed() {
        let check = |text: &str, name: Option<&str>| assert_eq!(root_name(text), name);
        check("<?xml version='1.0'?><!DOCTYPE svg><!-- <a> --><s:svg x='1'><b></s:svg>", Some("svg"));
        check("<html>", Some("html"));
        check("<!-- <a>", None);
        check("no markup", None);
    }

    #[test]
    fn text_comes_in_the_encodings_configurations_have() {
        let check = |bytes: &[u8], expected: Result<&str, &str>| {
            assert_eq!(decode(bytes.to_vec()).as_deref().map_err(String::as_str), expected);
        };
        check("é".as_bytes(), Ok("é"));
        check("\u{feff}<a/>".as_bytes(), Ok("<a/>"));
        check(b"\xff\xfe<\0a\0/\0>\0", Ok("<a/>"));
        check(
            b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
            Ok("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"),
        );
        check(b"<a>\xe9</a>", Err("not valid UTF-8"));
    }
}
