//! Reloading: a changed configuration is loaded and checked whole while the old one serves, and only then takes its
//! place; one that would make something worse is told of and left alone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant, SystemTime};

use anyhow::bail;
use myelin_engine::{Artefact, Loaded, Problem, Report, Sources, State};
use myelin_manage::{Leaving, ReloadRecord};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use crate::access_log::Reopener;
use crate::certificates::Certificates;
use crate::control::Order;
use crate::deployment::{Deployment, InvalidDeployment};
use crate::logging::{self, LogHandle};
use crate::monitor::can_monitor;
use crate::origin::{Origin, Read};
use crate::server::Running;
use crate::standing::StandingCell;
use crate::swap::Swap;

/// How many names of one kind of difference the log tells.
const NAMES: usize = 10;

/// How many are kept for who asks later.
const RECORDED: usize = 500;

/// Logs why an artefact cannot run.
pub(crate) fn report_problems(artefact: &Artefact) {
    for problem in &artefact.problems {
        tracing::error!("{} {} cannot run: {problem}", artefact.kind, artefact.name);
        excerpt_lines(problem).iter().for_each(|line| tracing::error!("{line}"));
    }
}

/// Logs what of an artefact has no effect, or will fail.
pub(crate) fn warn_of(artefact: &Artefact) {
    for problem in &artefact.latent {
        tracing::warn!("{} {} will fail when reached: {problem}", artefact.kind, artefact.name);
        excerpt_lines(problem).iter().for_each(|line| tracing::warn!("{line}"));
    }
    for warning in &artefact.warnings {
        tracing::warn!("{} {}: {warning}", artefact.kind, artefact.name);
        excerpt_lines(warning).iter().for_each(|line| tracing::warn!("{line}"));
    }
}

/// Logs what of a `deployment.toml` has no effect.
pub(crate) fn warn_of_settings(remarks: &[Problem]) {
    for remark in remarks {
        tracing::warn!("{remark}");
        excerpt_lines(remark).iter().for_each(|line| tracing::warn!("{line}"));
    }
}

/// Logs why a configuration does not take the place of the one that serves.
fn report_refusal(reason: &str, error: &anyhow::Error) {
    const KEPT: &str = "the new configuration is refused, and the bus keeps serving the old one";
    let Some(invalid) = error.downcast_ref::<InvalidDeployment>() else {
        return tracing::error!("{reason}; {KEPT}: {error:#}");
    };
    for problem in invalid.problems() {
        tracing::error!("{reason}; {KEPT}: {problem}");
        excerpt_lines(problem).iter().for_each(|line| tracing::error!("{line}"));
    }
}

