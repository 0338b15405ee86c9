//! Databases behind the trait `Databases` of the flow: SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! All waiting is done on one thread of its own, so that no loop of the bus ever waits for a database; SQLite, which
//! has no server, works on a thread for each connection.
//! A pool belongs to its source and not to a bus: as long as one bus has the source, its connections go on.

mod answer;
mod connection;
mod failure;
mod limits;
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

use myelin_flow::database::{DataSource, Databases, Opened};

pub use limits::Limits;
use pool::Pool;
use target::Target;
use worker::Worker;

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
