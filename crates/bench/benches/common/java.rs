//! Libraries in Java, as programs of one file beside jars of their own.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::common::process::{Process, output};

/// Fetches the jars, where those that are there are not the ones wanted, and starts `benches/java/FILE`.
///
/// Errors: a sentence about what is missing.
pub(crate) fn start(root: &Path, folder: &Path, file: &str) -> anyhow::Result<Process> {
    let (source, jars) = (root.join("benches/java"), folder.join("jars"));
    let (wanted, fetched) = (source.join("pom.xml"), jars.join("pom.xml"));
    if std::fs::read(&wanted).ok() != std::fs::read(&fetched).ok() {
        let mut fetch = Command::new("mvn");
        fetch.args(["-q", "-B", "dependency:copy-dependencies", "-f"]).arg(&wanted);
        fetch.arg(format!("-DoutputDirectory={}", std::path::absolute(&jars)?.display()));
        output(&mut fetch).context("Java's libraries (Maven)")?;
        std::fs::copy(&wanted, &fetched)?;
    }
    // One thread, as everybody; what the collector does on others is not counted.
    let mut command = Command::new("java");
    command.args(["-XX:+UseSerialGC", "-Xmx1g", "-cp"]).arg(jars.join("*")).arg(source.join(file));
    Process::start(&mut command).context("Java's libraries (a JDK)")
}
