//! A process that listens: how it is started, found ready, watched and stopped.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal};

use super::configuration::POOL;
use super::quotes;
use crate::procfs;

/// A process that listens; dropping it ends it and its children.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    child: Child,
    /// What it writes to standard error.
    log: PathBuf,
}

/// How long our own programs may take.
const READY: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(5);
/// Lines of a log that are told.
const LAST_LINES: usize = 20;

impl Server {
    /// Starts one of our own programs, which says where it listens in a line of standard output, behind `mark`.
    ///
    /// Errors: it cannot be started, or does not say so in time; what it said is in the error.
    pub(super) fn announced(mut command: Command, folder: &Path, mark: &'static str) -> anyhow::Result<Server> {
        let log = folder.join("stderr.log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot start {}", shown(&command)))?;
        let output = child.stdout.take().context("the process has no standard output")?;
        let mut server = Server { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), child, log };
        let (sender, receiver) = mpsc::channel();
        // Reads on after the line is found, so that the process never blocks on a full pipe; ends with the process.
        std::thread::Builder::new().name("server-output".to_owned()).spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(address) = find_address(&line, mark) {
                    // Only the first is waited for.
                    let _ = sender.send(address);
                }
            }
        })?;
        match receiver.recv_timeout(READY) {
            Ok(address) => server.address = address,
            Err(_) => bail!("{} is not ready: {}", shown(&command), server.last_words()),
        }
        Ok(server)
    }

    /// Starts a program that is to listen at `address`; whether it does, [`Server::waits`] says.
    ///
    /// Errors: it cannot be started.
    pub(super) fn at(mut command: Command, folder: &Path, address: SocketAddr) -> anyhow::Result<Server> {
        let log = folder.join("output.log");
        let output = File::create(&log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start {}", shown(&command)))?;
        Ok(Server { address, child, log })
    }

    /// Waits until it accepts connections.
    ///
    /// Errors: it ended, or the deadline passed.
    pub(super) fn waits(&mut self, deadline: Instant) -> anyhow::Result<()> {
        while TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_err() {
            if let Some(ended) = self.ended() {
                bail!("{ended}");
            }
            if Instant::now() > deadline {
                bail!("it does not listen at {}", self.address);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// How it ended, if it did.
    pub(super) fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(Some(status)) => Some(format!("it ended ({status})")),
            _ => None,
        }
    }

    /// The process that was started.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Its processes, the workers included.
    pub(super) fn processes(&self) -> Vec<u32> {
        procfs::process_tree(self.child.id())
    }

    /// The end of what it wrote.
    pub(super) fn last_words(&self) -> String {
        last_lines(&self.log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a process and all that it started: asked first, because nginx's master ends its workers only then.
fn end(child: &mut Child) {
    let process_tree = procfs::process_tree(child.id());
    signal(child.id(), Signal::TERM);
    let deadline = Instant::now() + END;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > deadline {
            process_tree.iter().for_each(|process| signal(*process, Signal::KILL));
            // Killed, so this does not last.
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal; a process that is gone needs none.
fn signal(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(process, signal);
    }
}

/// Runs a program to its end, with all that it writes in a file.
///
/// Errors: it cannot be started, fails, or takes longer than it may; the end of what it wrote is in the error.
pub(super) fn finishes(mut command: Command, log: &Path, longest: Duration) -> anyhow::Result<()> {
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let spawned = command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).spawn();
    let mut child = spawned.with_context(|| format!("cannot start {}", shown(&command)))?;
    let deadline = Instant::now() + longest;
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{} failed ({status}):\n{}", shown(&command), last_lines(log)),
            None if Instant::now() > deadline => {
                end(&mut child);
                let longest = humantime::format_duration(longest);
                bail!("{} took longer than {longest}:\n{}", shown(&command), last_lines(log));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// A program that is told to end when this process does, however that happens; where nobody can tell it, it stays.
pub(super) fn program(path: impl AsRef<OsStr>) -> Command {
    // Of util-linux; it becomes the program, so that the process is the same.
    const TELLER: &str = "setpriv";
    if !is_installed(TELLER) {
        return Command::new(path);
    }
    let mut command = Command::new(TELLER);
    command.args(["--pdeathsig", "TERM"]).arg(path);
    command
}

/// Whether a program is on the search path.
pub(super) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// The backend, in a process of its own so that its connections do not count against ours.
pub(super) fn echo(myelin: &Path, listen: SocketAddr, folder: &Path) -> anyhow::Result<Server> {
    let mut command = program(myelin);
    command.args(["echo", "--listen", &listen.to_string()]);
    Server::announced(command, folder, "echo ready on ")
}

/// The backends of `pool`, each of which says in its answers which one it is.
pub(super) fn pool(myelin: &Path, folder: &Path) -> anyhow::Result<[Server; POOL]> {
    let servers = (1..=POOL).map(|number| {
        let mut command = program(myelin);
        command.args(["echo", "--listen", "127.0.0.1:0", "--name", &number.to_string()]);
        Server::announced(command, folder, "echo ready on ")
    });
    let servers = servers.collect::<anyhow::Result<Vec<Server>>>()?;
    servers.try_into().map_err(|_| anyhow::anyhow!("there are not {POOL} backends"))
}

/// The backend that knows quotes, the same in every run.
pub(super) fn stockquote(myelin: &Path, folder: &Path) -> anyhow::Result<Server> {
    let mut command = program(myelin);
    command.args(["stockquote", "--listen", "127.0.0.1:0", "--seed", &quotes::SEED.to_string()]);
    Server::announced(command, folder, "stockquote ready on http://")
}

pub(super) fn relay(myelin: &Path, backend: SocketAddr, threads: usize, folder: &Path) -> anyhow::Result<Server> {
    let mut command = program(myelin);
    let (to, threads) = (backend.to_string(), threads.to_string());
    command.args(["relay", "--listen", "127.0.0.1:0", "--to", &to, "--threads", &threads]);
    Server::announced(command, folder, "relay ready on ")
}

/// The first line that a command writes, to either output; empty where it cannot be run.
pub(super) fn first_line(mut command: Command) -> String {
    let Ok(output) = command.stdin(Stdio::null()).output() else { return String::new() };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// A command as it would be typed.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The address that follows `mark` in a ready line.
fn find_address(line: &str, mark: &str) -> Option<SocketAddr> {
    let rest = &line[line.find(mark)? + mark.len()..];
    let end = rest.find(|character: char| !(character.is_ascii_hexdigit() || ".:[]".contains(character)));
    rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ':']).parse().ok()
}

/// The end of a log.
fn last_lines(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        0 => "it wrote nothing".to_owned(),
        count => lines[count.saturating_sub(LAST_LINES)..].join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_in_a_ready_line() {
        let check = |line, mark, expected: &str| {
            assert_eq!(find_address(line, mark), Some(expected.parse().unwrap()), "{line}");
        };
        check("echo ready on 127.0.0.1:34567", "echo ready on ", "127.0.0.1:34567");
        check("myelin ready: http://127.0.0.1:8280, 2 proxies.", "http://", "127.0.0.1:8280");
        check("stockquote ready on http://127.0.0.1:9003/services/X", "ready on http://", "127.0.0.1:9003");
        check("up at http://[::1]:8280/", "http://", "[::1]:8280");
        assert_eq!(find_address("nothing here", "http://"), None);
    }

    #[test]
    fn a_program_that_ends_at_once_is_an_error_with_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let error = Server::announced(shell("echo no such thing >&2; exit 1"), folder.path(), "ready").unwrap_err();
        assert!(error.to_string().contains("no such thing"), "{error}");
        let log = folder.path().join("log");
        let error = finishes(shell("echo first; echo then >&2; exit 3"), &log, READY).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("first\nthen"), "{error}");
        let error = finishes(shell("sleep 60"), &log, Duration::from_millis(50)).unwrap_err().to_string();
        assert!(error.contains("took longer than 50ms"), "{error}");
    }

    #[test]
    fn a_server_that_ends_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo gone; exit 7"]);
        let address = myelin_testkit::port::free().unwrap();
        let mut server = Server::at(command, folder.path(), address).unwrap();
        let error = server.waits(Instant::now() + READY).unwrap_err();
        assert!(error.to_string().contains("exit status: 7"), "{error}");
        assert_eq!(server.last_words(), "gone");
    }
}
