//! Libraries in other languages, behind processes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, anyhow, bail};
use myelin_testkit::wss4j;

use super::common::{self, Message, Process};
use super::{Gateway, Profile};

/// An engine behind a process, which several may share.
struct Rival {
    name: &'static str,
    /// What the process calls it.
    engine: &'static str,
    process: Rc<RefCell<Process>>,
    result: PathBuf,
}

/// Builds and starts WSS4J's side, which makes the keys in the folder `keys`.
///
/// Errors: a sentence about what is missing.
pub(super) fn wss4j(folder: &Path, keys: &Path) -> anyhow::Result<Vec<Box<dyn Gateway>>> {
    let mut command = wss4j::rival(keys).map_err(|reason| anyhow!(reason))?;
    let process = Rc::new(RefCell::new(Process::start(&mut command).context("WSS4J")?));
    let folder = folder.canonicalize()?;
    let engine = |(name, engine): (&'static str, &'static str)| -> Box<dyn Gateway> {
        Box::new(Rival { name, engine, process: Rc::clone(&process), result: folder.join(format!("{engine}.result")) })
    };
    Ok([("WSS4J, DOM", "dom"), ("WSS4J, StAX", "stax")].map(engine).into())
}

/// Compiles and starts xmlsec1's side, with the keys that are there.
///
/// Errors: a sentence about what is missing.
pub(super) fn xmlsec(root: &Path, folder: &Path, keys: &Path) -> anyhow::Result<Box<dyn Gateway>> {
    let program = common::compile(root, folder, "xmlsec", "xmlsec1-config")?;
    let process = Rc::new(RefCell::new(Process::start(Command::new(program).arg(keys))?));
    let result = folder.canonicalize()?.join("xmlsec.result");
    Ok(Box::new(Rival { name: "xmlsec1", engine: "xmlsec", process, result }))
}

impl Gateway for Rival {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, profile: Profile, message: &Message, repetitions: u64) -> anyhow::Result<u64> {
        let (path, result) = (message.path.display(), self.result.display());
        let line = format!("{} {} {path} {result} {repetitions}\n", self.engine, profile.name());
        let answer = self.process.borrow_mut().ask(&line).with_context(|| self.name)?;
        answer.parse().or_else(|_| bail!("{} answers {line:?} with {answer:?}", self.name))
    }
}
