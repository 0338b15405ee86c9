//! What PostgreSQL has of its own: values in the binary form of its protocol.
//!
//! Source: the `*send` functions of PostgreSQL's types, and for their texts pgJDBC's `getObject`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use myelin_flow::database::Cell;
use sqlx::postgres::{PgTypeInfo, PgTypeKind, PgValueRef, Postgres};
use sqlx::{TypeInfo, ValueRef};

use crate::answer::Dialect;
use crate::moment;

impl Dialect for Postgres {
    fn cell(value: PgValueRef<'_>) -> Result<Option<Cell>, String> {
        if value.is_null() {
            return Ok(None);
        }
        let bytes = value.as_bytes().map_err(|error| error.to_string())?;
        decode(&value.type_info(), bytes).map(Some)
    }
}

fn decode(kind: &PgTypeInfo, bytes: &[u8]) -> Result<Cell, String> {
    match kind.kind() {
        PgTypeKind::Enum(_) => return text(bytes),
        PgTypeKind::Domain(of) => return decode(of, bytes),
        _ => {}
    }
    let name = kind.name();
    let short = || format!("{} bytes are no {name}", bytes.len());
    Ok(match name {
        "BOOL" => Cell::Text((bytes != [0]).to_string()),
        "INT2" => Cell::Text(i16::from_be_bytes(fixed(bytes).ok_or_else(short)?).to_string()),
        "INT4" => Cell::Text(i32::from_be_bytes(fixed(bytes).ok_or_else(short)?).to_string()),
        "INT8" => Cell::Text(i64::from_be_bytes(fixed(bytes).ok_or_else(short)?).to_string()),
        "OID" => Cell::Text(u32::from_be_bytes(fixed(bytes).ok_or_else(short)?).to_string()),
        "FLOAT4" => Cell::Float(f32::from_be_bytes(fixed(bytes).ok_or_else(short)?)),
        "FLOAT8" => Cell::Double(f64::from_be_bytes(fixed(bytes).ok_or_else(short)?)),
        "NUMERIC" => Cell::Text(numeric(bytes).ok_or_else(short)?),
        "DATE" => Cell::Text(match i32::from_be_bytes(fixed(bytes).ok_or_else(short)?) {
            i32::MAX => "infinity".to_owned(),
            i32::MIN => "-infinity".to_owned(),
            days => moment::date(days),
        }),
        "TIME" => Cell::Text(moment::time(i64::from_be_bytes(fixed(bytes).ok_or_else(short)?))),
        "TIMESTAMP" | "TIMESTAMPTZ" => Cell::Text(match i64::from_be_bytes(fixed(bytes).ok_or_else(short)?) {
            i64::MAX => "infinity".to_owned(),
            i64::MIN => "-infinity".to_owned(),
            micros => moment::timestamp(micros),
        }),
        "UUID" => Cell::Text(uuid(fixed(bytes).ok_or_else(short)?)),
        "BYTEA" => Cell::Text(BASE64_STANDARD.encode(bytes)),
        "VOID" => Cell::Text(String::new()),
        // A byte that tells the version stands before the text.
        "JSONB" => text(bytes.strip_prefix(&[1]).ok_or_else(short)?)?,
        "TEXT" | "VARCHAR" | "CHAR" | "\"CHAR\"" | "NAME" | "UNKNOWN" | "JSON" | "XML" | "citext" => text(bytes)?,
        _ => {
            return Err(format!(
                "a value of type {name} cannot be read as text; write CAST(… AS TEXT) in the statement"
            ));
        }
    })
}

fn text(bytes: &[u8]) -> Result<Cell, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "a text that is not in UTF-8".to_owned())?;
    Ok(Cell::Text(text.to_owned()))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn uuid(bytes: [u8; 16]) -> String {
    let hex =
        |range: std::ops::Range<usize>| -> String { bytes[range].iter().map(|byte| format!("{byte:02x}")).collect() };
    [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)].join("-")
}

/// A decimal number: digits of base 10,000, the power of the first one, a sign and how many decimals to show.
fn numeric(bytes: &[u8]) -> Option<String> {
    let word = |at: usize| Some(u16::from_be_bytes(fixed(bytes.get(2 * at..2 * at + 2)?)?));
    let (count, weight, sign, scale) = (word(0)?, word(1)? as i16, word(2)?, usize::from(word(3)?));
    let sign = match sign {
        0 => "",
        0x4000 => "-",
        0xc000 => return Some("NaN".to_owned()),
        0xd000 => return Some("Infinity".to_owned()),
        0xf000 => return Some("-Infinity".to_owned()),
        _ => return None,
    };
    let digits: Vec<u16> = (0..usize::from(count)).map(|at| word(4 + at)).collect::<Option<_>>()?;
    // The digit of that power of 10,000; those that are not sent are zero.
    let digit = |power: i32| {
        let at = usize::try_from(i32::from(weight) - power).ok();
        at.and_then(|at| digits.get(at)).copied().unwrap_or_default()
    };
    let whole: String = (0..=i32::from(weight).max(0)).rev().map(|power| format!("{:04}", digit(power))).collect();
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let groups = scale.div_ceil(4) as i32;
    let mut fraction: String = (1..=groups).map(|power| format!("{:04}", digit(-power))).collect();
    fraction.truncate(scale);
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_keep_their_decimals() {
        let check = |words: &[i32], expected: &str| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| (*word as u16).to_be_bytes()).collect();
            assert_eq!(numeric(&bytes).as_deref(), Some(expected));
        };
        check(&[0, 0, 0, 0], "0");
        check(&[0, 0, 0, 2], "0.00");
        check(&[2, 0, 0, 2, 12, 3400], "12.34");
        check(&[2, 1, 0x4000, 0, 1, 2], "-10002");
        check(&[1, 2, 0, 1, 7], "700000000.0");
        check(&[1, -1, 0, 3, 50], "0.005");
        check(&[1, -2, 0, 8, 1], "0.00000001");
        check(&[0, 0, 0xc000, 0], "NaN");
        assert_eq!(numeric(&[0, 2, 0, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn identifiers_are_written_as_everybody_does() {
        let bytes = std::array::from_fn(|at| at as u8);
        assert_eq!(uuid(bytes), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
