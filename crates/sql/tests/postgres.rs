//! A real PostgreSQL, where the machine has one.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod common;

use std::time::{Duration, Instant};

use common::server::Server;
use common::{Asked, DEADLINE, shared, text, wait_for};
use myelin_flow::database::{DataSource, DatabaseErrorKind, Isolation, Manner, Password, Value};
use myelin_sql::Limits;

fn source(server: &Server, parameters: &str) -> DataSource {
    DataSource {
        url: format!("jdbc:postgresql://127.0.0.1:{}/postgres{parameters}", server.port),
        user: Some("bus".into()),
        password: Some(Password("hush".into())),
        ..DataSource::default()
    }
}

/// One server for all: starting one takes longer than anything that is asked of it.
#[test]
fn postgresql_is_asked_like_any_other_database() {
    let Some(server) = Server::postgres() else { return };
    wait_for(&source(&server, ""));
    values_of_all_types_come_back_as_java_writes_them(&server);
    let asked = Asked::new(&source(&server, ""));
    shared::a_parameter_is_a_value_whatever_it_holds(&asked, &["$1"]);
    shared::statements_that_belong_together_are_kept_together_or_not_at_all(&asked, "23505");
    let running = "select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active' \
                   and pid <> pg_backend_pid()";
    shared::a_statement_that_hangs_is_ended_and_told(source(&server, ""), "select 1 from pg_sleep(60)", running);
    a_connection_that_broke_is_not_used_again(&server);
    a_schema_and_an_isolation_hold_on_each_connection(&server);
    who_may_not_ask_is_told_without_the_password(&server);
    hundreds_ask_at_once(&server);
    drop(server);
}

fn values_of_all_types_come_back_as_java_writes_them(server: &Server) {
    let asked = Asked::new(&source(server, ""));
    asked
        .done(
            "create table company (name varchar(40) primary key, small smallint, id int, big bigint, price numeric(12,3), \
             rate real, ratio double precision, listed boolean, born date, opens time, seen timestamp)",
            vec![],
        )
        .unwrap();
    let owned = |text: &str| Some(text.to_owned());
    let values = vec![
        text("O'Neil"),
        Value::Short(Some(-3)),
        Value::Integer(Some(7)),
        Value::Long(Some(1 << 40)),
        Value::Decimal(owned("1234.50")),
        Value::Real(Some(1.5)),
        Value::Double(Some(0.1)),
        Value::Boolean(Some(true)),
        Value::Date(owned("2026-11-21")),
        Value::Time(owned("19:30:05")),
        Value::Timestamp(owned("2026-11-21 19:30:05.25")),
    ];
    let insert = "insert into company values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    asked.done(insert, values.clone()).unwrap();
    let row =
        asked.row("select * from company where name = ? and born = ?", vec![values[0].clone(), values[8].clone()], 11);
    let expected = [
        "O'Neil",
        "-3",
        "7",
        "1099511627776",
        "1234.500",
        "1.5",
        "0.1",
        "true",
        "2026-11-21",
        "19:30:05",
        "2026-11-21 19:30:05.25",
    ];
    assert_eq!(row.unwrap().unwrap(), expected.map(owned));
    let nulls = vec![
        text("none"),
        Value::Short(None),
        Value::Integer(None),
        Value::Long(None),
        Value::Decimal(None),
        Value::Real(None),
        Value::Double(None),
        Value::Boolean(None),
        Value::Date(None),
        Value::Time(None),
        Value::Timestamp(None),
    ];
    asked.done(insert, nulls).unwrap();
    let row = asked.row("select * from company where name = 'none'", vec![], 11).unwrap().unwrap();
    assert_eq!(row.iter().flatten().count(), 1);
    for (sql, expected) in [
        ("select 'a'::char(3)", "a  "),
        ("select '{\"a\": 1}'::jsonb", "{\"a\": 1}"),
        ("select '[1]'::json", "[1]"),
        ("select '01234567-89ab-cdef-0123-456789abcdef'::uuid", "01234567-89ab-cdef-0123-456789abcdef"),
        ("select '\\x00ff'::bytea", "AP8="),
        ("select timestamptz '2026-11-21 19:30:00+01'", "2026-11-21 18:30:00.0"),
        ("select 'infinity'::date", "infinity"),
        ("select -0.00000012::numeric", "-0.00000012"),
        ("select 1e30::numeric", "1000000000000000000000000000000"),
        ("select array_to_string(array[1,2], ',')", "1,2"),
    ] {
        assert_eq!(asked.one(sql, vec![]).as_deref(), Some(expected), "{sql}");
    }
    asked
        .done("create type mood as enum ('sad', 'ok'); create domain positive as int check (value > 0)", vec![])
        .unwrap();
    assert_eq!(asked.one("select 'ok'::mood", vec![]).as_deref(), Some("ok"));
    assert_eq!(asked.one("select 3::positive", vec![]).as_deref(), Some("3"));
    let error = asked.row("select array[1, 2]", vec![], 1).unwrap_err();
    assert!(error.kind == DatabaseErrorKind::Unusable && error.message.contains("CAST"), "{error:?}");
    let error = asked.row("select * from company where id = ?", vec![text("7")], 1).unwrap_err();
    assert!(error.kind == DatabaseErrorKind::Refused && error.message.contains("42883"), "{error:?}");
}

