//! `myelin xpath`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use myelin_bench::procfs;

use super::{Ended, run};

const ORDERS: &str = r#"<o:orders xmlns:o="urn:o">
  <order id="1"><symbol>IBM</symbol><price>140.50</price></order>
  <order id="2"><symbol>SUN</symbol><price>5</price></order>
</o:orders>"#;

/// Asks the orders on standard input.
fn ask(expression: &str, options: &[&str]) -> Ended {
    run(&[&["xpath", expression, "-"], options].concat(), ORDERS)
}

/// A file with the orders, and the folder that keeps it.
fn file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.xml");
    fs::write(&path, ORDERS).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn each_item_is_a_line_of_text() {
    ask("//symbol", &[]).with(0, "IBM\nSUN\n", "");
    ask("//@id", &[]).with(0, "1\n2\n", "");
    ask("sum(//price)", &[]).with(0, "145.5\n", "");
    ask("for $o in //order return concat($o/symbol, '!')", &[]).with(0, "IBM!\nSUN!\n", "");
}

#[test]
fn functions_of_stylesheets_can_be_called_by_the_rules_of_either_version() {
    ask("format-number(sum(//price), '#,##0.00')", &[]).with(0, "145.50\n", "");
    ask("serialize((//symbol)[1])", &["--xpath", "3.1"]).with(0, "<symbol xmlns:o=\"urn:o\">IBM</symbol>\n", "");
    ask("json-to-xml('[1]')//*[not(*)]", &["--xpath", "3.1"]).with(0, "1\n", "");
    ask("'1' + 1", &["--xpath", "3.1"]).with(2, "", "cannot be calculated");
    let (folder, path) = file();
    fs::write(folder.path().join("other.xml"), "<a>b</a>").unwrap();
    run(&["xpath", "doc('other.xml')/a", &path], "").with(0, "b\n", "");
    run(&["xpath", "doc('/etc/other.xml')/a", &path], "").with(2, "", "other.xml");
}

#[test]
fn the_exit_status_says_whether_something_is_found() {
    ask("//order", &["--format", "xml"])
        .with(0, "<order id=\"1\"><symbol>IBM</symbol><price>140.50</price></order>\n<order id=\"2\"><symbol>SUN</symbol><price>5</price></order>\n", "");
    ask("//nothing", &[]).with(1, "", "");
    ask("//price > 1000", &[]).with(1, "false\n", "");
    ask("//price > 100", &[]).with(0, "true\n", "");
    ask("count(//nothing)", &[]).with(1, "0\n", "");
    ask("string(//nothing)", &[]).with(1, "\n", "");
}

#[test]
fn prefixes_and_variables_come_from_the_command_line() {
    ask("count(/p:orders)", &["--ns", "p=urn:o"]).with(0, "1\n", "");
    ask("//order[symbol = $s]/@id", &["--var", "s=SUN"]).with(0, "2\n", "");
    ask("//order[symbol = $s]/@id", &[]).with(
        2,
        "",
        "--var s=TEXT gives it one\n//order[symbol = $s]/@id\n                 ^\n",
    );
    ask("/p:orders", &[]).with(2, "", "--ns PREFIX=URI says it\n/p:orders\n ^\n");
    assert_eq!(ask("1", &["--ns", "urn:o"]).code, 2);
}

#[test]
fn xml_shows_nodes_as_they_can_stand_in_a_document() {
    let xml = ["--format", "xml"];
    ask("/*/namespace::o | //@id | //order[1]/symbol/text()", &xml).with(
        0,
        "xmlns:o=\"urn:o\"\nid=\"1\"\nIBM\nid=\"2\"\n",
        "",
    );
    ask("/", &xml).with(0, &format!("{ORDERS}\n"), "");
    ask("1 + 1", &xml).with(0, "2\n", "");
}

#[test]
fn json_tells_types_and_places() {
    let json = ["--format", "json"];
    ask("/*/namespace::o | //order[2]/@id | /o:orders/order[2]/price", &[&json[..], &["--ns", "o=urn:o"]].concat())
        .with(
            0,
            r#"[
  {"file":"-","type":"namespace","name":"o","value":"urn:o"},
  {"file":"-","type":"attribute","name":"id","line":3,"column":10,"value":"2"},
  {"file":"-","type":"element","name":"price","line":3,"column":37,"value":"5"}
]
"#,
            "",
        );
    ask("(1 div 4, 1 div 0, true(), 'a\"b')", &json).with(
        0,
        r#"[
  {"file":"-","type":"number","value":0.25},
  {"file":"-","type":"number","value":"Infinity"},
  {"file":"-","type":"boolean","value":true},
  {"file":"-","type":"string","value":"a\"b"}
]
"#,
        "",
    );
    ask("//nothing", &json).with(1, "[]\n", "");
}

