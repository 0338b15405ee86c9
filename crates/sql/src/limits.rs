//! What a database may take of the bus.

use std::time::Duration;

/// What a database may take of the bus where its source says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many connections there are to one database at most.
    pub connections: usize,
    /// How many wait for a connection to one database; who comes when they are that many is sent away at once.
    pub waiting: usize,
    /// How long they wait.
    pub wait: Duration,
    /// How long making a connection may take, and trying one that was idle.
    pub connect_timeout: Duration,
    /// How long a statement may take; its connection is closed then.
    pub timeout: Duration,
    /// After how long without work a connection is closed.
    pub idle: Duration,
    /// How many prepared statements a connection keeps.
    pub statements: usize,
}

impl Default for Limits {
    /// Fifty connections, 200 that wait five seconds, and thirty seconds for a statement.
    fn default() -> Limits {
        Limits {
            connections: 50,
            waiting: 200,
            wait: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            idle: Duration::from_secs(600),
            statements: 100,
        }
    }
}