fn a_connection_that_broke_is_not_used_again(server: &Server) {
    let mut source = source(server, "");
    source.pool.test = true;
    source.pool.connections = Some(1);
    let asked = Asked::new(&source);
    let other = Asked::new(&DataSource { user: Some("bus".into()), ..self::source(server, "?ApplicationName=other") });
    assert_eq!(asked.one("select 1", vec![]).as_deref(), Some("1"));
    let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'myelin'";
    other.one(end, vec![]);
    assert_eq!(asked.one("select 2", vec![]).as_deref(), Some("2"));
    let error = asked.row("select pg_terminate_backend(pg_backend_pid())", vec![], 1);
    assert!(error.is_ok() || error.is_err_and(|error| error.kind == DatabaseErrorKind::Unreachable));
    assert_eq!(asked.one("select 3", vec![]).as_deref(), Some("3"));
}

fn a_schema_and_an_isolation_hold_on_each_connection(server: &Server) {
    let mut source = source(server, "?currentSchema=side&prepareThreshold=0");
    source.pool.isolation = Some(Isolation::Serializable);
    let asked = Asked::new(&source);
    asked.done("create schema side", vec![]).unwrap();
    assert_eq!(asked.one("select current_schema()", vec![]).as_deref(), Some("side"));
    assert_eq!(asked.one("show transaction_isolation", vec![]).as_deref(), Some("serializable"));
}

fn who_may_not_ask_is_told_without_the_password(server: &Server) {
    let wrong = DataSource { password: Some(Password("wrong-secret".into())), ..source(server, "") };
    let error = Asked::new(&wrong).row("select 1", vec![], 1).unwrap_err();
    assert!(error.kind == DatabaseErrorKind::Unreachable && error.message.contains("authentication"), "{error:?}");
    assert!(!error.message.contains("wrong-secret"), "{error:?}");
    let nobody = DataSource { url: "jdbc:postgresql://127.0.0.1:1/postgres".into(), ..source(server, "") };
    let begun = Instant::now();
    let patient = Limits { connect_timeout: 2 * DEADLINE, wait: 2 * DEADLINE, ..Limits::default() };
    let error = Asked::with(&nobody, patient).row("select 1", vec![], 1).unwrap_err();
    assert_eq!(error.kind, DatabaseErrorKind::Unreachable);
    assert!(begun.elapsed() < DEADLINE, "nobody listens there, which is known at once");
}

fn hundreds_ask_at_once(server: &Server) {
    let asked = Asked::with(&source(server, ""), Limits { wait: Duration::from_secs(60), ..Limits::default() });
    let call = || asked.call("select pg_sleep(0.002)::text, ?", vec![text("x")], common::first(2));
    let asked_all: Vec<_> = (0..200).map(|_| asked.database.run(vec![call()], Manner::Single)).collect();
    for one in asked_all {
        assert!(asked.block_on(one).unwrap().is_some());
    }
    let connections = "select count(*) from pg_stat_activity where application_name = 'myelin'";
    let connections: u32 = asked.one(connections, vec![]).unwrap().parse().unwrap();
    assert!(connections <= 8, "{connections}");
}
