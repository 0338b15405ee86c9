//! A run that is spread over several machines: a coordinator, and agents that send.
//!
//! The two speak lines of JSON over TCP. The coordinator gives each agent its part of the plan, waits until the
//! connections of all are open, says when to start, and adds up what they measured: histograms, not percentiles.
//! The requests of an open loop are dealt out to the threads of all agents in turns, so their times interleave as if
//! one machine sent them; clocks need not agree, because the word to start is the clock.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail, ensure};
use hdrhistogram::Histogram;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::crew::{Measured, Observer, Part, measure};
use super::histogram;
use super::interval_log::IntervalLog;
use super::outcome::{Outcome, Tally};
use super::plan::{Plan, Progress};
use crate::procfs;

#[cfg(test)]
mod tests;

/// An agent that does not answer the call in this time is not there.
const CONNECT: Duration = Duration::from_secs(10);
/// Agents tell how far they are twice a second; one that is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(60);
const WATCH: Duration = Duration::from_millis(500);
/// Longer lines are refused.
const LINE_LIMIT_BYTES: u64 = 256 << 20;

/// What a coordinator says.
#[derive(Serialize, Deserialize)]
enum Instruction {
    Prepare(Box<Order>),
    Start,
    Stop,
}

#[derive(Serialize, Deserialize)]
struct Order {
    /// The version of the coordinator: plans of other versions may mean something else.
    version: String,
    secret: Option<String>,
    plan: Plan,
    part: Part,
}

/// What an agent says.
#[derive(Serialize, Deserialize)]
enum Report {
    Ready,
    Progress {
        requests: u64,
        failures: u64,
    },
    Interval {
        index: u32,
        #[serde(with = "histogram")]
        latencies: Histogram<u64>,
    },
    Done {
        tally: Box<Tally>,
        elapsed: Duration,
    },
    Refused(String),
}

/// The next message.
fn receive<T: DeserializeOwned>(reader: &mut BufReader<TcpStream>) -> anyhow::Result<T> {
    let mut line = Vec::new();
    reader.take(LINE_LIMIT_BYTES).read_until(b'\n', &mut line)?;
    ensure!(line.ends_with(b"\n"), "the connection was closed");
    serde_json::from_slice(&line).context("the other side speaks another language; are the versions the same?")
}

/// Sends a message.
fn send<T: Serialize>(mut stream: &TcpStream, message: &T) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    ensure!((line.len() as u64) < LINE_LIMIT_BYTES, "the plan is too large to be sent to agents");
    line.push(b'\n');
    stream.write_all(&line)?;
    Ok(())
}

