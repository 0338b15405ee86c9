//! What keys of the registry name: sequences, endpoints and entries that are files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use crate::common::{Reply, Scenario, get, request};
use myelin_engine::{Report, Settings, load};
use myelin_message::Message;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A configuration with one sequence around some mediators, beside which the registry is.
fn report(folder: &Path, mediators: &str) -> Report {
    let text = format!("<definitions><sequence name='main'>{mediators}</sequence></definitions>");
    write(folder, "synapse.xml", &text);
    load(&[folder.join("synapse.xml")], &Settings::default()).report
}

/// A step that tells the client what an expression gives.
fn read(name: &str, expression: &str) -> String {
    format!("<property name='{name}' expression=\"{expression}\" scope='transport'/>")
}

/// The answer of the proxy `P` with these steps in a home that is gone when it serves: nobody looks for files then.
fn served(folder: tempfile::TempDir, steps: &[String], request: Message) -> Reply {
    let proxy =
        format!("<proxy name='P'><target><inSequence>{}<respond/></inSequence></target></proxy>", steps.concat());
    write(folder.path(), "repository/deployment/server/synapse-configs/default/proxy-services/P.xml", &proxy);
    let loaded = load(&[folder.path().to_owned()], &Settings::default());
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    drop(folder);
    Scenario::of(loaded, |_, _| unreachable!()).serve(request)
}

#[test]
fn sequences_and_endpoints_of_the_registry_are_artefacts_that_may_need_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let sequence = "<sequence xmlns='http://ws.apache.org/ns/synapse'><send><endpoint key='gov:ep.xml'/></send>\
                    <sequence key='conf:/loop'/></sequence>";
    write(folder.path(), "registry/config/seq.xml", sequence);
    write(folder.path(), "registry/conf/loop", "<sequence name='x'><sequence key='conf:/loop'/></sequence>");
    write(folder.path(), "registry/governance/ep.xml", "<endpoint><address uri='http://h/'/></endpoint>");
    let found = report(folder.path(), "<sequence key='conf:/seq.xml'/><sequence key='conf:/seq.xml'/>");
    assert_eq!(found.faulty(), 0, "{}", found.to_text());
    let names: Vec<&str> = found.artefacts.iter().map(|artefact| &*artefact.name).collect();
    assert_eq!(names, ["main", "conf:/seq.xml", "conf:/loop", "gov:ep.xml"]);
}

#[test]
fn what_is_wrong_with_a_resource_has_a_place_in_it_and_makes_the_step_fail_that_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str, parts: &[&str]| {
        write(folder.path(), "registry/config/a.xml", text);
        let report = report(folder.path(), "<sequence key='conf:/a.xml'/>").to_text();
        assert!(report.contains("ok     sequence main"), "{report}");
        assert!(report.contains("will fail when reached"), "{report}");
        parts.iter().for_each(|part| assert!(report.contains(part), "{part} is not in {report}"));
    };
    check("<sequence>\n<frobnicate/></sequence>", &["a.xml:2:1: unknown mediator", "needs sequence \"conf:/a.xml\""]);
    check("<sequence>", &["a.xml:1:", "not well-formed", "\"conf:/a.xml\" is faulty"]);
    check("<endpoint/>", &["holds <endpoint>, not <sequence>"]);
    fs::remove_file(folder.path().join("registry/config/a.xml")).unwrap();
    let text = report(folder.path(), "<sequence key='conf:/a.xml'/><sequence key='https://h/x'/>").to_text();
    assert!(text.contains("no such file in the registry: \"conf:/a.xml\""), "{text}");
    assert!(text.contains("is not fetched while the configuration is loaded"), "{text}");
}

#[test]
fn files_are_found_beside_the_configuration_and_above_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "repository/samples/sequence.xml", "<sequence name='a'/>");
    let inside = folder.path().join("repository/deployment/server/synapse-configs/default");
    fs::create_dir_all(&inside).unwrap();
    let found = report(&inside, "<sequence key='file:repository/samples/sequence.xml'/>");
    assert_eq!(found.faulty(), 0, "{}", found.to_text());
    let entry = "<definitions><localEntry key='e' src='http://h/a.xml'/></definitions>";
    write(folder.path(), "entry.xml", entry);
    let text = load(&[folder.path().join("entry.xml")], &Settings::default()).report.to_text();
    assert!(text.contains("save http://h/a.xml as a file"), "{text}");
}

