//! Conformance suites that others made: where they are, and an account of how they went.
//!
//! One integration test runs one suite and tells a [`Suite`] how each case went.
//! What fails is compared with `known/NAME.txt`, a list in git that only shrinks,
//! and the counts stand in `docs/conformance.md`.

mod page;
mod suite;

use std::path::{Path, PathBuf};

pub use suite::{Suite, data};

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Whether what the suites expect is to be rewritten: the environment says `UPDATE=1`.
fn update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
}
