//! Statements on one connection of any database, and what they find.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use myelin_flow::database::{Answer, Call, Cell, Column, DatabaseError, Manner, Outcome, Value};
use sqlx::error::BoxDynError;
use sqlx::mysql::MySql;
use sqlx::postgres::Postgres;
use sqlx::sqlite::Sqlite;
use sqlx::{
    Arguments, AssertSqlSafe, Column as _, Database, Either, Error, Executor, Row, SqlSafeStr, query_with, raw_sql,
};

use crate::failure::{Failure, unusable, while_running};

/// How much of what nobody wants is read behind a first row, and for how long: beyond that the connection is closed.
const REST_ROWS: usize = 1_000;
const REST_TIME: Duration = Duration::from_millis(50);

/// What a database has of its own.
pub(crate) trait Dialect: Speaks {
    /// Begins a transaction.
    const BEGIN: &'static str = "BEGIN";

    /// What a value of a row is; `None` where it is null.
    ///
    /// Errors: a sentence where it has no text.
    fn cell(value: Self::ValueRef<'_>) -> Result<Option<Cell>, String>;
}

/// What running statements gave, and whether the connection can be used again.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) reusable: bool,
}

/// Runs statements in order to the first that fails.
pub(crate) async fn run<DB: Dialect>(connection: &mut DB::Connection, calls: Vec<Call>, manner: Manner) -> Ran {
    let ran = match manner {
        Manner::Single => all::<DB>(connection, calls).await,
        Manner::Together | Manner::Discard => transaction::<DB>(connection, calls, manner).await,
    };
    match ran {
        Ok((found, reusable)) => Ran { outcome: Ok(found), reusable },
        Err(Failure { error, reusable }) => Ran { outcome: Err(error), reusable },
    }
}

type Found = Option<Vec<Option<Cell>>>;

async fn transaction<DB: Dialect>(
    connection: &mut DB::Connection,
    calls: Vec<Call>,
    manner: Manner,
) -> Result<(Found, bool), Failure> {
    plain::<DB>(connection, DB::BEGIN).await?;
    let ran = all::<DB>(connection, calls).await;
    // A connection that is closed anyway keeps nothing.
    if manner == Manner::Discard && matches!(ran, Ok((_, false))) {
        return ran;
    }
    let end = if ran.is_ok() && manner == Manner::Together { "COMMIT" } else { "ROLLBACK" };
    match (ran, plain::<DB>(connection, end).await) {
        (Ok(found), Ok(())) => Ok(found),
        (Ok(_), Err(failure)) => Err(Failure { reusable: false, ..failure }),
        (Err(failure), ended) => Err(Failure { reusable: failure.reusable && ended.is_ok(), ..failure }),
    }
}

async fn all<DB: Dialect>(connection: &mut DB::Connection, calls: Vec<Call>) -> Result<(Found, bool), Failure> {
    let (mut last, mut reusable) = (None, true);
    for call in calls {
        let (found, fit) = one::<DB>(connection, &call).await?;
        (last, reusable) = (found, reusable && fit);
    }
    Ok((last, reusable))
}

/// Runs a text that has no parameters, whatever it gives.
pub(crate) async fn plain<DB: Speaks>(connection: &mut DB::Connection, text: &str) -> Result<(), Failure> {
    DB::plain(connection, text).await.map_err(|error| while_running(&error))
}

async fn one<DB: Dialect>(connection: &mut DB::Connection, call: &Call) -> Result<(Found, bool), Failure> {
    let statement = &*call.statement;
    if statement.several {
        return plain::<DB>(connection, &statement.text).await.map(|()| (None, true));
    }
    let mut arguments = DB::Arguments::default();
    for value in &call.values {
        DB::bind(&mut arguments, value).map_err(|error| while_running(&Error::Encode(error)))?;
    }
    let mut steps = DB::steps(connection, &statement.text, arguments);
    let mut found = None;
    let mut next = async || poll_fn(|cx| Stream::poll_next(steps.as_mut(), cx)).await;
    while let Some(step) = next().await {
        let Either::Right(row) = step.map_err(|error| while_running(&error))? else { continue };
        let Answer::Row(columns) = &statement.answer else { continue };
        found = Some(cells::<DB>(&row, columns));
        break;
    }
    let Some(found) = found else { return Ok((None, true)) };
    let emptied = async {
        let mut rest = 0;
        while let Some(step) = next().await {
            rest += 1;
            if step.is_err() || rest > REST_ROWS {
                return false;
            }
        }
        true
    };
    let reusable = tokio::time::timeout(REST_TIME, emptied).await.unwrap_or(false);
    found.map(|cells| (Some(cells), reusable)).map_err(|error| Failure { error, reusable })
}

