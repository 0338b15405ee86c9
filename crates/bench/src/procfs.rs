//! What the kernel knows about a process: CPU time, memory, threads, open files.
//!
//! Source: proc(5); `schedstat` is described in the kernel's `Documentation/scheduler/sched-stats.rst`.

use std::fs;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// CPU time a process, or several, has used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// In user mode.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
}

/// The resources a process, or several together, holds at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The most memory it ever had resident, in bytes (`VmHWM`).
    pub peak_memory_bytes: u64,
    /// The memory it has resident, in bytes (`VmRSS`).
    pub memory_bytes: u64,
    /// Its threads.
    pub threads: u64,
    /// Its open file descriptors; 0 where we may not look.
    pub open_files: u64,
}

impl CpuTimes {
    /// User and system time together.
    pub fn total(&self) -> Duration {
        self.user + self.system
    }

    /// What was used since `earlier`.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimes {
        CpuTimes { user: self.user.saturating_sub(earlier.user), system: self.system.saturating_sub(earlier.system) }
    }
}

/// The CPU time of one process.
///
/// Units: the split into user and system comes in clock ticks (10 ms as a rule); where the scheduler's nanoseconds
/// are to be had, the sum is exact and the ticks only divide it. The time of threads that have ended is known in ticks
/// alone.
/// Errors: there is no such process, or it may not be read; the caller's.
pub fn cpu_times(process: u32) -> io::Result<CpuTimes> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let ticks = rustix::param::clock_ticks_per_second();
    let times = parse_stat(&text, ticks).ok_or_else(|| io::Error::other("/proc/PID/stat has another form"))?;
    Ok(match scheduler_time(process) {
        // Ticks are rounded down: where they are more, they hold the time of threads that have ended.
        Some(exact) if exact > times.total() => scale(times, exact),
        _ => times,
    })
}

/// What the process holds now.
///
/// Errors: there is no such process, or it may not be read; the caller's.
pub fn usage(process: u32) -> io::Result<Usage> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = |name| status_number(&status, name).unwrap_or(0) * 1024;
    Ok(Usage {
        peak_memory_bytes: kilobytes("VmHWM:"),
        memory_bytes: kilobytes("VmRSS:"),
        threads: status_number(&status, "Threads:").unwrap_or(0),
        open_files: fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |entries| entries.count() as u64),
    })
}

/// Has the kernel count the most memory that a process ever had from now on; where we may not, it goes on as before.
pub fn forget_peak(process: u32) {
    // Where that is refused, peaks are of all cells so far.
    let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
}

/// The CPU times of several processes added up; those that ended count nothing.
pub fn cpu_times_of(processes: &[u32]) -> CpuTimes {
    processes.iter().filter_map(|process| cpu_times(*process).ok()).fold(CpuTimes::default(), |sum, times| CpuTimes {
        user: sum.user + times.user,
        system: sum.system + times.system,
    })
}

/// What several processes hold together; those that ended count nothing.
pub fn usage_of(processes: &[u32]) -> Usage {
    processes.iter().filter_map(|process| usage(*process).ok()).fold(Usage::default(), |sum, one| Usage {
        peak_memory_bytes: sum.peak_memory_bytes + one.peak_memory_bytes,
        memory_bytes: sum.memory_bytes + one.memory_bytes,
        threads: sum.threads + one.threads,
        open_files: sum.open_files + one.open_files,
    })
}

/// The process and all its descendants, itself first.
pub fn process_tree(process: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let one: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{one}/stat")).ok()?;
            Some((one, after_name(&stat)?.split(' ').nth(1)?.parse().ok()?))
        })
        .collect();
    let mut process_tree = vec![process];
    let mut next = 0;
    while next < process_tree.len() {
        let parent = process_tree[next];
        process_tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(one, _)| *one));
        next += 1;
    }
    process_tree
}

/// Nanoseconds on the CPU by the scheduler's own account, over all living threads; `None` where the kernel has none.
fn scheduler_time(process: u32) -> Option<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(nanoseconds))
}

/// `times` with their proportion kept and `exact` as their sum.
fn scale(times: CpuTimes, exact: Duration) -> CpuTimes {
    let share = match times.total() {
        Duration::ZERO => 0.0,
        total => times.user.as_secs_f64() / total.as_secs_f64(),
    };
    let user = exact.mul_f64(share);
    CpuTimes { user, system: exact.saturating_sub(user) }
}

/// What follows the name in `/proc/PID/stat`; the name itself may hold blanks and brackets.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, rest)| rest)
}

fn parse_stat(stat: &str, ticks_per_second: u64) -> Option<CpuTimes> {
    // Field 3 is the first after the name; 14 and 15 are the user and the system time.
    let mut fields = after_name(stat)?.split(' ').skip(11);
    let mut time = || -> Option<Duration> {
        let ticks: u64 = fields.next()?.parse().ok()?;
        Some(Duration::from_secs_f64(ticks as f64 / ticks_per_second.max(1) as f64))
    };
    Some(CpuTimes { user: time()?, system: time()? })
}

fn status_number(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets_does_not_move_the_fields() {
        let stat = "42 (a) b (c) S 7 42 42 0 -1 4194304 100 0 0 0 250 150 0 0 20 0 3 0 100 1000 50";
        let times = parse_stat(stat, 100).unwrap();
        assert_eq!(times, CpuTimes { user: Duration::from_millis(2500), system: Duration::from_millis(1500) });
        assert_eq!(after_name(stat).unwrap().split(' ').nth(1), Some("7"));
        assert_eq!(parse_stat("nonsense", 100), None);
    }

    #[test]
    fn our_own_process_is_seen_working() {
        let me = std::process::id();
        let before = cpu_times(me).unwrap();
        let mut sum = 0_u64;
        while cpu_times(me).unwrap().since(&before).total() < Duration::from_millis(20) {
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        let usage = usage(me).unwrap();
        assert!(usage.threads >= 1 && usage.open_files >= 3, "{usage:?} {sum}");
        assert!(usage.peak_memory_bytes >= usage.memory_bytes && usage.memory_bytes > 100_000, "{usage:?}");
    }

    #[test]
    fn the_time_of_a_thread_that_has_ended_stays_counted() {
        let me = std::process::id();
        let before = cpu_times(me).unwrap();
        let worker =
            std::thread::spawn(
                move || {
                    while cpu_times(me).unwrap().since(&before).total() < Duration::from_millis(100) {}
                },
            );
        worker.join().unwrap();
        let spent = cpu_times(me).unwrap().since(&before).total();
        assert!(spent > Duration::from_millis(50), "{spent:?}");
    }

    #[test]
    fn children_belong_to_the_family() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        assert!(process_tree(std::process::id()).contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(cpu_times(u32::MAX).is_err());
    }

    #[test]
    fn exact_time_is_divided_as_the_ticks_were() {
        let ticks = CpuTimes { user: Duration::from_millis(30), system: Duration::from_millis(10) };
        let exact = scale(ticks, Duration::from_millis(44));
        assert_eq!(exact, CpuTimes { user: Duration::from_millis(33), system: Duration::from_millis(11) });
        let fresh = scale(CpuTimes::default(), Duration::from_millis(1));
        assert_eq!(fresh.total(), Duration::from_millis(1));
    }
}
