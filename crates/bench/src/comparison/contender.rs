//! The servers that are compared: how each is started, found ready and stopped.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use myelin_testkit::port;
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use super::arguments::Arguments;
use super::configuration::{self, Backends};
use super::kind::Kind;
use super::quotes;
use super::scenario::Scenario;
use super::secured::{self, Secured};
use crate::load::Client;
use crate::procfs;
use crate::suite;

/// A contender that is running; dropping it stops it.
#[derive(Debug)]
pub(super) struct Contender {
    pub(super) kind: Kind,
    /// From the start of the process until it accepted connections.
    pub(super) start: Duration,
    pub(super) configuration: String,
    /// Whoever asks it has to secure the requests.
    pub(super) client: Option<Client>,
    server: Server,
    // Its configuration and logs lie here as long as it runs.
    _folder: TempDir,
}

/// A process that listens; dropping it ends it and its children.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    child: Child,
}

const READY: Duration = Duration::from_secs(20);
/// The script fetches what it starts when it does so for the first time.
const READY_WITH_DOWNLOAD: Duration = Duration::from_secs(5 * 60);
const END: Duration = Duration::from_secs(5);
/// What the program says about its version; `None` if it cannot be run.
pub(super) fn version(kind: Kind, arguments: &Arguments) -> Option<String> {
    let (program, argument) = match kind {
        Kind::Myelin | Kind::Direct | Kind::Relay => (arguments.myelin.as_path(), "--version"),
        Kind::Nginx => (Path::new("nginx"), "-v"),
        Kind::Haproxy => (Path::new("haproxy"), "-v"),
        Kind::Synapse if arguments.synapse.as_ref().is_none_or(|script| !script.is_file()) => return None,
        Kind::Rampart if arguments.rampart.as_ref().is_none_or(|script| !script.is_file()) => return None,
        // The script names the bus's version; what differs between machines is what it runs on.
        Kind::Synapse | Kind::Rampart => (Path::new("java"), "--version"),
    };
    let output = Command::new(program).arg(argument).stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    // nginx says it on standard error.
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned())
}

impl Contender {
    /// Writes the configuration, starts the process, waits until it accepts connections.
    ///
    /// Errors: it cannot be started, or is not ready in time; what it said is in the error.
    pub(super) fn start(
        kind: Kind,
        scenario: Scenario,
        backends: Backends,
        arguments: &Arguments,
    ) -> anyhow::Result<Contender> {
        let Arguments { threads, myelin, .. } = arguments;
        let threads = *threads;
        let folder = tempfile::tempdir()?;
        let secured = match kind {
            Kind::Myelin | Kind::Rampart => Secured::prepare(scenario, folder.path(), arguments.keys.as_deref())?,
            _ => None,
        };
        let begin = Instant::now();
        let backend = backends.echo;
        let (server, configuration) = match kind {
            Kind::Myelin | Kind::Direct => {
                let bus = Bus { scenario, backends, threads, secured: secured.as_ref(), settings: "" };
                bus.start(Command::new(myelin), folder.path())?
            }
            Kind::Relay => {
                let server = relay(myelin, backend, threads, folder.path())?;
                (server, format!("relay --to {backend} --threads {threads}\n"))
            }
            Kind::Nginx => {
                let listen = port::free()?;
                let path = folder.path().to_string_lossy();
                let (file, text) =
                    (folder.path().join("nginx.conf"), configuration::nginx(listen, backend, threads, &path));
                std::fs::write(&file, &text)?;
                let mut command = Command::new("nginx");
                command.arg("-p").arg(folder.path()).arg("-e").arg(folder.path().join("nginx.log")).arg("-c").arg(file);
                (Server::at(command, folder.path(), listen, READY)?, text)
            }
            Kind::Haproxy => {
                let listen = port::free()?;
                let (file, text) =
                    (folder.path().join("haproxy.cfg"), configuration::haproxy(listen, backend, threads));
                std::fs::write(&file, &text)?;
                let mut command = Command::new("haproxy");
                command.args(["-db", "-f"]).arg(file);
                (Server::at(command, folder.path(), listen, READY)?, text)
            }
            Kind::Synapse => {
                let script = arguments.synapse.as_ref().context("no script that starts Synapse was given")?;
                let home = std::path::absolute(arguments.output.join("synapse"))?;
                std::fs::create_dir_all(&home)?;
                let listen = port::free()?;
                let file = folder.path().join("synapse.xml");
                let text = configuration::write_synapse(&file, backends, "")?;
                let mut command = Command::new("bash");
                command.arg(script).arg(home).arg("pt").arg(file).arg(listen.port().to_string());
                (Server::at(command, folder.path(), listen, READY_WITH_DOWNLOAD)?, text)
            }
            Kind::Rampart => {
                let script = arguments.rampart.as_ref().context("no script that starts Rampart was given")?;
                let keys = arguments.keys.as_ref().context("no keys for Rampart were given")?;
                let home = std::path::absolute(arguments.output.join("rampart"))?;
                let listen = port::free()?;
                let mut command = Command::new("bash");
                command.arg(script).arg(home).arg(keys).arg(listen.port().to_string());
                command.arg(format!("http://{backend}/")).arg("1g");
                let text = format!("{} with its own configuration and policy\n", script.display());
                (Server::at(command, folder.path(), listen, READY_WITH_DOWNLOAD)?, text)
            }
        };
        let client = secured.map(|secured| secured.client);
        Ok(Contender { kind, start: begin.elapsed(), configuration, client, server, _folder: folder })
    }

