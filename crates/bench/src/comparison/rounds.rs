//! The measuring itself: who is started for a cell, turns, rounds, and what is written of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::arguments::Arguments;
use super::contender::{Contender, Stage};
use super::kit::Places;
use super::probe::{self, Wrong};
use super::progress::Progress;
use super::scenario::Scenario;
use super::target::{Source, Target};
use super::task::{self, Task};
use crate::load::{Outcome, Verify};
use crate::payload::Payload;
use crate::procfs;
use crate::results::{Folder, Line, Trouble, TroubleKind, Turn, now};

/// The longest turn that ends with a number of requests: a target that needs a second for a request does fewer of them.
const LONGEST_TURN: Duration = Duration::from_secs(10);
/// How long a target is driven at a time before it is measured, and one that compiles its code while it runs.
const WINDOW: Duration = Duration::from_millis(300);
const COMPILING_WINDOW: Duration = Duration::from_secs(3);
/// What does not fall by more than this share of it, twice in a row, is stable.
const STABLE: f64 = 0.1;
/// How long answers are waited for that are still due when a turn ends.
const DRAIN: Duration = Duration::from_secs(10);
/// A target that compiles nothing needs no long warm-up, however its figures wander.
const WARM: Duration = Duration::from_secs(2);

/// A run in progress.
pub(super) struct Session<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) stage: &'a Stage,
    pub(super) targets: &'a [Target],
    pub(super) folder: Folder,
    pub(super) progress: Progress,
    pub(super) interrupt: Arc<AtomicBool>,
    /// Files that a process may open.
    pub(super) files: u64,
    /// Those that go on from cell to cell, because they compile their code while they run.
    pub(super) kept: BTreeMap<String, (Work, Contender)>,
    /// Requests of the first target that failed, and cells in which it was in trouble.
    pub(super) failures: u64,
}

/// The scenario and settings that a kept server was started with.
#[derive(Debug, PartialEq)]
pub(super) struct Work {
    scenario: Scenario,
    places: Places,
}

/// A contender in a cell.
pub(super) struct Entrant {
    contender: Contender,
    /// What was judged to be the right answer.
    answer: Payload,
    /// Answers a second, as the end of its warm-up had them.
    pub(super) rate: f64,
    /// Answers a second in its last turn.
    pub(super) last_rate: f64,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Whole,
    Interrupted,
}

