//! The golden cases of the project, through the real engine.

use std::path::Path;

use myelin_testkit::cases::{Options, run};

#[test]
fn every_case_gives_what_it_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let report = run(&folder, &Options::from_environment()).unwrap();
    assert!(report.success(), "\n{report}");
}
