//! The examples are configurations that load whole.

use std::fs;
use std::path::Path;

use myelin_mediation::{Settings, load};

#[test]
fn every_example_loads_without_a_problem() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut loaded = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let configuration = entry.unwrap().path().join("synapse.xml");
        if configuration.is_file() {
            let report = load(std::slice::from_ref(&configuration), &Settings::default()).report;
            assert_eq!(report.faulty(), 0, "{}", report.to_text());
            let warnings: Vec<_> = report.artefacts.iter().flat_map(|artefact| &artefact.warnings).collect();
            assert!(warnings.is_empty(), "{warnings:?}");
            loaded += 1;
        }
    }
    assert!(loaded >= 6, "there are examples to look at");
}