#[test]
fn everything_that_was_looked_at_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "registry/config/a.xml", "<sequence name='a'/>");
    write(
        folder.path(),
        "synapse.xml",
        "<definitions><sequence name='main'><sequence key='conf:/a.xml'/></sequence></definitions>",
    );
    let sources = load(&[folder.path().join("synapse.xml")], &Settings::default()).sources;
    assert!(sources.changes().is_empty());
    write(folder.path(), "registry/config/a.xml", "<sequence name='abc'/>");
    assert!(!sources.changes().is_empty());
}

#[test]
fn expressions_read_the_registry_and_file_properties_as_they_were_when_the_bus_was_loaded() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "registry/governance/greeting.txt", "hello");
    write(folder.path(), "registry/governance/greeting.txt.properties", "who = world");
    write(folder.path(), "conf/file.properties", "stock.host=backend");
    let steps = [
        read("X-Text", "get-property('registry', 'gov:/greeting.txt')"),
        read("X-Property", "get-property('registry', 'gov:/greeting.txt@who')"),
        read("X-File", "get-property('file', 'stock.host')"),
        read("X-None", "concat('[', get-property('registry', 'gov:/none'), get-property('file', 'none'), ']')"),
    ];
    let answer = served(folder, &steps, get("/services/P"));
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    assert_eq!([header("X-Text"), header("X-Property"), header("X-File")], ["hello", "world", "backend"]);
    assert_eq!(header("X-None"), "[]");
}

#[test]
fn names_in_the_registry_may_be_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "registry/governance/greetings/en.txt", "hello");
    write(folder.path(), "registry/governance/greetings/en.txt.properties", "who = world");
    write(folder.path(), "registry/governance/greetings/de.json", r#"{"text": "hallo"}"#);
    write(folder.path(), "conf/file.properties", "stock.host=backend");
    let steps = [
        read("X-Text", "get-property('registry', concat('gov:/greetings/', $trp:X-Language, '.txt'))"),
        read(
            "X-Property",
            "get-property('registry', concat('/_system/governance/greetings/', $trp:X-Language, '.txt@who'))",
        ),
        read("X-File", "get-property('file', concat('stock.', 'host'))"),
        read("X-None", "concat('[', get-property('registry', concat('gov:/', 'none')), ']')"),
        read("X-Out", "concat('[', get-property('registry', concat('gov:/../', '../conf/file.properties')), ']')"),
        read("X-Json", "${registry('gov:/greetings/' + 'de.json').text}"),
        read("X-Synapse", "${registry('gov:/greetings/' + headers.X-Language + '.txt').property('who')}"),
    ];
    let answer = served(folder, &steps, request("GET", "/services/P", &[("X-Language", "en")], ""));
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    assert_eq!([header("X-Text"), header("X-Property"), header("X-File")], ["hello", "world", "backend"]);
    assert_eq!([header("X-None"), header("X-Out")], ["[]", "[]"]);
    assert_eq!([header("X-Json"), header("X-Synapse")], ["hallo", "world"]);
}

