//! `<statement>`: a statement with its parameters, and where its columns go.

use std::sync::Arc;

use super::Purpose;
use super::value::{kind, parse};
use crate::config::{Element, Loader, Problem};
use crate::content::Need;
use crate::database::{Answer, Column, Database, Kind, Statement, Value};
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediators::setting::Setting;
use crate::property::Slot;

/// A statement of the configuration.
pub(super) struct Query {
    /// As the configuration has it.
    pub(super) text: String,
    /// As the database wants it.
    pub(super) statement: Arc<Statement>,
    parameters: Vec<(Kind, Setting)>,
    /// What the parameters look at.
    pub(super) need: Need,
    /// The properties that become what its wanted columns hold.
    pub(super) results: Vec<Slot>,
}

impl Query {
    /// Reads it and has its database check it.
    ///
    /// Errors: a [`Problem`] where something is missing or wrong.
    pub(super) fn read(
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
                    return Err(child
                        .problem(format!("<statement> holds one sql, parameters and results, not {}", child.tag())));
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
    pub(super) fn values(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Vec<Value>> {
        let value = |(at, (kind, setting)): (usize, &(Kind, Setting))| {
            let text = setting.text(exchange, scene)?;
            parse(*kind, text.as_deref()).map_err(|message| {
                let detail = format!("parameter {} of {:?}: {message}", at + 1, self.text);
                Fault::bus("A value has not the type that a statement wants").with_detail(detail)
            })
        };
        self.parameters.iter().enumerate().map(value).collect()
    }
}

fn parameter(element: &Element, loader: &mut Loader) -> Result<(Kind, Setting), Problem> {
    let name = element.required("type")?;
    let kind = kind(name.value.trim()).ok_or_else(|| {
        name.problem(format!("type {:?} is none that a parameter can have; VARCHAR is one", name.value))
    })?;
    let setting =
        Setting::read(element, loader)?.ok_or_else(|| element.problem("<parameter> needs value or expression"))?;
    // What never changes is looked at once, here.
    if let Setting::Fixed(text) = &setting {
        parse(kind, Some(text)).map_err(|message| element.problem(message))?;
    }
    Ok((kind, setting))
}

/// A column by its number, or else by its name.
fn column(text: &str) -> Column {
    text.parse().map_or_else(|_| Column::Name(text.to_owned()), Column::Number)
}
