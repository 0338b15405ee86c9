//! Servers take turns at the same work: `myelin bench run`.
//!
//! On a shared machine figures wander by a factor of two, so only what was measured in turns is compared: in every
//! round each target is sent the same requests for the same time, and rounds begin with another target each time.
//! Each turn is written to a folder of [results] when it ends, and reports are made from that folder.
//!
//! Targets are started anew for each cell, so that peak memory belongs to the cell; those that compile their code while
//! they run stay for all cells of a scenario, and the kernel forgets their peaks.

mod arguments;
mod certificates;
mod configuration;
mod contender;
pub mod instructions;
mod kit;
mod machine;
mod probe;
mod progress;
mod quotes;
mod ramp;
mod rounds;
mod scenario;
mod secured;
mod server;
mod target;
mod task;

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};

pub use arguments::Arguments;
use certificates::Certificates;
use configuration::Backends;
use contender::Stage;
pub use kit::Kit;
use progress::Progress;
use rounds::{Ended, Session};
pub use scenario::Scenario;
pub use target::Target;
use task::{Task, tasks};

use crate::interrupt;
use crate::report;
use crate::results::{self, Folder, Run};
use crate::units;

/// Status of a run that was interrupted, as shells have it for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Runs `myelin bench run`: writes a folder of results, and where it is to `out`; progress goes to standard error.
///
/// Returns failure when a request to the first target failed, or it was in trouble; the others' trouble is in the results.
/// Errors: the arguments make no sense, our own programs do not start, the folder cannot be written.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let interrupt = Arc::<AtomicBool>::default();
    interrupt::listen(interrupt.clone())?;
    let resumed = arguments.resume.as_deref().map(Folder::resume).transpose()?;
    let asked = resumed.as_ref().map(|(_, before)| serde_json::from_value(before.run.arguments.clone())).transpose();
    let asked: Option<Arguments> = asked.context("the results do not say what was asked for")?;
    let arguments = asked.as_ref().unwrap_or(arguments);
    let targets = targets(arguments)?;
    let tasks = tasks(arguments);
    if arguments.rounds() == 0 || tasks.is_empty() || targets.is_empty() {
        bail!("a comparison needs targets, scenarios, sizes, connections and rounds");
    }
    for task in &tasks {
        task.check()?;
    }
    let files = machine::raise_files();
    let stage_folder = tempfile::tempdir()?;
    let myelin = match &arguments.myelin {
        Some(myelin) => myelin.clone(),
        None => std::env::current_exe().context("this program does not know where it lies")?,
    };
    let echo = server::echo(&myelin, arguments.echo, stage_folder.path())?;
    let quotes = server::stockquote(&myelin, stage_folder.path())?;
    let pool = server::pool(&myelin, stage_folder.path())?;
    let stage = Stage {
        myelin,
        backends: Backends {
            echo: echo.address,
            quotes: quotes.address,
            pool: pool.each_ref().map(|server| server.address),
        },
        echo_process: echo.process(),
        threads: arguments.threads,
        cache: arguments.cache.clone().unwrap_or_else(kit::cache),
        keys: arguments.keys.clone(),
        certificates: Certificates::make(stage_folder.path())?,
        processes: arguments.processes.clone(),
    };
    let (folder, before) = match resumed {
        Some((folder, before)) => (folder, Some(before)),
        None => (Folder::begin(&output(arguments), new_run(arguments, &targets, &stage, files)?)?, None),
    };
    let path = folder.path().to_owned();
    let left: Vec<_> =
        tasks.iter().filter(|task| !before.as_ref().is_some_and(|before| before.is_done(&task.cell()))).collect();
    let mut session = Session {
        arguments,
        stage: &stage,
        targets: &targets,
        folder,
        progress: Progress::new(tasks.len(), tasks.len() - left.len()),
        interrupt,
        files,
        kept: BTreeMap::new(),
        failures: 0,
    };
    for task in left {
        session.progress.cell(*task);
        let ended = if arguments.ramp { session.ramp(*task)? } else { session.measure(*task)? };
        if ended == Ended::Interrupted {
            session.progress.end();
            writeln!(out, "Interrupted. To go on: myelin bench run --resume {}", path.display())?;
            return Ok(ExitCode::from(INTERRUPTED));
        }
        session.progress.done();
    }
    session.progress.end();
    report::conclude(&path, out)?;
    Ok(if session.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The arguments of `myelin bench kits`.
#[derive(Clone, Debug, clap::Args)]
pub struct KitsArguments {
    /// A kit, or the path of a folder with one
    name: Option<String>,
    /// Write the kit's configuration there, for a server that is started by hand
    #[arg(long, value_name = "FOLDER", requires = "name")]
    write: Option<PathBuf>,
    /// Where the server is to listen
    #[arg(long, value_name = "ADDRESS", value_parser = units::address, default_value = "127.0.0.1:8280")]
    listen: SocketAddr,
    /// Where `bench run --echo` will have the backend
    #[arg(long, value_name = "ADDRESS", value_parser = units::address, default_value = "127.0.0.1:9000")]
    echo: SocketAddr,
}

/// Runs `myelin bench kits`: lists the kits, prints what one of them says of itself, or writes its configuration.
///
/// Errors: there is no such kit, or something cannot be written.
pub fn kits(arguments: &KitsArguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let KitsArguments { name, write, listen, echo } = arguments;
    match (name, write) {
        (None, _) => list_kits(out)?,
        (Some(name), None) => out.write_all(Kit::find(name)?.readme().as_bytes())?,
        (Some(name), Some(folder)) => {
            for file in contender::write(&Kit::find(name)?, folder, *listen, *echo)? {
                writeln!(out, "{}", file.display())?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list_kits(out: &mut dyn Write) -> anyhow::Result<()> {
    for name in Kit::names() {
        let kit = Kit::find(&name)?;
        let state = match (kit.untested(), kit.missing()) {
            (Some(why), _) => format!(" (untested: {why})"),
            (None, Some(missing)) => format!(" (not here: {missing})"),
            (None, None) => String::new(),
        };
        writeln!(out, "{name:<16} {}{state}", kit.about())?;
        writeln!(out, "{:<16} {}", "", kit.scenarios().collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

/// Who takes part; two of one name would be one in the results.
fn targets(arguments: &Arguments) -> anyhow::Result<Vec<Target>> {
    let targets = arguments.targets.iter().map(|name| name.target()).collect::<anyhow::Result<Vec<Target>>>()?;
    for (index, target) in targets.iter().enumerate() {
        if targets[..index].iter().any(|other| other.name == target.name) {
            bail!("two targets are named {}; name one of them otherwise", target.name);
        }
    }
    if let Some((name, _)) =
        arguments.processes.iter().find(|(name, _)| !targets.iter().any(|target| target.name == *name))
    {
        bail!("--process {name}=…: no target has that name");
    }
    Ok(targets)
}

fn output(arguments: &Arguments) -> PathBuf {
    let name = || format!("myelin-bench-{}", results::now().replace(':', ""));
    arguments.out.clone().unwrap_or_else(|| PathBuf::from(name()))
}

/// The description of a run whose targets have not been started yet.
fn new_run(arguments: &Arguments, targets: &[Target], stage: &Stage, files: u64) -> anyhow::Result<Run> {
    // Which rates a ramp has, shows when it is measured.
    let cells = if arguments.ramp { Vec::new() } else { tasks(arguments).iter().map(Task::cell).collect() };
    let mut run = Run::new(arguments.rounds(), arguments.threads, cells, machine::machine(files));
    run.arguments = serde_json::to_value(arguments)?;
    run.targets = targets
        .iter()
        .map(|target| results::Target {
            name: target.name.clone(),
            from: target.from(),
            version: contender::version(target, stage),
            files: Vec::new(),
        })
        .collect();
    Ok(run)
}

#[cfg(test)]
mod tests;