/// The lines that show where a problem is, for a log that people read.
///
/// Each is an event, as an event is one line of the log; they have the same start, so that the caret stands in its place.
fn excerpt_lines(problem: &Problem) -> Vec<String> {
    match problem.excerpt() {
        Some(excerpt) if logging::is_text() => excerpt.to_text().lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Keeps a serving bus as its configuration says.
pub(crate) struct Reloader {
    origin: Origin,
    swap: Swap,
    certificates: Certificates,
    access_log: Reopener,
    log: LogHandle,
    standing: Arc<StandingCell>,
    /// Of what serves.
    report: Arc<Report>,
    deployment: Deployment,
    /// Of what was tried last, be it that it serves or that it was refused.
    sources: Sources,
    /// A change that was seen, which may not have come to its end.
    seen: Option<State>,
    /// What operators order; `None` where another one hears that.
    orders: Option<mpsc::Receiver<Order>>,
}

impl Reloader {
    /// For a bus that was loaded from an origin and serves.
    pub(crate) fn new(
        origin: Origin,
        running: &Running,
        report: Report,
        deployment: Deployment,
        sources: Sources,
        log: LogHandle,
    ) -> Reloader {
        let (swap, certificates, access_log) = (running.swap(), running.certificates(), running.access_log());
        certificates.files().for_each(|file| sources.look(file));
        let (standing, report) = (running.standing(), Arc::new(report));
        standing.serves(&report, false);
        log.serves(&report);
        let orders = running.control().heed(origin.clone());
        Reloader {
            origin,
            swap,
            certificates,
            access_log,
            log,
            standing,
            report,
            deployment,
            sources,
            seen: None,
            orders,
        }
    }

    /// Reloads on SIGHUP, and whenever the configuration was changed, which is looked for every so often if at all;
    /// opens the logs again on SIGHUP and SIGUSR1.
    ///
    /// Does what operators order; where that is to leave, it ends.
    ///
    /// Wherever this waits it can be left: the bus then serves on with what it has.
    pub(crate) async fn keep_up(&mut self, hangup: &mut Signal, user: &mut Signal, watch: Option<Duration>) -> Leaving {
        let mut orders = self.orders.take();
        loop {
            let ordered = async {
                match &mut orders {
                    Some(orders) => orders.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                order = ordered => match order {
                    Some(Order::Reload(reason, outcome)) => self.reload_for(&reason, &outcome).await,
                    Some(Order::Leave(leaving)) => return leaving,
                    // Nobody is left who could order something.
                    None => orders = None,
                },
                _ = hangup.recv() => {
                    self.reopen_logs();
                    let _ = self.reload("SIGHUP").await;
                }
                _ = user.recv() => self.reopen_logs(),
                () = tokio::time::sleep(watch.unwrap_or_default()), if watch.is_some() => self.look().await,
            }
        }
    }

    /// Opens the files of the logs again, as whoever renamed them to rotate them wants.
    fn reopen_logs(&self) {
        self.access_log.reopen();
        self.log.log.output.reopen();
    }

    /// Looks whether the configuration was changed, and reloads it once it stays as it is from one look to the next.
    async fn look(&mut self) {
        let sources = self.sources.clone();
        // A network drive may be gone, and take whoever asks with it.
        let Ok(changes) = tokio::task::spawn_blocking(move || sources.changes()).await else { return };
        if changes.is_empty() {
            self.seen = None;
        } else if self.seen.as_ref() == Some(&changes) {
            let _ = self.reload("the configuration was changed").await;
        } else {
            self.seen = Some(changes);
        }
    }

    /// Reloads for somebody who waits for the outcome.
    async fn reload_for(&mut self, reason: &str, outcome: &SyncSender<Result<(), String>>) {
        let reloaded = self.reload(reason).await;
        // Who asked may have gone.
        let _ = outcome.try_send(reloaded);
    }

    /// Loads the configuration anew, and lets it serve unless it would make something worse.
    ///
    /// Errors: a sentence, where it is refused.
    async fn reload(&mut self, reason: &str) -> Result<(), String> {
        self.seen = None;
        let begun = Instant::now();
        let time = SystemTime::now();
        let record = |difference: Difference, report: Option<&Report>, refused: Option<&anyhow::Error>| ReloadRecord {
            time,
            reason: reason.to_owned(),
            served: refused.is_none(),
            message: refused.map(|error| format!("{error:#}")).unwrap_or_default(),
            took: begun.elapsed(),
            new: names(&difference.new),
            changed: names(&difference.changed),
            gone: names(&difference.gone),
            faulty: report.map(faulty_names).unwrap_or_default(),
        };
        let origin = self.origin.clone();
        // Loading takes its time, and a signal to stop does not wait for it.
        let read = tokio::task::spawn_blocking(move || origin.read()).await;
        let read = read.map_err(|_| anyhow::anyhow!("loading failed; this is a bug of the bus")).flatten();
        // A certificate that ends soon is replaced, whatever becomes of the rest.
        let store = read.as_ref().ok().and_then(|read| match read.deployment.https() {
            Ok(https) => https.map(|(_, store)| store),
            Err(error) => {
                tracing::error!("the new key store is refused, the old one stays in use: {error:#}");
                None
            }
        });
        self.certificates.reload(store.as_ref());
        let Read { loaded: Loaded { bus, report, sources }, deployment } = match read {
            Ok(read) => read,
            Err(error) => {
                self.standing.refused();
                // What was looked at before still tells when there is a reason to try again.
                self.sources.accept();
                report_refusal(reason, &error);
                self.standing.keep(record(Difference::default(), None, Some(&error)));
                return Err(format!("{error:#}"));
            }
        };
        self.certificates.files().for_each(|file| sources.look(file));
        self.sources = sources;
        if let Err(error) = self.judge(&report).and_then(|()| can_monitor(&bus)) {
            self.standing.refused();
            report_refusal(reason, &error);
            self.standing.keep(record(Difference::of(&self.report, &report), Some(&report), Some(&error)));
            return Err(format!("{error:#}"));
        }
        report.artefacts.iter().for_each(warn_of);
        if deployment.remarks != self.deployment.remarks {
            warn_of_settings(&deployment.remarks);
        }
        for key in deployment.differs_for_good(&self.deployment) {
            tracing::warn!("the new value of {key} has an effect only after a restart");
        }
        if let Err(error) = self.log.apply(&deployment.log()) {
            tracing::error!("the log goes where it went: {error:#}");
        }
        self.log.serves(&report);
        let (ok, faulty, took) = (report.ok(), report.faulty(), begun.elapsed().as_millis());
        let (difference, report) = (Difference::of(&self.report, &report), Arc::new(report));
        let told = difference.to_text();
        self.swap.to(Arc::new(bus));
        self.standing.serves(&report, true);
        self.standing.keep(record(difference, Some(&report), None));
        (self.report, self.deployment) = (report, deployment);
        tracing::info!("{reason}; reloaded (artefacts that run: {ok}, faulty: {faulty}; {told}; {took} ms)");
        Ok(())
    }

    /// Whether a configuration may take the place of the one that serves; what is faulty in it is told if it is new.
    ///
    /// Errors: something that runs now would not run any more, though it is still there, or nothing would run.
    fn judge(&self, report: &Report) -> anyhow::Result<()> {
        let keys = |report: &Report, is_ok| -> HashSet<Key> {
            report.artefacts.iter().filter(|artefact| artefact.is_ok() == is_ok).map(key).collect()
        };
        let known = keys(&self.report, false);
        let faulty: Vec<&Artefact> = report.artefacts.iter().filter(|artefact| !artefact.is_ok()).collect();
        for artefact in faulty.iter().filter(|artefact| !known.contains(&key(artefact))) {
            report_problems(artefact);
        }
        let runs = keys(report, true);
        let is_in = |old: &Artefact, new: &Artefact| {
            (&old.kind, &old.name) == (&new.kind, &new.name) || old.outer_file() == new.file
        };
        let stopped = self.report.artefacts.iter().filter(|old| old.is_ok() && !runs.contains(&key(old)));
        let worse = stopped.filter(|old| faulty.iter().any(|new| is_in(old, new))).count();
        match (worse, report.ok()) {
            (0, 0) => bail!("no artefact of the new configuration can run"),
            (0, _) => Ok(()),
            (1, _) => bail!("1 artefact that runs now would not run any more"),
            (worse, _) => bail!("{worse} artefacts that run now would not run any more"),
        }
    }
}

/// What tells an artefact from the others.
type Key = (String, String, String);

fn key(artefact: &Artefact) -> Key {
    (artefact.kind.clone(), artefact.name.clone(), artefact.file.clone())
}

/// What is new, changed and gone, each in its order.
#[derive(Debug, Default)]
struct Difference {
    new: Vec<Key>,
    changed: Vec<Key>,
    gone: Vec<Key>,
}

impl Difference {
    fn of(old: &Report, new: &Report) -> Difference {
        let by_key = |report: &'_ Report| -> HashMap<Key, String> {
            report.artefacts.iter().map(|artefact| (key(artefact), artefact.source.clone())).collect()
        };
        let (old, new) = (by_key(old), by_key(new));
        let only = |one: &HashMap<Key, String>, other: &HashMap<Key, String>| -> Vec<Key> {
            let mut keys: Vec<Key> = one.keys().filter(|key| !other.contains_key(key)).cloned().collect();
            keys.sort();
            keys
        };
        let changed = new.iter().filter(|(key, source)| old.get(key).is_some_and(|old| old != *source));
        let mut changed: Vec<Key> = changed.map(|(key, _)| key.clone()).collect();
        changed.sort();
        Difference { new: only(&new, &old), changed, gone: only(&old, &new) }
    }

    /// In words.
    fn to_text(&self) -> String {
        let kinds = [("new", &self.new), ("changed", &self.changed), ("gone", &self.gone)];
        let told = kinds.into_iter().filter(|(_, keys)| !keys.is_empty()).map(|(what, keys)| {
            let more = if keys.len() > NAMES { ", …" } else { "" };
            format!("{} {what}: {}{more}", keys.len(), names(keys)[..keys.len().min(NAMES)].join(", "))
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { "no artefact differs".to_owned() } else { told.join("; ") }
    }
}

/// Kinds and names, of so many at most.
fn names(keys: &[Key]) -> Vec<String> {
    keys.iter().take(RECORDED).map(|(kind, name, _)| format!("{kind} {name}")).collect()
}

fn faulty_names(report: &Report) -> Vec<String> {
    let faulty = report.artefacts.iter().filter(|artefact| !artefact.is_ok());
    faulty.take(RECORDED).map(|artefact| format!("{} {}", artefact.kind, artefact.name)).collect()
}
