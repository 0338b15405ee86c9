//! `recorded.toml`: what was measured otherwise than by `myelin bench run`, each table with command, machine and date.

use anyhow::{Result, bail};
use serde::Deserialize;

use super::markdown::{self, cell, number};

/// All tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recorded {
    #[serde(default, rename = "table")]
    pub(super) tables: Vec<Table>,
}

/// What one command measured at one time.
#[derive(Deserialize)]
#[serde(try_from = "TableAsWritten")]
pub(super) struct Table {
    pub(super) title: String,
    pub(super) command: String,
    pub(super) machine: String,
    pub(super) date: String,
    pub(super) commit: String,
    remark: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Entry>>,
}

/// What stands in a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(super) enum Entry {
    Number(f64),
    Words(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableAsWritten {
    title: String,
    command: String,
    machine: String,
    date: String,
    commit: String,
    #[serde(default)]
    remark: String,
    columns: Vec<String>,
    rows: Vec<Vec<Entry>>,
}

impl TryFrom<TableAsWritten> for Table {
    type Error = anyhow::Error;

    fn try_from(written: TableAsWritten) -> Result<Table> {
        let TableAsWritten { title, command, machine, date, commit, remark, columns, rows } = written;
        if let Some(index) = rows.iter().position(|row| row.len() != columns.len()) {
            bail!("the table {title:?}: row {} has not the {} entries of `columns`", index + 1, columns.len());
        }
        Ok(Table { title, command, machine, date, commit, remark, columns, rows })
    }
}

impl Recorded {
    /// The table of that title.
    ///
    /// Errors: there is none.
    pub(super) fn table(&self, title: &str) -> Result<&Table> {
        match self.tables.iter().find(|table| table.title == title) {
            Some(table) => Ok(table),
            None => bail!("recorded.toml has no table {title:?}"),
        }
    }

    pub(super) fn markdown(&self) -> String {
        let sections: Vec<String> = self.tables.iter().map(Table::markdown).collect();
        sections.join("\n")
    }
}

impl Table {
    /// The place of a column.
    ///
    /// Errors: there is none of that name.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        match self.columns.iter().position(|column| column == name) {
            Some(column) => Ok(column),
            None => bail!("the table {:?} has no column {name:?}", self.title),
        }
    }

    fn markdown(&self) -> String {
        let of_words = |column: usize| self.rows.iter().all(|row| matches!(row[column], Entry::Words(_)));
        let words = (0..self.columns.len()).take_while(|&column| of_words(column)).count();
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(Entry::shown).collect()).collect();
        let Table { title, command, machine, date, commit, remark, .. } = self;
        let remark = if remark.is_empty() { String::new() } else { format!("{}\n", remark.trim()) };
        let rows = markdown::table(words, &columns, &rows);
        format!("### {title}\n\n{command}; {machine}; {date}; commit {commit}.\n{remark}\n{rows}")
    }
}

impl Entry {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Entry::Number(number) => Some(*number),
            Entry::Words(_) => None,
        }
    }

    /// As somebody wrote it, save for groups of digits.
    pub(super) fn shown(&self) -> String {
        match self {
            Entry::Words(words) => cell(words),
            Entry::Number(value) if value.abs() >= 1_000.0 => number(*value),
            Entry::Number(value) => value.to_string(),
        }
    }
}
