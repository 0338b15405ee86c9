//! Configuration: from files to a finished bus, with everything that is wrong told at once.
//!
//! Loading has two stages: elements with their places, then artefacts that know each other by number.
//! An artefact with a problem is left out, and so is whatever needs it; all the rest runs.

mod api;
mod api_handler;
mod application;
mod archive;
mod artefact;
mod choice;
mod datasource;
mod element;
mod fetched;
mod files;
mod inbound;
mod included;
mod injected;
mod kept;
mod layout;
mod library;
mod loader;
mod loops;
mod problem;
mod properties;
mod proxy;
mod publishing;
mod registry;
mod report;
mod schemas;
mod security;
mod sources;
mod stylesheets;
mod summary;
mod task;
mod template;
mod vocabulary;
mod whole;

use std::path::PathBuf;

pub(crate) use choice::Choice;
pub(crate) use datasource::told;
#[cfg(test)]
pub(crate) use element::SYNAPSE;
pub(crate) use element::{Element, Text};
pub(crate) use files::decode;
pub(crate) use kept::Kept;
pub(crate) use loader::{Entry, Loader};
pub(crate) use problem::Place;
pub use problem::Problem;
pub use report::{Artefact, Report};
pub(crate) use security::endpoint as endpoint_security;
pub use sources::{Sources, Stamp, State};
pub(crate) use stylesheets::Named;
pub use summary::{Cause, Share, Summary};

use crate::bus::{Bus, Settings};

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
    whole::load(paths, settings)
}
