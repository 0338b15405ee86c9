//! The response of an operation as a variable: its payload, its headers and its status.

use std::collections::HashSet;

use myelin_json::text::write_string;

use crate::calls::Payload;
use myelin_content::{Json, text_of};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::Value;

/// The response as JSON: `{"payload": …, "headers": {…}, "attributes": {"statusCode": …}}`.
///
/// A status is there where a backend has answered, a payload where it is wanted and not empty: JSON as it is, anything else as a text.
/// Of a header that comes several times the first counts.
/// Errors: those of a body that is gone.
/// Source: WSO2 `InvokeMediator` and `Target`, which keep a map.
pub(super) fn of_response(exchange: &Exchange, with_payload: bool) -> Outcome<Value> {
    let mut out = b"{".to_vec();
    if with_payload && write_payload(exchange, &mut out)? {
        out.push(b',');
    }
    out.extend_from_slice(b"\"headers\":{");
    let mut names = HashSet::new();
    for (name, value) in exchange.message.head.iter() {
        if !names.insert(name.to_ascii_lowercase()) {
            continue;
        }
        if names.len() > 1 {
            out.push(b',');
        }
        write_string(name, &mut out);
        out.push(b':');
        write_string(&String::from_utf8_lossy(value), &mut out);
    }
    out.extend_from_slice(b"},\"attributes\":{");
    if exchange.called {
        out.extend_from_slice(format!("\"statusCode\":{}", exchange.message.status.as_u16()).as_bytes());
    }
    out.extend_from_slice(b"}}");
    let text = String::from_utf8_lossy(&out);
    Value::json(&text).ok_or_else(|| Fault::bus("A response could not be kept in a variable"))
}

/// Writes the payload as a member, if there is one.
fn write_payload(exchange: &Exchange, out: &mut Vec<u8>) -> Outcome<bool> {
    const NAME: &[u8] = b"\"payload\":";
    if let Some(json) = exchange.message.body.built::<Json>() {
        out.extend_from_slice(NAME);
        out.extend_from_slice(json.text().as_bytes());
        return Ok(true);
    }
    let text = match Payload::of_body(exchange)? {
        Some(Payload::Text(text)) => text,
        Some(Payload::Xml(fragment)) => text_of(&fragment.document, fragment.node),
        None => String::new(),
    };
    if text.is_empty() {
        return Ok(false);
    }
    out.extend_from_slice(NAME);
    write_string(&text, out);
    Ok(true)
}
