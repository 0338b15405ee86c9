//! Configurations from the tests of WSO2 Micro Integrator do what their names and content promise.
//!
//! The configurations stay where they lie; `cases/` holds, by theme, what is sent to them, what their backends answer,
//! and what must come of it. What a line of a case means stands in `cases/README.md`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it sees")]

#[path = "../common/mod.rs"]
mod common;

mod case;
mod play;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use case::Case;

/// How many configurations have a case; a number that only grows.
const CONFIGURATIONS: usize = 187;

/// The folder of the configurations, where it is there.
fn configurations() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/acceptance/micro-integrator");
    if !folder.is_dir() {
        myelin_testkit::skip(&format!("{} is not there", folder.display()));
        return None;
    }
    Some(folder)
}

/// All cases, in the order of the files they stand in.
fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/micro_integrator/cases");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|file| file.extension().is_some_and(|name| name == "txt")).collect();
    files.sort();
    files.iter().flat_map(|file| Case::all_of(file)).collect()
}

#[test]
fn configurations_do_what_they_promise() {
    let Some(folder) = configurations() else { return };
    let only = std::env::var("CASE").unwrap_or_default();
    let (mut passed, mut failed, mut configurations) = (0, 0, BTreeSet::new());
    for case in cases().iter().filter(|case| case.file.contains(&only)) {
        configurations.insert(case.file.clone());
        let differences = play::differences(case, &folder);
        if differences.is_empty() {
            passed += 1;
            continue;
        }
        failed += 1;
        println!("{}:{}: {}: {}", case.place.0, case.place.1, case.file, case.promise);
        differences.iter().for_each(|difference| println!("    {difference}"));
    }
    println!("{passed} cases of {} configurations passed, {failed} failed", configurations.len());
    assert_eq!(failed, 0, "cases failed; they stand above");
    let expected = if only.is_empty() { CONFIGURATIONS } else { 1 };
    assert!(configurations.len() >= expected, "{} configurations have a case", configurations.len());
}
