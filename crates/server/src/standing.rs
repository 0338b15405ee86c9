//! How the configuration of a serving bus stands, for whoever asks from outside.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use myelin_engine::{Artefact, Report};
use myelin_manage::{Faulty, ReloadRecord, Standing};

/// How many reloads are kept.
const RELOADS: usize = 100;

/// How the configuration that serves stands; reloads change it.
#[derive(Debug, Default)]
pub(crate) struct StandingCell {
    standing: Mutex<Standing>,
    report: Mutex<Arc<Report>>,
    /// The oldest first.
    reloads: Mutex<VecDeque<ReloadRecord>>,
    leaving: AtomicBool,
}

impl StandingCell {
    /// As it stands now.
    pub(crate) fn get(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was found in the configuration that serves.
    pub(crate) fn report(&self) -> Arc<Report> {
        Arc::clone(&self.report.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last reloads, the oldest first.
    pub(crate) fn reloads(&self) -> Vec<ReloadRecord> {
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Keeps what became of a reload.
    pub(crate) fn keep(&self, reload: ReloadRecord) {
        let mut reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
        if reloads.len() == RELOADS {
            reloads.pop_front();
        }
        reloads.push_back(reload);
    }

    /// Another configuration serves.
    pub(crate) fn serves(&self, report: &Arc<Report>, is_reload: bool) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(report);
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        standing.sound = report.ok();
        standing.faulty = report.artefacts.iter().filter(|artefact| !artefact.is_ok()).map(faulty).collect();
        standing.reloads += u64::from(is_reload);
    }

    /// A configuration was refused, and the old one serves on.
    pub(crate) fn refused(&self) {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).refused_reloads += 1;
    }

    /// The process is about to stop: whoever sends it messages shall send them elsewhere.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Whether the process is about to stop.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }
}

fn faulty(artefact: &Artefact) -> Faulty {
    let outer = artefact.outer_file();
    let archive = if outer == artefact.file { None } else { Path::new(outer).file_name() };
    Faulty {
        kind: artefact.kind.to_string(),
        name: artefact.name.clone(),
        archive: archive.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    }
}
