//! How much memory the messages of this process may take: what the settings say, else a half of what it may have.

use std::path::Path;

use myelin_message::budget;

/// A half is left for connections, caches, the work of stylesheets and scripts, and what an allocator cannot give back.
const SHARE: usize = 2;

/// How much memory all messages together may take: `bytes`, or a half of the least limit of the machine and of the
/// control groups that the process is in; without any there is none.
fn limit_bytes(bytes: Option<usize>) -> Option<usize> {
    bytes.or_else(|| available_bytes(Path::new("/")).map(|available| available / SHARE))
}

/// How much memory the work of one stylesheet or script may take by default: on all threads together it takes a half of
/// what the messages may.
pub(crate) fn work_bytes(bytes: Option<usize>, threads: usize) -> usize {
    limit_bytes(bytes).map_or(usize::MAX, |limit| limit / 2 / threads.max(1))
}

/// Sets the limit of the process.
pub(crate) fn set_memory_limit(bytes: Option<usize>) {
    if let Some(limit) = limit_bytes(bytes) {
        budget::set_limit(limit);
        tracing::info!("all messages together may take {} MiB of memory", limit >> 20);
    }
}

/// The least of what the machine has and what the control groups allow, version 2 and 1; in a container the group of the
/// process is often the root of what can be seen.
///
/// Source: cgroups(7), `memory.max` of Linux's cgroup-v2.rst, `memory.limit_in_bytes` of version 1.
fn available_bytes(root: &Path) -> Option<usize> {
    let read = |path: &Path| std::fs::read_to_string(root.join(path)).ok();
    let meminfo = read(Path::new("proc/meminfo")).unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"));
    let machine = total.and_then(|kib| kib.trim().parse::<usize>().ok()).and_then(|kib| kib.checked_mul(1024));
    let groups = read(Path::new("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (mount, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|it| it == "memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return Vec::new(),
        };
        let above = Path::new(path.trim_start_matches('/')).ancestors().map(|group| Path::new(mount).join(group));
        // A group without a limit says `max`.
        above.filter_map(|group| read(&group.join(file))?.trim().parse().ok()).collect()
    });
    limits.chain(machine).min()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn work_on_all_threads_takes_a_half_of_the_messages_memory() {
        assert_eq!(work_bytes(Some(512 << 20), 2), 128 << 20);
        assert_eq!(work_bytes(Some(512 << 20), 0), 256 << 20);
    }

    #[test]
    fn the_least_limit_of_machine_and_groups_counts() {
        let check = |files: &[(&str, &str)], expected: Option<usize>| {
            let root = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = root.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            assert_eq!(available_bytes(root.path()), expected, "{files:?}");
        };
        check(&[], None);
        let machine = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8000 kB\n");
        check(&[machine], Some(8_192_000));
        let v2 = ("proc/self/cgroup", "0::/pod/bus\n");
        let none = ("sys/fs/cgroup/pod/bus/memory.max", "max\n");
        check(&[machine, v2, none], Some(8_192_000));
        check(&[machine, v2, none, ("sys/fs/cgroup/pod/memory.max", "4096000\n")], Some(4_096_000));
        check(&[machine, v2, ("sys/fs/cgroup/memory.max", "2048\n")], Some(2_048));
        let v1 = ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/pod/bus\n0::/\n");
        let unlimited = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        check(&[machine, v1, unlimited], Some(8_192_000));
        check(&[v1, unlimited, ("sys/fs/cgroup/memory/pod/bus/memory.limit_in_bytes", "1024\n")], Some(1_024));
    }
}
