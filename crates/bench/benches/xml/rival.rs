//! Libraries in other languages, each in a process that is told what to do line by line.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, bail};

use super::{Library, Message, Task, Turn};

/// A library behind a process, which several may share.
pub(super) struct Rival {
    name: &'static str,
    tasks: &'static [Task],
    process: Rc<RefCell<Process>>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

const STREAMING: &[Task] = &[Task::Events, Task::First, Task::Scan];
const TREES: &[Task] = &[Task::Tree, Task::Xpath, Task::TreeXpath, Task::Write, Task::WriteChanged];

/// Compiles and starts libxml2's side.
///
/// Errors: a sentence about what is missing.
pub(super) fn libxml2(root: &Path, folder: &Path) -> anyhow::Result<Vec<Rival>> {
    let flags = output(Command::new("xml2-config").args(["--cflags", "--libs"])).context("libxml2 (libxml2-dev)")?;
    let program = folder.join("libxml2");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&program).arg(root.join("benches/libxml2.c")).args(flags.split_whitespace());
    output(&mut compile).context("libxml2 (a C compiler)")?;
    let process = Process::start(&mut Command::new(program))?;
    Ok([("libxml2, reader", STREAMING), ("libxml2", TREES)]
        .map(|(name, tasks)| Rival { name, tasks, process: process.clone() })
        .into())
}

/// Fetches the jars, once, and starts the Java side.
///
/// Errors: a sentence about what is missing.
pub(super) fn java(root: &Path, folder: &Path) -> anyhow::Result<Vec<Rival>> {
    let (source, jars) = (root.join("benches/java"), folder.join("jars"));
    if !jars.is_dir() {
        let mut fetch = Command::new("mvn");
        fetch.args(["-q", "-B", "dependency:copy-dependencies", "-f"]).arg(source.join("pom.xml"));
        fetch.arg(format!("-DoutputDirectory={}", std::path::absolute(&jars)?.display()));
        output(&mut fetch).context("Woodstox, Aalto and the JDK (Maven)")?;
    }
    // One thread, as everybody; what the collector does on others is not counted.
    let mut command = Command::new("java");
    command.args(["-XX:+UseSerialGC", "-Xmx1g", "-cp"]).arg(jars.join("*")).arg(source.join("Rivals.java"));
    let process = Process::start(&mut command).context("Woodstox, Aalto and the JDK (a JDK)")?;
    Ok([("woodstox", STREAMING), ("aalto", STREAMING), ("jdk", TREES)]
        .map(|(name, tasks)| Rival { name, tasks, process: process.clone() })
        .into())
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

impl Process {
    /// Starts it and prints what it says of itself.
    fn start(command: &mut Command) -> anyhow::Result<Rc<RefCell<Process>>> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("standard input is piped")?;
        let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
        let mut process = Process { child, input, output };
        println!("{}.", process.line()?);
        Ok(Rc::new(RefCell::new(process)))
    }

    fn ask(&mut self, line: &str) -> anyhow::Result<String> {
        self.input.write_all(line.as_bytes())?;
        self.input.flush()?;
        self.line()
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            bail!("the process has ended");
        }
        Ok(line.trim().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to finish.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command prints when it succeeds.
fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{shown} is not installed"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{shown} fails: {}", said.lines().next().unwrap_or("it says nothing"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
