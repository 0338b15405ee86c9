//! What the process takes of its machine, as far as the machine tells.

use std::fs;
use std::time::Duration;

use myelin_manage::ProcessUsage;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// What the process has taken so far, and has now.
///
/// Source: proc(5), `/proc/self/statm` and `/proc/self/fd`.
pub(crate) fn process_usage() -> ProcessUsage {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.and_then(|pages| pages.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
    let page_bytes = u64::try_from(rustix::param::page_size()).unwrap_or(u64::MAX);
    ProcessUsage {
        processor_time: Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default(),
        resident_bytes: resident.map(|pages| pages.saturating_mul(page_bytes)),
        // One of them is the folder that is being read.
        open_files: fs::read_dir("/proc/self/fd").ok().map(|files| files.count().saturating_sub(1)),
        file_limit: getrlimit(Resource::Nofile).current,
    }
}
