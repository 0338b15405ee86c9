//! How many files and sockets this process may have open.

use myelin_http::clients_within;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Files and sockets that are opened beside the connections of clients and backends: logs, configurations that are
/// reloaded, databases, questions for names, pipes.
const ASIDE: usize = 32;
/// What each thread opens: its listeners, and what wakes it.
const OF_A_THREAD: usize = 8;

/// Two file descriptors a request: asks for as many as the system lets this process have, and gives how many these are.
pub(crate) fn raise_file_limit() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // A refusal leaves the limit as it was; running into it is reported where it happens.
    let _ = setrlimit(Resource::Nofile, limit);
    getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// How many clients may be connected at once, so that requests find file descriptors for their backends.
pub(crate) fn clients_that_fit(limit: usize, threads: usize) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    clients_within(limit.saturating_sub(open + ASIDE + OF_A_THREAD * threads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_leave_room_for_backends() {
        let clients = clients_that_fit(256, 2);
        assert!((96..150).contains(&clients), "{clients}");
        assert_eq!(clients_that_fit(16, 2), 1);
        assert!(clients_that_fit(1 << 20, 64) > 20_000);
        assert!(clients_that_fit(usize::MAX, 2) > 20_000);
    }
}
