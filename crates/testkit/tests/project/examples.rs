//! The examples are configurations that load whole.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use myelin_engine::database::{DatabaseSettings, Databases};
use myelin_engine::{Settings, load};
use myelin_sql::{Limits, Sql};

#[test]
fn every_example_loads_without_a_problem() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let copies = tempfile::tempdir().unwrap();
    let databases: Arc<dyn Databases> = Arc::new(Sql::new(Limits::default()));
    let databases = DatabaseSettings { databases: Some(databases), ..DatabaseSettings::default() };
    let settings = Settings { databases, ..Settings::default() };
    let mut loaded = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let mut configuration = entry.unwrap().path().join("synapse.xml");
        if configuration.is_file() {
            if fs::read_to_string(&configuration).unwrap().contains("enableSec") {
                configuration = with_keys(&configuration, copies.path());
            }
            let report = load(std::slice::from_ref(&configuration), &settings).report;
            assert_eq!(report.faulty(), 0, "{}", report.to_text());
            let warnings: Vec<_> = report.artefacts.iter().flat_map(|artefact| &artefact.warnings).collect();
            assert!(warnings.is_empty(), "{warnings:?}");
            loaded += 1;
        }
    }
    assert!(loaded >= 6, "there are examples to look at");
}

/// A copy of an example beside keys, which whoever runs it makes first.
fn with_keys(configuration: &Path, copies: &Path) -> PathBuf {
    let example = configuration.parent().unwrap();
    let copy = copies.join(example.file_name().unwrap());
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(example).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    myelin_bench::security::make_stores(&copy).unwrap();
    copy.join("synapse.xml")
}
