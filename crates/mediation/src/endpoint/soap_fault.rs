//! `FORCE_ERROR_ON_SOAP_FAULT`: a response that is a SOAP fault counts as a failure of its endpoint.

use crate::content::Need;
use crate::exchange::{Exchange, Format, Scene};
use crate::expression::Place;
use crate::fault::{Fault, Outcome};
use crate::property::{Scope, slot};

/// Whether the configuration wants a response looked at that has come.
pub(super) fn matters(exchange: &Exchange) -> bool {
    exchange.properties.is_true(Scope::Default, slot::FORCE_ERROR_ON_SOAP_FAULT)
        && matches!(exchange.content.format, Format::Soap11 | Format::Soap12)
}

/// Refuses a response that is a SOAP fault; handlers find it as the message.
///
/// Errors: the backend's, with Synapse's code 500000.
/// Source: compare Synapse `SynapseCallbackReceiver.handleMessage`.
pub(super) async fn refuse(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    Need::built().bring(exchange, scene).await?;
    match Place::Fault.find(exchange.tree()?) {
        Some(_) => Err(Fault::soap()),
        None => Ok(()),
    }
}
