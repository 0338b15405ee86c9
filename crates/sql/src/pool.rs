//! The connections to one database: how many there are, who waits for one, and how long anything takes.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use myelin_flow::database::{
    Answer, Call, DataSource, Database, DatabaseError, DatabaseErrorKind, Kind, Manner, Outcome, Statement,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::answer::Ran;
use crate::connection::Connection;
use crate::limits::Limits;
use crate::placeholders::translate;
use crate::target::Target;
use crate::worker::Worker;

/// A connection that was idle for longer is tried before it is used.
const TRUSTED: Duration = Duration::from_secs(1);

/// How long a connection that is closed may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// The connections to one database.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    worker: Arc<Worker>,
    /// One for each who has a connection or waits for one.
    places: Arc<Semaphore>,
}

/// What those who run statements have in common.
struct Shared {
    target: Target,
    /// One for each connection there may be.
    permits: Arc<Semaphore>,
    shelf: Mutex<Shelf>,
    wait: Duration,
    idle: Duration,
    /// How many connections are kept at most while nobody needs them.
    kept: usize,
    /// Whether each connection is tried before it is used.
    test: bool,
}

/// The connections that nobody uses, the one used last at the end.
#[derive(Default)]
struct Shelf {
    idle: Vec<(Connection, Instant)>,
    /// Whether somebody looks after them.
    swept: bool,
}

impl Pool {
    pub(crate) fn new(target: Target, source: &DataSource, limits: &Limits, worker: &Arc<Worker>) -> Arc<Pool> {
        let most = source.pool.connections.unwrap_or(limits.connections).clamp(1, Semaphore::MAX_PERMITS / 2);
        let connections = if target.in_memory { 1 } else { most };
        let waiting = limits.waiting.min(Semaphore::MAX_PERMITS / 2);
        let shared = Shared {
            permits: Arc::new(Semaphore::new(connections)),
            shelf: Mutex::default(),
            wait: source.pool.wait.unwrap_or(limits.wait),
            idle: limits.idle,
            kept: if target.in_memory { 1 } else { source.pool.idle.unwrap_or(connections) },
            test: source.pool.test,
            target,
        };
        let places = Arc::new(Semaphore::new(connections + waiting));
        Arc::new(Pool { shared: Arc::new(shared), worker: Arc::clone(worker), places })
    }
}

impl Database for Pool {
    fn statement(&self, text: &str, parameters: &[Kind], answer: Answer) -> Result<Statement, String> {
        translate(text, parameters, answer, self.shared.target.dialect())
    }

    fn run(&self, calls: Vec<Call>, manner: Manner) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            let message = "too many wait for a connection to this database already";
            return Box::pin(std::future::ready(Err(DatabaseError::new(DatabaseErrorKind::Busy, message))));
        };
        let (teller, told) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        let spawned = self.worker.spawn(async move {
            let _place = place;
            shared.serve(calls, manner, teller).await;
        });
        Box::pin(async move {
            spawned.map_err(|message| DatabaseError::new(DatabaseErrorKind::Unreachable, message))?;
            // Nobody is told only where a defect ended the task.
            let lost = |_| DatabaseError::new(DatabaseErrorKind::Unreachable, "asking the database failed in the bus");
            told.await.map_err(lost)?
        })
    }
}

impl Shared {
    /// Runs statements for somebody, unless nobody waits any more before they begin.
    async fn serve(self: Arc<Shared>, calls: Vec<Call>, manner: Manner, mut teller: oneshot::Sender<Outcome>) {
        let taken = tokio::select! {
            taken = self.take() => taken,
            () = teller.closed() => return,
        };
        // Whoever asked may have gone; what the database has, it finishes.
        let (mut connection, permit) = match taken {
            Ok(taken) => taken,
            Err(error) => return drop(teller.send(Err(error))),
        };
        match timeout(self.target.timeout, connection.run(calls, manner)).await {
            Ok(Ran { outcome, reusable }) => {
                let _ = teller.send(outcome);
                self.put_back(connection, reusable, permit).await;
            }
            Err(_) => {
                connection.abandon();
                let message = format!("the statement took more than {} ms", self.target.timeout.as_millis());
                let _ = teller.send(Err(DatabaseError::new(DatabaseErrorKind::Late, message)));
            }
        }
    }

    /// A connection, as soon as there is one.
    ///
    /// Errors: none was free in time, or none can be made.
    async fn take(&self) -> Result<(Connection, OwnedSemaphorePermit), DatabaseError> {
        let permit = timeout(self.wait, Arc::clone(&self.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            let message = format!("no connection to the database was free within {} ms", self.wait.as_millis());
            return Err(DatabaseError::new(DatabaseErrorKind::Busy, message));
        };
        let limit = self.target.connect_timeout;
        let made = timeout(limit, async {
            while let Some((mut connection, since)) = self.last_idle() {
                let trusted = !self.test && since.elapsed() < TRUSTED;
                if trusted || connection.is_alive().await {
                    return Ok(connection);
                }
                connection.abandon();
            }
            Connection::open(&self.target).await
        });
        let late = |_| {
            let message = format!("the database did not accept a connection within {} ms", limit.as_millis());
            DatabaseError::new(DatabaseErrorKind::Unreachable, message)
        };
        Ok((made.await.map_err(late)??, permit))
    }

    fn last_idle(&self) -> Option<(Connection, Instant)> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).idle.pop()
    }

    async fn put_back(self: Arc<Shared>, connection: Connection, reusable: bool, permit: OwnedSemaphorePermit) {
        if !reusable {
            connection.abandon();
            return;
        }
        let too_many = {
            let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            if shelf.idle.len() < self.kept {
                shelf.idle.push((connection, Instant::now()));
                // A database in memory is gone with its connection, which is kept however long nobody uses it.
                if !self.target.in_memory && !std::mem::replace(&mut shelf.swept, true) {
                    tokio::spawn(sweep(Arc::downgrade(&self)));
                }
                None
            } else {
                Some(connection)
            }
        };
        if let Some(connection) = too_many {
            let _ = timeout(GOODBYE, connection.close()).await;
        }
        drop(permit);
    }
}

/// Closes connections that nobody used for long, until none is idle.
async fn sweep(shared: Weak<Shared>) {
    loop {
        let Some(pause) = shared.upgrade().map(|shared| shared.idle / 4) else { return };
        sleep(pause.max(Duration::from_millis(10))).await;
        let Some(shared) = shared.upgrade() else { return };
        let (old, some_left) = {
            let mut shelf = shared.shelf.lock().unwrap_or_else(PoisonError::into_inner);
            let old = shelf.idle.partition_point(|(_, since)| since.elapsed() > shared.idle);
            shelf.swept = old < shelf.idle.len();
            (shelf.idle.drain(..old).collect::<Vec<_>>(), shelf.swept)
        };
        drop(shared);
        for (connection, _) in old {
            let _ = timeout(GOODBYE, connection.close()).await;
        }
        if !some_left {
            return;
        }
    }
}

impl Drop for Pool {
    /// The last configuration that had the source is gone.
    fn drop(&mut self) {
        let shelf = std::mem::take(&mut *self.shared.shelf.lock().unwrap_or_else(PoisonError::into_inner));
        if shelf.idle.is_empty() {
            return;
        }
        // Without a thread they are closed all the same, but without a word.
        let _ = self.worker.spawn(async move {
            for (connection, _) in shelf.idle {
                let _ = timeout(GOODBYE, connection.close()).await;
            }
        });
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
