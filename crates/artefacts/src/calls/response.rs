//! The response of a connector's operation or of a template: in the place of the message, or in a variable.

use std::collections::HashSet;

use myelin_json::text::write_string;

use crate::calls::Payload;
use myelin_content::{Json, text_of};
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, Slot, Value};

/// Where a response goes: `responseVariable` and `overwriteBody`.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    /// It takes the place of the message.
    Message,
    /// The same, and a variable holds its headers and its status.
    MessageAndVariable(Slot),
    /// A variable holds all of it, and the flow goes on with the message as it was.
    Variable(Slot),
}

impl Answer {
    /// Runs a flow with the message, or with a copy of it whose properties the message gets, and keeps what it made.
    ///
    /// Errors: the flow's; as [`of_response`].
    /// Source: WSO2 `InvokeMediator`.
    pub(crate) async fn run(
        self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        flow: impl AsyncFnOnce(&mut Exchange) -> Outcome<Flow>,
    ) -> Outcome<Flow> {
        match self {
            Answer::Message => flow(exchange).await,
            Answer::MessageAndVariable(slot) => {
                let flow = flow(exchange).await?;
                if flow == Flow::Next {
                    keep(slot, of_response(exchange, false)?, exchange)?;
                }
                Ok(flow)
            }
            Answer::Variable(slot) => {
                Need::read().fulfil(exchange, context).await?;
                let mut aside = exchange.branch()?;
                let flow = flow(&mut aside).await?;
                if flow != Flow::Next {
                    *exchange = aside;
                    return Ok(flow);
                }
                Need::built().fulfil(&mut aside, context).await?;
                let value = of_response(&aside, true)?;
                exchange.properties.adopt(aside.properties);
                exchange.decision = exchange.decision.take().or(aside.decision.take());
                keep(slot, value, exchange)?;
                Ok(Flow::Next)
            }
        }
    }
}

/// Puts a value into a variable.
///
/// Errors: the bus's, where there is no room for it.
pub(crate) fn keep(slot: Slot, value: Value, exchange: &mut Exchange) -> Outcome<()> {
    exchange.properties.check_room(&value)?;
    exchange.properties.put(Scope::Variable, slot, Some(value));
    Ok(())
}

/// The response as JSON: `{"payload": …, "headers": {…}, "attributes": {"statusCode": …}}`.
///
/// A status is there where a backend has answered, a payload where it is wanted and not empty: JSON as it is, anything else as a text.
/// Of a header that comes several times the first counts.
/// Errors: those of a body that is gone.
/// Source: WSO2 `InvokeMediator` and `Target`, which keep a map.
pub(crate) fn of_response(exchange: &Exchange, with_payload: bool) -> Outcome<Value> {
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