/// Runs a plan on agents and adds up what they measured; `--pid` looks at processes of this machine.
///
/// Errors: the plan contradicts itself or cannot be sent, an agent cannot be reached, refuses, or is lost on the way.
pub(super) fn coordinate(
    plan: &Plan,
    agents: &[String],
    secret: Option<&str>,
    interrupt: &AtomicBool,
    watch: &mut dyn FnMut(Progress),
) -> anyhow::Result<Outcome> {
    plan.check()?;
    ensure!(plan.security.is_none(), "agents cannot secure messages; leave out --wss or --agents");
    ensure!(
        plan.connections >= agents.len(),
        "{} agents need at least as many connections; see --connections",
        agents.len()
    );
    let parts = parts(plan, agents.len());
    let threads = parts.iter().map(|(plan, _)| plan.threads_used()).sum();
    let mut log = plan.histogram.as_deref().map(|path| IntervalLog::create(path, threads)).transpose()?;
    let (sender, reports) = mpsc::channel();
    let mut streams = Vec::new();
    for (index, (agent, (plan, part))) in agents.iter().zip(parts).enumerate() {
        let stream = call(agent).with_context(|| format!("cannot reach the agent {agent}"))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let order = Order { version, secret: secret.map(str::to_owned), plan, part };
        send(&stream, &Instruction::Prepare(Box::new(order))).with_context(|| agent.clone())?;
        streams.push(stream);
        let sender = sender.clone();
        std::thread::Builder::new().name(format!("agent-{index}")).spawn(move || {
            loop {
                let report = receive::<Report>(&mut reader);
                let over = matches!(report, Err(_) | Ok(Report::Done { .. } | Report::Refused(_)));
                if sender.send((index, report)).is_err() || over {
                    return;
                }
            }
        })?;
    }
    let say = |instruction: &Instruction| {
        for stream in &streams {
            // An agent that is gone is noticed where its reports are read.
            let _ = send(stream, instruction);
        }
    };

    let (mut all, mut elapsed) = (Tally::new(plan.requests_sent().len()), Duration::ZERO);
    let mut progress = vec![Progress::default(); agents.len()];
    let (mut ready, mut done, mut stopped) = (0, 0, false);
    let mut start = Instant::now();
    let mut before = procfs::cpu_times_of(&plan.processes);
    while done < agents.len() {
        if interrupt.load(Ordering::Relaxed) && !stopped {
            stopped = true;
            say(&Instruction::Stop);
        }
        let (index, report) = match reports.recv_timeout(WATCH) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => {
                watch(total(&progress, (ready == agents.len()).then(|| start.elapsed())));
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => bail!("all agents are gone"),
        };
        let agent = &agents[index];
        match report.with_context(|| format!("the agent {agent} is lost"))? {
            Report::Ready => {
                ready += 1;
                if ready == agents.len() {
                    before = procfs::cpu_times_of(&plan.processes);
                    start = Instant::now();
                    if let Some(log) = &mut log {
                        log.begin(SystemTime::now())?;
                    }
                    say(&Instruction::Start);
                }
            }
            Report::Progress { requests, failures } => {
                progress[index] = Progress { requests, failures, elapsed: Duration::ZERO };
            }
            Report::Interval { index, latencies } => {
                if let Some(log) = &mut log {
                    log.add(index, latencies)?;
                }
            }
            Report::Done { tally, elapsed: took } => {
                all.add(&tally).with_context(|| format!("the agent {agent}"))?;
                elapsed = elapsed.max(took);
                done += 1;
            }
            Report::Refused(why) => bail!("the agent {agent} refuses: {why}"),
        }
    }
    if let Some(log) = &mut log {
        log.finish(elapsed)?;
    }
    let cost = (!plan.processes.is_empty()).then(|| {
        let spent = procfs::cpu_times_of(&plan.processes).since(&before);
        (spent, procfs::usage_of(&plan.processes))
    });
    let mut outcome = all.outcome(plan, elapsed, cost);
    outcome.threads = threads as u64;
    outcome.agents = agents.to_vec();
    Ok(outcome)
}

/// The part of each of `agents` agents: connections and, in a closed loop, requests are shared out; an open loop is
/// shared by its threads.
fn parts(plan: &Plan, agents: usize) -> Vec<(Plan, Part)> {
    let mut first = 0;
    let mut parts: Vec<(Plan, Part)> = (0..agents)
        .map(|index| {
            let share = |all: usize| all / agents + usize::from(index < all % agents);
            let mut part = plan.clone();
            part.connections = share(plan.connections);
            part.idle_connections = share(plan.idle_connections);
            if plan.pace().is_none() {
                let (all, agents, index) = (plan.requests, agents as u64, index as u64);
                part.requests = all.map(|all| all / agents + u64::from(index < all % agents));
            }
            // These are the coordinator's.
            (part.processes, part.histogram) = (Vec::new(), None);
            let threads = Part { first, of: 0, intervals: plan.histogram.is_some() };
            first += part.threads_used();
            (part, threads)
        })
        .collect();
    parts.iter_mut().for_each(|(_, part)| part.of = first);
    parts
}

fn total(agents: &[Progress], elapsed: Option<Duration>) -> Progress {
    Progress {
        requests: agents.iter().map(|agent| agent.requests).sum(),
        failures: agents.iter().map(|agent| agent.failures).sum(),
        elapsed: elapsed.unwrap_or_default(),
    }
}

fn call(agent: &str) -> anyhow::Result<TcpStream> {
    let addresses = agent.to_socket_addrs().context("write HOST:PORT")?;
    let mut last = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(SILENCE))?;
                return Ok(stream);
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(|| anyhow::anyhow!("the name has no address"), anyhow::Error::from))
}

