//! Other buses as processes, each started by a script of this project.

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::port;

/// Downloads included.
const START: Duration = Duration::from_secs(8 * 60);
/// How a script says that the machine lacks something.
const LACKING: i32 = 3;

/// A running process that listens; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Gateway {
    child: Child,
    address: SocketAddr,
}

impl Gateway {
    /// Starts a script and waits until it listens; `None` where the machine lacks something.
    ///
    /// Shape: `script` is a path inside the project; `arguments` get a free port and say what the script is given.
    /// What it writes goes to `PORT.log` in `home`.
    /// Errors: it ends, or takes too long; ours.
    pub(crate) fn start(
        script: &str,
        home: &Path,
        arguments: impl FnOnce(&mut Command, u16),
    ) -> io::Result<Option<Gateway>> {
        fs::create_dir_all(home)?;
        // Such a bus cannot be told to choose one itself.
        let address = port::free()?;
        let log = File::create(home.join(format!("{}.log", address.port())))?;
        let scripts = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut command = Command::new(scripts.join(script));
        arguments(command.arg(home), address.port());
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let mut gateway = Gateway { child, address };
        let end = Instant::now() + START;
        while TcpStream::connect(address).is_err() {
            match gateway.child.try_wait()? {
                Some(status) if status.code() == Some(LACKING) => return Ok(None),
                Some(status) => return Err(io::Error::other(format!("it ends with {status}; its log is there"))),
                None if Instant::now() > end => return Err(io::ErrorKind::TimedOut.into()),
                None => thread::sleep(Duration::from_millis(100)),
            }
        }
        Ok(Some(gateway))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It has nothing to finish.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
