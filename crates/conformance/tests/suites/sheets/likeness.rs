//! Whether two programs wrote the same files, but for what may differ.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use regex::{Captures, Regex};

use crate::xslt::compare::{Space, decoded, same_names};

/// How the reason begins where results differ.
pub(super) const DIFFERENT: &str = "differs";

/// How like the files of two programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// To the byte.
    Identical,
    /// But for what a serialiser may choose and for what the page names.
    Equal,
}

/// Names that `generate-id()` makes; a letter in front of one may be the stylesheet's.
const GENERATED: &str = r"i?d\d+[en]\d+|id[mp]?\d+";

/// What may differ, and what is compared in its place; the page says why.
const REPLACED: [(&str, &str); 8] = [
    (r#"(?i)<meta http-equiv="content-type"[^>]*>(</meta>)?"#, ""),
    (r#"(?i)<!DOCTYPE html(\s+SYSTEM "about:legacy-compat")?>\s*"#, ""),
    (r"<!DOCTYPE (\S+)\s+", "<!DOCTYPE $1 "),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?", "TIME"),
    (
        r"SAXON/HE [0-9.]+|Myelin/[0-9.]+|Saxon-HE[ /][0-9.]+|SAXON HE [0-9.]+( from Saxonica)?|Myelin [0-9.]+",
        "PROCESSOR",
    ),
    (r#"( documents?)="[^"]*""#, "$1=\"\""),
    (r"file:///", "file:/"),
    (r"/(reference|myelin)/", "/folder/"),
];

/// Compares all files of two folders; `Err`: the first difference.
pub(super) fn compare(reference: &Path, own: &Path) -> Result<Likeness, String> {
    let (expected, found) = (named(files(reference)), named(files(own)));
    let mut likeness = Likeness::Identical;
    for (name, file) in &expected {
        let Some(counterpart) = found.get(name) else {
            // A result of nothing is a file to one program and none to another.
            if content(reference, file)?.is_empty() {
                continue;
            }
            return Err(format!("{DIFFERENT}: there is no {name}"));
        };
        let (expected, found) = (content(reference, file)?, content(own, counterpart)?);
        if expected != found {
            likeness = Likeness::Equal;
            same_names(normal(&expected).as_bytes(), normal(&found).as_bytes(), Space::Indents)
                .map_err(|difference| format!("{DIFFERENT}: {name}: {difference}"))?;
        }
    }
    match found.iter().find(|(name, _)| !expected.contains_key(*name)) {
        Some((name, file)) if !content(own, file)?.is_empty() => {
            Err(format!("{DIFFERENT}: there is a {name} too much"))
        }
        _ => Ok(likeness),
    }
}

/// Files by their names, in which those that `generate-id()` made are numbered in the order of their own numbers.
fn named(files: Vec<PathBuf>) -> BTreeMap<String, PathBuf> {
    let generated = Regex::new(GENERATED).expect("a pattern of this file");
    let number = |file: &PathBuf| -> u64 {
        let name = file.to_string_lossy();
        let found = generated.find(&name).map_or("", |found| found.as_str());
        let digits = found.rsplit(|letter: char| !letter.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    let (mut made, plain): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().partition(|file| generated.is_match(&file.to_string_lossy()));
    made.sort_by_key(number);
    let plain = plain.into_iter().map(|file| (file.to_string_lossy().into_owned(), file));
    let made = (1..).zip(made).map(|(index, file): (usize, PathBuf)| {
        (generated.replace(&file.to_string_lossy(), format!("generated{index}")).into_owned(), file)
    });
    plain.chain(made).collect()
}

fn content(folder: &Path, file: &Path) -> Result<Vec<u8>, String> {
    let bytes = fs::read(folder.join(file)).map_err(|error| format!("{}: {error}", file.display()))?;
    // xsltproc writes a declaration in front of nothing.
    let is_nothing =
        bytes.starts_with(b"<?xml ") && bytes.trim_ascii().iter().filter(|byte| **byte == b'<').count() == 1;
    Ok(if is_nothing { Vec::new() } else { bytes })
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(below) = path.strip_prefix(folder) {
                files.push(below.to_owned());
            }
        }
    }
    files.sort();
    files
}

/// A result without what may differ.
fn normal(bytes: &[u8]) -> String {
    let mut text = decoded(bytes);
    if let Some(inside) = text.strip_prefix("<?xml ") {
        text = inside.split_once("?>").map_or("", |(_, inside)| inside.trim_start()).to_owned();
    }
    for (what, with) in REPLACED {
        let pattern = Regex::new(what).expect("a pattern of this file");
        text = pattern.replace_all(&text, with).into_owned();
    }
    // xsltproc says the language of XHTML twice.
    if text.contains("//DTD XHTML") {
        let language = Regex::new(r#"\slang="[^"]*""#).expect("a pattern of this file");
        text = language.replace_all(&text, "").into_owned();
    }
    let numbers = Regex::new(r"\d+\.\d{9,}").expect("a pattern of this file");
    let rounded = |number: &Captures<'_>| {
        let value: f64 = number[0].parse().unwrap_or_default();
        format!("{:.9}", value).trim_end_matches('0').to_owned()
    };
    let text = numbers.replace_all(&text, rounded).into_owned();
    // Names that were generated are numbered in the order in which they come.
    let generated = Regex::new(GENERATED).expect("a pattern of this file");
    let mut names = HashMap::new();
    let numbered = |name: &Captures<'_>| {
        let next = names.len();
        format!("ID{}", names.entry(name[0].to_owned()).or_insert(next))
    };
    generated.replace_all(&text, numbered).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_generated_names_count_by_their_numbers() {
        let names = |files: &[&str]| named(files.iter().map(PathBuf::from).collect()).into_keys().collect::<Vec<_>>();
        assert_eq!(names(&["id10.html", "id2.html", "a.html"]), ["a.html", "generated1.html", "generated2.html"]);
        assert_eq!(names(&["d0n7.html"]), names(&["idm45.html"]));
    }

    #[test]
    fn generated_names_count_by_the_order_in_which_they_come() {
        let check = |one: &str, other: &str| normal(one.as_bytes()) == normal(other.as_bytes());
        assert!(check("<a id='idm12'/><a href='#idm12'/>", "<a id='d0n7'/><a href='#d0n7'/>"));
        assert!(!check("<a id='idm12'/><a href='#idm13'/>", "<a id='d0n7'/><a href='#d0n7'/>"));
        assert!(check("<a id='lid6e18'/>", "<a id='lid6n29'/>"));
        assert!(check("20.736pt", "20.735999999999997pt"));
        assert!(!check("20.736pt", "20.737pt"));
    }
}
