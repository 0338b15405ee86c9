//! SQLite, which every build has: values, transactions, limits, and what holds for all pools.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Asked, DEADLINE, hurried, shared, text};
use myelin_flow::database::{Answer, Column, DataSource, DatabaseErrorKind, Databases, Manner, Value};
use myelin_sql::Limits;

fn source(folder: &tempfile::TempDir) -> DataSource {
    DataSource { url: format!("jdbc:sqlite:{}/orders.db", folder.path().display()), ..DataSource::default() }
}

/// A query that never ends.
const ENDLESS: &str = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

#[test]
fn values_come_back_as_they_went() {
    let asked = Asked::new(&DataSource { url: "jdbc:sqlite::memory:".into(), ..DataSource::default() });
    asked.done("create table company (name varchar(20), id int, price double, paid bit, born date)", vec![]).unwrap();
    let day = Value::Date(Some("2026-11-21".into()));
    let values =
        vec![text("O'Neil"), Value::Integer(Some(7)), Value::Double(Some(1e10)), Value::Boolean(Some(true)), day];
    asked.done("insert into company values (?, ?, ?, ?, ?)", values).unwrap();
    let row = asked.row("select * from company where name = ?", vec![text("O'Neil")], 5).unwrap().unwrap();
    let expected = ["O'Neil", "7", "10000000000", "1", "2026-11-21"];
    assert_eq!(row, expected.map(|text| Some(text.to_owned())));
    let decimal = Value::Decimal(Some("9.5".into()));
    assert_eq!(asked.one("select ? < 10", vec![decimal]).as_deref(), Some("1"), "a decimal is a number");
    assert_eq!(asked.one("select x'00ff'", vec![]).as_deref(), Some("AP8="));
    assert_eq!(asked.one("select ?", vec![Value::Text(None)]), None);
    let named = asked.columns("select id as Number from company", vec![], vec![Column::Name("NUMBER".into())]);
    assert_eq!(named.unwrap(), Some(vec![Some("7".to_owned())]));
    assert_eq!(asked.row("select * from company where id = 8", vec![], 1).unwrap(), None);
    for column in [Column::Name("none".into()), Column::Number(0), Column::Number(2)] {
        let error = asked.columns("select id from company", vec![], vec![column]).unwrap_err();
        assert_eq!(error.kind, DatabaseErrorKind::Unusable, "{error:?}");
    }
}

#[test]
fn a_parameter_is_a_value_whatever_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Asked::new(&source(&folder));
    asked.done("create table company (name text)", vec![]).unwrap();
    asked.done("insert into company values (?)", vec![text("O'Neil")]).unwrap();
    shared::a_parameter_is_a_value_whatever_it_holds(&asked, &["O'Neil\0"]);
}

#[test]
fn statements_that_belong_together_are_kept_together_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Asked::new(&source(&folder));
    shared::statements_that_belong_together_are_kept_together_or_not_at_all(&asked, "UNIQUE");
}

#[test]
fn a_statement_that_never_ends_is_ended_and_the_next_one_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = source(&folder);
    source.pool.connections = Some(1);
    let asked = Asked::with(&source, hurried());
    let begun = Instant::now();
    let error = asked.row(ENDLESS, vec![], 1).unwrap_err();
    assert_eq!(error.kind, DatabaseErrorKind::Late, "{error:?}");
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    assert_eq!(asked.one("select 1", vec![]).as_deref(), Some("1"));
}

#[test]
fn who_finds_no_connection_waits_so_long_and_so_many_wait() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = source(&folder);
    (source.pool.connections, source.pool.wait) = (Some(1), Some(Duration::from_millis(50)));
    let limits = Limits { waiting: 1, ..hurried() };
    let asked = Asked::with(&source, limits);
    let run = |text: &str| asked.database.run(vec![asked.call(text, vec![], Answer::Done)], Manner::Single);
    let (busy, waits) = (run(ENDLESS), run("select 1"));
    let sent_away = asked.block_on(run("select 1")).unwrap_err();
    assert_eq!(sent_away.kind, DatabaseErrorKind::Busy);
    assert!(sent_away.message.contains("too many"), "{sent_away:?}");
    let waited = asked.block_on(waits).unwrap_err();
    assert!(waited.kind == DatabaseErrorKind::Busy && waited.message.contains("50 ms"), "{waited:?}");
    assert_eq!(asked.block_on(busy).unwrap_err().kind, DatabaseErrorKind::Late);
    assert_eq!(asked.one("select 1", vec![]).as_deref(), Some("1"), "all places are free again");
}

