//! Databases that know nothing: what tests of the configuration load with.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use myelin_flow::database::{
    Answer, Call, DataSource, Database, DatabaseSettings, Databases, Kind, Manner, Opened, Outcome, Statement,
};

/// It opens whatever is no file of H2.
#[derive(Debug)]
struct Fake;

/// What a bus knows where only `stocks` has a name.
pub(crate) fn settings() -> DatabaseSettings {
    let stocks = DataSource { url: "jdbc:fake:stocks".to_owned(), ..DataSource::default() };
    DatabaseSettings { databases: Some(Arc::new(Fake)), sources: [("stocks".to_owned(), stocks)].into() }
}

impl Databases for Fake {
    fn open(&self, source: &DataSource) -> Result<Opened, String> {
        if source.url.starts_with("jdbc:h2:") {
            return Err("H2 runs in a JVM only".to_owned());
        }
        let remarks = source.url.split_once('?').map(|(_, remark)| format!("{remark} has no effect"));
        Ok(Opened { database: Arc::new(Fake), remarks: remarks.into_iter().collect() })
    }
}

impl Database for Fake {
    fn statement(&self, text: &str, parameters: &[Kind], answer: Answer) -> Result<Statement, String> {
        match text.matches('?').count() == parameters.len() {
            true => Ok(Statement { text: text.to_owned(), several: false, answer }),
            false => Err("another number of parameters".to_owned()),
        }
    }

    fn run(&self, _: Vec<Call>, _: Manner) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(ready(Ok(None)))
    }
}
