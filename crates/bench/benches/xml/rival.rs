//! Libraries in other languages, behind processes.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, bail};

use super::common::{self, Process};
use super::java;
use super::{Library, Message, Task, Turn};

/// A library behind a process, which several may share.
pub(super) struct Rival {
    name: &'static str,
    tasks: &'static [Task],
    process: Rc<RefCell<Process>>,
}

const STREAMING: &[Task] = &[Task::Events, Task::First, Task::Scan];
const TREES: &[Task] = &[Task::Tree, Task::Xpath, Task::TreeXpath, Task::Write, Task::WriteChanged];

/// Compiles and starts libxml2's side.
///
/// Errors: a sentence about what is missing.
pub(super) fn libxml2(root: &Path, folder: &Path) -> anyhow::Result<Vec<Rival>> {
    let program = common::compile(root, folder, "libxml2", "xml2-config")?;
    Ok(sharing(Process::start(&mut Command::new(program))?, [("libxml2, reader", STREAMING), ("libxml2", TREES)]))
}

/// Fetches the jars, once, and starts the Java side.
///
/// Errors: a sentence about what is missing.
pub(super) fn java(root: &Path, folder: &Path) -> anyhow::Result<Vec<Rival>> {
    let process = java::start(root, folder, "Rivals.java")?;
    Ok(sharing(process, [("woodstox", STREAMING), ("aalto", STREAMING), ("jdk", TREES)]))
}

fn sharing<const COUNT: usize>(process: Process, rivals: [(&'static str, &'static [Task]); COUNT]) -> Vec<Rival> {
    let process = Rc::new(RefCell::new(process));
    rivals.map(|(name, tasks)| Rival { name, tasks, process: process.clone() }).into()
}

impl Library for Rival {
    fn name(&self) -> &str {
        self.name
    }

    fn can(&self, task: Task) -> bool {
        self.tasks.contains(&task)
    }

    fn run(&mut self, task: Task, message: &Message, repetitions: u64) -> anyhow::Result<Turn> {
        let library = self.name.split(',').next().unwrap_or_default();
        let line = format!("{library} {} {} {repetitions}\n", task.name(), message.path.display());
        let answer = self.process.borrow_mut().ask(&line).with_context(|| self.name)?;
        let numbers: Option<Vec<u64>> = answer.split_whitespace().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[nanoseconds, check]) => Ok(Turn { nanoseconds, check }),
            _ => bail!("{} answers {line:?} with {answer:?}", self.name),
        }
    }
}
