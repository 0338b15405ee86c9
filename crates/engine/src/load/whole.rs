//! An archive runs whole or not at all: one with a fault in it is left out, and the rest is loaded without it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::load::Loaded;
use crate::load::assembly;
use myelin_config::archive::INSIDE;
use myelin_config::layout;
use myelin_config::problem::{Place, Problem};
use myelin_config::report::Artefact;
use myelin_config::report::Report;
use myelin_config::sources::Sources;
use myelin_flow::settings::Settings;

/// Loads what paths name, until no archive of what is loaded has a fault.
pub(super) fn load(paths: &[PathBuf], settings: &Settings) -> Loaded {
    let sources = Sources::default();
    let mut left_out: BTreeMap<String, Vec<Artefact>> = BTreeMap::new();
    loop {
        let without: BTreeSet<String> = left_out.keys().cloned().collect();
        let mut loaded = assembly::assemble(layout::find(paths, &without, &sources), settings, sources.clone());
        let faulty = faulty(&loaded.report);
        if faulty.is_empty() {
            let artefacts = left_out.into_values().flatten();
            loaded.report.artefacts.extend(artefacts);
            return loaded;
        }
        // What else needs them shows in the next round; as each leaves out one at least, this ends.
        for archive in faulty {
            let of_it = loaded.report.artefacts.iter().filter(|artefact| archive_of(artefact) == Some(&*archive));
            let artefacts = told(of_it.cloned().collect());
            left_out.insert(archive, artefacts);
        }
    }
}

/// The archives that have a fault in them.
fn faulty(report: &Report) -> BTreeSet<String> {
    let faulty = report.artefacts.iter().filter(|artefact| !artefact.is_ok());
    faulty.filter_map(archive_of).map(str::to_owned).collect()
}

/// The path of the archive that an artefact is in, or is.
fn archive_of(artefact: &Artefact) -> Option<&str> {
    match artefact.file.split_once(INSIDE) {
        // A connector is no application: what cannot run of it is what is called of it.
        Some((archive, _)) => Some(archive).filter(|archive| archive.to_ascii_lowercase().ends_with(".car")),
        None => (artefact.kind == "archive").then_some(&*artefact.file),
    }
}

/// The artefacts of an archive that is left out, those that are sound with the reason.
fn told(mut artefacts: Vec<Artefact>) -> Vec<Artefact> {
    let reason = match artefacts.iter().find(|artefact| !artefact.is_ok()) {
        Some(Artefact { kind, name, .. }) => format!("the archive is left out whole, as {kind} {name} in it is faulty"),
        None => return artefacts,
    };
    for artefact in artefacts.iter_mut().filter(|artefact| artefact.is_ok()) {
        let place = Place { line: artefact.line, ..Place::start_of(&artefact.file.as_str().into()) };
        artefact.problems.push(Problem { place, message: reason.clone() });
    }
    artefacts
}
