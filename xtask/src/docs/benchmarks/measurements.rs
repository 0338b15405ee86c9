//! Everything that the page is made of, read from `bench/results` and `docs/instructions.md`.

use std::path::Path;

use anyhow::Result;

use super::bars::Bars;
use super::published::Published;
use super::recorded::Recorded;
use super::runs::{self, Run};
use super::toml_file::read_toml;
use crate::bench::instructions::Record;

/// Everything that the page is made of.
pub(super) struct Measurements {
    /// The newest first.
    pub(super) runs: Vec<Run>,
    pub(super) bars: Bars,
    pub(super) recorded: Recorded,
    pub(super) published: Published,
    pub(super) instructions: Record,
}

impl Measurements {
    /// Reads a folder like `bench/results`, and a page like `docs/instructions.md`.
    ///
    /// Errors: a file cannot be read, or has another shape; the error names it.
    pub(super) fn read(folder: &Path, instructions: &Path) -> Result<Measurements> {
        Ok(Measurements {
            runs: runs::read(folder)?,
            bars: read_toml(&folder.join("bars.toml"))?,
            recorded: read_toml(&folder.join("recorded.toml"))?,
            published: read_toml(&folder.join("published.toml"))?,
            instructions: Record::read(instructions)?,
        })
    }
}
