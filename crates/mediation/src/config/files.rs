//! Which files a configuration consists of, and their text.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::element::Element;
use super::problem::{Place, Problem};
use super::sources::Sources;

/// A larger file is no configuration.
const FILE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// The folders of a `synapse-configs/default` layout.
const FOLDERS: &[&str] = &[
    "local-entries",
    "endpoints",
    "templates",
    "sequences",
    "message-stores",
    "message-processors",
    "proxy-services",
    "api",
    "inbound-endpoints",
    "tasks",
    "imports",
    "event-sources",
    "priority-executors",
];

/// A file's root element, or why there is none.
pub(super) struct File {
    pub(super) path: Arc<str>,
    pub(super) root: Result<Element, Problem>,
}

/// Finds and parses all files, in an order that does not depend on the file system.
pub(super) fn read(paths: &[PathBuf], sources: &Sources) -> Vec<File> {
    let mut files = Vec::new();
    for path in paths {
        if sources.has_folder(path) {
            for file in folder(path, sources) {
                files.push(file.map_or_else(File::broken, |path| parse(&path, sources)));
            }
        } else {
            files.push(parse(path, sources));
        }
    }
    files
}

impl File {
    fn broken(problem: Problem) -> File {
        File { path: Arc::clone(&problem.place.file), root: Err(problem) }
    }
}

fn folder(path: &Path, sources: &Sources) -> Vec<Result<PathBuf, Problem>> {
    for inside in ["synapse-configs/default", "default"] {
        let layout = path.join(inside);
        if sources.has_folder(&layout) && (inside.starts_with("synapse") || is_layout(&layout, sources)) {
            return folder(&layout, sources);
        }
    }
    if !is_layout(path, sources) {
        return xml_files(path, sources);
    }
    let single = ["registry.xml", "synapse.xml", "task-manager.xml"].map(|name| path.join(name));
    let mut files: Vec<_> = single.into_iter().filter(|file| sources.has_file(file)).map(Ok).collect();
    for name in FOLDERS {
        let inside = path.join(name);
        if sources.has_folder(&inside) {
            files.extend(xml_files(&inside, sources));
        }
    }
    files
}

fn is_layout(path: &Path, sources: &Sources) -> bool {
    FOLDERS.iter().any(|name| sources.has_folder(&path.join(name)))
}

fn xml_files(path: &Path, sources: &Sources) -> Vec<Result<PathBuf, Problem>> {
    sources.look(path);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return vec![Err(unreadable(path, &error))],
    };
    let mut files = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => files.push(entry.path()),
            Err(error) => return vec![Err(unreadable(path, &error))],
        }
    }
    files.retain(|file| {
        file.is_file() && file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"))
    });
    files.sort();
    files.into_iter().map(Ok).collect()
}

fn parse(path: &Path, sources: &Sources) -> File {
    let name: Arc<str> = path.display().to_string().into();
    let root = text(path, sources).and_then(|text| Element::parse(&name, text));
    File { path: name, root }
}

/// The text of a configuration file, whatever its encoding.
///
/// Errors: a [`Problem`] at line 1 where it cannot be read, is too large, or is in no known encoding.
fn text(path: &Path, sources: &Sources) -> Result<String, Problem> {
    decode(bytes(path, sources)?).map_err(|message| at_start(path, message))
}

/// The bytes of a file that a configuration consists of or names.
///
/// Errors: a [`Problem`] at line 1 where it cannot be read or is too large.
pub(super) fn bytes(path: &Path, sources: &Sources) -> Result<Vec<u8>, Problem> {
    sources.look(path);
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return Err(unreadable(path, &error));
    }
    if bytes.len() as u64 > FILE_LIMIT_BYTES {
        return Err(at_start(path, format!("larger than {FILE_LIMIT_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Text in one of the encodings that configurations have.
///
/// Errors: a sentence, where it is in none of them.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, String> {
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

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    at_start(path, format!("cannot be read: {error}"))
}

fn at_start(path: &Path, message: String) -> Problem {
    Problem { place: Place { file: path.display().to_string().into(), line: 1, column: 1 }, message }
}

#[cfg(test)]
mod tests {
    use super::*;

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
