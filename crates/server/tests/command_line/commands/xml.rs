//! `myelin xml`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use myelin_bench::procfs;

use super::{myelin, run};

#[test]
fn well_formed_documents_pass_in_silence() {
    myelin("xml -", "<a><b/></a>\n").with(0, "", "");
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_other_files_are_read_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("good.xml"), "<a/>").unwrap();
    fs::write(path("bad.xml"), "<a>\n <b x=1/></a>").unwrap();
    let ended = run(&["xml", "--c14n", &path("missing.xml"), &path("bad.xml"), &path("good.xml")], "");
    let bad = format!("{}:2:7: expected a quote, found '1'\n", path("bad.xml"));
    ended.with(1, "<a></a>", &bad);
    ended.with(1, "<a></a>", &format!("{}: No such file", path("missing.xml")));
}

#[test]
fn canonical_forms_are_printed_as_their_standards_say() {
    let document = "<?xml version='1.0'?><a  b='1' a=\"2\" xmlns:n='urn:u'><!-- c --><c/></a>";
    myelin("xml --c14n -", document).with(0, r#"<a xmlns:n="urn:u" a="2" b="1"><c></c></a>"#, "");
    myelin("xml --c14n11 --with-comments -", document).with(
        0,
        r#"<a xmlns:n="urn:u" a="2" b="1"><!-- c --><c></c></a>"#,
        "",
    );
    myelin("xml --exc-c14n -", document).with(0, r#"<a a="2" b="1"><c></c></a>"#, "");
    myelin("xml --c14n -", "<a xmlns='a/b'/>").with(1, "", "has no canonical form");
}

#[test]
fn pretty_puts_elements_on_lines_of_their_own() {
    myelin("xml --pretty -", "<a><b>x</b><c/></a>").with(0, "<a>\n  <b>x</b>\n  <c/>\n</a>\n", "");
}

#[test]
fn forms_exclude_each_other_and_bounds_are_known_by_name() {
    assert_eq!(myelin("xml --c14n --pretty -", "<a/>").code, 2);
    assert_eq!(myelin("xml --with-comments -", "<a/>").code, 2);
    let unknown = myelin("xml --limits height=3 -", "<a/>");
    assert!(unknown.code == 2 && unknown.err.contains("depth, attributes"), "{}", unknown.err);
}

#[test]
fn bounds_can_be_tighter_and_wider() {
    let deep = "<a>".repeat(1_001) + &"</a>".repeat(1_001);
    myelin("xml -", &deep).with(1, "", "-:1:3001: more than 1000 elements inside each other\n");
    myelin("xml --limits depth=2K,total=1M -", &deep).with(0, "", "");
    myelin("xml --limits nodes=2 --pretty -", "<a><b/><c/></a>").with(1, "", "a tree of more than 2 nodes");
    myelin("xml --limits total=9 --pretty -", "<a></a >\n\n").with(1, "", "more than 9 bytes");
}

#[test]
fn a_document_type_is_read_skipped_or_refused() {
    let document = "<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST a b CDATA '1'>]><a/>";
    myelin("xml --refuse-doctype -", document).with(1, "", "-:1:1: a document type declaration is refused");
    myelin("xml -", document).with(0, "", "");
    myelin("xml -", document.replace("<a/>", "<a>&e;</a>")).with(0, "", "");
    myelin("xml --c14n -", document.replace("<a/>", "<a>&e;</a>")).with(0, "<a b=\"1\">x</a>", "");
    myelin("xml -", document.replace("<a/>", "<a>&e;</b>")).with(1, "", "-:1:63: expected </a>, found </b>");
    myelin("xml -", document.replace("<a/>", "<a>&f;</a>")).with(1, "", "the entity &f; is not declared");
    myelin("xpath string(/a/@b) -", document).with(0, "1\n", "");
    myelin("xml --skip-doctype -", document).with(0, "", "");
    myelin("xml --skip-doctype -", document.replace("<a/>", "<a>&e;</a>")).with(1, "", "is not expanded");
}

#[test]
fn encodings_are_detected_or_given() {
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
    for arguments in ["xml -", "xml --encoding latin1 -"] {
        myelin(arguments, latin).with(0, "", "");
    }
    myelin("xml --c14n -", latin).with(0, "<a>é</a>", "");
    myelin("xml --encoding UTF-8 -", latin).with(1, "", "-:1:47: bytes that are no text");
    let utf16: Vec<u8> = "\u{FEFF}<a>é</a>".encode_utf16().flat_map(u16::to_be_bytes).collect();
    myelin("xml -", &utf16).with(0, "", "");
    myelin("xml --c14n -", &utf16).with(0, "<a>é</a>", "");
    myelin("xml -", &utf16[..utf16.len() - 1]).with(1, "", "bytes that are no text");
    myelin("xml --c14n -", b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>").with(0, "<a>€</a>", "");
    myelin("xml --encoding KOI8-R --c14n -", b"<a>\xC1</a>").with(0, "<a>а</a>", "");
    myelin("xml --encoding CP037 -", latin).with(1, "", "CP037");
}

#[test]
fn a_document_larger_than_its_memory_is_checked() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    let mut child = command.args(["xml", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"<orders>").unwrap();
    let order = "<order id='1'><symbol>IBM</symbol><price>140.34</price></order>\n".repeat(1 << 14);
    // A pipe holds little, so that the first of them is read when it is written: the program is in memory by then.
    stdin.write_all(order.as_bytes()).unwrap();
    let begun = procfs::usage(child.id()).unwrap();
    for _ in 1..40 {
        stdin.write_all(order.as_bytes()).unwrap();
    }
    let usage = procfs::usage(child.id()).unwrap();
    stdin.write_all(b"</orders>").unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let sent = order.len() as u64 * 40;
    let grown = usage.peak_memory_bytes - begun.peak_memory_bytes;
    assert!(grown < 4 << 20, "{grown} bytes of memory for {sent}");
}
