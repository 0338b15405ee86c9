//! Where a request goes, by which method, and with which SOAP action.

use http::Uri;

use crate::endpoints::address::{other, parse_uri};
use crate::endpoints::endpoint::Endpoint;
use myelin_content::{Format, without_parameter};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, slot};
use myelin_flow::transport::Method;
use myelin_message::{Address, HeaderId, Message};

/// The address with the rest of the request's path behind it.
///
/// SOAP's address is the endpoint alone, so a POST of SOAP gets nothing appended (Synapse asks whether the request
/// is a REST one); two slashes become one, two queries are joined.
pub(super) fn address(exchange: &Exchange, endpoint: &Endpoint, uri: &Uri, text: &str) -> Outcome<Uri> {
    let is_soap = matches!(exchange.format, Format::Soap11 | Format::Soap12);
    let gets_soap = endpoint.policy.as_ref().is_some_and(|policy| policy.is_soap());
    if gets_soap || (is_soap && exchange.message.head.has_method("POST")) {
        return Ok(uri.clone());
    }
    let Some(postfix) = exchange.postfix() else { return Ok(uri.clone()) };
    let joined = match (text.ends_with('/'), &*postfix) {
        (_, "") => return Ok(uri.clone()),
        (_, rest) if rest.starts_with('?') && text.contains('?') => format!("{text}&{}", &rest[1..]),
        (_, rest) if rest.starts_with('?') => format!("{text}{rest}"),
        (true, rest) => format!("{text}{}", rest.trim_start_matches('/')),
        (false, rest) if rest.starts_with('/') => format!("{text}{rest}"),
        (false, rest) => format!("{text}/{rest}"),
    };
    parse_uri(&joined)
}

/// Where the message itself says it goes.
pub(super) fn addressee(exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Address> {
    let to = exchange.to();
    if let Some(Ok(address)) = to.as_deref().and_then(|to| other(to, context.definitions.settings.channels)) {
        return Ok(Address::Other(address));
    }
    match to {
        Some(to) if to.starts_with("http://") || to.starts_with("https://") => parse_uri(&to).map(Address::Uri),
        Some(to) => Err(Fault::bus("The message is not addressed to a backend").with_detail(format!("To is {to:?}"))),
        None => Err(Fault::bus("The message is not addressed to a backend").with_detail("To is not set")),
    }
}

/// The method of a request: that of its endpoint, else the one that the configuration set, else the one that it came with.
pub(super) fn method(exchange: &Exchange, own: Option<&str>) -> Outcome<Method> {
    if let Some(own) = own {
        return Ok(if own == exchange.message.head.method() { Method::AsCame } else { Method::Named(own.to_owned()) });
    }
    let came = exchange.message.head.method();
    match exchange.properties.get(Scope::Axis2, slot::HTTP_METHOD) {
        Some(value) => {
            let text = value.text();
            if text == came {
                return Ok(Method::AsCame);
            }
            if !myelin_message::is_token(text.as_bytes()) {
                return Err(Fault::bus("HTTP_METHOD is no method").with_detail(format!("it is {text:?}")));
            }
            Ok(Method::Named(text.into_owned()))
        }
        // A response that is sent on has no method of its own; Synapse then takes POST.
        None if came.is_empty() => Ok(Method::Named("POST".to_owned())),
        None => Ok(Method::AsCame),
    }
}

/// Writes an action that a `header` mediator set where SOAP over HTTP carries it.
pub(super) fn set_action(exchange: &Exchange, message: &mut Message) -> Outcome<()> {
    let Some(action) = exchange.properties.get(Scope::Addressing, slot::ACTION) else { return Ok(()) };
    let action = action.text();
    if action.contains(['"', '\\']) {
        return Err(Fault::bus("An action was to be set that could end its own quotes"));
    }
    match Format::of(message.head.known(HeaderId::ContentType)) {
        Format::Soap11 => message.head.set("SOAPAction", format!("\"{action}\"").as_bytes())?,
        Format::Soap12 => {
            let value = message.head.known(HeaderId::ContentType).unwrap_or_default();
            let value = String::from_utf8_lossy(value).into_owned();
            let value = format!("{}; action=\"{action}\"", without_parameter(&value, "action"));
            message.head.set("Content-Type", value.as_bytes())?;
        }
        _ => {}
    }
    Ok(())
}
