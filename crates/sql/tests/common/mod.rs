//! What the tests of all databases stand on: statements from text, and answers as text.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub(crate) mod server;
pub(crate) mod shared;

use std::sync::Arc;
use std::time::{Duration, Instant};

use myelin_flow::database::{
    Answer, Call, Cell, Column, DataSource, Database, DatabaseError, Databases, Kind, Manner, Value,
};
use myelin_sql::{Limits, Sql};

/// How long a test waits for what must happen, on a machine with other things to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A database with what holds it.
pub(crate) struct Asked {
    pub(crate) sql: Sql,
    pub(crate) database: Arc<dyn Database>,
    runtime: tokio::runtime::Runtime,
}

/// What a statement found, as text.
pub(crate) type Found = Result<Option<Vec<Option<String>>>, DatabaseError>;

impl Asked {
    pub(crate) fn new(source: &DataSource) -> Asked {
        Asked::with(source, Limits::default())
    }

    pub(crate) fn with(source: &DataSource, limits: Limits) -> Asked {
        let sql = Sql::new(limits);
        let opened = sql.open(source).unwrap();
        assert_eq!(opened.remarks, Vec::<String>::new());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Asked { database: opened.database, sql, runtime }
    }

    /// A statement with its parameters.
    pub(crate) fn call(&self, text: &str, values: Vec<Value>, answer: Answer) -> Call {
        let kinds: Vec<Kind> = values.iter().map(kind).collect();
        Call { statement: Arc::new(self.database.statement(text, &kinds, answer).unwrap()), values }
    }

    /// Does something.
    pub(crate) fn done(&self, text: &str, values: Vec<Value>) -> Result<(), DatabaseError> {
        self.all(&[(text, values)], Manner::Single)
    }

    /// Does several things.
    pub(crate) fn all(&self, statements: &[(&str, Vec<Value>)], manner: Manner) -> Result<(), DatabaseError> {
        let calls = statements.iter().map(|(text, values)| self.call(text, values.clone(), Answer::Done)).collect();
        self.block_on(self.database.run(calls, manner)).map(drop)
    }

    /// The columns of the first row, by their numbers.
    pub(crate) fn row(&self, text: &str, values: Vec<Value>, columns: usize) -> Found {
        self.columns(text, values, (1..=columns).map(Column::Number).collect())
    }

    /// One column of the first row, which there is.
    pub(crate) fn one(&self, text: &str, values: Vec<Value>) -> Option<String> {
        self.row(text, values, 1).unwrap().expect("there is a row").remove(0)
    }

    pub(crate) fn columns(&self, text: &str, values: Vec<Value>, columns: Vec<Column>) -> Found {
        let call = self.call(text, values, Answer::Row(columns));
        let found = self.block_on(self.database.run(vec![call], Manner::Single))?;
        Ok(found.map(|cells| cells.into_iter().map(|cell| cell.map(shown)).collect()))
    }

    /// Lets some time pass.
    pub(crate) fn pause(&self, time: Duration) {
        self.block_on(async { tokio::time::sleep(time).await });
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(Some(text.to_owned()))
}

/// Waits until a server that listens already answers as well.
pub(crate) fn wait_for(source: &DataSource) {
    let until = Instant::now() + DEADLINE;
    while let Err(error) = Asked::new(source).row("select 1", vec![], 1) {
        assert!(Instant::now() < until, "{error:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Limits under which nothing takes long.
pub(crate) fn hurried() -> Limits {
    let timeout = Duration::from_secs(1);
    Limits { timeout, wait: timeout, connect_timeout: Duration::from_secs(3), ..Limits::default() }
}

fn shown(cell: Cell) -> String {
    match cell {
        Cell::Text(text) => text,
        Cell::Float(number) => number.to_string(),
        Cell::Double(number) => number.to_string(),
    }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Text(_) => Kind::Text,
        Value::Decimal(_) => Kind::Decimal,
        Value::Boolean(_) => Kind::Boolean,
        Value::Short(_) => Kind::Short,
        Value::Integer(_) => Kind::Integer,
        Value::Long(_) => Kind::Long,
        Value::Real(_) => Kind::Real,
        Value::Double(_) => Kind::Double,
        Value::Date(_) => Kind::Date,
        Value::Time(_) => Kind::Time,
        Value::Timestamp(_) => Kind::Timestamp,
    }
}

/// The first columns of a row.
pub(crate) fn first(columns: usize) -> Answer {
    Answer::Row((1..=columns).map(Column::Number).collect())
}
