//! What mediation asks of whoever speaks with databases; it opens no socket itself.

mod pool;
mod source;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use pool::{Isolation, PoolSettings};
pub use source::{DataSource, Password};

/// Who speaks with databases, for a whole process: connections go on when another configuration serves.
pub trait Databases: fmt::Debug + Send + Sync {
    /// The database behind a source, with what in the source has no effect; two equal sources are one database.
    ///
    /// Connects to nothing: that is done when there is something to ask.
    ///
    /// Errors: a sentence without credentials that says why such a source can never be used.
    fn open(&self, source: &DataSource) -> Result<Opened, String>;
}

/// A database that can be asked.
pub struct Opened {
    /// Where to ask.
    pub database: Arc<dyn Database>,
    /// What in its source has no effect, a sentence each.
    pub remarks: Vec<String>,
}

/// One database with its connections.
pub trait Database: Send + Sync {
    /// Checks a statement as far as that goes without asking, and brings it into the form that the database wants.
    ///
    /// Shape: `text` has a `?` for each parameter.
    /// Errors: a sentence that says what is wrong with it.
    fn statement(&self, text: &str, parameters: &[Kind], answer: Answer) -> Result<Statement, String>;

    /// Runs statements on one connection, in order, to the first that fails.
    ///
    /// Whoever stops waiting loses the answer; a statement that the database has already goes on to its end.
    ///
    /// Shape: what the last one found.
    /// Errors: [`DatabaseError`].
    fn run(&self, calls: Vec<Call>, manner: Manner) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;
}

/// What running statements gives: the wanted columns of the first row, `None` where there is no row.
pub type Outcome = Result<Option<Vec<Option<Cell>>>, DatabaseError>;

/// A statement as a database wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The text.
    pub text: String,
    /// Whether it is several statements in one text, which have no parameters.
    pub several: bool,
    /// What is wanted of it.
    pub answer: Answer,
}

/// What is wanted of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// That it was done.
    Done,
    /// These columns of the first row.
    Row(Vec<Column>),
}

/// How a column is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its place, the first is 1.
    Number(usize),
    /// By its name, in any case.
    Name(String),
}

/// A statement with the values of its parameters.
#[derive(Debug)]
pub struct Call {
    /// What to run.
    pub statement: Arc<Statement>,
    /// A value for each parameter.
    pub values: Vec<Value>,
}

/// Where transactions begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Each statement is one.
    Single,
    /// All are one, which is kept if none fails.
    Together,
    /// All are one, and nothing of it is kept.
    Discard,
}

/// The types of parameters that a configuration can name, those of the same values together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `CHAR`, `VARCHAR`, `LONGVARCHAR`.
    Text,
    /// `NUMERIC`, `DECIMAL`.
    Decimal,
    /// `BIT`.
    Boolean,
    /// `TINYINT`, `SMALLINT`.
    Short,
    /// `INTEGER`.
    Integer,
    /// `BIGINT`.
    Long,
    /// `REAL`.
    Real,
    /// `FLOAT`, `DOUBLE`.
    Double,
    /// `DATE`.
    Date,
    /// `TIME`.
    Time,
    /// `TIMESTAMP`.
    Timestamp,
}

/// The value of a parameter; `None` is null, which has a type, too.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Any text.
    Text(Option<String>),
    /// A decimal number, `-12.5e3`.
    Decimal(Option<String>),
    /// True or false.
    Boolean(Option<bool>),
    /// Two bytes.
    Short(Option<i16>),
    /// Four bytes.
    Integer(Option<i32>),
    /// Eight bytes.
    Long(Option<i64>),
    /// Single precision.
    Real(Option<f32>),
    /// Double precision.
    Double(Option<f64>),
    /// A day, `2026-11-21`.
    Date(Option<String>),
    /// A time of day, `19:30:00`.
    Time(Option<String>),
    /// Both, with up to nine digits of a second: `2026-11-21 19:30:00.5`.
    Timestamp(Option<String>),
}

/// A value that a database gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// What has one text.
    Text(String),
    /// A single, to be written as Java does.
    Float(f32),
    /// A double, to be written as Java does.
    Double(f64),
}

/// Why a database gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError {
    /// What happened, as far as the flow can tell it apart.
    pub kind: DatabaseErrorKind,
    /// A sentence for the log: what the database said, without credentials.
    pub message: String,
}

/// What kept a database from answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseErrorKind {
    /// No connection could be made, or it broke.
    Unreachable,
    /// No connection was free in time, or too many wait for one already (answered 503).
    Busy,
    /// The statement took too long.
    Late,
    /// The database refused the statement.
    Refused,
    /// It answered what has no text, or has not the column that is wanted.
    Unusable,
}

impl DatabaseError {
    /// An error with its sentence.
    pub fn new(kind: DatabaseErrorKind, message: impl Into<String>) -> DatabaseError {
        DatabaseError { kind, message: message.into() }
    }
}

/// What a bus knows of databases before it loads a configuration.
#[derive(Clone, Debug, Default)]
pub struct DatabaseSettings {
    /// Who speaks with them; without it nothing that asks a database can be loaded.
    pub databases: Option<Arc<dyn Databases>>,
    /// The sources that configurations know by name (`dsName`).
    pub sources: HashMap<String, DataSource>,
}

impl DatabaseSettings {
    /// The source of that name: `id` and `jdbc/id` are the same.
    pub fn source(&self, name: &str) -> Option<&DataSource> {
        let bare = name.strip_prefix("jdbc/");
        self.sources.get(name).or_else(|| self.sources.get(bare?)).or_else(|| self.sources.get(&format!("jdbc/{name}")))
    }
}