#[test]
fn keys_of_scripts_and_of_schemas_for_jsontransform_may_be_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "registry/config/one.js",
        "function mark(mc) { mc.setProperty('X-By', 'one' + suffix, 'transport'); }",
    );
    write(folder.path(), "registry/config/broken.js", "function mark(mc) {");
    write(
        folder.path(),
        "registry/config/order.json",
        r#"{"type": "object", "properties": {"n": {"type": "number"}}}"#,
    );
    let entries = "<localEntry key='two'>function mark(mc) { mc.setProperty('X-By', 'two' + suffix, 'transport'); }</localEntry>\
                   <localEntry key='common'>var suffix = '!';</localEntry>";
    let proxy = "<proxy name='P'><target><inSequence><script language='js' key='{$trp:X-Key}' function='mark'>\
                 <include key='common'/></script><jsontransform schema=\"{concat('conf:/', $trp:X-Schema)}\"/><respond/>\
                 </inSequence></target></proxy>";
    write(folder.path(), "synapse.xml", &format!("<definitions>{entries}{proxy}</definitions>"));
    let loaded = load(&[folder.path().join("synapse.xml")], &Settings::default());
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    drop(folder);
    let scenario = Scenario::of(loaded, |_, _| unreachable!());
    let serve = |key: &str, schema: &str| {
        let headers = [("Content-Type", "application/json"), ("X-Key", key), ("X-Schema", schema)];
        scenario.serve(request("POST", "/services/P", &headers, r#"{"n": "7"}"#))
    };
    // The second time what was made is there.
    for _ in 0..2 {
        for (key, expected) in [("conf:/one.js", "one!"), ("two", "two!"), ("/_system/config/one.js", "one!")] {
            let reply = serve(key, "order.json");
            assert_eq!((reply.header("X-By"), reply.body.as_str()), (Some(expected), r#"{"n":7}"#), "{key}");
        }
        let check = |key: &str, schema: &str, part: &str| {
            let reply = serve(key, schema);
            assert!(reply.status == 500 && reply.body.contains(part), "{}", reply.body);
        };
        check("conf:/none.js", "order.json", "There is no script");
        check("conf:/broken.js", "order.json", "is faulty");
        check("two", "none.json", "There is no schema");
    }
}

#[test]
fn keys_of_schemas_for_validate_may_be_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    let schema = |content: &str| {
        format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns='urn:o' targetNamespace='urn:o' \
                 elementFormDefault='qualified'>{content}</xs:schema>"
        )
    };
    let number = "<xs:simpleType name='Number'><xs:restriction base='xs:int'/></xs:simpleType>";
    write(folder.path(), "registry/config/types/number.xsd", &schema(number));
    let order = "<xs:include schemaLocation='types/number.xsd'/><xs:element name='order' type='Number'/>";
    write(folder.path(), "registry/config/order.xsd", &schema(order));
    write(folder.path(), "registry/config/broken.xsd", &schema("<xs:include schemaLocation='types/none.xsd'/>"));
    write(folder.path(), "registry/config/faulty.json", r#"{"type": 5}"#);
    write(folder.path(), "registry/config/order.json", r#"{"required": ["n"]}"#);
    let entries = "<localEntry key='text'><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' \
                   targetNamespace='urn:o'><xs:element name='order' type='xs:string'/></xs:schema></localEntry>\
                   <localEntry key='any'>{\"type\": [\"object\", \"array\"]}</localEntry>";
    let proxy = "<proxy name='P'><target><inSequence><validate><schema key='{$trp:X-Key}'/>\
                 <on-fail><property name='HTTP_SC' value='422' scope='axis2'/></on-fail></validate><respond/>\
                 </inSequence></target></proxy>";
    write(folder.path(), "synapse.xml", &format!("<definitions>{entries}{proxy}</definitions>"));
    let loaded = load(&[folder.path().join("synapse.xml")], &Settings::default());
    let report = loaded.report.to_text();
    assert_eq!(loaded.report.faulty(), 0, "{report}");
    assert_eq!(report.matches("which this key may mean").count(), 1, "{report}");
    assert!(report.contains("types/none.xsd") && report.contains("synapse.xml:1:"), "{report}");
    drop(folder);
    let scenario = Scenario::of(loaded, |_, _| unreachable!());
    let serve = |key: &str, body: &str| {
        let kind = if body.starts_with('<') { "application/xml" } else { "application/json" };
        scenario.serve(request("POST", "/services/P", &[("Content-Type", kind), ("X-Key", key)], body))
    };
    let order = |content: &str| format!("<order xmlns='urn:o'>{content}</order>");
    // The second time what was compiled is there.
    for _ in 0..2 {
        for (key, body, status) in [
            ("conf:/order.xsd", order("7"), 200),
            ("/_system/config/order.xsd", order("seven"), 422),
            ("text", order("seven"), 200),
            ("conf:order.json", r#"{"n": 1}"#.to_owned(), 200),
            ("conf:order.json", "{}".to_owned(), 422),
            ("any", "{}".to_owned(), 200),
        ] {
            let reply = serve(key, &body);
            assert_eq!(reply.status, status, "{key} {body}: {}", reply.body);
        }
        let check = |key: &str, part: &str| {
            let reply = serve(key, &order("7"));
            assert!(reply.status == 500 && reply.body.contains(part), "{}", reply.body);
        };
        check("conf:/none.xsd", "There is no schema");
        check("conf:/broken.xsd", "is faulty");
        check("conf:/faulty.json", "is faulty");
    }
}
