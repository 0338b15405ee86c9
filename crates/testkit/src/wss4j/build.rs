//! Compiles the Java program into the target folder, once, with the jars that it needs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Downloads included.
const DEADLINE: Duration = Duration::from_secs(8 * 60);
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/wss4j");

/// The compiled program and its jars.
pub(super) struct Program {
    folder: PathBuf,
}

impl Program {
    /// `java` with what it needs to run a class of the program.
    pub(super) fn command(&self, class: &str) -> Command {
        let mut path = OsString::from(self.folder.join("classes"));
        path.push(":");
        path.push(self.folder.join("jars/*"));
        let mut command = Command::new("java");
        command.args(["-XX:+UseSerialGC", "-Xmx512m", "-cp"]).arg(path).arg(class);
        command
    }
}

/// The program, built from the sources as they are now.
///
/// Errors: a sentence about what this machine lacks.
/// Panics: the program does not compile; ours.
pub(super) fn program() -> Result<Program, String> {
    let folder = crate::target::folder().join("wss4j");
    let broken = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(broken)?;
    // Test binaries may run at the same time; whoever comes second finds everything built.
    let lock = File::create(folder.join("lock")).map_err(broken)?;
    lock.lock().map_err(broken)?;
    let (sources, stamp) = (sources(Path::new(SOURCES)).map_err(broken)?, folder.join("built-from"));
    if fs::read(&stamp).ok().as_ref() != Some(&sources) {
        // Offline first: without the network it is as good, and with it faster.
        if !maven(&folder, &["-o"])? && !maven(&folder, &[])? {
            let log = fs::read_to_string(folder.join("build.log")).unwrap_or_default();
            assert!(!log.contains("COMPILATION ERROR"), "tests/interop/wss4j does not compile:\n{log}");
            let reason = log.lines().find(|line| line.contains("[ERROR]")).unwrap_or("it says nothing");
            return Err(format!("Maven cannot build tests/interop/wss4j: {reason}"));
        }
        fs::write(&stamp, sources).map_err(broken)?;
    }
    Ok(Program { folder })
}

/// Whether Maven has built the program into `folder`; what it says goes to `build.log`.
///
/// Errors: a sentence: there is no Maven, or it takes too long.
fn maven(folder: &Path, options: &[&str]) -> Result<bool, String> {
    let log = File::create(folder.join("build.log")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = Command::new("mvn");
    command.args(["-q", "-B", "compile", "dependency:copy-dependencies"]).args(options);
    command.arg("-f").arg(Path::new(SOURCES).join("pom.xml"));
    command.arg(format!("-Dpeer.directory={}", folder.display()));
    command.stdin(Stdio::null()).stdout(log).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("no Maven here: {error}"))?;
    let end = Instant::now() + DEADLINE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(50)),
            _ => {
                // It is ours, and nobody waits for it any more.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("Maven takes longer than {} s", DEADLINE.as_secs()));
            }
        }
    }
}

/// Everything that the program is made of, in one run, so that two states can be compared.
fn sources(folder: &Path) -> io::Result<Vec<u8>> {
    let mut paths = vec![folder.join("pom.xml")];
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { paths.push(entry.path()) }
        }
    }
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        all.extend_from_slice(path.to_string_lossy().as_bytes());
        all.extend(fs::read(path)?);
    }
    Ok(all)
}
