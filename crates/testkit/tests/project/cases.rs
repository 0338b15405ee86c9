//! The golden cases of the project, through the real engine.

use std::path::Path;

use myelin_testkit::cases::{Options, Traces, run};

#[test]
fn every_case_gives_what_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let report = run(&folder, &Options::from_environment()).unwrap();
    assert!(report.success(), "\n{report}");
}

#[test]
fn a_traced_exchange_does_what_an_untraced_one_does() {
    let options = Options { traces: Traces::All, ..Options::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let report = run(&folder, &options).unwrap();
    let failed: Vec<String> = report
        .outcomes
        .iter()
        .filter(|outcome| !outcome.differences.is_empty())
        .map(|outcome| format!("{}: {:?}", outcome.folder.display(), outcome.differences))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let traces: usize = report.outcomes.iter().map(|outcome| outcome.traces.len()).sum();
    assert!(traces > 100, "{traces} traces");
}
