//! What SQLite has of its own.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use myelin_flow::database::Cell;
use sqlx::sqlite::{Sqlite, SqliteValueRef};
use sqlx::{Decode, TypeInfo, ValueRef};

use crate::answer::Dialect;

impl Dialect for Sqlite {
    /// Two transactions that both read before they write could not end otherwise.
    const BEGIN: &'static str = "BEGIN IMMEDIATE";

    /// A value has a type of its own, whatever its column says (SQLite's "Datatypes").
    fn cell(value: SqliteValueRef<'_>) -> Result<Option<Cell>, String> {
        if value.is_null() {
            return Ok(None);
        }
        let kind = value.type_info().name().to_owned();
        Ok(Some(match kind.as_str() {
            "INTEGER" => Cell::Text(read::<i64>(value)?.to_string()),
            "REAL" => Cell::Double(read::<f64>(value)?),
            "BLOB" => Cell::Text(BASE64_STANDARD.encode(read::<&[u8]>(value)?)),
            _ => Cell::Text(read::<String>(value)?),
        }))
    }
}

fn read<'r, T: Decode<'r, Sqlite>>(value: SqliteValueRef<'r>) -> Result<T, String> {
    T::decode(value).map_err(|error| error.to_string())
}
