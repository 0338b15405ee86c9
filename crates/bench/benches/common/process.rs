//! Libraries in other languages, each in a process that is told what to do line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};

/// A process that answers each line with one.
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Compiles `benches/NAME.c` with the flags that the program `config` names; the program.
///
/// Errors: a sentence about what is missing.
pub(crate) fn compile(root: &Path, folder: &Path, name: &str, config: &str) -> anyhow::Result<PathBuf> {
    let flags = output(Command::new(config).args(["--cflags", "--libs"])).with_context(|| name.to_owned())?;
    let program = folder.join(name);
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&program).arg(root.join(format!("benches/{name}.c")));
    output(compile.args(flags.split_whitespace())).with_context(|| format!("{name} (a C compiler)"))?;
    Ok(program)
}

impl Process {
    /// Starts it and prints what it says of itself.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Process> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().context("standard input is piped")?;
        let output = BufReader::new(child.stdout.take().context("standard output is piped")?);
        let mut process = Process { child, input, output };
        println!("{}.", process.line()?);
        Ok(process)
    }

    /// The answer to a line.
    ///
    /// Errors: the process has ended.
    pub(crate) fn ask(&mut self, line: &str) -> anyhow::Result<String> {
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
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("{shown} is not installed"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{shown} fails: {}", said.lines().next().unwrap_or("it says nothing"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
