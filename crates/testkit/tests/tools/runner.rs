//! The case runner finds what differs, and only that.

use std::fs;
use std::path::Path;

use myelin_testkit::cases::{Options, run};

const DIRECT: &str = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
  <proxy name="Direct"><target><endpoint><address uri="http://b:9000/x"/></endpoint></target></proxy>
</definitions>
"#;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("the folder was made for this test");
    }
}

#[test]
fn update_writes_what_is_expected_and_then_the_case_passes() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("synapse.xml", DIRECT),
            ("request.http", "POST /services/Direct HTTP/1.1\nHost: bus\nContent-Type: text/xml\n\n<a/>\n"),
            ("request.2.http", "POST /services/Direct HTTP/1.1\nHost: bus\n\n<b/>"),
            ("backend.response.http", "HTTP/1.1 201 Made\nX-A: 1\n\n<c/>"),
            ("backend.2.error", "closed"),
            ("backend.3.request.http", "stale"),
            ("unread", ""),
        ],
    );
    let failed = run(folder.path(), &Options::default()).unwrap();
    assert_eq!((failed.passed(), failed.failed()), (0, 1));
    assert!(failed.to_string().contains("UPDATE=1"), "{failed}");

    let updated = run(folder.path(), &Options { update: true, ..Options::default() }).unwrap();
    assert_eq!(updated.outcomes[0].updated.len(), 5, "{updated}");
    let passed = run(folder.path(), &Options::default()).unwrap();
    assert!(passed.success(), "{passed}");
    let response = fs::read_to_string(folder.path().join("response.http")).unwrap();
    assert_eq!(response, "HTTP/1.1 201 Made\nX-A: 1\n\n<c/>");
    let second = fs::read_to_string(folder.path().join("backend.2.request.http")).unwrap();
    assert!(second.ends_with("\n\n<b/>"), "{second}");

    write(folder.path(), &[("response.http", "HTTP/1.1 201 Made\nX-A: 2\n\n<c/>")]);
    let report = run(folder.path(), &Options::default()).unwrap();
    let difference = &report.outcomes[0].differences[0];
    assert_eq!(difference.line, 2);
    assert_eq!(difference.what, " HTTP/1.1 201 Made\n-X-A: 2\n+X-A: 1\n \n <c/>\u{2425}\n");
}

#[test]
fn mistakes_in_the_case_itself_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("synapse.xml", DIRECT),
            ("request.http", "POST /services/Direct HTTP/1.1\nno colon\n\n"),
            ("backend.error", "sulks"),
        ],
    );
    let report = run(folder.path(), &Options::default()).unwrap();
    let text = report.to_string();
    assert!(text.contains("request.http:2\n    a header line needs a colon"), "{text}");
    assert!(text.contains("backend.error:1\n") && text.contains("response-timeout"), "{text}");
}

#[test]
fn cases_are_found_below_a_folder_and_none_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!run(folder.path(), &Options::default()).unwrap().success());
    for name in ["b", "a"] {
        let case = folder.path().join("group").join(name);
        fs::create_dir_all(&case).unwrap();
        write(&case, &[("synapse.xml", DIRECT), ("request.http", "GET /services/Direct HTTP/1.1\n\n")]);
    }
    let report = run(folder.path(), &Options::default()).unwrap();
    let names: Vec<_> = report.outcomes.iter().map(|outcome| outcome.folder.file_name().unwrap()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(run(&folder.path().join("missing"), &Options::default()).is_err());
}
