//! What MySQL and MariaDB have of their own: values in the binary form of their protocol.
//!
//! Source: "Binary Protocol Resultset" of MySQL's documentation, and for the texts Connector/J's `getObject`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use myelin_flow::database::Cell;
use sqlx::mysql::{MySql, MySqlValueRef};
use sqlx::{Decode, TypeInfo, ValueRef};

use crate::answer::Dialect;
use crate::moment::{show_date, show_timestamp};

impl Dialect for MySql {
    fn cell(value: MySqlValueRef<'_>) -> Result<Option<Cell>, String> {
        if value.is_null() {
            return Ok(None);
        }
        let kind = value.type_info().name().to_owned();
        let bytes = read::<&[u8]>(value.clone())?;
        let broken = || format!("{} bytes are no {kind}", bytes.len());
        let cell = match kind.as_str() {
            // TINYINT(1); every number but zero is true.
            "BOOLEAN" => Cell::Text((read::<i64>(value)? != 0).to_string()),
            "BIT" if bytes.len() == 1 => Cell::Text((bytes != [0]).to_string()),
            "FLOAT" => Cell::Float(read::<f32>(value)?),
            "DOUBLE" => Cell::Double(read::<f64>(value)?),
            "YEAR" => Cell::Text(read::<u16>(value)?.to_string()),
            "DATE" => Cell::Text(date(bytes).ok_or_else(broken)?),
            "DATETIME" | "TIMESTAMP" => Cell::Text(timestamp(bytes).ok_or_else(broken)?),
            "TIME" => Cell::Text(time(bytes).ok_or_else(broken)?),
            name if name.ends_with("UNSIGNED") => Cell::Text(read::<u64>(value)?.to_string()),
            name if name.ends_with("INT") => Cell::Text(read::<i64>(value)?.to_string()),
            name if name.ends_with("BLOB") || name.ends_with("BINARY") || matches!(name, "BIT" | "GEOMETRY") => {
                Cell::Text(BASE64_STANDARD.encode(bytes))
            }
            _ => {
                Cell::Text(std::str::from_utf8(bytes).map_err(|_| "a text that is not in UTF-8".to_owned())?.to_owned())
            }
        };
        Ok(Some(cell))
    }
}

fn read<'r, T: Decode<'r, MySql>>(value: MySqlValueRef<'r>) -> Result<T, String> {
    T::decode(value).map_err(|error| error.to_string())
}

/// A length, year, month and day.
fn date(bytes: &[u8]) -> Option<String> {
    let [_, low, high, month, day, ..] = *bytes else { return None };
    Some(show_date(u16::from_le_bytes([low, high]).into(), month, day))
}

/// The same with a time and microseconds, which are left out where they are zero.
fn timestamp(bytes: &[u8]) -> Option<String> {
    let date = date(bytes)?;
    let (time, micros) = match *bytes {
        [4, ..] => ([0; 3], 0),
        [7, _, _, _, _, hour, minute, second] => ([hour, minute, second], 0),
        [11, _, _, _, _, hour, minute, second, a, b, c, d] => {
            ([hour, minute, second], u32::from_le_bytes([a, b, c, d]))
        }
        _ => return None,
    };
    Some(show_timestamp(&date, time.map(u32::from), micros))
}

/// A length, a sign, days, and a time of day: what may be longer than a day.
fn time(bytes: &[u8]) -> Option<String> {
    match *bytes {
        [0] => Some("00:00:00".to_owned()),
        [_, negative, a, b, c, d, hours, minutes, seconds, ..] => {
            let hours = u64::from(u32::from_le_bytes([a, b, c, d])) * 24 + u64::from(hours);
            let sign = if negative == 1 { "-" } else { "" };
            Some(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_however_much_of_them_is_sent() {
        assert_eq!(date(&[4, 0xea, 0x07, 11, 21]).as_deref(), Some("2026-11-21"));
        assert_eq!(timestamp(&[4, 0xea, 0x07, 11, 21]).as_deref(), Some("2026-11-21 00:00:00.0"));
        assert_eq!(timestamp(&[7, 0xea, 0x07, 11, 21, 19, 30, 5]).as_deref(), Some("2026-11-21 19:30:05.0"));
        let micros = [11, 0xea, 0x07, 11, 21, 19, 30, 5, 0x20, 0xa1, 0x07, 0];
        assert_eq!(timestamp(&micros).as_deref(), Some("2026-11-21 19:30:05.5"));
        assert_eq!(timestamp(&[7, 1]), None);
        assert_eq!(time(&[8, 1, 1, 0, 0, 0, 2, 30, 0]).as_deref(), Some("-26:30:00"));
        assert_eq!(time(&[0]).as_deref(), Some("00:00:00"));
    }
}
