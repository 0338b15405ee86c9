//! A real MariaDB, where the machine has one.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;

use common::server::Server;
use common::{Asked, shared, text, wait_for};
use myelin_flow::database::{DataSource, DatabaseErrorKind, Password, Value};

fn source(server: &Server, database: &str) -> DataSource {
    DataSource {
        url: format!("jdbc:mariadb://127.0.0.1:{}/{database}?useSSL=false", server.port),
        user: Some("bus".into()),
        ..DataSource::default()
    }
}

/// One server for all: starting one takes longer than anything that is asked of it.
#[test]
fn mariadb_is_asked_like_any_other_database() {
    let Some(server) = Server::mariadb() else { return };
    wait_for(&source(&server, ""));
    Asked::new(&source(&server, "")).done("create database orders", vec![]).unwrap();
    values_of_all_types_come_back_as_java_writes_them(&server);
    let orders = source(&server, "orders");
    let asked = Asked::new(&orders);
    shared::a_parameter_is_a_value_whatever_it_holds(&asked, &[]);
    shared::statements_that_belong_together_are_kept_together_or_not_at_all(&asked, "23000");
    let running = "select count(*) from information_schema.processlist where info = 'select sleep(60)'";
    shared::a_statement_that_hangs_is_ended_and_told(orders, "select sleep(60)", running);
    drop(server);
}

fn values_of_all_types_come_back_as_java_writes_them(server: &Server) {
    let asked = Asked::new(&source(server, "orders"));
    asked
        .done(
            "create table company (name varchar(40) primary key, small smallint, id int unsigned, big bigint, \
             price decimal(12,3), rate float, ratio double, listed boolean, born date, opens time, seen datetime(2), \
             note text, picture blob, made year, flags bit(1))",
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
        text("é"),
    ];
    let insert = "insert into company values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'00ff', 2026, 1)";
    asked.done(insert, values.clone()).unwrap();
    let statement = "select * from company where name = ? and born = ? and price = ?";
    let row = asked.row(statement, vec![values[0].clone(), values[8].clone(), values[4].clone()], 15);
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
        "é",
        "AP8=",
        "2026",
        "true",
    ];
    assert_eq!(row.unwrap().unwrap(), expected.map(owned));
    assert_eq!(asked.one("select null", vec![]), None);
    assert_eq!(asked.one("select json_object('a', 1)", vec![]).as_deref(), Some("{\"a\": 1}"));
    assert_eq!(asked.one("select @@sql_mode like '%PIPES_AS_CONCAT%'", vec![]).as_deref(), Some("0"));
    assert_eq!(asked.one("select concat('Hello, ', ?, '!')", vec![text("WSO2")]).as_deref(), Some("Hello, WSO2!"));
}

/// A server as MySQL is after a start: it has the account's password not at hand, and here no TLS to ask for it.
///
/// Source: "Protocol::HandshakeV10" and "Caching_sha2_password information" of MySQL's documentation.
fn forgetful_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut talk = |number: u8, packet: &[u8]| {
            let length = u32::try_from(packet.len()).unwrap().to_le_bytes();
            stream.write_all(&[&length[..3], &[number], packet].concat()).unwrap();
            stream.read(&mut [0; 1024]).unwrap()
        };
        let hello = [
            b"\x0a8.0.30\0\x01\0\0\0abcdefgh\0".as_slice(),
            b"\x09\xa2\x2d\x02\0\x08\0\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0",
        ];
        talk(0, &hello.concat());
        talk(2, b"\x01\x04");
        talk(4, b"\x01a key");
    });
    port
}

#[test]
fn an_account_that_needs_tls_is_told_so() {
    let source = DataSource {
        url: format!("jdbc:mysql://127.0.0.1:{}/orders?useSSL=false", forgetful_server()),
        user: Some("bus".into()),
        password: Some(Password("hush".into())),
        ..DataSource::default()
    };
    let error = Asked::new(&source).done("select 1", vec![]).unwrap_err();
    assert_eq!(error.kind, DatabaseErrorKind::Unreachable);
    assert!(error.message.contains("caching_sha2_password needs TLS"), "{}", error.message);
}
