//! xsltproc, the XSLT 1.0 that others wrote.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether it is installed; where it is not, the test says that it is skipped and should return.
pub(crate) fn is_installed() -> bool {
    let found = Command::new("xsltproc").arg("--version").output().is_ok();
    if !found {
        myelin_testkit::skip("xsltproc is not installed (Debian: xsltproc)");
    }
    found
}

/// What it makes of a document; `Err`: what it complains of.
///
/// Shape: `parameters` are names with XPath expressions.
pub(crate) fn run(stylesheet: &Path, document: &Path, parameters: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let mut command = Command::new("xsltproc");
    command.args(["--nonet", "--nowrite"]).stdin(Stdio::null());
    for (name, expression) in parameters {
        command.args(["--param", name, expression]);
    }
    // Where a stylesheet is named relative to the folder, messages and base URIs are the same everywhere.
    if let (Some(folder), Some(name)) = (stylesheet.parent(), stylesheet.file_name()) {
        command.current_dir(folder).arg(name);
    }
    let output = command.arg(document).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