#[test]
fn who_stops_waiting_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = source(&folder);
    source.pool.connections = Some(1);
    let asked = Asked::with(&source, Limits { waiting: 1, wait: Duration::from_secs(10), ..hurried() });
    asked.done("create table a (i int)", vec![]).unwrap();
    for _ in 0..3 {
        // The first is under way already and goes on to its end; the second never begins.
        let under_way = asked.database.run(vec![asked.call(ENDLESS, vec![], Answer::Done)], Manner::Single);
        asked.pause(Duration::from_millis(20));
        let insert = asked.call("insert into a values (1)", vec![], Answer::Done);
        drop((under_way, asked.database.run(vec![insert], Manner::Single)));
        asked.pause(Duration::from_millis(50));
        assert_eq!(asked.one("select count(*) from a", vec![]).as_deref(), Some("0"));
    }
}

#[test]
fn more_rows_than_anybody_wants_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Asked::new(&source(&folder));
    let begun = Instant::now();
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    assert_eq!(asked.one(endless, vec![]).as_deref(), Some("1"));
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    assert_eq!(asked.one("select 2", vec![]).as_deref(), Some("2"));
}

#[test]
fn a_source_is_one_database_however_often_it_is_opened() {
    let asked = Asked::new(&DataSource { url: "jdbc:sqlite::memory:".into(), ..DataSource::default() });
    asked.done("create table a (i int)", vec![]).unwrap();
    let same = DataSource { url: "jdbc:sqlite::memory:".into(), ..DataSource::default() };
    let again = asked.sql.open(&same).unwrap().database;
    assert!(Arc::ptr_eq(&asked.database, &again));
    let mut other = same.clone();
    other.pool.connections = Some(3);
    let other = asked.sql.open(&other).unwrap().database;
    let call = asked.call("select * from a", vec![], Answer::Done);
    assert_eq!(asked.block_on(other.run(vec![call], Manner::Single)).unwrap_err().kind, DatabaseErrorKind::Refused);
}

#[test]
fn a_database_in_memory_outlives_the_time_that_others_are_idle() {
    let source = DataSource { url: "jdbc:sqlite::memory:".into(), ..DataSource::default() };
    let asked = Asked::with(&source, Limits { idle: Duration::from_millis(20), ..Limits::default() });
    asked.done("create table a (i int)", vec![]).unwrap();
    asked.pause(Duration::from_millis(200));
    assert_eq!(asked.one("select count(*) from a", vec![]).as_deref(), Some("0"));
}

#[test]
fn a_file_that_cannot_be_opened_is_a_database_that_cannot_be_reached() {
    let asked = Asked::new(&DataSource { url: "jdbc:sqlite:/nowhere/at/all.db".into(), ..DataSource::default() });
    let error = asked.row("select 1", vec![], 1).unwrap_err();
    assert_eq!(error.kind, DatabaseErrorKind::Unreachable, "{error:?}");
}

#[test]
fn two_that_write_at_once_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Asked::new(&source(&folder));
    asked.done("create table a (i int)", vec![]).unwrap();
    let writes: Vec<_> = (0..20)
        .map(|number| {
            let insert = asked.call("insert into a values (?)", vec![Value::Integer(Some(number))], Answer::Done);
            let update = asked.call("update a set i = i + 1", vec![], Answer::Done);
            asked.database.run(vec![insert, update], Manner::Together)
        })
        .collect();
    writes.into_iter().for_each(|write| drop(asked.block_on(write).unwrap()));
    assert_eq!(asked.one("select count(*) from a", vec![]).as_deref(), Some("20"));
}
