//! One connection to a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use myelin_flow::database::{Call, DatabaseError, DatabaseErrorKind, Manner};
use sqlx::mysql::{MySql, MySqlConnection};
use sqlx::postgres::{PgConnection, Postgres};
use sqlx::sqlite::{Sqlite, SqliteConnection};
use sqlx::{ConnectOptions, Connection as _, Error};

use crate::answer::{self, Ran, plain};
use crate::failure::unreachable;
use crate::target::{Kind, Target};

/// How many instructions SQLite runs between two looks at whether it is to stop.
const SQLITE_INSTRUCTIONS: i32 = 10_000;

/// What MySQL's accounts want where the server has not their password at hand.
const WANTS_TLS: &str = "an account with caching_sha2_password needs TLS: the server has to offer it, and useSSL=false \
                         or sslMode=DISABLED must not stand in the URL";

/// An open connection.
pub(crate) enum Connection {
    /// SQLite works on a thread that nothing but this flag can stop.
    Sqlite(SqliteConnection, Arc<AtomicBool>),
    Postgres(PgConnection),
    MySql(MySqlConnection),
}

impl Connection {
    /// Makes one and prepares it for its first statement; takes as long as it takes.
    ///
    /// Errors: [`myelin_flow::database::DatabaseErrorKind::Unreachable`].
    pub(crate) async fn open(target: &Target) -> Result<Connection, DatabaseError> {
        let failed = |error: Error| unreachable(&error);
        let first = target.first.as_deref();
        match &target.kind {
            Kind::Sqlite(options) => {
                let mut connection = options.connect().await.map_err(failed)?;
                let stop = Arc::new(AtomicBool::new(false));
                let asked = Arc::clone(&stop);
                let mut handle = connection.lock_handle().await.map_err(failed)?;
                handle.set_progress_handler(SQLITE_INSTRUCTIONS, move || !asked.load(Ordering::Relaxed));
                drop(handle);
                Ok(Connection::Sqlite(connection, stop))
            }
            Kind::Postgres(options) => {
                let mut connection = options.connect().await.map_err(failed)?;
                if let Some(first) = first {
                    plain::<Postgres>(&mut connection, first).await.map_err(|failure| failure.error)?;
                }
                Ok(Connection::Postgres(connection))
            }
            Kind::MySql(options) => {
                let mut connection = options.connect().await.map_err(|error| match error {
                    // Of what is configured here, nothing else is found wrong so late.
                    Error::Configuration(_) => DatabaseError::new(DatabaseErrorKind::Unreachable, WANTS_TLS),
                    error => unreachable(&error),
                })?;
                if let Some(first) = first {
                    plain::<MySql>(&mut connection, first).await.map_err(|failure| failure.error)?;
                }
                Ok(Connection::MySql(connection))
            }
        }
    }

    /// Runs statements.
    pub(crate) async fn run(&mut self, calls: Vec<Call>, manner: Manner) -> Ran {
        match self {
            Connection::Sqlite(connection, _) => answer::run::<Sqlite>(connection, calls, manner).await,
            Connection::Postgres(connection) => answer::run::<Postgres>(connection, calls, manner).await,
            Connection::MySql(connection) => answer::run::<MySql>(connection, calls, manner).await,
        }
    }

    /// Whether there is still somebody at the other end.
    pub(crate) async fn is_alive(&mut self) -> bool {
        let pong = match self {
            // A file does not go away.
            Connection::Sqlite(..) => Ok(()),
            Connection::Postgres(connection) => connection.ping().await,
            Connection::MySql(connection) => connection.ping().await,
        };
        pong.is_ok()
    }

    /// Ends it in good order.
    pub(crate) async fn close(self) {
        // Whoever closes does not mind.
        let _ = match self {
            Connection::Sqlite(connection, _) => connection.close().await,
            Connection::Postgres(connection) => connection.close().await,
            Connection::MySql(connection) => connection.close().await,
        };
    }

    /// Ends it whatever it is doing.
    pub(crate) fn abandon(self) {
        if let Connection::Sqlite(_, stop) = &self {
            stop.store(true, Ordering::Relaxed);
        }
    }
}