fn cells<DB: Dialect>(row: &DB::Row, columns: &[Column]) -> Result<Vec<Option<Cell>>, DatabaseError> {
    let cell = |column: &Column| {
        let (at, name) = match column {
            Column::Number(number) => (number.checked_sub(1), number.to_string()),
            Column::Name(name) => {
                let at = row.columns().iter().position(|known| known.name().eq_ignore_ascii_case(name));
                (at, format!("{name:?}"))
            }
        };
        let value = at.filter(|&at| at < row.len()).map(|at| DB::value(row, at));
        match value {
            Some(Ok(value)) => DB::cell(value).map_err(|message| unusable(format!("column {name}: {message}"))),
            Some(Err(error)) => Err(unusable(format!("column {name}: {error}"))),
            None => Err(unusable(format!("the statement returned no column {name}"))),
        }
    };
    columns.iter().map(cell).collect()
}

/// What the library does for each database in the same words.
pub(crate) trait Speaks: Database {
    /// Adds a value to the arguments of a statement.
    fn bind(arguments: &mut Self::Arguments, value: &Value) -> Result<(), BoxDynError>;

    /// Runs a statement, and gives its rows as they come.
    fn steps<'c>(connection: &'c mut Self::Connection, text: &str, arguments: Self::Arguments) -> Steps<'c, Self>;

    /// Runs a text without parameters to its end.
    fn plain<'c>(connection: &'c mut Self::Connection, text: &str) -> BoxFuture<'c, Result<(), Error>>;

    /// A value of a row, which has that many.
    fn value(row: &Self::Row, at: usize) -> Result<Self::ValueRef<'_>, Error>;
}

type BoxFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// That a statement was done, or one of its rows.
type Step<DB> = Either<<DB as Database>::QueryResult, <DB as Database>::Row>;

type Steps<'c, DB> = Pin<Box<dyn Stream<Item = Result<Step<DB>, Error>> + Send + 'c>>;

macro_rules! speaks {
    ($($database:ty),*) => {$(
        impl Speaks for $database {
            fn bind(arguments: &mut Self::Arguments, value: &Value) -> Result<(), BoxDynError> {
                match value {
                    Value::Text(text) | Value::Decimal(text) => arguments.add(text.as_deref()),
                    Value::Date(text) | Value::Time(text) | Value::Timestamp(text) => arguments.add(text.as_deref()),
                    Value::Boolean(boolean) => arguments.add(*boolean),
                    Value::Short(number) => arguments.add(*number),
                    Value::Integer(number) => arguments.add(*number),
                    Value::Long(number) => arguments.add(*number),
                    Value::Real(number) => arguments.add(*number),
                    Value::Double(number) => arguments.add(*number),
                }
            }

            fn steps<'c>(
                connection: &'c mut Self::Connection,
                text: &str,
                arguments: Self::Arguments,
            ) -> Steps<'c, Self> {
                // The text is the configuration's; what messages bring are its arguments.
                connection.fetch_many(query_with(AssertSqlSafe(text), arguments))
            }

            fn plain<'c>(connection: &'c mut Self::Connection, text: &str) -> BoxFuture<'c, Result<(), Error>> {
                let text = AssertSqlSafe(text).into_sql_str();
                Box::pin(async move { connection.execute(raw_sql(text)).await.map(drop) })
            }

            fn value(row: &Self::Row, at: usize) -> Result<Self::ValueRef<'_>, Error> {
                row.try_get_raw(at)
            }
        }
    )*};
}

speaks!(Sqlite, Postgres, MySql);
