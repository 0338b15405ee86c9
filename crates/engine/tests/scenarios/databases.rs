//! Flows that ask a database, which is a script here.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use crate::common::{Scenario, load_with, post};
use myelin_engine::Settings;
use myelin_engine::database::{
    Answer, Call, Cell, DataSource, Database, DatabaseError, DatabaseErrorKind, DatabaseSettings, Databases, Kind,
    Manner, Opened, Outcome, Statement, Value,
};

/// A statement, the values of its parameters, and how it was run.
type Asked = (String, Vec<Value>, Manner);

/// A database that answers from a script and remembers what it was asked.
#[derive(Clone)]
struct Script {
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<dyn Fn(&Call) -> Outcome + Send + Sync>,
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

impl Databases for Script {
    fn open(&self, _: &DataSource) -> Result<Opened, String> {
        Ok(Opened { database: Arc::new(self.clone()), remarks: Vec::new() })
    }
}

impl Database for Script {
    fn statement(&self, text: &str, _: &[Kind], answer: Answer) -> Result<Statement, String> {
        Ok(Statement { text: text.to_owned(), several: false, answer })
    }

    fn run(&self, calls: Vec<Call>, manner: Manner) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        let mut found = Ok(None);
        for call in calls {
            found = (self.answer)(&call);
            self.asked.lock().unwrap().push((call.statement.text.clone(), call.values, manner));
        }
        Box::pin(ready(found))
    }
}

/// A proxy whose flow asks such a database and answers with what the properties `a`, `b` and `ERROR_DETAIL` hold.
fn asked(mediators: &str, answer: impl Fn(&Call) -> Outcome + Send + Sync + 'static) -> (String, Script) {
    let script = Script { asked: Arc::default(), answer: Arc::new(answer) };
    let told = "<payloadFactory media-type='xml'><format><r xmlns=''>$1|$2|$3|$4</r></format><args>\
                <arg expression=\"get-property('a')\"/><arg expression=\"get-property('b')\"/>\
                <arg expression=\"get-property('ERROR_MESSAGE')\"/><arg expression=\"get-property('ERROR_DETAIL')\"/>\
                </args></payloadFactory><respond/>";
    let artefacts = format!(
        "<proxy name='p'><target><inSequence>{mediators}{told}</inSequence><faultSequence>{told}</faultSequence></target></proxy>"
    );
    let source = DataSource { url: "jdbc:script:orders?password=hush".into(), ..DataSource::default() };
    let databases =
        DatabaseSettings { databases: Some(Arc::new(script.clone())), sources: [("orders".to_owned(), source)].into() };
    let loaded = load_with(&artefacts, &Settings { databases, ..Settings::default() });
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let scenario = Scenario::of(loaded, |_, _| unreachable!("no backend is asked"));
    let xml = [];
    let answer = scenario.serve(post("/services/p", &xml, "<q><id>7</id><name>O'Neil</name></q>"));
    (answer.body, script)
}

const CONNECTION: &str = "<connection><pool><dsName>orders</dsName></pool></connection>";

fn text(text: &str) -> Option<Cell> {
    Some(Cell::Text(text.to_owned()))
}

#[test]
fn what_one_statement_finds_is_a_parameter_of_the_next() {
    let mediators = format!(
        "<dblookup>{CONNECTION}<statement><sql>first</sql><parameter expression='//id' type='INTEGER'/>\
         <parameter expression='//name' type='VARCHAR'/><parameter expression='//none' type='DOUBLE'/>\
         <result name='a' column='x'/></statement>\
         <statement><sql>second</sql><parameter expression=\"get-property('a')\" type='VARCHAR'/>\
         <result name='b' column='1'/></statement></dblookup>"
    );
    let (answer, script) = asked(&mediators, |call| match call.statement.text.as_str() {
        "first" => Ok(Some(vec![text("found")])),
        _ => Ok(Some(vec![Some(Cell::Double(1e10))])),
    });
    assert!(answer.contains("found|1.0E10|"), "{answer}");
    let expected = [
        (
            "first".to_owned(),
            vec![Value::Integer(Some(7)), Value::Text(Some("O'Neil".to_owned())), Value::Double(None)],
            Manner::Single,
        ),
        ("second".to_owned(), vec![Value::Text(Some("found".to_owned()))], Manner::Single),
    ];
    assert_eq!(*script.asked.lock().unwrap(), expected);
}

#[test]
fn no_row_and_null_leave_a_property_as_it_was() {
    let mediators = format!(
        "<property name='a' value='before'/><property name='b' value='before'/>\
         <dblookup>{CONNECTION}<statement><sql>none</sql><result name='a' column='1'/></statement>\
         <statement><sql>null</sql><result name='a' column='1'/><result name='b' column='2'/></statement></dblookup>"
    );
    let (answer, _) = asked(&mediators, |call| match call.statement.text.as_str() {
        "none" => Ok(None),
        _ => Ok(Some(vec![None, text("after")])),
    });
    assert!(answer.contains("before|after|"), "{answer}");
}

#[test]
fn a_report_is_one_transaction_where_it_says_so() {
    let report = |attribute: &str| {
        let mediators = format!(
            "<dbreport {attribute}>{CONNECTION}<statement><sql>one</sql></statement>\
             <statement><sql>two</sql></statement></dbreport>"
        );
        let (_, script) = asked(&mediators, |_| Ok(None));
        script.asked.lock().unwrap().iter().map(|(_, _, manner)| *manner).collect::<Vec<_>>()
    };
    assert_eq!(report(""), [Manner::Single, Manner::Single]);
    assert_eq!(report("useTransaction='true'"), [Manner::Together, Manner::Together]);
}

#[test]
fn what_a_database_refuses_is_a_fault_that_tells_no_secret() {
    let mediators = format!("<dbreport>{CONNECTION}<statement><sql>one</sql></statement></dbreport>");
    let error = |kind| move |_: &Call| Err(DatabaseError::new(kind, "it said no"));
    let (answer, _) = asked(&mediators, error(DatabaseErrorKind::Refused));
    assert!(answer.contains("The database refused a statement|it said no;"), "{answer}");
    assert!(answer.contains("jdbc:script:orders") && !answer.contains("hush"), "{answer}");
    let (answer, _) = asked(&mediators, error(DatabaseErrorKind::Late));
    assert!(answer.contains("did not answer in time"), "{answer}");
    let (answer, _) = asked(&mediators, error(DatabaseErrorKind::Busy));
    assert!(answer.contains("try again later"), "{answer}");
}

#[test]
fn a_value_of_another_type_never_reaches_the_database() {
    let mediators = format!(
        "<dbreport>{CONNECTION}<statement><sql>one</sql><parameter expression='//name' type='INTEGER'/></statement></dbreport>"
    );
    let (answer, script) = asked(&mediators, |_| Ok(None));
    assert!(answer.contains("A value has not the type that a statement wants|parameter 1 of"), "{answer}");
    assert!(script.asked.lock().unwrap().is_empty());
}
