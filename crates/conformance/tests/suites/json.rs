//! JSONTestSuite: what must be read, what must be refused, what we do where RFC 8259 leaves it open, and what becomes XML.

use std::fs;
use std::path::Path;

use myelin_conformance::{Suite, data};
use myelin_json::convert::{Switches, to_json, to_xml};
use myelin_json::{Error, Options, Reader, Step, Value};
use myelin_xml::Document;

const NOTE: &str = "[JSONTestSuite](https://github.com/nst/JSONTestSuite), each file at one stroke and byte by byte.
`y` must be read and come out again as the very bytes that came; `n` must be refused.
`i` may be either: we refuse what is not UTF-8, skip a byte order mark, keep any number as it is written, and read half a surrogate pair as U+FFFD.
`transform` are texts that readers tend to change: they come out as they came, or are refused as not UTF-8.
`y, to XML` are those of `y` once more: each becomes well-formed XML and that a JSON text, which comes back as it is; the six that hold a character which XML cannot are refused.";

/// Those of `y` that hold a character which XML cannot.
const NOT_CONVERTED: &[(&str, char)] = &[
    ("y_string_allowed_escapes.json", '\u{8}'),
    ("y_string_escaped_control_character.json", '\u{12}'),
    ("y_string_escaped_noncharacter.json", '\u{FFFF}'),
    ("y_string_nonCharacterInUTF-8_U+FFFF.json", '\u{FFFF}'),
    ("y_string_null_escape.json", '\0'),
    ("y_string_unicode_U+FFFE_nonchar.json", '\u{FFFE}'),
];

/// What we refuse where nothing says that we must take it: all that is not UTF-8.
const REFUSED: &[&str] = &[
    "i_string_UTF-16LE_with_BOM.json",
    "i_string_UTF-8_invalid_sequence.json",
    "i_string_UTF8_surrogate_U+D800.json",
    "i_string_invalid_utf-8.json",
    "i_string_iso_latin_1.json",
    "i_string_lone_utf8_continuation_byte.json",
    "i_string_not_in_unicode_range.json",
    "i_string_overlong_sequence_2_bytes.json",
    "i_string_overlong_sequence_6_bytes.json",
    "i_string_overlong_sequence_6_bytes_null.json",
    "i_string_truncated-utf-8.json",
    "i_string_utf16BE_no_BOM.json",
    "i_string_utf16LE_no_BOM.json",
    "string_1_invalid_codepoint.json",
    "string_2_invalid_codepoints.json",
    "string_3_invalid_codepoints.json",
];

/// The events and their places, or the error, when `text` comes in pieces of `piece` bytes.
fn read(text: &[u8], piece: usize) -> (Vec<String>, Option<Error>) {
    let mut reader = Reader::new(Options::default());
    let (mut events, mut end) = (Vec::new(), 0);
    loop {
        end = (end + piece).min(text.len());
        loop {
            match reader.next(&text[..end], end == text.len()) {
                Ok(Step::Event(event)) => events.push(format!("{:?} {:?}", event.kind, event.range())),
                Ok(Step::More) => break,
                Ok(Step::End) => return (events, None),
                Err(error) => return (events, Some(error)),
            }
        }
    }
}

/// Whether a text is taken; that it is read the same in pieces, and written as it came.
fn taken(path: &Path) -> Result<bool, String> {
    let text = fs::read(path).map_err(|error| error.to_string())?;
    let whole = read(&text, text.len().max(1));
    if whole != read(&text, 1) {
        return Err("it reads differently byte by byte".to_owned());
    }
    match (Value::parse(text.clone(), &Options::default()), whole.1) {
        (Err(error), Some(same)) if error == same => Ok(false),
        (Ok(value), None) => {
            let mut out = Vec::new();
            value.write_document(&mut out);
            if out == text { Ok(true) } else { Err("it is not written as it came".to_owned()) }
        }
        _ => Err("reader and tree do not agree".to_owned()),
    }
}

/// What becomes of a text that becomes XML and JSON again.
fn converted(json: &[u8]) -> Result<Vec<u8>, Error> {
    let switches = Switches { instructions: true, nil: true, ..Switches::default() };
    let (mut xml, mut back) = (Vec::new(), Vec::new());
    to_xml(json, &switches, &Options::default(), 1 << 20, &mut xml)?;
    let document = Document::parse(xml, &myelin_xml::Options::default()).expect("what we write is well-formed");
    to_json(&document, document.root_element().expect("it has a root"), &switches, 1 << 20, &mut back)?;
    Ok(back)
}

/// Whether a text of `y` becomes XML and JSON, and that the same once more, or is refused for a character.
fn comes_back(path: &Path, refused: Option<char>) -> Result<(), String> {
    let text = fs::read(path).map_err(|error| error.to_string())?;
    match (converted(&text), refused) {
        (Ok(back), None) if converted(&back).as_ref() == Ok(&back) => Ok(()),
        (Err(Error::Character(_, character)), Some(refused)) if character == refused => Ok(()),
        (made, _) => Err(format!("it becomes {:?}", made.map(|json| String::from_utf8_lossy(&json).into_owned()))),
    }
}

#[test]
fn jsontestsuite() {
    let Some(folder) = data("json") else { return };
    let mut suite = Suite::new("json", "JSON", NOTE);
    for part in ["test_parsing", "test_transform"] {
        let mut paths: Vec<_> = fs::read_dir(folder.join(part)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let case = path.file_name().unwrap().to_string_lossy().into_owned();
            let (set, wanted) = match (part, &case[..2], !REFUSED.contains(&case.as_str())) {
                ("test_parsing", "y_", _) => ("y", true),
                ("test_parsing", "n_", _) => ("n", false),
                ("test_parsing", _, true) => ("i, read", true),
                ("test_parsing", _, false) => ("i, refused", false),
                (_, _, true) => ("transform, kept", true),
                (_, _, false) => ("transform, refused", false),
            };
            let result = match taken(&path) {
                Ok(taken) if taken == wanted => Ok(()),
                Ok(true) => Err("it is read".to_owned()),
                Ok(false) => Err("it is refused".to_owned()),
                Err(reason) => Err(reason),
            };
            suite.judge(set, &case, result);
            if set == "y" {
                let refused = NOT_CONVERTED.iter().find(|(name, _)| *name == case).map(|&(_, character)| character);
                suite.judge("y, to XML", &case, comes_back(&path, refused));
            }
        }
    }
    suite.finish();
}
