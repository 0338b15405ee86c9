//! Configuration: from files to a finished bus, with everything that is wrong told at once.
//!
//! Loading has two stages: elements with their places, then artefacts that know each other by number.
//! An artefact with a problem is left out, and so is whatever needs it; all the rest runs.

mod assembly;
mod circles;
mod item;
mod kind;
mod kinds;
mod loops;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use myelin_config::layout;
use myelin_config::report::Report;
use myelin_config::sources::Sources;

use crate::bus::Bus;
use myelin_flow::settings::Settings;

/// What loading gives.
pub struct Loaded {
    /// What is sound of the configuration, ready to serve.
    pub bus: Bus,
    /// Everything that was found.
    pub report: Report,
    /// What it was read from.
    pub sources: Sources,
}

/// Loads configuration: each path is a file or a folder.
///
/// Shape: a file holds `<definitions>` or a single artefact, or is a `.car` archive; a folder is a
/// `synapse-configs/default` layout, the home of a Micro Integrator, a project, or holds one or several of these, or
/// holds `.xml` files and archives, each of which is loaded.
/// Errors: none of its own; what is wrong, unreadable files included, stands in the report.
/// Source: compare Synapse's `MultiXMLConfigurationBuilder` and `SynapseXMLConfigurationFactory`.
pub fn load(paths: &[PathBuf], settings: &Settings) -> Loaded {
    let sources = Sources::default();
    assembly::assemble(layout::find(paths, &sources), settings, sources.clone())
}
