//! The threads of a run: opened together, started together, added up at the end.

use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};
use hdrhistogram::Histogram;
use rustix::process::{Resource, Rlimit};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::counters::Counters;
use super::interval_log::IntervalLog;
use super::mix::Mix;
use super::outcome::{Outcome, Tally};
use super::plan::{Plan, Progress};
use super::stream::Dialer;
use super::target::Target;
use super::worker::{Event, Order};
use crate::procfs::{self, CpuTimes, Usage};

/// Files the process needs besides connections.
const OTHER_FILES: u64 = 64;
const WATCH: Duration = Duration::from_millis(500);

/// The threads of one run, as its caller sees them.
struct Crew {
    threads: Vec<JoinHandle<anyhow::Result<()>>>,
    counters: Vec<Arc<Counters>>,
    events: mpsc::Receiver<Event>,
    start: Vec<oneshot::Sender<Instant>>,
    release: Vec<mpsc::Sender<()>>,
}

impl Plan {
    /// Runs to the end on threads of its own.
    ///
    /// Errors: the plan contradicts itself, the name does not resolve, the system refuses threads or files. Requests
    /// that fail are no error but counted in the outcome.
    pub fn run(&self) -> anyhow::Result<Outcome> {
        self.run_watched(&Arc::default(), &mut |_| {})
    }

    /// As [`Plan::run`], ends early when `interrupt` becomes true, and calls `watch` twice a second.
    ///
    /// Errors: as [`Plan::run`].
    pub fn run_watched(&self, interrupt: &Arc<AtomicBool>, watch: &mut dyn FnMut(Progress)) -> anyhow::Result<Outcome> {
        self.check()?;
        run(self, interrupt, watch)
    }
}

/// Which threads of a run these are, where the run is spread over several machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    /// Threads of the run before these.
    pub(super) first: usize,
    /// Threads of the run in all.
    pub(super) of: usize,
    /// Whether the latencies of each interval are wanted.
    pub(super) intervals: bool,
}

/// What a run tells whoever started it.
pub(super) trait Observer {
    /// All connections are open, and the run begins when this returns.
    fn ready(&mut self) -> anyhow::Result<()>;
    /// How far the run has come, twice a second.
    fn progress(&mut self, progress: Progress) -> anyhow::Result<()>;
    /// What one thread has measured in one interval.
    fn interval(&mut self, index: u32, latencies: Histogram<u64>) -> anyhow::Result<()>;
}

/// What a run has counted.
pub(super) struct Measured {
    pub(super) tally: Tally,
    pub(super) elapsed: Duration,
    pub(super) cost: Option<(CpuTimes, Usage)>,
}

/// A run by this process alone, with its log and its caller.
struct Alone<'a> {
    watch: &'a mut dyn FnMut(Progress),
    log: Option<IntervalLog<BufWriter<File>>>,
}

impl Observer for Alone<'_> {
    fn ready(&mut self) -> anyhow::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.begin(SystemTime::now()))
    }

    fn progress(&mut self, progress: Progress) -> anyhow::Result<()> {
        (self.watch)(progress);
        Ok(())
    }

    fn interval(&mut self, index: u32, latencies: Histogram<u64>) -> anyhow::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.add(index, latencies))
    }
}

fn run(plan: &Plan, interrupt: &Arc<AtomicBool>, watch: &mut dyn FnMut(Progress)) -> anyhow::Result<Outcome> {
    let threads = plan.threads_used();
    let log = plan.histogram.as_deref().map(|path| IntervalLog::create(path, threads)).transpose()?;
    let part = Part { first: 0, of: threads, intervals: log.is_some() };
    let mut observer = Alone { watch, log };
    let Measured { tally, elapsed, cost } = measure(plan, part, interrupt, &mut observer)?;
    if let Some(log) = &mut observer.log {
        log.finish(elapsed)?;
    }
    Ok(tally.outcome(plan, elapsed, cost))
}

/// Runs this part of a plan that was checked.
///
/// Errors: as [`Plan::run`], and those of the observer, which end the run.
pub(super) fn measure(
    plan: &Plan,
    part: Part,
    interrupt: &Arc<AtomicBool>,
    observer: &mut dyn Observer,
) -> anyhow::Result<Measured> {
    let measured = measure_to_end(plan, part, interrupt, observer);
    // After an error nobody wants the threads to go on.
    measured.inspect_err(|_| interrupt.store(true, Ordering::Relaxed))
}

