//! Child processes that end, one way or the other.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::workspace::root;

/// `cargo`, the one that runs this, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(root());
    command
}

/// Whether a program of that name is to be found in the path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Servers lie in /usr/sbin, which the path of an ordinary user leaves out.
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .any(|folder| folder.join(program).is_file())
}

/// Runs a command to its end; whether it succeeded.
///
/// Errors: when it cannot be started or takes longer than `deadline`; it and its children are then killed.
pub(crate) fn succeeds(command: &mut Command, deadline: Duration) -> Result<bool> {
    command.stdin(Stdio::null());
    Ok(guarded(command, deadline, |_| Ok(()))?.success())
}

/// As [`succeeds`], with each line of standard output handed to `line` as it comes.
pub(crate) fn lines(command: &mut Command, deadline: Duration, mut line: impl FnMut(&str)) -> Result<bool> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let status = guarded(command, deadline, |child| {
        let Some(stdout) = child.stdout.take() else { bail!("standard output is not piped") };
        // Tests may print bytes that are no text.
        for bytes in BufReader::new(stdout).split(b'\n') {
            line(&String::from_utf8_lossy(&bytes.context("reading standard output")?));
        }
        Ok(())
    })?;
    Ok(status.success())
}

fn guarded(
    command: &mut Command,
    deadline: Duration,
    attend: impl FnOnce(&mut Child) -> Result<()>,
) -> Result<ExitStatus> {
    let shown = format!("{} {}", command.get_program().display(), first_arguments(command));
    let mut child = command.spawn().with_context(|| format!("starting {shown}"))?;
    let id = child.id();
    let (done, wait) = mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        let late = wait.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            kill_with_children(id);
        }
        late
    });
    let attended = attend(&mut child);
    let status = child.wait().with_context(|| format!("waiting for {shown}"));
    drop(done);
    if guard.join().unwrap_or(false) {
        bail!("{shown} took longer than {} s and was killed", deadline.as_secs());
    }
    attended?;
    status
}

fn first_arguments(command: &Command) -> String {
    command.get_args().take(3).map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Ends a process and what it started. Cargo alone would leave the tests it runs behind.
fn kill_with_children(id: u32) {
    // A process dies only after its children were listed, or they would be nobody's children by then.
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        // It may have ended by itself meanwhile.
        let _ = kill_process(pid, Signal::KILL);
    }
    for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
        kill_with_children(child);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_command_that_does_not_end_is_killed_with_its_children() {
        let started = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & wait"]);
        let error = lines(&mut command, Duration::from_millis(200), |_| ()).unwrap_err();
        assert!(error.to_string().contains("was killed"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(30), "the sleeping child held the pipe open");
    }

    #[test]
    fn lines_and_status_come_through() {
        let mut seen = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two; exit 3"]);
        assert!(!lines(&mut command, Duration::from_secs(30), |line| seen.push(line.to_owned())).unwrap());
        assert_eq!(seen, ["one", "two"]);
    }
}
