//! `<statement>`: a statement with its parameters, and where its columns go.

use std::sync::Arc;

use crate::databases::Purpose;
use crate::databases::value::{kind, parse};
use crate::loader::Loader;
use crate::values::ConfiguredValue;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::database::{Answer, Column, Database, Kind, Statement, Value};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::Slot;

/// A statement of the configuration.
pub(crate) struct Query {
    /// As the configuration has it.
    pub(crate) text: String,
    /// As the database wants it.
    pub(crate) statement: Arc<Statement>,
    parameters: Vec<(Kind, ConfiguredValue)>,
    /// What the parameters look at.
    pub(crate) need: Need,
    /// The properties that become what its wanted columns hold.
    pub(crate) results: Vec<Slot>,
}

impl Query {
    /// Reads it and has its database check it.
    ///
    /// Errors: a [`Problem`] where something is missing or wrong.
    pub(crate) fn read(
        element: &Element,
        purpose: Purpose,
        database: &dyn Database,
        loader: &mut Loader,
    ) -> Result<Query, Problem> {
        let (mut parameters, mut columns, mut results) = (Vec::new(), Vec::new(), Vec::new());
        let mut sql = None;
        for child in &element.children {
            match child.name.as_str() {
                "sql" if sql.is_none() => sql = Some(child),
                "parameter" => parameters.push(parameter(child, loader)?),
                "result" if purpose == Purpose::Lookup => {
                    let name = child.required("name")?.value;
                    columns.push(column(child.required("column")?.value));
                    results.push(loader.names().slot(name));
                }
                "result" => {
                    child.forgive();
                    loader.warning(child.problem("<result> has no effect: <dbreport> keeps nothing of what it finds"));
                }
                _ => {
                    let message = format!("<statement> holds one sql, parameters and results, not {}", child.tag());
                    return Err(child.misnamed(message, &["sql", "parameter", "result"]));
                }
            }
        }
        let sql = sql.ok_or_else(|| element.problem("<statement> has no <sql>"))?;
        let text = sql.text().value.to_owned();
        if text.is_empty() {
            return Err(sql.problem("<sql> is empty"));
        }
        let kinds: Vec<Kind> = parameters.iter().map(|(kind, _)| *kind).collect();
        let answer = if purpose == Purpose::Lookup { Answer::Row(columns) } else { Answer::Done };
        let statement = database.statement(&text, &kinds, answer).map_err(|message| sql.problem(message))?;
        let need = Need::of(parameters.iter().filter_map(|(_, setting)| setting.expression()));
        Ok(Query { text, statement: Arc::new(statement), parameters, need, results })
    }

    /// What the parameters are for the current message.
    ///
    /// Errors: those of the expressions; the bus's, where a text is none that the type can have.
    pub(crate) fn values(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Vec<Value>> {
        let value = |(at, (kind, setting)): (usize, &(Kind, ConfiguredValue))| {
            let text = setting.text(exchange, context)?;
            parse(*kind, text.as_deref()).map_err(|message| {
                let detail = format!("parameter {} of {:?}: {message}", at + 1, self.text);
                Fault::bus("A value has not the type that a statement wants").with_detail(detail)
            })
        };
        self.parameters.iter().enumerate().map(value).collect()
    }
}

fn parameter(element: &Element, loader: &mut Loader) -> Result<(Kind, ConfiguredValue), Problem> {
    let name = element.required("type")?;
    let kind = kind(name.value.trim()).ok_or_else(|| {
        name.problem(format!("type {:?} is none that a parameter can have; VARCHAR is one", name.value))
    })?;
    let setting = ConfiguredValue::read(element, loader)?
        .ok_or_else(|| element.lacks("<parameter> needs value or expression"))?;
    // What never changes is looked at once, here.
    if let ConfiguredValue::Fixed(text) = &setting {
        parse(kind, Some(text)).map_err(|message| element.problem(message))?;
    }
    Ok((kind, setting))
}

/// A column by its number, or else by its name.
fn column(text: &str) -> Column {
    text.parse().map_or_else(|_| Column::Name(text.to_owned()), Column::Number)
}
