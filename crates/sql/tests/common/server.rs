//! Database servers that are started for one test, on a port of their own and in a folder of their own.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use myelin_testkit::{port, skip};
use rustix::process::{Pid, Signal, kill_process};

/// How long a server may take to begin, on a machine with other things to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// A user of Debian without any rights: servers of databases do not run as root.
const NOBODY: u32 = 65534;

/// A server, which ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    /// A PostgreSQL with a user `bus`, whose password is `hush`; `None`, told as skipped, where there is none.
    pub(crate) fn postgres() -> Option<Server> {
        let Some(programs) = postgres_programs() else {
            skip("no PostgreSQL in /usr/lib/postgresql; `cargo xtask setup` installs it");
            return None;
        };
        let folder = folder();
        let (data, password) = (folder.path().join("data"), folder.path().join("password"));
        std::fs::write(&password, "hush").unwrap();
        let mut make = command(&programs.join("initdb"));
        make.arg("-D")
            .arg(&data)
            .args(["-U", "bus", "-A", "scram-sha-256", "--no-sync"])
            .arg("--pwfile")
            .arg(&password);
        succeed(&mut make);
        let port = port::free().unwrap().port();
        let mut run = command(&programs.join("postgres"));
        run.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "fsync=off", "-c", "unix_socket_directories="]);
        Some(Server::start(run.args(["-c", "listen_addresses=127.0.0.1"]), port, folder))
    }

    /// A MariaDB with a database `orders`, where everybody may do everything; `None`, told as skipped, without one.
    pub(crate) fn mariadb() -> Option<Server> {
        let program = Path::new("/usr/sbin/mariadbd");
        if !program.is_file() {
            skip("no MariaDB in /usr/sbin; `cargo xtask setup` installs it");
            return None;
        }
        let folder = folder();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        rustix::fs::chown(&data, owner(), None).unwrap();
        let port = port::free().unwrap().port();
        let mut run = command(program);
        run.args(["--no-defaults", "--skip-grant-tables", "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=16M"]);
        run.arg(format!("--datadir={}", data.display())).arg(format!("--port={port}"));
        run.arg(format!("--socket={}", folder.path().join("socket").display()));
        Some(Server::start(&mut run, port, folder))
    }

    fn start(command: &mut Command, port: u16, folder: tempfile::TempDir) -> Server {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut server = Server { child, port, _folder: folder };
        let until = Instant::now() + DEADLINE;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(Instant::now() < until, "the server does not answer");
            assert_eq!(server.child.try_wait().unwrap(), None, "the server has ended");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has ended already cannot be asked to.
        let _ = kill_process(Pid::from_child(&self.child), Signal::QUIT);
        let until = Instant::now() + Duration::from_secs(5);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The newest PostgreSQL of Debian.
fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    programs.filter(|programs| programs.join("initdb").is_file()).max()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    rustix::fs::chown(folder.path(), owner(), None).unwrap();
    folder
}

/// Whose the files of a server are.
fn owner() -> Option<rustix::fs::Uid> {
    rustix::process::geteuid().is_root().then(|| rustix::fs::Uid::from_raw(NOBODY))
}

/// A command that does not run as root.
fn command(program: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    // Its own folder may be one that it cannot read.
    command.current_dir("/").stdin(Stdio::null());
    if owner().is_some() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
