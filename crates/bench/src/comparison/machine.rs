//! The machine that measures, as far as it matters for figures.

use std::fs;

use rustix::process::{Resource, Rlimit};

use crate::results::Machine;

/// What is known of this machine; `open_files_limit` is what [`raise_files`] gave.
pub(super) fn machine(open_files_limit: u64) -> Machine {
    let load = read_line("/proc/loadavg");
    Machine {
        name: read_line("/proc/sys/kernel/hostname"),
        kernel: read_line("/proc/sys/kernel/osrelease"),
        processor: field("/proc/cpuinfo", "model name"),
        processors: std::thread::available_parallelism().map_or(0, usize::from),
        memory_kilobytes: field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0),
        open_files_limit,
        load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0),
        measured_by: concat!("myelin ", env!("CARGO_PKG_VERSION")).to_owned(),
    }
}

/// Raises the limit of open files as far as we may, for us and what we start; the limit as it then is.
///
/// The echo and the targets inherit it; 10,000 clients and as many backend connections need it.
pub(super) fn raise_files() -> u64 {
    const WANTED: u64 = 65_536;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let ample = Rlimit { current: Some(WANTED), maximum: limit.maximum.map(|maximum| maximum.max(WANTED)) };
    let allowed = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Only root may raise the hard limit; without it the largest scenarios may fail, and say so.
    if rustix::process::setrlimit(Resource::Nofile, ample).is_err() {
        let _ = rustix::process::setrlimit(Resource::Nofile, allowed);
    }
    rustix::process::getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// The value of the first line `name : value` in a file of such lines.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}
