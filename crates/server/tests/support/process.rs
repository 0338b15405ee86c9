//! A `myelin` process of a folder, as an operator runs it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a test waits for what must happen, on a machine with other things to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A `myelin run` of a folder, whose log can be waited for.
pub(crate) struct Process {
    child: Child,
    /// Where it serves HTTP.
    pub(crate) address: SocketAddr,
    /// Where it serves HTTPS, if it does.
    pub(crate) secure: Option<SocketAddr>,
    log: Receiver<String>,
    /// What it was started with.
    pub(crate) folder: tempfile::TempDir,
}

impl Process {
    pub(crate) fn run(files: &[(&str, &str)], settings: &str) -> Process {
        Process::with(files, settings, &[])
    }

    /// The same with further arguments.
    pub(crate) fn with(files: &[(&str, &str)], settings: &str, arguments: &[&str]) -> Process {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bus")).unwrap();
        files.iter().for_each(|(name, text)| write(&folder.path().join("bus").join(name), text));
        write(&folder.path().join("deployment.toml"), settings);
        let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
        command.arg("run").arg(folder.path().join("bus")).arg("--config").arg(folder.path().join("deployment.toml"));
        command.args(["--http", "127.0.0.1:0"]).args(arguments).env("MYELIN_LOG", "info");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        // One that restarts writes another line.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let of = |scheme: &str| Some(line.split(' ').find_map(|word| word.strip_prefix(scheme))?.parse().unwrap());
        let (address, secure) = (of("http://").unwrap(), of("https://"));
        let (sender, log) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // Nobody may listen any more; the pipe is read to its end all the same.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Process { child, address, secure, log, folder }
    }

    /// Its number in the system.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How long the thread that serves was on a processor so far; the bus runs with one.
    pub(crate) fn serving_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.id())).unwrap().map(|task| task.unwrap().path());
        let serves = |task: &PathBuf| fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "bus-0");
        let task = tasks.into_iter().find(serves).expect("a thread serves");
        let statistics = fs::read_to_string(task.join("schedstat")).unwrap();
        Duration::from_nanos(statistics.split(' ').next().unwrap().parse().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("bus").join(name)
    }

    pub(crate) fn hang_up(&self) {
        kill_process(Pid::from_child(&self.child), Signal::HUP).unwrap();
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The status that it ends with.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let until = Instant::now() + DEADLINE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for a line of the log that holds `part`.
    pub(crate) fn logged(&self, part: &str) -> String {
        self.logged_until(part).pop().expect("the line that holds the part is the last")
    }

    /// The lines of the log that come up to one that holds `part`.
    pub(crate) fn logged_until(&self, part: &str) -> Vec<String> {
        let until = Instant::now() + DEADLINE;
        let mut seen = Vec::new();
        while let Ok(line) = self.log.recv_timeout(until.saturating_duration_since(Instant::now())) {
            seen.push(line);
            if seen.last().is_some_and(|line| line.contains(part)) {
                return seen;
            }
        }
        panic!("{part:?} is not in {seen:#?}");
    }

    /// Whether a line of the log that has come so far holds `part`.
    pub(crate) fn has_logged(&self, part: &str) -> bool {
        self.log.try_iter().any(|line| line.contains(part))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Replaces a file at once, as tools that deploy do.
pub(crate) fn write(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}
