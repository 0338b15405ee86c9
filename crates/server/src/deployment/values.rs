//! Values of a file, wherever they stand in it.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// The value under a path of table names; a key that itself holds the dots counts as well, as WSO2's files have them.
pub(super) fn find<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    if let Some(value) = table.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(dot, _)| match table.get(&path[..dot]) {
        Some(Value::Table(inner)) => find(inner, &path[dot + 1..]),
        _ => None,
    })
}

/// Reads a text such as `1m 30s`.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_duration(&text).map(Some).map_err(serde::de::Error::custom)
}

/// Sets an option where the file says something.
pub(super) fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}
