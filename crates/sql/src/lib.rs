//! Databases behind the trait by which mediation asks them: SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! All waiting is done on one thread of its own, so that no loop of the bus ever waits for a database; SQLite, which
//! has no server, works on a thread for each connection.
//! A pool belongs to its source and not to a bus: as long as one bus has the source, its connections go on.

mod answer;
mod connection;
mod failure;
mod moment;
mod mysql;
mod placeholders;
mod pool;
mod postgres;
mod sqlite;
mod target;
mod worker;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use myelin_mediation::database::{DataSource, Databases, Opened};

use pool::Pool;
use target::Target;
use worker::Worker;

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

/// The databases of a process.
#[derive(Debug)]
pub struct Sql {
    limits: Limits,
    worker: Arc<Worker>,
    pools: Mutex<HashMap<DataSource, Weak<Pool>>>,
}

impl Sql {
    /// Nothing is connected to, and no thread started, before somebody asks.
    pub fn new(limits: Limits) -> Sql {
        Sql { limits, worker: Arc::default(), pools: Mutex::default() }
    }
}

impl Databases for Sql {
    fn open(&self, source: &DataSource) -> Result<Opened, String> {
        let (target, remarks) = Target::read(source, &self.limits)?;
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|_, pool| pool.strong_count() > 0);
        let known = pools.get(source).and_then(Weak::upgrade);
        let pool = known.unwrap_or_else(|| {
            let pool = Pool::new(target, source, &self.limits, &self.worker);
            pools.insert(source.clone(), Arc::downgrade(&pool));
            pool
        });
        Ok(Opened { database: pool, remarks })
    }
}
