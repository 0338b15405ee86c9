//! `myelin home`: a folder that WSO2's extension for VS Code takes for the home of a Micro Integrator, so that it starts
//! Myelin as its server.

use std::fmt;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

/// How the file begins by which a folder of ours is known.
const OURS: &str = "Myelin ";

const SCRIPT: &str = include_str!("home/micro-integrator.sh");
const DEPLOYMENT: &str = include_str!("home/deployment.toml");
const LOCAL_ENTRY: &str = include_str!("home/local-entry.xml");

/// Where the extension puts archives, libraries and looks for logs; it makes none of these folders itself.
const FOLDERS: &[&str] = &[
    "bin",
    "conf",
    "lib",
    "repository/deployment/server/carbonapps",
    "repository/deployment/server/synapse-configs/default/local-entries",
    "repository/logs",
];

/// The arguments of `myelin home`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder; made where it is not there, and brought up to date where `myelin home` has made it before
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The version of Micro Integrator that it is taken for: that of `project.runtime.version` in the projects' pom.xml
    #[arg(long, value_name = "X.Y.Z", default_value_t = RuntimeVersion([4, 6, 0]), value_parser = RuntimeVersion::parse)]
    runtime_version: RuntimeVersion,
    /// Put a copy of this program into the folder instead of a link to it, so that the folder can be moved
    #[arg(long)]
    copy: bool,
}

/// The version of a Micro Integrator.
#[derive(Clone, Copy, Debug)]
struct RuntimeVersion([u16; 3]);

impl RuntimeVersion {
    fn parse(text: &str) -> Result<RuntimeVersion, String> {
        let parts: Vec<u16> = text.split('.').map_while(|part| part.parse().ok()).collect();
        let version = <[u16; 3]>::try_from(parts).map(RuntimeVersion);
        let version = version.ok().filter(|version| version.to_string() == text);
        version.ok_or_else(|| "a version is three numbers, as 4.6.0".to_owned())
    }
}

impl fmt::Display for RuntimeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuntimeVersion([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Writes the folder. What its owner may have changed or put there stays: the configuration, archives, libraries, logs.
///
/// Errors: the folder holds something else, or cannot be written.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let Arguments { folder, runtime_version, copy } = arguments;
    let version_file = folder.join("bin/version.txt");
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    if !is_empty && !fs::read_to_string(&version_file).is_ok_and(|text| text.starts_with(OURS)) {
        bail!("{}: the folder holds something that `myelin home` did not make; name another one", folder.display());
    }
    for name in FOLDERS {
        let path = folder.join(name);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
    }
    let own_version = env!("CARGO_PKG_VERSION");
    write(&version_file, &format!("{OURS}{own_version} in the place of WSO2 Micro Integrator v{runtime_version}\n"))?;
    let script = folder.join("bin/micro-integrator.sh");
    write(&script, SCRIPT)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).with_context(|| script.display().to_string())?;
    let local_entries = folder.join("repository/deployment/server/synapse-configs/default/local-entries");
    write(&local_entries.join("myelin-vscode-home.xml"), LOCAL_ENTRY)?;
    let deployment = folder.join("conf/deployment.toml");
    if !deployment.exists() {
        write(&deployment, DEPLOYMENT)?;
    }
    place_program(&folder.join("bin/myelin"), *copy)?;
    let folder = std::path::absolute(folder)?;
    writeln!(out, "{} is ready; give its path to the extension as the server: docs/vscode.md", folder.display())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Puts this program there, unless it is there already.
fn place_program(place: &Path, is_copy: bool) -> anyhow::Result<()> {
    let program = std::env::current_exe().and_then(fs::canonicalize).context("finding this program's own file")?;
    let is_this = place.canonicalize().is_ok_and(|there| there == program);
    // A copy that makes itself anew would only lead to itself.
    if is_this && (!is_copy || !place.is_symlink()) {
        return Ok(());
    }
    let made = || {
        // A program that runs cannot be written to; its name can be given to another.
        let new = place.with_file_name("myelin.new");
        remove(&new)?;
        if is_copy {
            fs::copy(&program, &new)?;
        } else {
            symlink(&program, &new)?;
        }
        fs::rename(&new, place)
    };
    made().with_context(|| place.display().to_string())
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers() {
        let check = |text: &str, is_one: bool| {
            assert_eq!(RuntimeVersion::parse(text).is_ok_and(|version| version.to_string() == text), is_one, "{text}");
        };
        check("4.6.0", true);
        check("4.10.12", true);
        for text in ["", "4", "4.6", "4.6.0.1", "4.6.x", "v4.6.0", "4.06.0", "4.6.0-UPDATED", "4..0"] {
            check(text, false);
        }
    }
}
