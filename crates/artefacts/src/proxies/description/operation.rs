//! Which operation of its service a request means.

use myelin_message::Body;

use crate::proxies::description::ProxyDescription;
use myelin_content::Format;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::build_body;
use myelin_flow::reference::Operation;

/// Finds out which operation a request means: by its action, by the path behind the service, or by what its body begins
/// with; the body is read only where neither of the others says it.
///
/// Errors: the client's, where a SOAP request means no operation of a description that is heeded strictly.
/// Source: Axis2's dispatchers, in their order. Requests without SOAP pass where Axis2 refuses them.
pub async fn find_operation(
    description: &ProxyDescription,
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
) -> Outcome<()> {
    let Some(interface) = description.published() else { return Ok(()) };
    let operations = &interface.described.operations;
    let by_head = {
        let action = exchange.action().unwrap_or_default();
        let postfix = exchange.postfix().unwrap_or_default();
        let path = postfix.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
        let found = interface.described.operation(&action, None);
        found.or_else(|| operations.iter().find(|operation| !path.is_empty() && operation.name == path))
    };
    let found = match by_head {
        Some(operation) => Some(operation),
        None => {
            if matches!(exchange.content.format, Format::Soap11 | Format::Soap12 | Format::Pox) {
                build_body(exchange, context).await?;
            }
            let element = first_element(exchange);
            element.and_then(|(namespace, local)| interface.described.operation("", Some((&namespace, &local))))
        }
    };
    match found {
        Some(found) => {
            let (name, namespace) = (found.name.clone(), interface.described.namespace.clone());
            exchange.extensions.put(Operation { name, namespace });
            Ok(())
        }
        None if description.is_strict && matches!(exchange.format, Format::Soap11 | Format::Soap12) => {
            Err(Fault::no_operation(&exchange.action().unwrap_or_default()))
        }
        None => Ok(()),
    }
}

/// The name of the element that a body begins with: namespace and local name.
fn first_element(exchange: &Exchange) -> Option<(String, String)> {
    if !matches!(exchange.message.body, Body::Built(_)) {
        return None;
    }
    let tree = exchange.tree().ok()?;
    let document = tree.document();
    let name = document.qname(tree.envelope().payload(document)?);
    Some((name.namespace.to_owned(), name.local.to_owned()))
}
