//! What the pages point at is there: files, headings, tests, and properties as their table has them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::recipes::is_made;
use super::{files, shown};
use crate::workspace::root;

/// A page without its blocks of code, which hold examples; the lines keep their numbers.
struct Page {
    path: PathBuf,
    lines: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Page {
        let text = fs::read_to_string(path).unwrap();
        let mut inside = false;
        let prose = |line: &str| {
            let is_fence = line.trim_start().starts_with("```");
            inside ^= is_fence;
            if inside || is_fence { String::new() } else { line.to_owned() }
        };
        Page { path: path.to_owned(), lines: text.lines().map(prose).collect() }
    }

    /// The anchors of its headings, as GitHub makes them.
    fn anchors(&self) -> HashSet<String> {
        let mut anchors = HashSet::new();
        for line in &self.lines {
            let heading = line.trim_start_matches('#');
            if heading.len() == line.len() || !heading.starts_with(' ') {
                continue;
            }
            let slug = slug(heading.trim());
            let numbered = (1..).map(|number| format!("{slug}-{number}"));
            let free = std::iter::once(slug.clone()).chain(numbered).find(|one| !anchors.contains(one));
            anchors.extend(free);
        }
        anchors
    }
}

/// Of a heading GitHub keeps letters, digits, `-` and `_`, in lower case, and writes spaces as `-`; of a link the text.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once("](") {
        text.push_str(before);
        rest = link.split_once(')').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    let kept = text.chars().filter(|&c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of the links in a line; what stands in code quotes is no link.
fn links(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let targets = prose.split("](").skip(1).filter_map(|behind| behind.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// What stands in code quotes in a line.
fn quotes(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Why a link leads nowhere; `None` where it leads somewhere, or out of the project.
fn broken(page: &Page, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(file) };
    if !path.exists() {
        return Some(format!("{target} leads to a file that is not there"));
    }
    let anchor = anchor?;
    if path.extension().is_none_or(|extension| extension != "md") {
        return Some(format!("{target}: only pages have headings"));
    }
    (!Page::read(&path).anchors().contains(anchor)).then(|| format!("{target} leads to a heading that is not there"))
}

/// Folders of the project that a path in code quotes begins with.
const FOLDERS: [&str; 6] = ["crates/", "docs/", "examples/", "fuzz/", "xtask/", ".ci/"];

/// Folders that only a run makes.
const MADE_BY_RUNS: [&str; 2] = ["fuzz/artifacts", "fuzz/corpus"];

/// Whether a quote is the path of a file or folder of ours; patterns, and what recipes make, are none.
fn is_path(quote: &str) -> bool {
    FOLDERS.iter().any(|folder| quote.starts_with(folder))
        && !quote.contains(['*', '…', '<', '{', ' ', ':'])
        && !MADE_BY_RUNS.contains(&quote)
        && !is_made(quote)
}

/// Whether a quote behind the path of a source file reads as the name of a test: a sentence of words.
fn is_test_name(quote: &str) -> bool {
    quote.contains('_') && quote.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// What the code quotes of a line name that is not there. The tests of a file stand behind its path.
fn missing(line: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut source = None;
    for quote in quotes(line) {
        if is_path(quote) {
            let path = root().join(quote);
            if !path.exists() {
                missing.push(format!("{quote} is not there"));
            }
            source = fs::read_to_string(path).ok().filter(|_| quote.ends_with(".rs")).map(|text| (quote, text));
        } else if let Some((path, text)) = &source
            && is_test_name(quote)
            && !["(", "<"].iter().any(|behind| text.contains(&format!("fn {quote}{behind}")))
        {
            missing.push(format!("{path} has no function {quote}"));
        }
    }
    missing
}

#[test]
fn every_link_leads_to_a_file_and_heading_and_every_named_file_and_test_is_there() {
    let mut complaints = Vec::new();
    for path in files(&[".md"]) {
        let page = Page::read(&path);
        for (index, line) in page.lines.iter().enumerate() {
            let broken = links(line).into_iter().filter_map(|target| broken(&page, &target));
            let all = broken.chain(missing(line));
            complaints.extend(all.map(|what| format!("{}:{}: {what}", shown(&path), index + 1)));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// What the bus does with a property is said by the table that is made from the code, and nowhere else.
#[test]
fn no_property_of_the_table_is_said_to_be_not_offered() {
    let page = |name: &str| Page::read(&root().join("docs").join(name));
    let properties = page("properties.md");
    let rows = properties.lines.iter().filter(|line| line.starts_with("| `"));
    let known: HashSet<&str> = rows.filter_map(|row| quotes(row).next()).collect();
    assert!(known.contains("HTTP_ETAG") && known.len() > 50, "the table of properties is read: {known:?}");
    let compatibility = page("compatibility.md");
    let missing = compatibility.lines.iter().skip_while(|line| *line != "## Not offered yet");
    assert!(missing.clone().next().is_some(), "the page says what is not offered yet");
    let wrong: Vec<&str> = missing.flat_map(|line| quotes(line)).filter(|quote| known.contains(quote)).collect();
    assert!(wrong.is_empty(), "docs/properties.md says what these do: {wrong:?}");
}

#[test]
fn headings_become_anchors_as_on_github() {
    assert_eq!(slug("What is to be *protected*, `$ctx:x` & [why](a.md)?"), "what-is-to-be-protected-ctxx--why");
}

#[test]
fn what_leads_nowhere_is_found() {
    let page = Page { path: root().join("README.md"), lines: Vec::new() };
    for target in ["docs/no-such-page.md", "docs/threat-model.md#no-such-heading", "#nothing", "xtask/Cargo.toml#a"] {
        assert!(broken(&page, target).is_some(), "{target}");
    }
    for target in ["docs/threat-model.md#who-attacks", "xtask/src", "https://example.com/a#b"] {
        assert_eq!(broken(&page, target), None);
    }
    let line =
        "| `xtask/src/tidy/links.rs`: `what_leads_nowhere_is_found`, `no_test_has_this_name` | `xtask/src/gone.rs` |";
    assert_eq!(
        missing(line),
        ["xtask/src/tidy/links.rs has no function no_test_has_this_name", "xtask/src/gone.rs is not there"]
    );
}