/// Serves coordinators, one after another, until the listener breaks; says on `out` what was run.
///
/// Errors: an agent that others can reach has no secret, `out` cannot be written.
pub(super) fn serve(listener: &TcpListener, secret: Option<&str>, out: &mut dyn Write) -> anyhow::Result<()> {
    let address = listener.local_addr()?;
    ensure!(
        address.ip().is_loopback() || secret.is_some(),
        "an agent sends what it is told to, so one that others can reach needs a secret; see --secret-env"
    );
    writeln!(out, "load agent ready on {address}")?;
    out.flush()?;
    loop {
        let (stream, coordinator) = listener.accept()?;
        match obey(&stream, secret) {
            Ok(Measured { tally, elapsed, .. }) => {
                let (good, failed) = tally.counts();
                let seconds = elapsed.as_secs_f64();
                writeln!(out, "{coordinator}: {good} answers and {failed} failures in {seconds:.2} s")?;
            }
            Err(error) => {
                // The coordinator may be the one who is gone.
                let _ = send(&stream, &Report::Refused(format!("{error:#}")));
                writeln!(out, "{coordinator}: {error:#}")?;
            }
        }
        out.flush()?;
    }
}

/// Binds where an agent listens.
pub(super) fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))
}

/// Runs one order.
fn obey(stream: &TcpStream, secret: Option<&str>) -> anyhow::Result<Measured> {
    let mut reader = BufReader::new(stream.try_clone()?);
    stream.set_read_timeout(Some(CONNECT))?;
    let Instruction::Prepare(order) = receive(&mut reader)? else { bail!("the first word is no plan") };
    let Order { version, secret: shown, plan, part } = *order;
    ensure!(is_same(secret, shown.as_deref()), "the secret is another one");
    let own = env!("CARGO_PKG_VERSION");
    ensure!(version == own, "the coordinator is of version {version}, the agent of {own}");
    plan.check()?;
    let end = part.first.checked_add(plan.threads_used());
    ensure!(end.is_some_and(|end| end <= part.of), "the part of the run makes no sense");

    stream.set_read_timeout(None)?;
    let interrupt = Arc::<AtomicBool>::default();
    let (started, start) = mpsc::channel();
    let stop = interrupt.clone();
    std::thread::Builder::new().name("coordinator".to_owned()).spawn(move || {
        // Ends when the coordinator is gone, which ends the run too.
        while let Ok(Instruction::Start) = receive(&mut reader) {
            if started.send(()).is_err() {
                return;
            }
        }
        stop.store(true, Ordering::Relaxed);
    })?;
    let mut observer = Obedient { stream, start };
    let measured = measure(&plan, part, &interrupt, &mut observer)?;
    let tally = Box::new(measured.tally.clone());
    send(stream, &Report::Done { tally, elapsed: measured.elapsed }).context(GONE)?;
    Ok(measured)
}

const GONE: &str = "the coordinator is gone";

/// An agent during a run.
struct Obedient<'a> {
    stream: &'a TcpStream,
    start: mpsc::Receiver<()>,
}

impl Observer for Obedient<'_> {
    fn ready(&mut self) -> anyhow::Result<()> {
        send(self.stream, &Report::Ready).context(GONE)?;
        // A coordinator that says nothing more has stopped the run: it then begins with its end.
        let _ = self.start.recv();
        Ok(())
    }

    fn progress(&mut self, progress: Progress) -> anyhow::Result<()> {
        let Progress { requests, failures, .. } = progress;
        send(self.stream, &Report::Progress { requests, failures }).context(GONE)
    }

    fn interval(&mut self, index: u32, latencies: Histogram<u64>) -> anyhow::Result<()> {
        send(self.stream, &Report::Interval { index, latencies }).context(GONE)
    }
}

/// Compares in a time that does not depend on where the two differ.
fn is_same(secret: Option<&str>, shown: Option<&str>) -> bool {
    let Some(secret) = secret else { return true };
    let shown = shown.unwrap_or_default();
    let differences = secret.bytes().zip(shown.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    secret.len() == shown.len() && differences == 0
}
