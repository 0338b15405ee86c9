//! The console as files: that they are whole, small, and never read HTML from a text. What they do is tested in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use myelin_message::Head;

use super::*;

fn ask(method: &str, path: &str, known: Option<&str>) -> Option<Message> {
    let mut head = Head::request(method, path);
    if let Some(known) = known {
        head.set("If-None-Match", known.as_bytes()).unwrap();
    }
    answer(&Message::new(head, Body::Empty))
}

fn header(answer: &Message, name: &str) -> String {
    answer.head.first(name).map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
}

fn text(file: &File) -> &'static str {
    std::str::from_utf8(file.bytes).unwrap()
}

#[test]
fn a_file_comes_once_and_is_asked_for_again_by_its_tag() {
    let page = ask("GET", "/console/", None).unwrap();
    assert_eq!((page.status, header(&page, "Content-Type").as_str()), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(header(&page, "Content-Security-Policy").contains("frame-ancestors 'none'"));
    assert!(!header(&page, "Content-Security-Policy").contains("unsafe"));
    let tag = header(&page, "ETag");
    for known in [tag.clone(), format!("\"a\", W/{tag}"), "*".to_owned()] {
        let again = ask("GET", "/console/index.html", Some(&known)).unwrap();
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{known}");
    }
    assert_eq!(ask("GET", "/console/style.css", Some(&tag)).unwrap().status, StatusCode::OK);
}

#[test]
fn other_paths_and_methods_get_nothing() {
    let status = |method, path| ask(method, path, None).map(|answer| answer.status);
    assert_eq!(status("GET", "/console"), Some(StatusCode::PERMANENT_REDIRECT));
    assert_eq!(status("POST", "/console/"), Some(StatusCode::METHOD_NOT_ALLOWED));
    for missing in ["/console/../Cargo.toml", "/console/pages", "/console//app.js", "/console/app.js/"] {
        assert_eq!(status("GET", missing), Some(StatusCode::NOT_FOUND), "{missing}");
    }
    assert_eq!((status("GET", "/consoles"), status("GET", "/metrics")), (None, None));
}

#[test]
fn the_binary_holds_each_file_and_each_file_that_is_imported_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
    let mut there = BTreeSet::new();
    for (below, name) in [(folder.clone(), ""), (folder.join("pages"), "pages/")] {
        let entries = fs::read_dir(below).unwrap().map(|entry| entry.unwrap()).filter(|it| it.path().is_file());
        there.extend(entries.map(|entry| format!("{name}{}", entry.file_name().to_string_lossy())));
    }
    let held: BTreeSet<String> = FILES.iter().map(|file| file.name.to_owned()).collect();
    assert_eq!(held, there);
    for file in FILES.iter().filter(|file| file.name.ends_with(".js")) {
        for line in text(file).lines().filter(|line| line.starts_with("import ")) {
            let path = line.split('"').nth(1).unwrap();
            let is_page = file.name.starts_with("pages/");
            let wanted = match (path.strip_prefix("../"), path.strip_prefix("./")) {
                (Some(above), _) if is_page => above.to_owned(),
                (None, Some(beside)) if is_page => format!("pages/{beside}"),
                (None, Some(below)) => below.to_owned(),
                _ => panic!("{}: {line}", file.name),
            };
            assert!(held.contains(&wanted), "{}: {line}", file.name);
        }
    }
}

#[test]
fn no_file_reads_html_or_script_from_a_text_or_asks_another_host() {
    const FORBIDDEN: [&str; 12] = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "DOMParser",
        "srcdoc",
        "eval(",
        "new Function",
        "setAttribute(\"style\"",
        "javascript:",
        "https://",
        "localStorage.setItem(TOKEN",
    ];
    for file in FILES {
        for word in FORBIDDEN {
            assert!(!text(file).contains(word), "{} has {word}", file.name);
        }
    }
    let page = text(&FILES[0]);
    assert!(
        !page.contains("<style") && !page.contains(" style=") && !page.contains(" on") && !page.contains("<script>")
    );
}

#[test]
fn the_first_load_stays_small() {
    let bytes: usize = FILES.iter().map(|file| file.bytes.len()).sum();
    assert!(bytes < 200_000, "{bytes} bytes");
}
