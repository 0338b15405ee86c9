//! How many files and sockets this process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Two file descriptors a request: asks for as many as the system lets this process have.
pub(crate) fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // A refusal leaves the limit as it was; running into it is reported where it happens.
    let _ = setrlimit(Resource::Nofile, limit);
}
