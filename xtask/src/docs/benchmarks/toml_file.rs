//! Files of `bench/results` that people write.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// Reads a file.
///
/// Errors: the file cannot be read, or has another shape; the error names file and place.
pub(super) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    toml::from_str(&text).with_context(|| path.display().to_string())
}
