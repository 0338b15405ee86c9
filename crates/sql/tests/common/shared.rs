//! What holds for every database.

use std::time::{Duration, Instant};

use myelin_flow::database::{DataSource, DatabaseErrorKind, Manner, Value};

use super::{Asked, DEADLINE, hurried, text};

/// Texts that would be more than a value of the table `company`, whose key is `name`, if they were not sent apart from
/// the statement.
pub(crate) fn a_parameter_is_a_value_whatever_it_holds(asked: &Asked, further: &[&str]) {
    let rows = asked.one("select count(*) from company", vec![]);
    let attacks = ["' or '1'='1", "'; drop table company; -- ", "O'Neil' -- ", "\\' or 1=1 -- ", "\\", "?"];
    for attack in attacks.iter().chain(further) {
        let found = asked.row("select name from company where name = ?", vec![text(attack)], 1).unwrap();
        assert_eq!(found, None, "{attack}");
        asked.done("update company set name = ? where name = 'nobody'", vec![text(attack)]).unwrap();
    }
    assert_eq!(asked.one("select count(*) from company", vec![]), rows);
    assert_eq!(asked.one("select count(*) from company where name = ?", vec![text("O'Neil")]).as_deref(), Some("1"));
}

/// A second row of the same key is refused with `word`, and what came before it is taken back.
pub(crate) fn statements_that_belong_together_are_kept_together_or_not_at_all(asked: &Asked, word: &str) {
    asked.done("create table a (i int primary key); create table b (i int)", vec![]).unwrap();
    let count = || asked.one("select (select count(*) from a) * 10 + (select count(*) from b)", vec![]).unwrap();
    let one = || vec![Value::Integer(Some(1))];
    let both = [("insert into a values (?)", one()), ("insert into b values (?)", one())];
    asked.all(&both, Manner::Together).unwrap();
    assert_eq!(count(), "11");
    let broken = [("insert into b values (?)", one()), ("insert into a values (?)", one())];
    let error = asked.all(&broken, Manner::Together).unwrap_err();
    assert!(error.kind == DatabaseErrorKind::Refused && error.message.contains(word), "{error:?}");
    assert_eq!(count(), "11");
    asked.all(&broken, Manner::Single).unwrap_err();
    assert_eq!(count(), "12");
    asked.all(&both[1..], Manner::Discard).unwrap();
    assert_eq!(count(), "12");
}

/// `hanging` takes a minute, and `running` counts the statements of that kind that the server runs.
pub(crate) fn a_statement_that_hangs_is_ended_and_told(mut source: DataSource, hanging: &str, running: &str) {
    source.pool.connections = Some(1);
    let asked = Asked::with(&source, hurried());
    let begun = Instant::now();
    let error = asked.row(hanging, vec![], 1).unwrap_err();
    assert_eq!(error.kind, DatabaseErrorKind::Late, "{error:?}");
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    assert_eq!(asked.one("select 1", vec![]).as_deref(), Some("1"));
    let until = Instant::now() + DEADLINE;
    while asked.one(running, vec![]).as_deref() != Some("0") {
        assert!(Instant::now() < until, "the server still runs it");
        asked.pause(Duration::from_millis(50));
    }
}
