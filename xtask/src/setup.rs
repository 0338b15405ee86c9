//! `cargo xtask setup`: brings what tests and benches need and the machine lacks.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::process::{is_installed, succeeds};
use crate::workspace::root;

/// axe, which finds what keeps people out of a web page; the version that the tests were written with.
const AXE: &str = "axe-core@4.14.1";

/// Downloads included.
const DEADLINE: Duration = Duration::from_secs(8 * 60);

/// Something from Debian's packages that is not Rust.
struct Need {
    package: &'static str,
    program: &'static str,
    reason: &'static str,
}

const NEEDS: &[Need] = &[
    Need { package: "nginx-light", program: "nginx", reason: "the benchmark's first contender" },
    Need { package: "haproxy", program: "haproxy", reason: "the benchmark's second contender" },
    Need { package: "wrk", program: "wrk", reason: "a load generator to check ours against" },
    Need { package: "apache2-utils", program: "ab", reason: "the load generator of the public rounds" },
    Need { package: "strace", program: "strace", reason: "counts system calls per request" },
    Need { package: "valgrind", program: "valgrind", reason: "counts instructions per message" },
    Need { package: "libxml2-utils", program: "xmllint", reason: "another opinion on XPath and canonical XML" },
    Need { package: "libxml2-dev", program: "xml2-config", reason: "a library to measure ours against, in memory" },
    Need { package: "libxslt1-dev", program: "xslt-config", reason: "a processor to measure ours against, in memory" },
    Need { package: "xmlsec1", program: "xmlsec1", reason: "another opinion on signatures and encryption" },
    Need { package: "libxmlsec1-dev", program: "xmlsec1-config", reason: "a library to measure WS-Security against" },
    Need { package: "xsltproc", program: "xsltproc", reason: "another opinion on XSLT" },
    Need { package: "postgresql", program: "pg_ctlcluster", reason: "the server that <dblookup> is tested with" },
    Need { package: "mariadb-server-core", program: "mariadbd", reason: "the same for MySQL's protocol" },
    Need { package: "chromium", program: "chromium", reason: "the browser that reports and the console are opened in" },
    Need { package: "prometheus", program: "promtool", reason: "who reads the metrics" },
    Need { package: "curl", program: "curl", reason: "a client that others wrote, for the examples" },
];

/// What comes from Python's registry: Debian has no package of it.
const SCHEMATHESIS: &str = "schemathesis";

/// Installs what asks the management API by its description, where Python's installer is there.
fn install_schemathesis() {
    if is_installed(SCHEMATHESIS) {
        return;
    }
    println!("setup: {SCHEMATHESIS} is missing (PyPI): it asks the management API what its description offers");
    let installed = is_installed("pip3")
        && succeeds(Command::new("pip3").args(["install", "--quiet", SCHEMATHESIS]), DEADLINE).unwrap_or(false);
    println!("setup: {}", if installed { "installed it" } else { "it was not installed; its test will be skipped" });
}

/// Installs what is missing, as far as this machine lets it, and says what it does.
///
/// It succeeds in any case: a test that needs what is missing skips itself visibly.
pub(crate) fn run() -> Result<()> {
    install_schemathesis();
    programs()?;
    axe()
}

/// Brings axe, where npm is there to bring it.
fn axe() -> Result<()> {
    let folder = root().join("target/axe");
    if folder.join("node_modules/axe-core/axe.min.js").is_file() {
        return Ok(());
    }
    if !is_installed("npm") {
        println!("setup: npm is missing, so there is no axe: a test of the console will be skipped");
        return Ok(());
    }
    std::fs::create_dir_all(&folder)?;
    println!("setup: npm install {AXE}");
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&folder).arg(AXE);
    if !succeeds(&mut command, DEADLINE).unwrap_or(false) {
        println!("setup: npm failed; a test of the console will be skipped");
    }
    Ok(())
}

fn programs() -> Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !is_installed(need.program)).collect();
    if missing.is_empty() {
        println!("setup: all {} programs are there", NEEDS.len());
        return Ok(());
    }
    for need in &missing {
        println!("setup: {} is missing (Debian package {}): {}", need.program, need.package, need.reason);
    }
    if !is_installed("apt-get") {
        println!("setup: no apt-get here, so nothing was installed; install them by hand to run every test");
        return Ok(());
    }
    if !rustix::process::geteuid().is_root() {
        println!("setup: not root, so nothing was installed; run as root: apt-get install {}", packages(&missing));
        return Ok(());
    }
    let update = apt(&["update"], &[]);
    let names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    if update.and_then(|_| apt(&["install", "--yes", "--no-install-recommends"], &names)).unwrap_or(false) {
        println!("setup: installed {}", packages(&missing));
    } else {
        println!("setup: apt-get failed; tests that need what is missing will be skipped");
    }
    Ok(())
}

fn packages(needs: &[&Need]) -> String {
    needs.iter().map(|need| need.package).collect::<Vec<_>>().join(" ")
}

fn apt(arguments: &[&str], packages: &[&str]) -> Result<bool> {
    println!("setup: apt-get {} {}", arguments.join(" "), packages.join(" "));
    let mut command = Command::new("apt-get");
    // Servers must not start on the machine they are installed on, and nobody is there to answer questions.
    command.env("DEBIAN_FRONTEND", "noninteractive").env("RUNLEVEL", "1");
    succeeds(command.arg("-qq").args(["-o", "DPkg::Lock::Timeout=60"]).args(arguments).args(packages), DEADLINE)
}
