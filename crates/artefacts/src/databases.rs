//! What `<dblookup>` and `<dbreport>` share: a database and the statements for it.

mod connection;
mod query;
mod value;

use std::sync::Arc;

use crate::databases::query::Query;
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::database::{self, Call, Manner};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::{Scope, Value};

/// A mediator that asks a database.
pub(crate) struct DatabaseMediator {
    database: Arc<dyn database::Database>,
    /// Its name, for those who read the log.
    name: String,
    queries: Vec<Query>,
    manner: Manner,
}

/// What a database is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Values.
    Lookup,
    /// Changes, be they one transaction or one for each statement.
    Report { together: bool },
}

impl DatabaseMediator {
    /// Reads the elements inside.
    ///
    /// Errors: a [`Problem`] where the database is none that can be asked, or a statement is wrong.
    /// Source: Synapse's `AbstractDBMediatorFactory`.
    pub(crate) fn read(element: &Element, purpose: Purpose, loader: &mut Loader) -> Result<DatabaseMediator, Problem> {
        let (mut opened, mut statements) = (None, Vec::new());
        for child in &element.children {
            match child.name.as_str() {
                "connection" if opened.is_none() => opened = Some(connection::read(child, loader)?),
                "statement" => statements.push(child),
                "description" => {}
                _ => {
                    let message = format!("{} holds one connection and statements, not {}", element.tag(), child.tag());
                    return Err(child.misnamed(message, &["connection", "statement"]));
                }
            }
        }
        let (source, database) =
            opened.ok_or_else(|| element.problem(format!("{} has no <connection>", element.tag())))?;
        if statements.is_empty() {
            return Err(element.problem(format!("{} has no <statement>", element.tag())));
        }
        let queries = statements.into_iter().map(|statement| Query::read(statement, purpose, &*database, loader));
        let queries = queries.collect::<Result<_, _>>()?;
        let manner = match purpose {
            Purpose::Report { together: true } => Manner::Together,
            // Where the pool does not commit by itself, a report does after each statement, and a look-up never.
            Purpose::Lookup if !source.pool.auto_commit => Manner::Discard,
            Purpose::Lookup | Purpose::Report { together: false } => Manner::Single,
        };
        Ok(DatabaseMediator { database, name: source.name(), queries, manner })
    }

    async fn ask(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        // What one statement finds may be a parameter of the next.
        let at_once = if self.manner == Manner::Together { self.queries.len() } else { 1 };
        for queries in self.queries.chunks(at_once) {
            let mut calls = Vec::with_capacity(queries.len());
            for query in queries {
                query.need.fulfil(exchange, context).await?;
                calls.push(Call { statement: Arc::clone(&query.statement), values: query.values(exchange, context)? });
            }
            let found = self.database.run(calls, self.manner).await.map_err(|error| {
                let statements: Vec<&str> = queries.iter().map(|query| query.text.as_str()).collect();
                Fault::database(&error, &self.name, &statements.join("; "))
            })?;
            let results = queries.iter().flat_map(|query| &query.results);
            for (slot, cell) in results.zip(found.into_iter().flatten()) {
                if let Some(cell) = cell {
                    let value = Value::Text(value::text(cell).into());
                    exchange.properties.check_room(&value)?;
                    exchange.properties.put(Scope::Default, *slot, Some(value));
                }
            }
        }
        Ok(())
    }
}

impl Mediator for DatabaseMediator {
    fn effect(&self) -> Effect<'_> {
        Effect::reading(self.queries.iter().map(|query| query.need.reads()).max().unwrap_or_default())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.ask(exchange, context).await.map(|()| Flow::Next);
            (exchange, outcome)
        }))
    }
}

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