#[test]
fn several_files_are_named_and_one_that_is_wrong_does_not_hide_the_others() {
    let (folder, orders) = file();
    let broken = folder.path().join("broken.xml").display().to_string();
    fs::write(&broken, "<a><symbol>X</symbol></b>").unwrap();
    let ended = run(&["xpath", "//symbol", &broken, &orders], "");
    ended.with(2, &format!("{orders}:IBM\n{orders}:SUN\n"), &format!("{broken}:1:24: expected </a>, found </b>\n"));
}

#[test]
fn one_pass_and_the_tree_agree() {
    let (_folder, orders) = file();
    let expressions =
        ["//order[1]/symbol = 'IBM'", "count(//order)", "string(//order[@id = '2']/symbol)", "not(//order)"];
    for expression in expressions {
        let [stream, tree, either] =
            ["--stream", "--tree", "--format=text"].map(|way| run(&["xpath", expression, &orders, way], ""));
        stream.with(tree.code, &tree.out, "");
        either.with(tree.code, &tree.out, "");
    }
}

#[test]
fn what_needs_a_tree_is_not_streamed_and_told_why() {
    ask("//order", &["--stream"]).with(2, "", "cannot be streamed: it gives nodes");
    ask("string(//order[last()])", &["--stream"]).with(2, "", "cannot be streamed: ");
    assert_eq!(ask("1", &["--stream", "--tree"]).code, 2);
}

#[test]
fn one_pass_reads_no_further_than_the_decision() {
    let broken = ORDERS.replace("</o:orders>", "<");
    let ended = run(&["xpath", "--stream", "//order[1]/symbol = 'IBM'", "-"], &broken);
    ended.with(0, "true\n", "");
    run(&["xpath", "//order[1]/symbol = 'IBM'", "-"], &broken).with(2, "", "-:4:2: the document ends here");
}

#[test]
fn a_document_larger_than_its_memory_is_asked() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    command.args(["xpath", "--stream", "count(//order)", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"<orders>").unwrap();
    let order = "<order id='1'><symbol>IBM</symbol><price>140.34</price></order>\n".repeat(1 << 14);
    stdin.write_all(order.as_bytes()).unwrap();
    let before = procfs::usage(child.id()).unwrap().memory_bytes;
    for _ in 1..40 {
        stdin.write_all(order.as_bytes()).unwrap();
    }
    let grown = procfs::usage(child.id()).unwrap().peak_memory_bytes.saturating_sub(before);
    stdin.write_all(b"</orders>").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{}\n", 40 << 14));
    let sent = order.len() as u64 * 40;
    assert!(grown < 4 << 20, "{grown} bytes of memory for {sent}");
}

#[test]
fn json_is_asked_by_its_paths() {
    let order = r#"{"order": {"symbol": "I\u0042M", "price": 140.340, "lines": [1, null]}}"#;
    let ask = |path: &str, options: &[&str]| run(&[&["xpath", path, "-"], options].concat(), order);
    ask("$.order.symbol", &[]).with(0, "IBM\n", "");
    ask("$.order.price", &[]).with(0, "140.340\n", "");
    for way in ["--stream", "--tree"] {
        ask("$['order']['lines']", &[way]).with(0, "[1,null]\n", "");
        ask("$.order.nothing", &[way]).with(1, "", "");
    }
    ask("$..lines[*]", &["--format", "json"]).with(
        0,
        "[\n  {\"file\":\"-\",\"type\":\"number\",\"value\":1},\n  {\"file\":\"-\",\"type\":\"null\",\"value\":null}\n]\n",
        "",
    );
    ask("$.order.lines.length()", &["--format", "json"]).with(
        0,
        "[\n  {\"file\":\"-\",\"type\":\"number\",\"value\":2}\n]\n",
        "",
    );
    ask("$..price", &["--stream"]).with(2, "", "cannot be streamed");
    ask("$.order[", &[]).with(2, "", "\n$.order[\n");
    ask("$.order", &["--format", "xml"]).with(2, "", "XML");
    run(&["xpath", "$.a", "-", "--tree"], "{\"a\": 1,\n}").with(2, "", "-:2:1: expected ");
}
