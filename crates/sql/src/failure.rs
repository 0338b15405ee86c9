//! What a database or its library complains of, as the flow can tell it apart.

use myelin_flow::database::{DatabaseError, DatabaseErrorKind};
use sqlx::Error;

/// An error of the library, and whether its connection can be used again.
pub(crate) struct Failure {
    pub(crate) error: DatabaseError,
    pub(crate) reusable: bool,
}

/// PostgreSQL's `query_canceled`, of a statement that was ended because it took too long.
const LATE_STATE: &str = "57014";

/// What PostgreSQL says of a prepared statement that no longer fits its tables, or that it has not: another connection
/// prepares it anew.
const STALE_STATES: &[&str] = &["0A000", "26000"];

/// MySQL's `ER_QUERY_INTERRUPTED`, `ER_QUERY_TIMEOUT` and `ER_LOCK_WAIT_TIMEOUT`, MariaDB's `ER_STATEMENT_TIMEOUT`.
const LATE_MYSQL: &[u16] = &[1317, 3024, 1205, 1969];

/// SQLite's `SQLITE_BUSY`, `SQLITE_LOCKED` and `SQLITE_INTERRUPT`.
const LATE_SQLITE: &[i32] = &[5, 6, 9];

/// What went wrong while a statement ran.
pub(crate) fn while_running(error: &Error) -> Failure {
    let Some(said) = error.as_database_error() else {
        return Failure { error: unreachable(error), reusable: false };
    };
    let state = said.code().unwrap_or_default();
    // The server goes down, or the connection does (SQLSTATE classes 57P and 08).
    let gone = state.starts_with("57P") || state.starts_with("08");
    let mysql = said.try_downcast_ref::<sqlx::mysql::MySqlDatabaseError>().map(|error| error.number());
    let sqlite = said.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some();
    // SQLite's extended codes have more in their higher bytes.
    let sqlite = sqlite.then(|| state.parse::<i32>().map_or(0, |code| code & 0xff));
    let late = state == LATE_STATE
        || mysql.is_some_and(|number| LATE_MYSQL.contains(&number))
        || sqlite.is_some_and(|code| LATE_SQLITE.contains(&code));
    let kind = match (gone, late) {
        (true, _) => DatabaseErrorKind::Unreachable,
        (_, true) => DatabaseErrorKind::Late,
        _ => DatabaseErrorKind::Refused,
    };
    let message = if state.is_empty() { said.message().to_owned() } else { format!("{} ({state})", said.message()) };
    Failure { error: DatabaseError::new(kind, message), reusable: !gone && !STALE_STATES.contains(&&*state) }
}

/// What went wrong while a connection was made.
pub(crate) fn unreachable(error: &Error) -> DatabaseError {
    let message = match error.as_database_error() {
        Some(said) => said.message().to_owned(),
        None => error.to_string(),
    };
    DatabaseError::new(DatabaseErrorKind::Unreachable, message)
}

/// A value that has no text, or a column that is not there.
pub(crate) fn unusable(message: impl Into<String>) -> DatabaseError {
    DatabaseError::new(DatabaseErrorKind::Unusable, message)
}