fn measure_to_end(
    plan: &Plan,
    part: Part,
    interrupt: &Arc<AtomicBool>,
    observer: &mut dyn Observer,
) -> anyhow::Result<Measured> {
    let mut crew = Crew::hire(plan, part, interrupt)?;
    crew.wait(|event| match event {
        Some(event) => Ok(matches!(event, Event::Ready)),
        None => observer.progress(Progress::default()).map(|()| false),
    })?;
    observer.ready()?;

    let before = procfs::cpu_times_of(&plan.processes);
    let start = Instant::now();
    for sender in crew.start.drain(..) {
        // A thread that is gone is noticed by the wait below.
        let _ = sender.send(start);
    }
    let (mut all, mut end) = (Tally::new(plan.requests_sent().len()), start);
    let counters = crew.counters.clone();
    crew.wait(|event| match event {
        Some(Event::Ready) => Ok(false),
        Some(Event::Interval { index, latencies }) => observer.interval(index, latencies).map(|()| false),
        Some(Event::Done { tally, end: last }) => {
            all.add(&tally)?;
            end = end.max(last);
            Ok(true)
        }
        None => observer.progress(progress(&counters, start)).map(|()| false),
    })?;
    let cost = (!plan.processes.is_empty()).then(|| {
        let spent = procfs::cpu_times_of(&plan.processes).since(&before);
        (spent, procfs::usage_of(&plan.processes))
    });
    crew.dismiss()?;
    Ok(Measured { tally: all, elapsed: end - start, cost })
}

impl Crew {
    fn hire(plan: &Plan, part: Part, interrupt: &Arc<AtomicBool>) -> anyhow::Result<Crew> {
        let (dialers, origins) = dialers(plan)?;
        let files = plan.connections.saturating_mul(dialers.len()).saturating_add(plan.idle_connections);
        allow_files((files as u64).saturating_add(OTHER_FILES))?;
        // Each thread makes its own; what is wrong with the requests is better said before there are any.
        Mix::new(plan, &origins, 0, 1)?;
        let budget = plan.requests.map(|requests| Arc::new(AtomicU64::new(requests)));
        let (sender, events) = mpsc::channel();
        let mut crew =
            Crew { threads: Vec::new(), counters: Vec::new(), events, start: Vec::new(), release: Vec::new() };
        for index in 0..plan.threads_used() {
            let ((start, started), (release, released)) = (oneshot::channel(), mpsc::channel());
            let counters = Arc::<Counters>::default();
            let order = Order {
                index,
                part,
                plan: plan.clone(),
                dialers: dialers.clone(),
                origins: origins.clone(),
                budget: budget.clone(),
                counters: counters.clone(),
                interrupt: interrupt.clone(),
                events: sender.clone(),
                start: started,
                release: released,
            };
            let thread = std::thread::Builder::new().name(format!("load-{index}"));
            crew.threads.push(thread.spawn(move || order.carry_out()).context("cannot start a thread")?);
            crew.counters.push(counters);
            crew.start.push(start);
            crew.release.push(release);
        }
        Ok(crew)
    }

    /// Waits until each thread has sent an event that `take` counts; calls it with none now and then meanwhile.
    fn wait(&self, mut take: impl FnMut(Option<Event>) -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let mut missing = self.threads.len();
        let mut shown = Instant::now();
        while missing > 0 {
            match self.events.recv_timeout(WATCH.saturating_sub(shown.elapsed())) {
                Ok(event) => missing -= usize::from(take(Some(event))?),
                Err(_) if self.threads.iter().any(JoinHandle::is_finished) => {
                    bail!("a thread of the load generator ended before its work was done")
                }
                Err(_) => {
                    take(None)?;
                    shown = Instant::now();
                }
            }
        }
        Ok(())
    }

    fn dismiss(self) -> anyhow::Result<()> {
        drop(self.release);
        for thread in self.threads {
            match thread.join() {
                Ok(outcome) => outcome?,
                Err(_) => bail!("a thread of the load generator panicked"),
            }
        }
        Ok(())
    }
}

/// The dialers of a plan, one for each host, and which of them each kind of request needs.
fn dialers(plan: &Plan) -> anyhow::Result<(Vec<Dialer>, Vec<usize>)> {
    let mut known: Vec<Target> = Vec::new();
    let (mut dialers, mut origins) = (Vec::new(), Vec::new());
    for request in plan.requests_sent() {
        let target = request.target;
        let origin = known.iter().position(|other| other.is_same_host(&target));
        origins.push(origin.unwrap_or(known.len()));
        if origin.is_none() {
            dialers.push(Dialer::new(&target, plan)?);
            known.push(target);
        }
    }
    Ok((dialers, origins))
}

fn progress(counters: &[Arc<Counters>], start: Instant) -> Progress {
    Progress {
        requests: counters.iter().map(|counters| counters.counted().0).sum(),
        failures: counters.iter().map(|counters| counters.counted().1).sum(),
        elapsed: start.elapsed(),
    }
}

/// Raises the limit of open files as far as needed and allowed.
///
/// Errors: the system allows fewer; whoever set the hard limit.
fn allow_files(needed: u64) -> anyhow::Result<()> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(maximum) = limit.maximum
        && maximum < needed
    {
        bail!("{needed} open files are needed and {maximum} allowed; raise the limit (ulimit -n)");
    }
    rustix::process::setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .context("cannot raise the limit of open files")
}
