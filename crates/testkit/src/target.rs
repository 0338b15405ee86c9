//! Where what tests build is kept between runs.

use std::path::{Path, PathBuf};

/// Cargo's target folder: the nearest around this program that Cargo has marked as a cache.
pub(crate) fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let marked = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists());
    marked.map_or_else(std::env::temp_dir, Path::to_path_buf)
}
