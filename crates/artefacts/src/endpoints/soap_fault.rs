//! `FORCE_ERROR_ON_SOAP_FAULT`: a response that is a SOAP fault counts as a failure of its endpoint.

use myelin_content::Format;
use myelin_expression::MessagePart;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, slot};

/// Whether the configuration wants a response looked at that has come.
pub(super) fn matters(exchange: &Exchange) -> bool {
    exchange.properties.is_true(Scope::Default, slot::FORCE_ERROR_ON_SOAP_FAULT)
        && matches!(exchange.content.format, Format::Soap11 | Format::Soap12)
}

/// Refuses a response that is a SOAP fault; handlers find it as the message.
///
/// Errors: the backend's, with Synapse's code 500000.
/// Source: compare Synapse `SynapseCallbackReceiver.handleMessage`.
pub(super) async fn refuse(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    Need::built().fulfil(exchange, context).await?;
    match MessagePart::Fault.find(exchange.tree()?) {
        Some(_) => Err(Fault::soap()),
        None => Ok(()),
    }
}
