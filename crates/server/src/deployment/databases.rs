//! What `deployment.toml` says about databases: WSO2's `[[datasource]]`, and the limits of `[myelin.sql]`.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{anyhow, bail};
use myelin_engine::database::{DataSource, Databases, Password};
use serde::Deserialize;
use toml::{Table, Value};

use super::file_text::KeyProblem;
use super::values::duration;
use super::wso2::File;

/// A data source under its name, as the file has it.
#[derive(Debug)]
pub(super) struct Named {
    id: String,
    source: DataSource,
    /// What of it has no effect.
    pub(super) remarks: Vec<KeyProblem>,
}

/// `[myelin.sql]`: what each database may take of the bus.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OwnSql {
    connections: Option<usize>,
    waiting: Option<usize>,
    #[serde(deserialize_with = "duration")]
    wait: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    connect_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    idle: Option<Duration>,
    statements: Option<usize>,
}

impl OwnSql {
    /// Who speaks with databases, for a whole process; `None` in a build without them.
    #[cfg(feature = "sql")]
    pub(super) fn databases(&self) -> Option<Arc<dyn Databases>> {
        use crate::deployment::values::set;
        let OwnSql { connections, waiting, wait, connect_timeout, timeout, idle, statements } = *self;
        let mut limits = myelin_sql::Limits::default();
        set(&mut limits.connections, connections);
        set(&mut limits.waiting, waiting);
        set(&mut limits.wait, wait);
        set(&mut limits.connect_timeout, connect_timeout);
        set(&mut limits.timeout, timeout);
        set(&mut limits.idle, idle);
        set(&mut limits.statements, statements);
        Some(Arc::new(myelin_sql::Sql::new(limits)))
    }

    #[cfg(not(feature = "sql"))]
    pub(super) fn databases(&self) -> Option<Arc<dyn Databases>> {
        None
    }
}

impl Named {
    /// The name, and the source with the password that it may refer to.
    ///
    /// Errors: the secret that it refers to is not there.
    pub(super) fn resolved(&self, settings: &myelin_engine::Settings) -> anyhow::Result<(String, DataSource)> {
        let mut source = self.source.clone();
        if let Some(Password(text)) = &mut source.password {
            let secret = settings.security.secret(text, &settings.environment);
            let secret =
                secret.and_then(|secret| String::from_utf8(secret.as_ref().to_vec()).map_err(|e| e.to_string()));
            *text = secret.map_err(|error| anyhow!("[[datasource]] {}: password: {error}", self.id))?;
        }
        Ok((self.id.clone(), source))
    }
}

/// The data sources of a file.
///
/// Errors: one has no name or no URL, two have the same name, a value is none that it can have.
pub(super) fn read(file: &File) -> anyhow::Result<Vec<Named>> {
    let mut sources: Vec<Named> = Vec::new();
    for (number, table) in file.tables("datasource")?.into_iter().enumerate() {
        let named = source(table, file, &format!("datasource[{number}]"))?;
        if sources.iter().any(|known| known.id == named.id) {
            let message = format!("[[datasource]] {} is there twice", named.id);
            bail!(KeyProblem::new(format!("datasource[{number}].id"), message));
        }
        sources.push(named);
    }
    Ok(sources)
}

/// One of them, whose table has this path.
fn source(table: &Table, file: &File, path: &str) -> anyhow::Result<Named> {
    let wrong = |key: &str, message: String| anyhow!(KeyProblem::new(format!("{path}.{key}"), message));
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        // What stands there may be a password.
        Some(_) => Err(wrong(key, format!("[[datasource]] {key}: a text is needed"))),
    };
    let id = text("id")?.ok_or_else(|| wrong("id", "a [[datasource]] has no id".to_owned()))?;
    for key in ["id", "url", "username"] {
        if let Some(message) = file.unknown_in(&format!("datasource.{key}"), table.get(key)) {
            return Err(wrong(key, format!("[[datasource]] {id}: {key}: {message}")));
        }
    }
    let mut source = DataSource {
        url: text("url")?.ok_or_else(|| wrong("url", format!("[[datasource]] {id} has no url")))?,
        user: text("username")?,
        password: text("password")?.map(Password),
        ..DataSource::default()
    };
    let mut remarks = Vec::new();
    for (name, value) in table.get("pool_options").and_then(Value::as_table).into_iter().flatten() {
        let key = format!("pool_options.{name}");
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let told = |message: String| format!("[[datasource]] {id}: {message}");
        let remark = source.pool.set(name, &value).map_err(|message| wrong(&key, told(message.to_string())))?;
        remarks.extend(remark.map(|remark| KeyProblem::new(format!("{path}.{key}"), told(remark.to_string()))));
    }
    Ok(Named { id, source, remarks })
}
