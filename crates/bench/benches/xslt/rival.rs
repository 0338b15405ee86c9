//! Processors in other languages, behind processes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, bail};

use super::common::{self, Process};
use super::java;
use super::{Message, Processor, Task};

/// A processor behind a process, which several may share.
struct Rival {
    name: &'static str,
    process: Rc<RefCell<Process>>,
    root: PathBuf,
    result: PathBuf,
}

/// Compiles and starts libxslt's side.
///
/// Errors: a sentence about what is missing.
pub(super) fn libxslt(root: &Path, folder: &Path) -> anyhow::Result<Vec<Box<dyn Processor>>> {
    let program = common::compile(root, folder, "libxslt", "xslt-config")?;
    sharing(root, folder, Process::start(&mut Command::new(program))?, &["libxslt"])
}

/// Fetches the jars, once, and starts the Java side.
///
/// Errors: a sentence about what is missing.
pub(super) fn java(root: &Path, folder: &Path) -> anyhow::Result<Vec<Box<dyn Processor>>> {
    sharing(root, folder, java::start(root, folder, "Transforms.java")?, &["xsltc", "saxon"])
}

fn sharing(
    root: &Path,
    folder: &Path,
    process: Process,
    names: &[&'static str],
) -> anyhow::Result<Vec<Box<dyn Processor>>> {
    let (process, root, folder) = (Rc::new(RefCell::new(process)), root.canonicalize()?, folder.canonicalize()?);
    let rival = |name: &&'static str| -> Box<dyn Processor> {
        let result = folder.join(format!("{name}.result"));
        Box::new(Rival { name, process: process.clone(), root: root.clone(), result })
    };
    Ok(names.iter().map(rival).collect())
}

impl Processor for Rival {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<(u64, Vec<u8>)> {
        let stylesheet = self.root.join(task.stylesheet());
        let files = [&stylesheet, &message.path, &self.result].map(|path| path.display().to_string());
        let line = format!("{} {} {repetitions}\n", self.name, files.join(" "));
        let answer = self.process.borrow_mut().ask(&line).with_context(|| self.name)?;
        match answer.parse() {
            Ok(nanoseconds) => Ok((nanoseconds, std::fs::read(&self.result)?)),
            Err(_) => bail!("{} answers {line:?} with {answer:?}", self.name),
        }
    }
}