impl Session<'_> {
    /// Measures a cell and writes what comes of it.
    ///
    /// Errors: results cannot be written, or no request can be made.
    pub(super) fn measure(&mut self, task: Task) -> anyhow::Result<Ended> {
        let Some(mut entrants) = self.all_enter(task)? else { return Ok(Ended::Interrupted) };
        if self.rounds(&mut entrants, task)? == Ended::Interrupted {
            return Ok(Ended::Interrupted);
        }
        self.leave(entrants, task)
    }

    /// Starts all targets that can do this; `None` where the run was interrupted.
    pub(super) fn all_enter(&mut self, task: Task) -> anyhow::Result<Option<Vec<Entrant>>> {
        let mut entrants = Vec::new();
        for target in self.targets.iter().filter(|target| target.can(task.scenario, task.besides)) {
            entrants.extend(self.enter(target, task)?);
            if self.is_interrupted() {
                return Ok(None);
            }
        }
        Ok(Some(entrants))
    }

    /// All rounds of a cell; who cannot go on is taken out.
    pub(super) fn rounds(&mut self, entrants: &mut Vec<Entrant>, task: Task) -> anyhow::Result<Ended> {
        for round in 0..self.arguments.rounds() {
            let mut gone = Vec::new();
            for place in 0..entrants.len() {
                // Another one begins each round, so that nobody always follows the same predecessor.
                let index = (round + place) % entrants.len();
                let goes_on = self.turn(&mut entrants[index], task, round)?;
                if self.is_interrupted() {
                    return Ok(Ended::Interrupted);
                }
                if !goes_on {
                    gone.push(index);
                }
            }
            gone.sort_unstable();
            gone.into_iter().rev().for_each(|index| drop(entrants.remove(index)));
        }
        Ok(Ended::Whole)
    }

    /// Notes that a cell was measured to its end, and stops whom the next one cannot use.
    pub(super) fn leave(&mut self, entrants: Vec<Entrant>, task: Task) -> anyhow::Result<Ended> {
        self.folder.write(&Line::Done { cell: task.cell() })?;
        for Entrant { contender, .. } in entrants.into_iter().filter(|entrant| entrant.contender.target.compiles()) {
            let work = work(&contender.target, task);
            self.kept.insert(contender.target.name.clone(), (work, contender));
        }
        Ok(Ended::Whole)
    }

    /// Whether somebody wants the run to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Starts a target for a cell, or takes the one that was kept, and drives it until it is warm; `None` where it is in
    /// trouble.
    fn enter(&mut self, target: &Target, task: Task) -> anyhow::Result<Option<Entrant>> {
        let needed = target.files(task.connections + task.idle);
        if needed > self.files {
            let text = format!("it needs {needed} open files, and {} are allowed", self.files);
            self.trouble(target, task, TroubleKind::CannotDo, text, String::new())?;
            return Ok(None);
        }
        let kept = self.kept.remove(&target.name).filter(|(known, _)| *known == work(target, task));
        let contender = match kept {
            Some((_, contender)) => contender,
            None => {
                self.progress.now(&target.name, "starting");
                match Contender::start(target, task, self.stage) {
                    Ok(contender) => contender,
                    Err(error) => {
                        let text = format!("{error:#}");
                        let (text, log) = text.split_once(":\n").unwrap_or((&text, ""));
                        self.trouble(target, task, TroubleKind::NotReady, text.to_owned(), log.to_owned())?;
                        return Ok(None);
                    }
                }
            }
        };
        self.introduce(target, &contender)?;
        let Some(mut entrant) = self.judge(contender, task)? else { return Ok(None) };
        let warm_up = self.warm_up(&mut entrant, task)?;
        // Memory that the server needed for earlier cells must not count here.
        entrant.contender.processes().into_iter().for_each(procfs::forget_peak);
        self.folder.write(&Line::Started {
            cell: task.cell(),
            target: target.name.clone(),
            start_seconds: entrant.contender.start.map(|start| start.as_secs_f64()),
            warm_up_seconds: warm_up.as_secs_f64(),
        })?;
        Ok(Some(entrant))
    }

    /// Writes what a target was told, unless that is known.
    fn introduce(&mut self, target: &Target, contender: &Contender) -> anyhow::Result<()> {
        let folder = self.folder.path().join("configurations").join(&target.name);
        if contender.told.is_empty() || folder.exists() {
            return Ok(());
        }
        for told in &contender.told {
            let path = folder.join(&told.file.name);
            std::fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            std::fs::write(path, &told.text)?;
        }
        let files = contender.told.iter().map(|told| told.file.clone()).collect();
        self.folder.configured(&target.name, files)
    }

    /// Asks for the right answer until it comes, because servers listen before they can answer.
    fn judge(&mut self, mut contender: Contender, task: Task) -> anyhow::Result<Option<Entrant>> {
        let target = contender.target.clone();
        loop {
            match probe::probe(&contender, task) {
                Ok(answer) => {
                    contender.is_ready();
                    return Ok(Some(Entrant { contender, answer, rate: 0.0, last_rate: 0.0 }));
                }
                Err(error) => {
                    let text = format!("{error:#}");
                    if let Some(ended) = contender.ended() {
                        let (text, log) = (format!("{ended}; before: {text}"), contender.last_words());
                        self.trouble(&target, task, TroubleKind::Died, text, log)?;
                        return Ok(None);
                    }
                    let is_wrong = error.chain().any(|cause| cause.is::<Wrong>());
                    // Who has answered as it should once knows what to do by now.
                    let is_known = contender.start.is_some();
                    if is_wrong || is_known || Instant::now() > contender.deadline || self.is_interrupted() {
                        self.trouble(&target, task, TroubleKind::WrongAnswer, text, contender.last_words())?;
                        return Ok(None);
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    /// Drives a target until the CPU time that a request takes no longer falls; gives how long that took.
    fn warm_up(&mut self, entrant: &mut Entrant, task: Task) -> anyhow::Result<Duration> {
        let compiles = entrant.contender.target.compiles();
        let window = if compiles { COMPILING_WINDOW } else { WINDOW };
        let longest = if compiles { self.arguments.warm_up() } else { WARM.min(self.arguments.warm_up()) };
        // What is due at a rate says nothing of how warm a target is.
        let task = Task { rate: None, ..task };
        let begun = Instant::now();
        let (mut least, mut stable) = (f64::INFINITY, 0);
        while begun.elapsed() < longest && stable < 2 && !self.is_interrupted() {
            let outcome = self.drive(entrant, task, None, window.min(longest), "warming up")?;
            entrant.rate = outcome.requests_per_second;
            let cost = match &outcome.process {
                Some(process) if outcome.requests > 0 => process.cpu_ms_per_1000,
                _ => 1.0 / outcome.requests_per_second.max(f64::MIN_POSITIVE),
            };
            stable = if cost > least * (1.0 - STABLE) { stable + 1 } else { 0 };
            least = least.min(cost);
        }
        Ok(begun.elapsed())
    }

    /// One turn, and its line; whether the target can have another one.
    fn turn(&mut self, entrant: &mut Entrant, task: Task, round: usize) -> anyhow::Result<bool> {
        let target = entrant.contender.target.clone();
        let what = format!("round {}/{}", round + 1, self.arguments.rounds());
        let (requests, longest) = match self.arguments.requests {
            Some(requests) => (Some(requests), LONGEST_TURN),
            None => (None, self.arguments.duration()),
        };
        let began = now();
        let outcome = self.drive(entrant, task, requests, longest, &what)?;
        if self.is_interrupted() {
            return Ok(true);
        }
        if self.is_first(&target) {
            self.failures += outcome.failures;
        }
        let (good, failed) = (outcome.requests, describe(&outcome));
        entrant.last_rate = outcome.requests_per_second;
        let turn = Turn { cell: task.cell(), target: target.name.clone(), round, began, outcome };
        if good > 0 {
            self.folder.write(&Line::Turn(Box::new(turn)))?;
        }
        if let Some(ended) = entrant.contender.ended() {
            let log = entrant.contender.last_words();
            self.trouble(&target, task, TroubleKind::Died, format!("{ended} in round {}{failed}", round + 1), log)?;
            return Ok(false);
        }
        if good == 0 {
            let log = entrant.contender.last_words();
            let text = format!("not one right answer in round {}{failed}", round + 1);
            self.trouble(&target, task, TroubleKind::Stalled, text, log)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether the others are compared with this target.
    fn is_first(&self, target: &Target) -> bool {
        self.targets.first().is_some_and(|first| first.name == target.name)
    }

    /// Sends requests to a target and checks each answer.
    fn drive(
        &mut self,
        entrant: &Entrant,
        task: Task,
        requests: Option<u64>,
        longest: Duration,
        what: &str,
    ) -> anyhow::Result<Outcome> {
        let Entrant { contender, answer, .. } = entrant;
        let plan = plan(contender, task, answer, requests, longest)?;
        let (progress, name) = (&mut self.progress, &contender.target.name);
        plan.run_watched(&self.interrupt, &mut |so_far| progress.rate(name, what, so_far))
    }

    fn trouble(
        &mut self,
        target: &Target,
        task: Task,
        kind: TroubleKind,
        text: String,
        log: String,
    ) -> anyhow::Result<()> {
        self.progress.line(&format!("{} in {}: {text}", target.name, task.scenario));
        if self.is_first(target) {
            self.failures += 1;
        }
        let trouble = Trouble { cell: task.cell(), target: target.name.clone(), kind, text, log };
        Ok(self.folder.write(&Line::Trouble(trouble))?)
    }
}

/// What a server has to be started for anew.
fn work(target: &Target, task: Task) -> Work {
    let places = match &target.source {
        Source::Kit(kit) => kit.places_for(task.size, task.besides),
        _ => Places::new(),
    };
    Work { scenario: task.scenario.done_as(), places }
}

/// The failures of a turn as the end of a sentence.
fn describe(outcome: &Outcome) -> String {
    let kinds: Vec<String> = outcome
        .failures_by_kind
        .iter()
        .map(|(kind, failures)| format!("{} {kind} ({})", failures.count, failures.example))
        .collect();
    if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) }
}

fn plan(
    contender: &Contender,
    task: Task,
    answer: &Payload,
    requests: Option<u64>,
    longest: Duration,
) -> anyhow::Result<crate::load::Plan> {
    let mut plan = task::plan(contender, task)?;
    plan.requests = requests;
    plan.duration = Some(longest);
    plan.connections = task.connections;
    plan.idle_connections = task.idle;
    plan.rate = task.rate;
    plan.drain = DRAIN;
    plan.verify = Verify::Body(answer.clone());
    plan.processes = contender.processes();
    Ok(plan)
}

/// Sends so many requests to a contender, all of which have to be answered rightly.
///
/// Errors: one was not, or no request can be made.
pub(super) fn send(
    contender: &Contender,
    task: Task,
    answer: &Payload,
    requests: u64,
    longest: Duration,
) -> anyhow::Result<()> {
    let outcome = plan(contender, task, answer, Some(requests), longest)?.run()?;
    if outcome.requests != requests {
        bail!("{}: of {requests} answers {} were right{}", task.scenario, outcome.requests, describe(&outcome));
    }
    Ok(())
}