    /// Starts Myelin with one thread in a program that watches it, as `command` begins.
    ///
    /// Errors: as [`Contender::start`].
    pub(super) fn watched(
        command: Command,
        scenario: Scenario,
        backends: Backends,
        settings: &str,
    ) -> anyhow::Result<Contender> {
        let folder = tempfile::tempdir()?;
        let secured = Secured::prepare(scenario, folder.path(), None)?;
        let begin = Instant::now();
        let bus = Bus { scenario, backends, threads: 1, secured: secured.as_ref(), settings };
        let (server, configuration) = bus.start(command, folder.path())?;
        let client = secured.map(|secured| secured.client);
        Ok(Contender { kind: Kind::Myelin, start: begin.elapsed(), configuration, client, server, _folder: folder })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// The process that was started.
    pub(super) fn process(&self) -> u32 {
        self.server.child.id()
    }

    /// Its processes, the workers included.
    pub(super) fn processes(&self) -> Vec<u32> {
        procfs::process_tree(self.server.child.id())
    }
}

/// Myelin, as it is told what to do.
struct Bus<'a> {
    scenario: Scenario,
    backends: Backends,
    threads: usize,
    secured: Option<&'a Secured>,
    /// The beginning of its `deployment.toml`.
    settings: &'a str,
}

impl Bus<'_> {
    /// Writes its configuration into a folder and starts it; `command` is its program. Gives its configuration, too.
    fn start(&self, mut command: Command, folder: &Path) -> anyhow::Result<(Server, String)> {
        let file = folder.join("synapse.xml");
        let more = self.secured.map(|secured| secured::proxy(self.scenario, &secured.policy));
        let text = configuration::write_synapse(&file, self.backends, more.as_deref().unwrap_or_default())?;
        command.arg("run").arg(&file);
        if self.scenario.service().is_some() {
            command.args(suite::write(folder, &self.backends.echo.to_string())?);
        }
        command.args(["--http", "127.0.0.1:0", "--threads", &self.threads.to_string()]);
        let settings = self.settings.to_owned() + &self.secured.map(Secured::settings).unwrap_or_default();
        if !settings.is_empty() {
            let file = folder.join("deployment.toml");
            std::fs::write(&file, settings)?;
            command.arg("--config").arg(file);
        }
        Ok((Server::announced(command, folder, "http://")?, text))
    }
}

/// The backend, in a process of its own so that its connections do not count against ours.
pub(super) fn echo(myelin: &Path, folder: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(myelin);
    command.args(["echo", "--listen", "127.0.0.1:0"]);
    Server::announced(command, folder, "echo ready on ")
}

/// The backend that knows quotes, the same in every run.
pub(super) fn stockquote(myelin: &Path, folder: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(myelin);
    command.args(["stockquote", "--listen", "127.0.0.1:0", "--seed", &quotes::SEED.to_string()]);
    Server::announced(command, folder, "stockquote ready on http://")
}

fn relay(myelin: &Path, backend: SocketAddr, threads: usize, folder: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(myelin);
    let (to, threads) = (backend.to_string(), threads.to_string());
    command.args(["relay", "--listen", "127.0.0.1:0", "--to", &to, "--threads", &threads]);
    Server::announced(command, folder, "relay ready on ")
}

impl Server {
    /// Starts a process that writes a line with `mark` and its address to standard output when it is ready.
    fn announced(mut command: Command, folder: &Path, mark: &'static str) -> anyhow::Result<Server> {
        let log = folder.join("stderr.log");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let output = child.stdout.take().context("standard output is piped")?;
        // Until the address is known the server has none; it is stopped all the same when this fails.
        let mut server = Server { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), child };
        let (sender, receiver) = mpsc::channel();
        // Reads on after the line is found, so that the process never blocks on a full pipe; ends with the process.
        std::thread::Builder::new().name("contender-output".to_owned()).spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some(address) = find_address(&line, mark) {
                    // Only the first is waited for.
                    let _ = sender.send(address);
                }
            }
        })?;
        match receiver.recv_timeout(READY) {
            Ok(address) => server.address = address,
            Err(_) => bail!("{command:?} is not ready: {}", last_words(&log)),
        }
        Ok(server)
    }

    /// Starts a process that listens at `address`, after `ready` at the latest.
    fn at(mut command: Command, folder: &Path, address: SocketAddr, ready: Duration) -> anyhow::Result<Server> {
        let log = folder.join("stderr.log");
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let mut server = Server { address, child };
        let deadline = Instant::now() + ready;
        while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
            if server.child.try_wait()?.is_some() || Instant::now() > deadline {
                bail!("{command:?} is not ready: {}", last_words(&log));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let process_tree = procfs::process_tree(self.child.id());
        // Asked first, because nginx's master ends its workers only then.
        signal(self.child.id(), Signal::TERM);
        let deadline = Instant::now() + END;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                process_tree.iter().for_each(|process| signal(*process, Signal::KILL));
                // Killed, so this does not last.
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Sends a signal; a process that is gone needs none.
fn signal(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(process, signal);
    }
}

/// The address that follows `mark` in a ready line.
fn find_address(line: &str, mark: &str) -> Option<SocketAddr> {
    let rest = &line[line.find(mark)? + mark.len()..];
    let end = rest.find(|character: char| !(character.is_ascii_hexdigit() || ".:[]".contains(character)));
    rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ':']).parse().ok()
}

/// The end of what a process wrote to standard error.
fn last_words(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        0 => "it said nothing".to_owned(),
        count => lines[count.saturating_sub(5)..].join(" / "),
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
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such thing >&2; exit 1"]);
        let error = Server::announced(command, folder.path(), "ready").unwrap_err().to_string();
        assert!(error.contains("no such thing"), "{error}");
    }
}
